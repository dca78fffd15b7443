//! A code segment of a text -> the bare code in it, and offsets and lines back.
//!
//! What other stages sealed is blanked, so that the rest still parses; the line numbers that a tool printed before the lines are
//! taken off. Changes of the code must stay within a line's text, or begin and end with whole lines, or replace what lies
//! between two such places.

use std::borrow::Cow;
use std::ops::Range;

use super::languages::Syntax;
use crate::content::numbered::NumberedLine;
use crate::content::{ContentType, Language};
use crate::pipeline::FusionContext;
use crate::reference::find_markers;

/// Bare code and where it came from.
pub(in crate::pipeline) struct Source<'a> {
    /// The code.
    pub code: Cow<'a, str>,
    prelude: usize,
    prelude_rows: usize,
    base: usize,
    first_line: usize,
    rows: Option<Vec<Row>>,
}

/// The code in a text, each piece with its language. What an earlier stage sealed within a piece does not end it.
pub(in crate::pipeline) fn pieces(context: &FusionContext) -> Vec<(Range<usize>, Language)> {
    let mut pieces: Vec<(Range<usize>, Language)> = Vec::new();
    let mut joins = false;
    for segment in context.segments {
        let language = segment.language.or(context.language);
        match (segment.content_type, language) {
            (ContentType::Code, Some(language)) => {
                match pieces.last_mut().filter(|(_, before)| joins && *before == language) {
                    Some((range, _)) => range.end = segment.range.end,
                    None => pieces.push((segment.range.clone(), language)),
                }
                joins = true;
            }
            (content_type, _) => {
                joins &= content_type == ContentType::Unknown && !context.is_free(&segment.range);
            }
        }
    }
    pieces
}

/// A line of a numbered listing.
struct Row {
    /// Where its text starts in the code.
    code: usize,
    /// Where it starts in the text.
    line: usize,
    /// Where its text starts in the text.
    text: usize,
}

