//! The line numbers that `cat -n` and read tools print before the lines of a file.
//!
//! Line numbers count up by one; the hits of a search in one file have the same form but do not. If most lines of a
//! listing leave their number out, it says the same for a quarter fewer tokens ([`without_expected_numbers`]). Its
//! lines are unchanged, byte for byte.

use std::ops::Range;

pub use concertina_format::listing::{LEGEND, NumberedLine, renumbered, with_expected_numbers};

use super::table::is_rule;
use super::time_stamp::Stamp;

/// Lines whose number is a multiple of this keep it.
const TOLD: u64 = 10;

/// The minimum number of lines. With fewer, the legend costs more than it saves.
const MIN_LINES: usize = 8;

/// Returns true if a line may also be a row of a table with a counter as its first column.
fn is_row(line: &NumberedLine) -> bool {
    let text = line.text.trim();
    let is_padded = line.prefix.starts_with(' ');
    match line.prefix.trim_end_matches(' ').chars().next_back() {
        Some('\t') => !is_padded && text.contains('\t'),
        Some(bar @ ('|' | '│')) => text.contains(bar),
        Some(':') => is_padded && line.text.starts_with("  ") && text.contains("  "),
        _ => false,
    }
}

/// A text most of whose lines were numbered by a tool, as one listing or several.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    text: &'a str,
    numbered: usize,
    /// True if it is one listing: the numbers never decrease.
    is_one: bool,
    /// True if every line from the first number to the last has the next number.
    is_unbroken: bool,
}

impl<'a> Listing<'a> {
    /// Returns the listing if a text is one: six of ten lines have numbers, nine of ten of these count up by one, and
    /// they are neither the first column of a table (below a rule, or before other cells) nor the hours of times.
    pub fn of(text: &'a str) -> Option<Self> {
        let mut listing = Self { text, numbered: 0, is_one: true, is_unbroken: true };
        let (mut filled, mut steps, mut rows) = (0, 0, 0);
        let (mut is_below_rule, mut is_below_number) = (false, false);
        let mut last: Option<u64> = None;
        for line in text.lines() {
            filled += usize::from(!line.trim().is_empty());
            let found = NumberedLine::parse(line);
            if let Some(found) = found {
                match last {
                    None if is_below_rule || Stamp::leads(line) => return None,
                    None => {}
                    Some(last) => {
                        let is_next = last + 1 == found.number;
                        steps += usize::from(is_next);
                        listing.is_one &= last < found.number;
                        listing.is_unbroken &= is_next && is_below_number;
                    }
                }
                last = Some(found.number);
                listing.numbered += 1;
                rows += usize::from(is_row(&found));
            }
            is_below_number = found.is_some();
            is_below_rule = is_rule(line);
        }
        let numbered = listing.numbered;
        let is_single = numbered == 1 && text.contains('→');
        let is_counted = numbered >= 2 && steps * 10 >= (numbered - 1) * 9;
        (numbered * 10 >= filled * 6 && (is_counted || is_single) && rows * 2 <= numbered).then_some(listing)
    }

    /// Returns the range from the first to the last numbered line.
    pub fn range(&self) -> Range<usize> {
        let (mut start, mut end, mut at) = (None, 0, 0);
        for line in self.text.split_inclusive('\n') {
            let start_of_line = at;
            at += line.len();
            if NumberedLine::parse(line).is_some() {
                start = start.or(Some(start_of_line));
                end = at;
            }
        }
        start.unwrap_or(end)..end
    }

    /// Returns the numbered lines without their numbers. Lines without one (`[File: a.rs]`, `(5 more lines above)`) are
    /// omitted.
    pub(crate) fn bare(&self) -> String {
        let texts = self.text.lines().filter_map(|line| Some(NumberedLine::parse(line)?.text));
        texts.flat_map(|text| [text, "\n"]).collect()
    }
}

/// Returns the length of the number before each line of a text in bytes, with lines separated by `\n`, if the text is a
/// listing and every line from the first number to the last has the next number.
pub fn number_lengths(text: &str) -> Option<Vec<usize>> {
    let listing = Listing::of(text).filter(|listing| listing.is_unbroken && listing.numbered > 1)?;
    let length = |line| NumberedLine::parse(line).map_or(0, |found| found.prefix.len());
    Some(listing.text.split('\n').map(length).collect())
}

/// Returns the lines of a text with the numbers printed before them, if the text is one listing.
///
/// A line without a number belongs to the line above; text before the first number belongs to the first line.
pub fn listed_lines(text: &str) -> Option<Vec<(usize, &str)>> {
    /// Two consecutive numbers may be chance.
    const LEAST: usize = 3;
    Listing::of(text).filter(|listing| listing.is_one && listing.numbered >= LEAST)?;
    let mut listed: Vec<(usize, &str)> = Vec::new();
    // The start of the lines of the last number, and the current line.
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if let Some(found) = NumberedLine::parse(line) {
            if let Some((_, lines)) = listed.last_mut() {
                *lines = &text[start..at];
                start = at;
            }
            listed.push((usize::try_from(found.number).ok()?, ""));
        }
        at += line.len();
    }
    listed.last_mut()?.1 = &text[start..];
    Some(listed)
}

