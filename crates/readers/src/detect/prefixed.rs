//! Detects line prefixes, and the kind of the lines behind them.
//!
//! Some content is recognisable only after the line prefixes are removed. The lines of a common log are not such
//! content: they are rows, and their first words are a column.

use std::collections::HashSet;

use super::page::{Page, PageLine, filled};
use super::{Kind, json, judge_lines};
use crate::ContentType;
use crate::line_prefix::{FORMS, Form, Prefix, blanks};
use crate::lines::sample;
use crate::numbered::Listing;

/// The prefixes of the lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefixes {
    /// The length of the prefix of each line in bytes, with lines separated by `\n`; 0 for a line without a prefix.
    pub lengths: Vec<usize>,
    /// True if the prefixes are line numbers.
    pub are_numbers: bool,
}

/// Finds the prefixes of nearly all lines of a text, if the lines without them are not prose: line numbers, or who
/// printed the lines and when. The prefixes are determined from a sample of the lines.
pub fn prefixes(text: &str) -> Option<Prefixes> {
    if let Some(lengths) = Listing::of(text).and_then(|listing| listing.lengths()) {
        return Some(Prefixes { lengths, are_numbers: true });
    }
    let sample = sample(text);
    let page = Page::of(&sample);
    let view = page.view();
    // For most texts, a few lines show that they have no prefixes.
    let first = without_prefix(view.lines)?;
    let (prefixes, kind) = judge_behind_prefixes(first, judge_lines(view))?;
    if kind.content_type == ContentType::Text {
        return None;
    }
    let length = |line: &str| prefixes.iter().fold(0, |end, prefix| end + prefix.end(&line[end..]));
    let lengths = text.split('\n').map(|line| length(line.strip_suffix('\r').unwrap_or(line))).collect();
    Some(Prefixes { lengths, are_numbers: false })
}

/// The maximum number of successive prefixes, for example a container, a stream and a time.
const MAX_PREFIXES: usize = 3;

/// Returns the prefixes that the lines share and the kind of the lines; `first` is the text without the first prefix.
/// The kind is that of the lines without prefixes if this says more than `plain`, otherwise that of the lines with
/// them, otherwise `plain`. Returns `None` if removing prefixes tells nothing more.
pub(super) fn judge_behind_prefixes(first: WithoutPrefix, plain: Kind) -> Option<(Vec<Prefix>, Kind)> {
    use ContentType::{Code, Diff, Html, Json, Log, Search, Table, Text, Unknown};
    if plain.is_proved {
        return None;
    }
    let mut prefixes = Vec::new();
    let mut formed = None;
    let mut next = Some(first);
    while let Some(bare) = next.filter(|_| prefixes.len() < MAX_PREFIXES) {
        prefixes.push(bare.prefix);
        let is_stamped = prefixes.iter().any(|prefix| prefix.is_stamp());
        let page = Page::of(&bare.text);
        let is_json = json::is_json(&bare.text);
        let inner = if is_json { Kind::of(Json) } else { judge_lines(page.view()) };
        let says_more = match (plain.content_type, inner.content_type) {
            (_, Html) => false,
            (_, Json) => true,
            // With few names before a bar, these are the names of sources, not a first column.
            (Table, Code | Diff | Log | Search | Text) => bare.prefix.is_bar(),
            // Lines with a time are a log, whatever their content.
            (Log, _) if is_stamped => false,
            (Log, Code) | (Unknown, Code) => inner.language.is_some(),
            (Log | Text | Unknown | Code, Diff | Search | Table) => true,
            (Text | Unknown | Code, Log) | (Unknown | Code, Text) => true,
            (Text, Code) => inner.language.is_some(),
            (Code, Code) => true,
            _ => false,
        };
        if says_more {
            return Some((prefixes, Kind { is_proved: false, is_prefixed: inner.content_type != Text, ..inner }));
        }
        let has_form = match plain.content_type {
            // Reports and traces have a form of their own; the lines of a log do not.
            Log => match inner.content_type {
                Log => page.view().filled().filter(|line| line.is_log()).count() * 2 < page.view().filled().count(),
                Code => inner.language.is_some(),
                inner => matches!(inner, Diff | Search | Table),
            },
            Search | Table | Unknown => inner.content_type != Text,
            _ => false,
        };
        if formed.is_none() && has_form {
            formed = Some((prefixes.clone(), plain));
        }
        next = without_prefix(page.view().lines);
    }
    formed
}

