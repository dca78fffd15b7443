//! A code segment of a text -> the code in it, with a map of offsets and lines back to the text.
//!
//! Sealed ranges are replaced by blanks so that the rest can be parsed. Line numbers and other prefixes that a tool
//! printed are removed.

use std::borrow::Cow;
use std::ops::Range;

use super::languages::Syntax;
use crate::content::{ContentType, Language};
use crate::pipeline::FusionContext;
use crate::pipeline::prefixed_lines::PrefixedLines;
use crate::reference::find_markers;

/// Code with its position in the text.
pub(in crate::pipeline) struct Source<'a> {
    /// The code.
    pub code: Cow<'a, str>,
    prelude: usize,
    prelude_rows: usize,
    base: usize,
    first_line: usize,
    prefixed: Option<PrefixedLines>,
}

/// Returns the ranges of code in a text, each with its language. A sealed range within code does not split it.
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

impl<'a> Source<'a> {
    /// Reads the code in a range of the context's text. `first_line` is the 1-based line at which the range starts.
    pub(in crate::pipeline) fn of(
        context: &FusionContext<'a>,
        range: Range<usize>,
        first_line: usize,
        syntax: &Syntax,
    ) -> Self {
        let text = without_marker_line(&context.text[range.clone()]);
        let sealed = context.sealed.partition_point(|sealed| sealed.end <= range.start);
        let mut sealed = context.sealed[sealed..].iter().take_while(|sealed| sealed.start < range.end).peekable();
        let mut source = Self {
            code: Cow::Borrowed(text),
            prelude: 0,
            prelude_rows: 0,
            base: range.start,
            first_line,
            prefixed: None,
        };
        if sealed.peek().is_some() {
            let mut bytes = text.as_bytes().to_vec();
            for sealed in sealed {
                let end = sealed.end.saturating_sub(range.start).min(bytes.len());
                let start = sealed.start.saturating_sub(range.start).min(end);
                bytes[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            }
            source.code = Cow::Owned(String::from_utf8(bytes).expect("whole characters became blanks"));
        } else if let Some(prefixed) = PrefixedLines::of(text, range.start, first_line) {
            source.first_line = prefixed.first_line;
            source.code = Cow::Owned(prefixed.text.clone());
            source.prefixed = Some(prefixed);
        }
        if !syntax.prelude.is_empty() && !source.code.contains("<?") {
            source.code = Cow::Owned([syntax.prelude, &source.code].concat());
            (source.prelude, source.prelude_rows) = (syntax.prelude.len(), 1);
        }
        source
    }

    /// Maps a range of the code to the context's text.
    pub(in crate::pipeline) fn to_text(&self, range: &Range<usize>) -> Range<usize> {
        let (start, end) = (range.start.saturating_sub(self.prelude), range.end.saturating_sub(self.prelude));
        match &self.prefixed {
            Some(prefixed) => prefixed.to_text(&(start..end)),
            None => self.base + start..self.base + end,
        }
    }

    /// Maps 0-based rows of the code to 1-based lines of the context's text. Returns `None` if the tool printed line
    /// numbers, because these already say it.
    pub(in crate::pipeline) fn lines(&self, rows: (usize, usize)) -> Option<(usize, usize)> {
        let line = |row: usize| self.first_line + row - self.prelude_rows;
        self.prefixed.is_none().then(|| (line(rows.0), line(rows.1)))
    }
}

/// Returns the text without a marker line at its end.
fn without_marker_line(text: &str) -> &str {
    let start = text.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
    if find_markers(&text[start..]).any(|(range, _)| range.start == 0) { &text[..start] } else { text }
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