/// Returns the ranges of the listings in a text: runs of numbered lines with increasing numbers, without the last line
/// end.
pub fn listings(text: &str) -> Vec<Range<usize>> {
    let mut listings = Vec::new();
    let (mut start, mut lines, mut last) = (0, 0, None);
    let mut at = 0;
    for line in text.split('\n').chain([""]) {
        let number = NumberedLine::parse(line).filter(NumberedLine::is_listed).map(|line| line.number);
        if number.is_none() || number < last {
            if lines >= MIN_LINES {
                listings.push(start..at - 1);
            }
            (start, lines) = (at, 0);
        }
        match number {
            Some(_) => lines += 1,
            None => start = at + line.len() + 1,
        }
        last = number;
        at += line.len() + 1;
    }
    listings
}

/// Returns a listing in which a line keeps its number only if the number does not follow from the line above or is a
/// multiple of ten; `None` if a line has no number.
pub fn without_expected_numbers(listing: &str) -> Option<String> {
    let mut bare = String::with_capacity(listing.len());
    let mut expected = None;
    for line in listing.split('\n') {
        let found = NumberedLine::parse(line).filter(NumberedLine::is_listed)?;
        let is_expected = expected.as_deref() == Some(found.prefix);
        let is_told = found.number % TOLD == 0 || NumberedLine::parse(found.text).is_some();
        bare.push_str(if is_expected && !is_told { found.text } else { line });
        bare.push('\n');
        expected = Some(found.next_prefix());
    }
    bare.pop();
    Some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(lines: Range<u64>) -> String {
        let line = |number| format!("{number:>6}→    let x{number} = {number};\n");
        lines.map(line).collect::<String>().trim_end().to_owned()
    }

    #[test]
    fn a_listing_comes_back_from_the_numbers_that_are_left() {
        let gap = format!("{}\n{}", listing(95..103), listing(120..125));
        let bars = "7| a\n8| b\n9| 12:30 was said\n10|\n11| c";
        let odd = "     1→a\n     2→    9→nested\n 3→b\n0004:c\n5:d\r\n6:\n";
        for text in [&listing(1..40), &listing(999_990..1_000_020), &gap, bars, odd.trim_end()] {
            let bare = without_expected_numbers(text).expect("a listing");
            assert!(bare.len() < text.len(), "{bare}");
            assert_eq!(with_expected_numbers(&bare).as_deref(), Some(text));
        }
        assert_eq!(without_expected_numbers(&listing(1..13)).unwrap().matches('→').count(), 2);
        for none in ["", "a", "     1→a\nb", "1\tAnn\n2\tBob"] {
            assert_eq!(without_expected_numbers(none), None);
        }
        assert_eq!(with_expected_numbers(&format!("{}1→\n\n", " ".repeat(90))), None);
    }

    #[test]
    fn listings_are_runs_of_rising_numbers() {
        let first = listing(1..20);
        let text = format!("a.rs\n{first}\n{}\n\nthe end\n{}", listing(3..30), listing(1..4));
        let found: Vec<&str> = listings(&text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [first.as_str(), &listing(3..30)]);
        assert!(listings("").is_empty());
        assert_eq!(listings(&first), std::slice::from_ref(&(0..first.len())));
    }

    #[test]
    fn one_listing_is_known_by_its_numbers_and_loses_nothing() {
        let body = listing(300..320);
        let read = format!("[File: a.rs]\n(299 more lines above)\n{body}\n\n(80 more lines below)\n");
        let gaps = format!("{}\n\n{}\n", listing(1..41), listing(300..341));
        for (text, first, last) in [
            (body.as_str(), 300, 319),
            (read.as_str(), 300, 319),
            (gaps.as_str(), 1, 340),
            ("7\ta\n8\tb\n9\tc", 7, 9),
            ("  7→2026-01-01T10:00:00Z a\n  8→2026-01-01T10:00:01Z b\n  9→2026-01-01T10:00:02Z c\n", 7, 9),
        ] {
            let lines = listed_lines(text).expect(text);
            assert_eq!(lines.iter().map(|(_, line)| *line).collect::<String>(), text);
            assert_eq!((lines[0].0, lines[lines.len() - 1].0), (first, last), "{text}");
        }
        let lines = listed_lines(&read).unwrap();
        assert_eq!(lines[0].1, "[File: a.rs]\n(299 more lines above)\n   300→    let x300 = 300;\n");
        assert_eq!(lines[19].1, "   319→    let x319 = 319;\n\n(80 more lines below)\n");
        let two = format!("{body}\n{body}");
        let buried = format!("{body}\n{}", "a line of something else\n".repeat(20));
        let times: String = (9..21).map(|hour| format!("{hour:02}:00:00 up\n")).collect();
        for none in ["", "a\n", &two, &buried, &times] {
            assert_eq!(listed_lines(none), None, "{none}");
        }
    }

    #[test]
    fn folded_listings_are_numbered_again() {
        let fold =
            |text: &str| concertina_format::fold::Fold::new("x", LEGEND, without_expected_numbers(text)).to_string();
        let (first, second) = (listing(1..20), listing(7..90));
        let text = format!("{}\n[[FOLD:x 1]] other\ny\n{}\nend", fold(&first), fold(&second));
        assert_eq!(renumbered(&text), format!("{first}\n[[FOLD:x 1]] other\ny\n{second}\nend"));
        let cut = &fold(&second)[..200];
        assert_eq!(renumbered(cut), cut);
    }
}