/// The minimum share of the lines that must have the prefix, in percent.
const SHARE: usize = 80;
/// The minimum number of lines that can share a prefix.
const MIN_LINES: usize = 2;
/// A text without the prefix that nearly all of its lines have.
#[derive(Debug)]
pub(super) struct WithoutPrefix {
    /// The lines without the prefix. Lines that do not have it are unchanged.
    pub(super) text: String,
    /// The removed prefix.
    pub(super) prefix: Prefix,
}

/// Removes the prefix that four of five lines share, in the first form that fits.
pub(super) fn without_prefix(lines: &[PageLine]) -> Option<WithoutPrefix> {
    let total = filled(lines).count();
    let least = (total * SHARE).div_ceil(100).max(MIN_LINES);
    FORMS.iter().enumerate().find_map(|(number, &form)| {
        let has_form = |line: &&PageLine| line.is_other(number, || form.parse(line.text).is_some());
        let (mut found, mut left) = (0usize, total);
        for line in filled(lines) {
            found += usize::from(has_form(&line));
            left -= 1;
            if found + left < least {
                return None;
            }
        }
        let formed = || filled(lines).filter(has_form).filter_map(|line| Some((line.text, form.parse(line.text)?)));
        let is_short = formed().map(|(_, (name, _))| name).collect::<HashSet<&str>>().len() <= form.names(found);
        if found < least || !is_short {
            return None;
        }
        // Only the blanks that all lines have after a time belong to the prefix. Further blanks indent the content.
        let rests = || formed().map(|(line, (_, end))| &line[end..]).filter(|rest| !rest.trim().is_empty());
        let shared = if form == Form::Stamp { rests().map(blanks).min().unwrap_or(0) } else { 0 };
        let prefix = Prefix { form, blanks: shared };
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.text[prefix.end(line.text)..]);
            text.push('\n');
        }
        Some(WithoutPrefix { text, prefix })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines without their prefixes.
    fn bare(text: &str) -> Option<String> {
        let lines = text.split('\n').zip(prefixes(text)?.lengths).map(|(line, length)| &line[length..]);
        Some(lines.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn what_has_a_form_is_found_behind_any_prefix() {
        let document = "{\n  \"a\": [1, 2],\n  \"b\": \"c\",\n  \"d\": null\n}\n";
        let table = "path,bytes,owner\nsrc/a.rs,120,ann\nsrc/b.rs,4100,bob\nsrc/c.rs,77,ann\n";
        let trace = "Traceback (most recent call last):\n  File \"/app/server/handlers.py\", line 10, in handle\n    response = self.dispatch(request)\n  File \"/app/shop/orders.py\", line 412, in create\n    raise ValueError(\"no stock\")\nValueError: no stock\n";
        for inner in [document, table, trace] {
            for before in
                ["web-1  | ", "[1/3] ", ">> ", "[pod/web-1/app] ", "2026-11-22T10:00:00.123Z ", "12:00:01.123 "]
            {
                let text: String = inner.lines().map(|line| format!("{before}{line}\n")).collect();
                assert_eq!(bare(&text).as_deref(), Some(inner), "{text}");
                assert_eq!(bare(&text.replace('\n', "\r\n")), Some(inner.replace('\n', "\r\n")), "{text}");
            }
            let text: String = inner.lines().enumerate().map(|(at, line)| format!("{:>6}\t{line}\n", at + 8)).collect();
            assert_eq!(bare(&text).as_deref(), Some(inner));
        }
    }
}
