//! The known name that a mistyped or renamed one most likely means.

/// The nearest of `known`: the one that contains the closest match of `name`, and of equals the one with the fewest edits in all. Letter case
/// does not count. `None` only where nothing is known.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().take(100).collect();
    known.min_by_key(|known| {
        let known: Vec<char> = known.to_lowercase().chars().collect();
        (edits(&name, &known, true), edits(&name, &known, false))
    })
}

/// The least number of inserted, removed and replaced characters between two texts, or between the first and any part of the second.
fn edits(name: &[char], known: &[char], in_part: bool) -> usize {
    let mut row: Vec<usize> = (0..=known.len()).map(|at| if in_part { 0 } else { at }).collect();
    for (taken, typed) in name.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], taken + 1);
        for (at, letter) in known.iter().enumerate() {
            let replaced = diagonal + usize::from(typed != letter);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    if in_part { row.into_iter().min().unwrap_or(0) } else { row[known.len()] }
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use crate::config::knobs;

    /// Neighbours: each option's name with each letter left out, doubled or replaced, with each two letters swapped, and in lower case.
    #[test]
    fn a_typo_of_each_option_names_that_option() {
        for knob in knobs() {
            let letters: Vec<char> = knob.name.chars().collect();
            let mut typos = vec![knob.name.to_lowercase()];
            for at in 0..letters.len() {
                let with = |change: &dyn Fn(&mut Vec<char>)| {
                    let mut typed = letters.clone();
                    change(&mut typed);
                    typed.into_iter().collect::<String>()
                };
                typos.push(with(&|typed| drop(typed.remove(at))));
                typos.push(with(&|typed| typed.insert(at, letters[at])));
                typos.push(with(&|typed| typed[at] = '~'));
                if at > 0 {
                    typos.push(with(&|typed| typed.swap(at - 1, at)));
                }
            }
            for typo in typos {
                assert_eq!(nearest(&typo, knobs().iter().map(|knob| knob.name)), Some(knob.name), "{typo}");
            }
        }
    }

    #[test]
    fn a_part_of_a_name_is_nearer_than_a_short_name() {
        for (typed, means) in
            [("treshold", "sccsCompressThreshold"), ("storageDir", "sccsStorageDir"), ("level", "rules.level")]
        {
            assert_eq!(nearest(typed, knobs().iter().map(|knob| knob.name)), Some(means), "{typed}");
        }
    }
}
