//! XML whose elements have verdicts -> the elements that failed, by name and message, and the totals.
//!
//! An element failed if an attribute gives it a failed state, or if an element such as `<failure>` is in it. Words in
//! names are not considered, because a test that passed may have any name.

use super::keys::{NAMING, is_failed_state, is_level, is_one_of, is_verdict, last_word};
use super::numbers::which_lines;
use super::sheet::{Sheet, quote};
use crate::content::html::is_hypertext;
use crate::content::markup::{Piece, attributes, pieces};
use crate::content::severity::is_failure_key;

/// The most failed elements that are told.
const TOLD: usize = 40;

/// The most characters of a printed name.
const NAME_ROOM: usize = 120;

/// The most characters of the printed message of a failure.
const MESSAGE_ROOM: usize = 80;

/// Writes the summary, and returns false if the text is not XML with failed elements or with totals of failures.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let bare = text.trim_start_matches('\u{feff}').trim_start();
    if !bare.starts_with('<') || is_hypertext(text) {
        return false;
    }
    let report = Report::of(bare);
    if report.failed.is_empty() && report.totals.is_empty() {
        return false;
    }
    sheet.say(&format!("XML, {}", which_lines(text)));
    let failed = report.failed.iter().take(TOLD).map(|(name, message)| {
        let name = quote(name, NAME_ROOM);
        if message.is_empty() { name } else { format!("{name}: {}", quote(message, MESSAGE_ROOM)) }
    });
    sheet.failures(report.failed.len(), failed.collect(), sheet.share(70));
    if !report.totals.is_empty() {
        sheet.list("values:", &report.totals, sheet.share(60));
    }
    true
}

/// An element that is not closed yet.
#[derive(Default)]
struct Element<'t> {
    tag: &'t str,
    name: Option<&'t str>,
    message: Option<&'t str>,
    has_failed: bool,
    /// True for an element such as `<failure>`, unless an attribute denies that. With words, it failed.
    is_failure: bool,
    /// True if a failed element in it has a name, so that this one only repeats the failure.
    is_told: bool,
}

impl<'t> Element<'t> {
    fn of(tag: &'t str, attributes: &[(&'t str, &'t str)]) -> Self {
        // The name of a `TestResult` is its `testName`, but not its `computerName`.
        let within = tag.to_ascii_lowercase();
        let rank = |key: &str| {
            let last = last_word(key);
            let first = key[..key.len() - last.len()].trim_end_matches(['_', '-', '.', ':']).to_ascii_lowercase();
            NAMING.iter().position(|word| last.eq_ignore_ascii_case(word)).filter(|_| within.contains(&first))
        };
        let naming = attributes.iter().filter_map(|(key, value)| Some((rank(key)?, *value)));
        let has_verdict = attributes.iter().any(|(key, value)| is_verdict(key) && is_failed_state(value));
        let is_denied = |(key, value): &(&str, &str)| (is_verdict(key) || is_level(key)) && !is_failed_state(value);
        let is_failure = is_failure_key(tag) && !attributes.iter().any(is_denied);
        Self {
            tag,
            name: naming.min_by_key(|(rank, _)| *rank).map(|(_, name)| name),
            message: attributes.iter().find(|(key, _)| is_one_of(key, &["message", "msg"])).map(|(_, value)| *value),
            has_failed: has_verdict || is_failure && !attributes.is_empty(),
            is_failure,
            is_told: false,
        }
    }
}

#[derive(Default)]
struct Report<'t> {
    open: Vec<Element<'t>>,
    /// The names and messages of the innermost elements that failed.
    failed: Vec<(&'t str, &'t str)>,
    /// The numbers of the first element that counts failures.
    totals: Vec<String>,
}

impl<'t> Report<'t> {
    fn of(text: &'t str) -> Self {
        let mut report = Self::default();
        for piece in pieces(text) {
            match piece {
                Piece::Open(name, rest) => report.open(name, rest),
                Piece::Close(_) => report.close(),
                Piece::Words(words) => report.add_words(words),
                Piece::Declaration(_) => {}
            }
        }
        while !report.open.is_empty() {
            report.close();
        }
        report
    }

    fn open(&mut self, name: &'t str, rest: &'t str) {
        let attributes: Vec<(&str, &str)> = attributes(rest).collect();
        self.open.push(Element::of(name.rsplit(':').next().unwrap_or(name), &attributes));
        let is_count = |(key, value): &&(&str, &str)| value.parse::<u64>().is_ok() && !is_one_of(key, NAMING);
        let counts = || attributes.iter().filter(is_count);
        if self.totals.is_empty() && counts().any(|(key, _)| is_one_of(key, &["failed", "failures", "errors"])) {
            self.totals = counts().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        }
        if rest.ends_with('/') {
            self.close();
        }
    }

    /// Reads the words of an element that explain a failure.
    fn add_words(&mut self, words: &'t str) {
        let Some(element) = self.open.last_mut().filter(|_| words.contains(char::is_alphabetic)) else { return };
        if element.is_failure || last_word(element.tag).eq_ignore_ascii_case("message") {
            element.message.get_or_insert(words);
        }
        element.has_failed |= element.is_failure;
    }

    /// Closes the last element. What failed without a name is a failure of the element around it.
    fn close(&mut self) {
        let Some(mut element) = self.open.pop() else { return };
        if let Some(name) = element.name.filter(|_| element.has_failed && !element.is_told) {
            self.failed.push((name, element.message.unwrap_or_default()));
            element.is_told = true;
        }
        let Some(outer) = self.open.last_mut() else { return };
        outer.is_told |= element.is_told;
        if element.name.is_none() {
            outer.has_failed |= element.has_failed;
            outer.message = outer.message.or(element.message);
        }
    }
}
