//! Lines without the numbers that a tool printed before them, and which lines of a file they are.

use std::borrow::Cow;

use crate::content::log::Stamp;
use crate::content::numbered::NumberedLine;

/// Lines with their printed numbers, where they are numbered.
pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (Option<usize>, &str)> {
    let is_numbered = is_numbered(text);
    text.lines().map(move |line| if is_numbered { unnumbered(line) } else { (None, line) })
}

/// A text without the numbers in front of its lines.
pub(super) fn without_numbers(text: &str) -> Cow<'_, str> {
    if !is_numbered(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.lines().flat_map(|line| [unnumbered(line).1, "\n"]).collect())
}

/// How many lines, or from which to which, where they are numbered.
pub(super) fn which_lines(text: &str) -> String {
    let number = |line| unnumbered(line).0;
    let ends = || text.lines().find_map(number).zip(text.lines().rev().find_map(number));
    match is_numbered(text).then(ends).flatten() {
        Some((first, last)) => format!("lines {first}–{last}"),
        None => match text.lines().count() {
            1 => "one line".to_owned(),
            lines => format!("{lines} lines"),
        },
    }
}

/// A line's number, if it has one, and what stands behind it.
pub(super) fn unnumbered(line: &str) -> (Option<usize>, &str) {
    NumberedLine::parse(line).map_or((None, line), |found| (usize::try_from(found.number).ok(), found.text))
}

/// Whether the first lines have numbers in front, one apart, as `cat -n` and file tools print them. The hours of times
/// are none.
fn is_numbered(text: &str) -> bool {
    let is_time = |line: &str| Stamp::find(line).is_some_and(|stamp| line[..stamp.range.start].trim().is_empty());
    let number = |line| unnumbered(line).0.filter(|_| !is_time(line));
    let numbers: Vec<Option<usize>> = text.lines().take(12).map(number).collect();
    let steps = numbers.windows(2).filter(|pair| matches!(pair, [Some(a), Some(b)] if *b == a + 1)).count();
    numbers.len() > 2 && steps * 10 >= (numbers.len() - 1) * 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_their_numbers_and_hours_are_none() {
        for (text, expected) in [
            ("  7\ta\n  8\tb\n  9\tc\n", "lines 7–9"),
            ("  7→2026-01-01T10:00:00Z a\n  8→2026-01-01T10:00:01Z b\n  9→2026-01-01T10:00:02Z c\n", "lines 7–9"),
            ("09:00:00 up\n10:00:00 up\n11:00:00 up\n12:00:00 up\n", "4 lines"),
            ("a\n", "one line"),
        ] {
            assert_eq!(which_lines(text), expected, "{text}");
        }
    }
}
