//! A text too large to keep -> a few hundred characters that say what it was: one file for each type.
//!
//! A summary states only what the text says: counts are counted, everything else is quoted. It is a few short lines,
//! the most useful first, so that a cut loses the least. It ends with names, because an agent that still sees the names
//! it is about to write does not have to fetch.

mod code;
mod columns;
mod diff;
mod html;
mod identifiers;
mod json;
mod keys;
mod log;
mod manifests;
mod markdown;
mod messages;
mod numbers;
mod paths;
mod reports;
mod search;
mod sheet;
mod snapshot;
mod table;
mod text;
mod xml;

pub use identifiers::{Around, features_of, salient_identifiers};
pub use log::totals_failures;

use crate::content::cut_note::cut_text;
use crate::content::escapes::readable;
use crate::content::hints::{Expected, expected};
use crate::content::{self, ContentType, Detection, Hints, line_pattern};
use crate::tokens::utf16;
use sheet::Sheet;

/// The most characters that are shown of binary data: only the first ones are useful.
const UNREAD_ROOM: usize = 80;

/// Summarizes a text in at most `max_chars` UTF-16 code units, by type where `smart`, else by its head.
///
/// A text that fits is its own summary. A longer one is cut at an item or a word with `…`, never inside a number.
/// Blanks are folded, control characters dropped, and markers that the text quotes are defused. Linear in the text, on
/// any input.
pub fn summarize(text: &str, hints: &Hints, max_chars: usize, smart: bool) -> String {
    write(text, hints, max_chars, smart, Sheet::names)
}

/// Summarizes a text like [`summarize`], but without the names at the end, for callers that list them themselves.
pub fn describe(text: &str, hints: &Hints, max_chars: usize, smart: bool) -> String {
    write(text, hints, max_chars, smart, |_, _| {})
}

fn write(text: &str, hints: &Hints, max_chars: usize, smart: bool, end: impl FnOnce(&mut Sheet, &str)) -> String {
    let text = &*readable(text);
    if !utf16::exceeds(text, max_chars) {
        return head(text, max_chars);
    }
    let mut sheet = Sheet::new(max_chars);
    if !tell(text, hints, smart, &mut sheet) {
        sheet.head(if smart { UNREAD_ROOM } else { max_chars }, |room| head(text, room));
        return sheet.finish();
    }
    end(&mut sheet, text);
    sheet.finish()
}

/// Writes what a text says of being cut and, where `smart`, the facts of what it shows on a sheet. Returns false if
/// there are no facts.
fn tell(text: &str, hints: &Hints, smart: bool, sheet: &mut Sheet) -> bool {
    let cut = cut_text(text);
    sheet.cut(&cut.notes);
    smart && tell_shown(cut.shown, hints, sheet)
}

fn tell_shown(text: &str, hints: &Hints, sheet: &mut Sheet) -> bool {
    let detection = content::detect(text, hints);
    let expected = expected(hints);
    let is_searched = expected.as_ref().is_some_and(|expected| expected.content_type == ContentType::Search);
    let may_report = matches!(
        detection.content_type,
        ContentType::Log | ContentType::Table | ContentType::Text | ContentType::Unknown
    );
    let written = snapshot::summarize(text, sheet)
        || detection.content_type != ContentType::Code && xml::summarize(text, sheet)
        || may_report && (reports::summarize(text, None, sheet) || manifests::summarize(text, sheet))
        || match (detection.content_type, named(expected.as_ref(), &detection)) {
            (ContentType::Code, Some(name)) => code::summarize_other(text, name, sheet),
            (content_type, None) if is_log(text, content_type) => {
                !log::is_test_run(text) && messages::summarize(text, is_searched, sheet) || log::summarize(text, sheet)
            }
            (_, Some(name)) => reports::summarize(text, Some(name), sheet),
            (ContentType::Code, None) => code::summarize(text, detection.language, sheet),
            (ContentType::Json, None) => json::summarize(text, sheet),
            (ContentType::Diff, None) => diff::summarize(text, sheet),
            (ContentType::Search, None) => {
                messages::summarize(text, is_searched, sheet) || search::summarize(text, is_searched, sheet)
            }
            (ContentType::Table, None) => table::summarize(text, sheet),
            (ContentType::Html, None) => html::summarize(text, sheet),
            (ContentType::Log | ContentType::Text | ContentType::Unknown, None) => {
                messages::summarize(text, is_searched, sheet)
            }
        };
    written || prose(text, hints, detection.content_type, sheet)
}

/// Returns true for a log, and for the report of a test runner that was taken for something else.
fn is_log(text: &str, content_type: ContentType) -> bool {
    match content_type {
        ContentType::Log => true,
        ContentType::Text => log::is_test_run(text) && !markdown::is_markdown(text),
        ContentType::Search | ContentType::Table | ContentType::Unknown => log::is_test_run(text),
        _ => false,
    }
}

