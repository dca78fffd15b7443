//! `| a    |  b  |` -> `| a | b |`, `**word**` -> `word`: removes blanks, empty lines and ornament that cost tokens
//! from prose.
//!
//! Nothing is changed inside code, settings, quotations or sentences about failures. The balanced preset leaves text
//! that was read from a file unchanged, because an editor needs it word for word.

use std::ops::Range;

use super::super::bars::bars;
use crate::config::Preset;
use crate::content::ContentType;
use crate::content::hints::of_command;
use crate::content::severity::{Severity, severity};
use crate::pipeline::{Edit, FusionContext};
use crate::prose::{Kind, Token, is_emphatic, tokenize, tokenize_inline};
use crate::rules::emphasized;

/// The most bytes of words whose emphasis is removed.
const EMPHASIS_MAX_BYTES: usize = 200;
/// The length to which a longer rule is shortened, in characters.
const RULE_CHARS: usize = 3;

/// Returns true if the preset and the source of the text allow the clean-up.
pub(super) fn may_apply(context: &FusionContext) -> bool {
    let is_file = context.hints.path.is_some() || context.hints.command.as_deref().and_then(of_command).is_some();
    let may = match context.preset {
        Preset::Lossless => false,
        Preset::Balanced => !is_file,
        Preset::Max => true,
    };
    may && context.has(&[ContentType::Text])
}

/// Returns the edits that clean up every text segment.
pub(super) fn edits(context: &FusionContext) -> Vec<Edit> {
    let mut edits = Vec::new();
    for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Text) {
        let cleaner = Cleaner::new(&context.text[segment.range.clone()]);
        edits.extend(cleaner.changes().into_iter().filter_map(|(range, text)| {
            let range = segment.range.start + range.start..segment.range.start + range.end;
            context.is_free(&range).then(|| Edit::reversible(range, text))
        }));
    }
    edits
}

struct Cleaner<'a> {
    text: &'a str,
    /// The spans that are not prose.
    spans: Vec<Token>,
}

impl<'a> Cleaner<'a> {
    fn new(text: &'a str) -> Self {
        let spans = tokenize(text).into_iter().filter(|token| token.kind != Kind::Prose).collect();
        Self { text, spans }
    }

    /// Returns the changed ranges with their new text: one for each line, and one for each run of empty lines.
    fn changes(&self) -> Vec<(Range<usize>, String)> {
        let mut changes = Vec::new();
        let mut spans = self.spans.iter().peekable();
        let (mut start, mut empty_from) = (0, None);
        let lines = || self.text.split_inclusive('\n');
        for (line, is_bar) in lines().zip(bars(lines().map(rule))) {
            let range = start..start + line.len();
            start = range.end;
            while spans.next_if(|span| span.range.end <= range.start).is_some() {}
            let block = spans.peek().filter(|span| span.range.start <= range.start && span.range.end >= range.end);
            let kind = block.map_or(Kind::Prose, |span| span.kind);
            let is_empty = line.trim().is_empty() && kind == Kind::Prose;
            if is_empty {
                empty_from.get_or_insert(range.start);
                continue;
            }
            if let Some(from) = empty_from.take() {
                changes.extend(fewer_empty_lines(&self.text[from..range.start]).map(|text| (from..range.start, text)));
            }
            if severity(line) > Severity::None || is_note(line) {
                continue;
            }
            let body = line.trim_end_matches(['\n', '\r']);
            let cleaned = match kind {
                Kind::TableRow => narrow_row(body),
                Kind::Prose => {
                    let inside: Vec<Range<usize>> = self.inside(&range, spans.clone());
                    let short_rule = rule(body).filter(|&(_, len)| !is_bar && len > RULE_CHARS);
                    short_rule.map_or_else(|| clean(body, &inside), |(stroke, _)| stroke.to_string().repeat(RULE_CHARS))
                }
                _ => continue,
            };
            if cleaned != body {
                changes.push((range.start..range.start + body.len(), cleaned));
            }
        }
        changes
    }

