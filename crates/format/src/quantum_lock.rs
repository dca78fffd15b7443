//! `rules, rules, [[changes with each call: 2]], date` -> `rules, date, rules`.

use crate::fold::Fold;

/// Returns the text that a fold stands for.
pub fn unfold(fold: &Fold) -> Option<String> {
    let lines: Vec<&str> = fold.body.as_deref()?.split('\n').collect();
    // The boundary lists as many numbers as lines follow it; only one line can fit.
    let boundary = (0..lines.len())
        .rev()
        .find(|&index| positions(lines[index]).is_some_and(|places| places.len() == lines.len() - index - 1))?;
    let places = positions(lines[boundary])?;
    let (mut stable, mut volatile) = (lines[..boundary].iter(), lines[boundary + 1..].iter());
    let mut places = places.iter().peekable();
    let mut restored: Vec<&str> = Vec::with_capacity(lines.len() - 1);
    for place in 1..lines.len() {
        let source = if places.next_if(|&&next| next == place).is_some() { &mut volatile } else { &mut stable };
        restored.push(source.next()?);
    }
    Some(restored.join("\n"))
}

/// Reads the line numbers in a boundary line: ascending, from 1.
fn positions(line: &str) -> Option<Vec<usize>> {
    let list = line.strip_prefix("[[changes with each call: ")?.strip_suffix("]]")?;
    let places: Vec<usize> = list.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    (places[0] >= 1 && places.is_sorted_by(|a, b| a < b)).then_some(places)
}
