//! `# first line`, `# second line` -> `# [… 2 lines 7-8]`; at `max` removed.
//!
//! Comments on consecutive lines of their own form a run. Lines that are only a rule do not count: a title between two
//! rules is one line.

use std::ops::Range;

use super::change::{Change, whole_lines};
use super::directives::{is_directive, is_promise, words};
use super::view::View;
use crate::content::{Language, is_word_byte};
use crate::pipeline::syntax::{Comment, Reading};

/// The minimum size in bytes of a one-line comment that is replaced by a note.
const WORTH_BYTES: usize = 16;

/// The minimum size in bytes of several lines that are replaced by a note with their number.
const LINES_WORTH_BYTES: usize = 40;

/// Adds the changes that elide comments.
pub(super) fn elide(view: &View, reading: &Reading, changes: &mut Vec<Change>) {
    let comments = reading.comments(view.code);
    let stays = stays(view, &comments);
    let mut at = 0;
    while at < comments.len() {
        let mut end = at + 1;
        while end < comments.len() && !stays[at] && !stays[end] && follows(&comments[end - 1], &comments[end]) {
            end += 1;
        }
        if !stays[at] {
            changes.extend(elide_run(view, &comments[at..end]));
        }
        at = end;
    }
}

/// Returns for each comment whether it must be kept: directives, reminders, script metadata from `# /// script` to `#
/// ///`, and C code in Go.
fn stays(view: &View, comments: &[Comment]) -> Vec<bool> {
    let (mut in_promise, mut in_script) = (false, false);
    let mut stays: Vec<bool> = Vec::with_capacity(comments.len());
    for (index, comment) in comments.iter().enumerate() {
        let text = &view.code[comment.range.clone()];
        // A reminder extends to the end of its paragraph.
        let goes_on = in_promise && follows(&comments[index - 1], comment) && !words(text).is_empty();
        in_promise = goes_on || is_promise(text);
        in_script = view.syntax.language == Language::Python
            && (text.starts_with("# /// ") || in_script && follows(&comments[index - 1], comment));
        stays.push(in_promise || in_script || is_directive(text, view.syntax.language));
        in_script &= text.trim_end() != "# ///";
    }
    if view.syntax.language == Language::Go {
        // The comment before `import "C"` is C code.
        let mut is_preamble = false;
        for (index, comment) in comments.iter().enumerate().rev() {
            let following = view.code[comment.range.end..].trim_start();
            is_preamble = following.starts_with("import \"C\"")
                || (is_preamble && comments.get(index + 1).is_some_and(|next| follows(comment, next)));
            stays[index] |= is_preamble;
        }
    }
    stays
}

/// Returns true if a comment continues the run of the previous one.
fn follows(before: &Comment, comment: &Comment) -> bool {
    let whole = |comment: &Comment| comment.starts_line && comment.ends_line;
    whole(before) && whole(comment) && comment.rows.0 == before.rows.1 + 1
}

fn elide_run(view: &View, run: &[Comment]) -> Option<Change> {
    let (first, last) = (run.first()?, run.last()?);
    let range = first.range.start..last.range.end;
    let rows = (first.rows.0, last.rows.1);
    let is_rule = |comment: &&Comment| !view.code[comment.range.clone()].contains(char::is_alphanumeric);
    let mut telling = run.iter().filter(|comment| !is_rule(comment));
    let title = match (telling.next(), telling.next()) {
        (None, _) => return None,
        (Some(title), None) if title.rows.0 == title.rows.1 => Some(view.code[title.range.clone()].trim_end()),
        _ => None,
    };
    if let Some(title) = title.filter(|title| words(title).len() < WORTH_BYTES) {
        // A short title is kept, and only the rules around it are removed.
        return (run.len() > 1).then(|| Change::cleanup(range, title));
    }
    if view.max {
        return Some(remove(view, range, first.starts_line, last.ends_line, rows.1 - rows.0 + 1));
    }
    let bytes = telling_bytes(view, run);
    let words = match title {
        Some(_) => super::change::ONE_LINE.to_owned(),
        None if bytes < LINES_WORTH_BYTES => return None,
        None => view.elided(rows, bytes),
    };
    // The end of a line may belong to a macro, whose body would include a line comment.
    let is_line = first.starts_line || view.code[range.clone()].starts_with(view.syntax.line_comment);
    Some(Change::note(range, view.note(&words, is_line && last.ends_line)))
}

/// Returns the number of bytes of the lines that are not rules.
fn telling_bytes(view: &View, run: &[Comment]) -> usize {
    let lines = run.iter().flat_map(|comment| view.code[comment.range.clone()].lines());
    lines.filter(|line| line.contains(char::is_alphanumeric)).map(|line| words(line).len()).sum()
}

/// Removes a run, including the whole lines that contain nothing else.
fn remove(view: &View, range: Range<usize>, starts_line: bool, ends_line: bool, lines: usize) -> Change {
    if starts_line
        && ends_line
        && let Some(lines_range) = whole_lines(view.code, range.clone())
    {
        return Change::removal(lines_range, "", lines);
    }
    let code = view.code.as_bytes();
    let blanks = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let range = match (starts_line, ends_line) {
        (false, true) => range.start - blanks(&mut code[..range.start].iter().rev())..range.end,
        (true, false) => range.start..range.end + blanks(&mut code[range.end..].iter()),
        _ => range,
    };
    let is_word = |byte: Option<&u8>| byte.is_some_and(|&byte| is_word_byte(byte));
    let joins = range.start > 0 && is_word(code.get(range.start - 1)) && is_word(code.get(range.end));
    Change::removal(range, if joins { " " } else { "" }, lines)
}