    /// Returns the spans inside a line, relative to its start.
    fn inside<'b>(&self, line: &Range<usize>, spans: impl Iterator<Item = &'b Token>) -> Vec<Range<usize>> {
        spans
            .take_while(|span| span.range.start < line.end)
            .map(|span| span.range.start.saturating_sub(line.start)..(span.range.end - line.start).min(line.len()))
            .collect()
    }
}

/// Returns true if this pipeline wrote the line, or if it looks so.
fn is_note(line: &str) -> bool {
    line.contains("[[") || line.contains("[… ")
}

/// Returns the single line end that replaces a run of empty lines, or `None` if the run is one line long.
fn fewer_empty_lines(run: &str) -> Option<String> {
    let end = if run.contains("\r\n") { "\r\n" } else { "\n" };
    (run.len() > end.len()).then(|| end.to_owned())
}

/// Returns the character and the length in bytes of a line that consists of a rule only.
fn rule(line: &str) -> Option<(char, usize)> {
    let line = line.trim_end();
    let first = line.chars().next().filter(|c| matches!(c, '-' | '=' | '_' | '#'))?;
    line.chars().all(|c| c == first).then_some((first, line.len()))
}

/// Returns a line without trailing blanks, unusual spaces and ornament. The ranges in `inside` are left unchanged.
fn clean(line: &str, inside: &[Range<usize>]) -> String {
    let emphasis = emphasis(line, inside);
    let mut inside = inside.iter().peekable();
    let mut emphasis = emphasis.iter().peekable();
    let mut cleaned = String::with_capacity(line.len());
    let mut blanks = 0..0;
    // The last character that was kept and is not a blank.
    let mut last = ' ';
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        while inside.next_if(|span| span.end <= at).is_some() {}
        let is_inside = inside.peek().is_some_and(|span| span.start <= at);
        if !is_inside && emphasis.next_if(|mark| **mark == at).is_some() {
            chars.next();
        } else if !is_inside && is_odd_space(c) {
            cleaned.push(' ');
        } else if !is_inside && is_invisible(c) {
            continue;
        } else if !is_inside && c == ' ' && at == blanks.end && at > 0 && blanks.end > blanks.start {
            // `end.  Next`: one blank is enough after the end of a sentence.
            blanks.end = at + 1;
            if !matches!(last, '.' | '!' | '?') {
                cleaned.push(c);
            }
            continue;
        } else {
            cleaned.push(c);
            last = if c == ' ' { last } else { c };
        }
        blanks = if c == ' ' { at..at + 1 } else { 0..0 };
    }
    cleaned.truncate(cleaned.trim_end_matches([' ', '\t']).len());
    cleaned
}

fn is_odd_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}')
}

/// Returns true for characters without width or meaning. Joiners have a meaning.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Returns the positions of the `**` of decorative emphasis: around a part of a line, and not around words that a
/// reader has to heed.
fn emphasis(line: &str, inside: &[Range<usize>]) -> Vec<usize> {
    let is_free = |at: usize| {
        let next = inside.partition_point(|span| span.end <= at);
        inside.get(next).is_none_or(|span| span.start >= at + 2)
    };
    let is_whole = |part: &Range<usize>| line[..part.start].trim().is_empty() && line[part.end..].trim().is_empty();
    let mut marks = Vec::new();
    for (outer, inner) in emphasized(line) {
        let is_decoration = inner.start - outer.start == 2
            && is_free(outer.start)
            && is_free(inner.end)
            && outer.len() <= EMPHASIS_MAX_BYTES
            && !is_whole(&outer)
            && !is_emphatic(&line[inner.clone()]);
        if is_decoration {
            marks.extend([outer.start, inner.end]);
        }
    }
    marks.sort_unstable();
    marks
}