/// Returns the name of a file's language or format, if the text has no more specific type.
fn named(expected: Option<&Expected>, detection: &Detection) -> Option<&'static str> {
    let is_open = matches!(detection.content_type, ContentType::Code | ContentType::Text | ContentType::Unknown);
    expected.filter(|_| is_open && detection.language.is_none())?.name
}

/// Summarizes text of no other type, or of a type that its own summarizer did not recognise.
fn prose(text: &str, hints: &Hints, content_type: ContentType, sheet: &mut Sheet) -> bool {
    if !has_words(text) {
        return false;
    }
    let is_markdown_file = hints.path.as_deref().is_some_and(|path| {
        path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "md" | "mdx" | "mdc" | "markdown"))
    });
    // In other files `#` opens a comment.
    let is_markdown = is_markdown_file || content_type == ContentType::Text && markdown::is_markdown(text);
    (is_markdown && markdown::summarize(text, sheet)) || text::summarize(text, sheet)
}

/// Returns true for readable text: blanks or marks between the words, and few control characters. Base64 has neither.
fn has_words(text: &str) -> bool {
    const PROBED: usize = 20_000;
    const LONG: usize = 60;
    let mut probed = 0usize;
    let mut unreadable = 0usize;
    let mut run = 0usize;
    for c in text.chars().take(PROBED) {
        probed += 1;
        // CJK is written without blanks.
        let is_of_blob = c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_') || c.is_ascii_control();
        run = if is_of_blob && !c.is_whitespace() { run + 1 } else { 0 };
        unreadable +=
            usize::from(run > LONG || (c.is_control() && !c.is_whitespace() && c != '\u{1b}') || c == '\u{fffd}');
    }
    unreadable * 2 < probed
}

/// Returns the text if it fits, else its first characters and `…`.
fn head(text: &str, max_chars: usize) -> String {
    let start = utf16::head(text, max_chars.saturating_add(64));
    let readable: String = start.chars().filter(|&c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    sheet::defuse(&sheet::shorten(&readable, max_chars))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinted(content_type: ContentType) -> Hints {
        Hints { content_type: Some(content_type), ..Hints::default() }
    }

    /// The argument of a case is the room for its summary, and the type, the path or the command of its text, if any.
    #[test]
    fn what_texts_are_told_as() {
        concertina_cases::check!("summaries", |text, argument| {
            let (room, hint) = argument.split_once(' ').unwrap_or((argument, ""));
            let content_type = ContentType::parse(hint);
            let hint = Some(hint.to_owned()).filter(|hint| !hint.is_empty() && content_type.is_none());
            let is_command = hint.as_ref().is_some_and(|hint| hint.contains(' '));
            let (path, command) = if is_command { (None, hint) } else { (hint, None) };
            let mut sheet = Sheet::new(room.parse().expect("a number of characters"));
            assert!(tell(text, &Hints { path, command, content_type, ..Hints::default() }, true, &mut sheet), "{text}");
            sheet.finish()
        });
    }

    #[test]
    fn a_text_that_fits_is_its_own_summary() {
        assert_eq!(summarize("{\"a\": 1}\n", &hinted(ContentType::Json), 300, true), "{\"a\": 1}\n");
        assert_eq!(summarize("", &Hints::default(), 0, true), "");
    }

    #[test]
    fn without_smart_the_head_is_kept() {
        let text = "word ".repeat(100);
        assert_eq!(summarize(&text, &hinted(ContentType::Log), 12, false), "word word…");
    }

    #[test]
    fn a_blob_is_shown_by_its_head() {
        let blob = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf".repeat(200);
        for (max_chars, most) in [(50, 50), (300, UNREAD_ROOM)] {
            let summary = summarize(&blob, &Hints::default(), max_chars, true);
            assert!(blob.starts_with(summary.trim_end_matches('…')), "{summary}");
            assert!(summary.ends_with('…'));
            assert!(summary.chars().count() <= most, "{summary}");
        }
    }

    #[test]
    fn a_quoted_marker_is_defused() {
        let markers =
            "[REF_ID: 0123456789abcdef] [[REWIND:sha256:0123456789abcdef]] [[[DEDUP_REF:1:0]] [[FOLD:x]] were said\n";
        let text = format!("{markers}{}", "more words here\n".repeat(40));
        for smart in [true, false] {
            let summary = summarize(&text, &hinted(ContentType::Text), 200, smart);
            assert!(summary.contains("0123456789abcdef") && !summary.contains("[[FOLD"), "{summary}");
            assert_eq!(crate::reference::find_markers(&summary).count(), 0, "{summary}");
        }
    }
}