impl<'a> Source<'a> {
    /// The code in a range of the context's text that starts with line `first_line`, from 1.
    pub(in crate::pipeline) fn of(
        context: &FusionContext<'a>,
        range: Range<usize>,
        first_line: usize,
        syntax: &Syntax,
    ) -> Self {
        let text = without_marker_line(&context.text[range.clone()]);
        let sealed = context.sealed.partition_point(|sealed| sealed.end <= range.start);
        let mut sealed = context.sealed[sealed..].iter().take_while(|sealed| sealed.start < range.end).peekable();
        let mut source =
            Self { code: Cow::Borrowed(text), prelude: 0, prelude_rows: 0, base: range.start, first_line, rows: None };
        if sealed.peek().is_some() {
            let mut bytes = text.as_bytes().to_vec();
            for sealed in sealed {
                let end = sealed.end.saturating_sub(range.start).min(bytes.len());
                let start = sealed.start.saturating_sub(range.start).min(end);
                bytes[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            }
            source.code = Cow::Owned(String::from_utf8(bytes).expect("whole characters became blanks"));
        } else if let Some((code, rows)) = listing(text, range.start) {
            (source.code, source.rows) = (Cow::Owned(code), Some(rows));
        }
        if !syntax.prelude.is_empty() && !source.code.contains("<?") {
            source.code = Cow::Owned([syntax.prelude, &source.code].concat());
            (source.prelude, source.prelude_rows) = (syntax.prelude.len(), 1);
        }
        source
    }

    /// The range of the context's text that a range of the code came from.
    pub(in crate::pipeline) fn to_text(&self, range: &Range<usize>) -> Range<usize> {
        let (start, end) = (range.start.saturating_sub(self.prelude), range.end.saturating_sub(self.prelude));
        let Some(rows) = &self.rows else { return self.base + start..self.base + end };
        let row = |at: usize| &rows[rows.partition_point(|row| row.code <= at).saturating_sub(1)];
        let is_line_start = |at: usize| row(at).code == at;
        if is_line_start(start) && is_line_start(end) && start < end {
            return row(start).line..row(end).line;
        }
        let place = |at: usize| row(at).text + (at - row(at).code);
        place(start)..place(end)
    }

    /// The lines of the context's text, from 1, for rows of the code, from 0; `None` where the numbers that the tool printed
    /// say it.
    pub(in crate::pipeline) fn lines(&self, rows: (usize, usize)) -> Option<(usize, usize)> {
        let line = |row: usize| self.first_line + row - self.prelude_rows;
        self.rows.is_none().then(|| (line(rows.0), line(rows.1)))
    }
}

/// The text without a last line that names an original.
fn without_marker_line(text: &str) -> &str {
    let start = text.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
    if find_markers(&text[start..]).any(|(range, _)| range.start == 0) { &text[..start] } else { text }
}

/// The code in a listing whose lines are numbered one after the other, but for lines before the first and behind the last.
fn listing(text: &str, base: usize) -> Option<(String, Vec<Row>)> {
    let mut code = String::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut last = None;
    let mut ended = false;
    let mut at = base;
    for line in text.split_inclusive('\n') {
        match NumberedLine::parse(line.trim_end_matches('\n')) {
            Some(found) if !ended && last.is_none_or(|last| found.number == last + 1) => {
                rows.push(Row { code: code.len(), line: at, text: at + found.prefix.len() });
                code.push_str(&line[found.prefix.len()..]);
                last = Some(found.number);
            }
            Some(_) => return None,
            None => ended = last.is_some(),
        }
        if ended && rows.last().is_some_and(|row| row.code != code.len()) {
            rows.push(Row { code: code.len(), line: at, text: at });
        }
        at += line.len();
    }
    if !ended {
        rows.push(Row { code: code.len(), line: at, text: at });
    }
    (rows.len() > 2).then_some((code, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::content::Segment;

    fn with_source(text: &str, sealed: &[Range<usize>], language: Language, check: impl FnOnce(Source)) {
        let context = FusionContext {
            content_type: ContentType::Code,
            language: Some(language),
            sealed,
            ..FusionContext::of(text, &[])
        };
        check(Source::of(&context, 0..text.len(), 1, Syntax::of(language)));
    }

    #[test]
    fn a_numbered_listing_maps_back_to_its_lines() {
        let text = "[File: a.py]\n     7→def f():\n     8→    pass\n     9→\n    10→x = 1\n(2 more lines)\n";
        with_source(text, &[], Language::Python, |source| {
            assert_eq!(source.code, "def f():\n    pass\n\nx = 1\n");
            let at = source.code.find("pass").unwrap();
            assert_eq!(&text[source.to_text(&(at..at + 4))], "pass");
            let lines = source.to_text(&(9..18));
            assert_eq!(&text[lines], "     8→    pass\n");
            assert_eq!(&text[source.to_text(&(19..25))], "    10→x = 1\n");
            assert_eq!(source.lines((1, 1)), None);
        });
    }

    #[test]
    fn sealed_parts_and_marker_lines_are_not_parsed() {
        let text = "a = 1\n[[FOLD:x 1]]\nb\u{e9}\nc = 2\n[[REWIND:sha256:0123456789abcdef]] original: 9 lines";
        let sealed = 6..text.find("\nc").unwrap();
        with_source(text, &[sealed], Language::Python, |source| {
            assert_eq!(source.code.split_whitespace().collect::<Vec<_>>(), ["a", "=", "1", "c", "=", "2"]);
            let at = source.code.find('c').unwrap();
            assert_eq!(&text[source.to_text(&(at..at + 5))], "c = 2");
            assert_eq!(source.lines((3, 3)), Some((4, 4)));
        });
    }

    #[test]
    fn a_fold_does_not_end_a_piece_of_code_and_prose_does() {
        use ContentType::{Code, Text, Unknown};
        let text = " ".repeat(60);
        let segment = |range, content_type| Segment { range, content_type, language: None };
        let segments = [
            segment(0..10, Code),
            segment(10..20, Unknown),
            segment(20..30, Code),
            segment(30..40, Unknown),
            segment(40..45, Code),
            segment(45..50, Text),
            segment(50..60, Code),
        ];
        let context = FusionContext {
            content_type: Code,
            language: Some(Language::Go),
            sealed: std::slice::from_ref(&(10..19)),
            ..FusionContext::of(&text, &segments)
        };
        let ranges: Vec<_> = pieces(&context).into_iter().map(|(range, _)| range).collect();
        assert_eq!(ranges, [0..30, 40..45, 50..60]);
    }

    #[test]
    fn a_fragment_of_php_is_code_and_keeps_its_places() {
        with_source("$a = 1;\n$b = 2;\n", &[], Language::Php, |source| {
            assert_eq!(source.code, "<?php\n$a = 1;\n$b = 2;\n");
            assert_eq!(source.to_text(&(6..8)), 0..2);
            assert_eq!(source.lines((1, 1)), Some((1, 1)));
        });
    }
}
