//! `## Title` -> `[Title]`, `**bold**` -> `bold`, a Mermaid fence -> `[diagram removed]`; horizontal rules are
//! removed.
//!
//! A line in brackets is a title and is never changed.

use std::ops::Range;

use super::protected::is_diagram;
use crate::draft::{Change, Proposal, by_line};
use crate::{Kind, Token, blocks};

const DIAGRAM: &str = "[diagram removed]";

/// Returns true if a line is a title in brackets.
pub(super) fn is_title(line: &str) -> bool {
    line.starts_with('[') && line.trim_end().ends_with(']')
}

/// Returns true if the line at a place is indented. After a block it is code, and after prose it is not, so a block
/// before it must stay a block.
pub(super) fn is_indented(text: &str, at: usize) -> bool {
    text[at..].starts_with([' ', '\t'])
}

pub(super) fn headings(text: &str) -> Vec<Proposal> {
    let headings: Vec<Token> = blocks(text).filter(|block| block.kind == Kind::Heading).collect();
    if have_levels(text, &headings) {
        return Vec::new();
    }
    headings.into_iter().filter_map(|heading| bracketed(text, heading.range)).collect()
}

fn bracketed(text: &str, heading: Range<usize>) -> Option<Proposal> {
    let line = text[heading.clone()].lines().next()?;
    let is_underlined = text[heading.clone()].trim_end().contains('\n');
    let title = if is_underlined { line.trim() } else { line.trim().trim_start_matches('#').trim_start() };
    // A closing `##` is a mark when a blank stands before it.
    let title = match title.trim_end_matches('#') {
        rest if rest.len() < title.len() && rest.ends_with(' ') && !is_underlined => rest.trim_end(),
        _ => title,
    };
    if title.is_empty() || title.contains('\r') || is_indented(text, heading.end) {
        return None;
    }
    let start = heading.start + line.find(title)?;
    let end = start + title.len();
    let close = if text[end..heading.end].ends_with('\n') { "]\n" } else { "]" };
    // The blank line after a title is removed unless indented code follows.
    let next = text[heading.end..].trim_start_matches('\n');
    let goes = !next.is_empty() && !next.starts_with([' ', '\t']);
    let ends = if goes { text.len() - next.len() } else { heading.end };
    Some(vec![Change::new(heading.start..start, "["), Change::new(end..ends, close)])
}

/// Returns true if the levels of headings carry structure. A single top heading above all others does not.
fn have_levels(text: &str, headings: &[Token]) -> bool {
    let levels: Vec<usize> = headings.iter().map(|heading| level(&text[heading.range.clone()])).collect();
    let Some((first, rest)) = levels.split_first() else { return false };
    let top = rest.iter().min().unwrap_or(first);
    rest.iter().any(|level| level != top) || first > top
}

fn level(heading: &str) -> usize {
    let bare = heading.trim();
    match bare.bytes().take_while(|&byte| byte == b'#').count() {
        0 if bare.ends_with('=') => 1,
        0 => 2,
        marks => marks,
    }
}

pub(super) fn diagrams(text: &str) -> Vec<Proposal> {
    let fences = blocks(text).filter(|block| block.kind == Kind::Fence);
    let diagrams = fences.filter(|fence| is_diagram(&text[fence.range.clone()]));
    diagrams
        .map(|fence| {
            let end = match text[fence.range.clone()].ends_with('\n') {
                true if is_indented(text, fence.range.end) => "\n\n",
                true => "\n",
                false => "",
            };
            vec![Change::structural(fence.range, format!("{DIAGRAM}{end}"))]
        })
        .collect()
}

pub(super) fn horizontal_rules(text: &str) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let mut at = 0;
    let mut is_after_blank = false;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        // If a line follows directly, the rule may belong to front matter.
        let is_before_blank = text[end..].lines().next().is_none_or(|next| next.trim().is_empty());
        if is_after_blank && is_before_blank && is_rule(line.trim()) {
            let blank = text[end..].bytes().take_while(|&byte| byte == b'\n').count();
            proposals.push(vec![Change::new(at..end + blank, "")]);
        }
        is_after_blank = line.trim().is_empty();
        at = end;
    }
    proposals
}

fn is_rule(line: &str) -> bool {
    let Some(mark) = line.bytes().next().filter(|mark| matches!(mark, b'-' | b'*' | b'_')) else { return false };
    line.bytes().filter(|&byte| byte == mark).count() >= 3 && line.bytes().all(|byte| byte == mark || byte == b' ')
}

pub(super) fn emphasis(text: &str) -> Vec<Proposal> {
    let (mut marks, mut start) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let pairs = emphasized(line).into_iter().filter(|(outer, _)| !may_be_glob(&line[outer.clone()]));
        marks.extend(pairs.flat_map(|(outer, inner)| {
            [outer.start + start..inner.start + start, inner.end + start..outer.end + start]
        }));
        start += line.len();
    }
    marks.sort_unstable_by_key(|mark| mark.start);
    by_line(text, marks.into_iter().map(|mark| Change::new(mark, "")).collect())
}

/// Returns the emphasised parts of a line, with and without their asterisks: those in pairs that touch the text between
/// them, with blanks or punctuation outside. Words with underscores may be names, so they are none.
pub fn emphasized(line: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let bytes = line.as_bytes();
    let mut open: Vec<Range<usize>> = Vec::new();
    let mut pairs = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'*', b'`', &bytes[at..]) {
        let first = at + found;
        let len = bytes[first..].iter().take_while(|&&byte| byte == bytes[first]).count();
        at = first + len;
        if bytes[first] == b'`' {
            // Marks on both sides of code are no pair.
            match memchr::memmem::find(&bytes[at..], &bytes[first..at]) {
                Some(close) => at += close + len,
                None => break,
            }
            continue;
        }
        let before = first.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let after = bytes.get(at).copied().unwrap_or(b'\n');
        let is_outside = |byte: u8| byte.is_ascii_whitespace() || b"()[]\"',;:.!?-|".contains(&byte);
        // The asterisks in `(*)` and `*,` are literal.
        let may_begin = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"`\"'[".contains(&byte);
        let may_end = |byte: u8| may_begin(byte) && byte != b'[' || b")].:!?,%".contains(&byte);
        let closes = len <= 3 && is_outside(after) && may_end(before);
        if let Some(opened) = open.pop_if(|opened| closes && opened.len() == len) {
            pairs.push((opened.start..at, opened.end..first));
        } else if len <= 3 && is_outside(before) && may_begin(after) {
            // Deeper nesting is no emphasis.
            open.truncate(4);
            open.push(first..at);
        }
    }
    pairs
}

/// Returns true if a text with the asterisks around it may be a file pattern: `*secret*`.
fn may_be_glob(marked: &str) -> bool {
    !marked.starts_with("**") && !marked.contains([' ', '\t'])
}