/// Returns a Markdown row with one blank around each cell, and with rules of three dashes.
fn narrow_row(row: &str) -> String {
    let trimmed = row.trim_end();
    if !trimmed.trim_start().starts_with('|') || !trimmed.ends_with('|') || trimmed.len() < 2 {
        return row.to_owned();
    }
    let code: Vec<Range<usize>> = tokenize_inline(row)
        .into_iter()
        .filter(|token| token.kind == Kind::InlineCode)
        .map(|token| token.range)
        .collect();
    let is_bar = |at: &usize| {
        let next = code.partition_point(|span| span.end <= *at);
        !row[..*at].ends_with('\\') && code.get(next).is_none_or(|span| span.start > *at)
    };
    let bars: Vec<usize> = memchr::memchr_iter(b'|', trimmed.as_bytes()).filter(is_bar).collect();
    let mut narrow = String::with_capacity(row.len());
    narrow.push_str(&row[..=bars.first().copied().unwrap_or(0)]);
    for pair in bars.windows(2) {
        let cell = &row[pair[0] + 1..pair[1]];
        narrow.push_str(&narrow_cell(cell));
        narrow.push('|');
    }
    match bars.last() {
        Some(&last) if last + 1 == trimmed.len() => narrow,
        _ => row.to_owned(),
    }
}

fn narrow_cell(cell: &str) -> String {
    let trimmed = cell.trim_matches([' ', '\t']);
    let dashes = trimmed.trim_matches(':');
    if dashes.len() >= 3 && dashes.bytes().all(|byte| byte == b'-') {
        return trimmed.replace(dashes, "---");
    }
    let pad = |is_padded: bool| if is_padded { " " } else { "" };
    match trimmed {
        "" => pad(!cell.is_empty()).to_owned(),
        _ => [pad(cell.starts_with([' ', '\t'])), trimmed, pad(cell.ends_with([' ', '\t']))].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        let mut cleaned = text.to_owned();
        for (range, new) in Cleaner::new(text).changes().into_iter().rev() {
            cleaned.replace_range(range, &new);
        }
        cleaned
    }

    #[test]
    fn blanks_and_ornament_go() {
        for (text, expected) in [
            ("a line  \nanother\t\n", "a line\nanother\n"),
            ("one\n\n\n\ntwo\n", "one\n\ntwo\n"),
            ("one\r\n\r\n\r\ntwo\r\n", "one\r\n\r\ntwo\r\n"),
            ("a\u{a0}b\u{200b}c\u{feff}", "a bc"),
            ("One.  Two.   Three", "One. Two. Three"),
            ("- **name**: the **bold `code`** here", "- name: the bold `code` here"),
            ("| a    |  b  |\n|------|:---:|\n| `x | y`  | \\|   |\n", "| a | b |\n|---|:---:|\n| `x | y` | \\| |\n"),
            ("Text\n\n----------\n\nmore", "Text\n\n---\n\nmore"),
        ] {
            assert_eq!(cleaned(text), expected, "{text:?}");
            assert_eq!(cleaned(expected), expected, "{expected:?}");
        }
    }

    #[test]
    fn what_means_something_stays() {
        for text in [
            "```\na  \n\n\n\n**b**\n```\n",
            "    code  \n\n",
            "name: a  \nother: b  \n",
            "You **must not** do it, **never**.",
            "**A heading**",
            "the **kwargs and **opts of 2 ** 3",
            "a/**/b and **/c",
            "col a   col b   col c",
            "**ERROR** it failed  ",
            "a | b",
            "👩\u{200d}🚀 joined",
            "a chart\n\n==========\n======\n\n",
            "f(a, b)\n~~~~^~~\n~~~~~~~\n",
            "words\n\n**********\n",
        ] {
            assert_eq!(cleaned(text), text, "{text:?}");
        }
    }

    #[test]
    fn nothing_gets_longer() {
        for part in ["**a** ", "** ", "| a ", "` ", "\n", " ", "- "] {
            let text = part.repeat(200_000 / part.len());
            assert!(cleaned(&text).len() <= text.len(), "{part:?}");
        }
    }
}
