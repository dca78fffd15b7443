//! `\x1b[32m✓\x1b[0m a\r` -> `✓ a`: removes text that only a terminal uses.
//!
//! That is colours, titles, links, bars and spinners that were overwritten, and letters that were printed twice. In the
//! output of a command it is also long rules, blanks at line ends and runs of empty lines. Everything that a terminal
//! would show is kept. In a diff by words, colours are kept if only they show which words changed. Escapes in code that
//! was read from a file are kept.

mod shown_line;
mod tidy;

use std::ops::Range;

use super::super::bars::bars;
use crate::config::Preset;
use crate::content::escapes::{Control, control, has_controls, has_old_line_ends};
use crate::content::hints::of_command;
use crate::content::{ContentType, Segment};
use crate::pipeline::{Edit, FusionContext, Role};
use shown_line::{ShownLine, lines};
use tidy::{rule, tidied};

/// Types in which columns do not matter and blank lines only separate paragraphs.
const LOOSE: &[ContentType] = &[ContentType::Log, ContentType::Text, ContentType::Unknown];

/// Returns true if a text may contain noise.
pub(super) fn may_apply(context: &FusionContext) -> bool {
    has_controls(context.text) || is_printed(context) && context.has(LOOSE)
}

/// Returns the edits that remove the noise.
pub(super) fn edits(context: &FusionContext) -> Vec<Edit> {
    let is_plain = !has_controls(context.text) || has_old_line_ends(context.text);
    Cleaner::new(context).edits(lines(context.text, is_plain))
}

/// Returns true if a text was printed by a command and is not a file that may be edited.
fn is_printed(context: &FusionContext) -> bool {
    let hints = context.hints;
    let expected = hints.command.as_deref().and_then(of_command);
    let is_file = hints.path.is_some() || expected.is_some_and(|expected| expected.content_type != ContentType::Log);
    context.role == Role::Tool && (context.preset == Preset::Max || !is_file)
}

/// Collects the edits that replace lines by their visible text.
struct Cleaner<'a> {
    context: &'a FusionContext<'a>,
    is_printed: bool,
    /// True inside a diff.
    in_hunk: bool,
    /// The current run of blank lines and their number.
    blank: Option<(Range<usize>, usize)>,
    edits: Vec<Edit>,
}

impl<'a> Cleaner<'a> {
    fn new(context: &'a FusionContext<'a>) -> Self {
        Self { context, is_printed: is_printed(context), in_hunk: false, blank: None, edits: Vec::new() }
    }

    fn edits(mut self, lines: Vec<ShownLine>) -> Vec<Edit> {
        let text = self.context.text;
        let bars = bars(lines.iter().flat_map(|line| line.text(text).split('\n')).map(rule));
        let mut segments = self.context.segments.iter().peekable();
        let mut row = 0;
        for line in lines {
            let first = row;
            row += line.text(text).split('\n').count();
            while segments.next_if(|segment| segment.range.end <= line.source.start).is_some() {}
            if let Some(segment) = segments.peek() {
                self.clean(line, segment, &bars[first..row]);
            }
        }
        self.end_blank_lines();
        self.edits
    }

    fn clean(&mut self, line: ShownLine, segment: &Segment, bars: &[bool]) {
        let source = &self.context.text[line.source.clone()];
        let is_source = segment.content_type == ContentType::Code && self.context.hints.path.is_some();
        let tells = self.tells_by_colour(source, line.text(self.context.text));
        let shown = line.shown.filter(|_| !is_source && !tells);
        let is_loose = self.is_printed && LOOSE.contains(&segment.content_type);
        let text = shown.as_deref().unwrap_or(source);
        let text = if is_loose { tidied(text, bars) } else { text.into() };
        if is_loose && text.is_empty() {
            let (run, lines) = self.blank.get_or_insert((line.source.clone(), 0));
            run.end = line.source.end;
            *lines += 1;
            return;
        }
        self.end_blank_lines();
        if text != source {
            self.replace(line.source, &text);
        }
    }

    /// Replaces a run of blank lines by one empty line.
    fn end_blank_lines(&mut self) {
        if let Some((run, lines)) = self.blank.take()
            && (lines > 1 || !run.is_empty())
        {
            self.replace(run, "");
        }
    }

    /// Adds an edit for the part of a line that differs.
    fn replace(&mut self, range: Range<usize>, text: &str) {
        let source = &self.context.text[range.clone()];
        let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
            pairs.take_while(|(old, new)| old == new).map(|(old, _)| old.len_utf8()).sum()
        };
        let start = same(&mut source.chars().zip(text.chars()));
        let end = same(&mut source[start..].chars().rev().zip(text[start..].chars().rev()));
        let range = range.start + start..range.end - end;
        if self.context.is_free(&range) {
            self.edits.push(Edit::reversible(range, &text[start..text.len() - end]));
        }
    }

    /// Returns true if only colours tell what changed in a line of a diff: `git diff --word-diff=color` prints no
    /// signs.
    fn tells_by_colour(&mut self, source: &str, shown: &str) -> bool {
        if shown.starts_with("@@ ") {
            self.in_hunk = true;
        } else if shown.starts_with("diff ") {
            self.in_hunk = false;
        }
        self.in_hunk && !shown.starts_with(['+', '-']) && has_red_or_green(source)
    }
}

/// Returns true if a part of a line is red or green.
fn has_red_or_green(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'\x1b', bytes).any(|at| match control(&bytes[at..]) {
        Some((Control::Colour, len)) => {
            let mut parameters = bytes[at + 2..at + len - 1].split(|byte| *byte == b';');
            parameters.any(|parameter| matches!(parameter, b"31" | b"32" | b"91" | b"92"))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests;
