//! Removes the line numbers that a tool printed, and tells which lines a text has, by the numbers that a fetch takes.

use std::borrow::Cow;

use crate::content::numbered::{Listing, NumberedLine, listed_lines};

/// Returns lines without their printed numbers, each with its number for a fetch: the printed one in a single listing,
/// else its position.
pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let first = listed_lines(text).and_then(|lines| Some(lines.first()?.0));
    let is_numbered = Listing::of(text).is_some();
    let mut number = first.unwrap_or(0);
    text.lines().map(move |line| {
        let (printed, bare) = if is_numbered { unnumbered(line) } else { (None, line) };
        number = if first.is_some() { printed.unwrap_or(number) } else { number + 1 };
        (number, bare)
    })
}

/// Returns a text without the numbers in front of its lines.
pub(super) fn without_numbers(text: &str) -> Cow<'_, str> {
    if Listing::of(text).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.lines().flat_map(|line| [unnumbered(line).1, "\n"]).collect())
}

/// Returns the number of lines, or the first and the last number of a single listing. A text with more lines than its
/// numbers allow is no listing, but for a few lines around it; nor are rows that count from 0.
pub(super) fn which_lines(text: &str) -> String {
    const AROUND: usize = 6;
    let listed = listed_lines(text).unwrap_or_default();
    let ends = listed.first().zip(listed.last()).map(|((first, _), (last, _))| (*first, *last));
    match (ends, text.lines().count()) {
        (Some((first, last)), lines) if first > 0 && last - first + AROUND >= lines => format!("lines {first}–{last}"),
        (_, 1) => "one line".to_owned(),
        (_, lines) => format!("{lines} lines"),
    }
}

/// Returns the number of a line, if it has one, and the text behind it.
pub(super) fn unnumbered(line: &str) -> (Option<usize>, &str) {
    NumberedLine::parse(line).map_or((None, line), |found| (usize::try_from(found.number).ok(), found.text))
}
