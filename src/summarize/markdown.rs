//! Markdown -> outline of its headings.
//!
//! The crate `prose` finds headings, code blocks and front matter: a `#` inside a fence is a comment.

use super::log::is_tap;
use super::numbers::{which_lines, without_numbers};
use super::sheet::{MOST_ITEMS, Sheet, quote};
use crate::content::blocks::{BlockKind as Kind, blocks};
use crate::content::markup_block::{has_emphasis, has_link, is_markdown_rule, without_list_mark};
use crate::content::severity::{Severity, severity};
use crate::tokens::utf16;

/// The number of first lines that decide whether a text is Markdown.
const PROBED: usize = 400;

/// The minimum number of lines with a warning or an error, and their minimum share in percent, that make a text with
/// headings a report. Chosen by judgement.
const REPORTED: (usize, usize) = (3, 5);

/// Returns true if a text has several headings and at least one other mark of Markdown, and is not a report of
/// problems. In TAP and in configuration files, `#` opens a comment: half of the headings must have two `#`, or be
/// underlined.
pub(super) fn is_markdown(text: &str) -> bool {
    if is_tap(text) {
        return false;
    }
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(PROBED).unwrap_or(text.len());
    let page = without_numbers(&text[..end]);
    let problems = page.lines().filter(|line| severity(line) >= Severity::Warning).count();
    if problems >= REPORTED.0 && problems * 100 >= page.lines().count() * REPORTED.1 {
        return false;
    }
    let (mut headings, mut certain, mut has_mark) = (0, 0, false);
    for block in blocks(&page) {
        match block.kind {
            Kind::Heading => {
                headings += 1;
                let words = &page[block.range];
                certain += usize::from(words.starts_with("##") || !words.starts_with('#'));
            }
            Kind::Fence => has_mark = true,
            _ => has_mark |= page[block.range].lines().any(has_mark_of_markdown),
        }
    }
    headings > 1 && certain * 2 >= headings && has_mark
}

fn has_mark_of_markdown(line: &str) -> bool {
    let line = line.trim();
    without_list_mark(line).len() < line.len() || has_link(line) || has_emphasis(line) || is_markdown_rule(line)
}

/// Writes the summary, and returns false if there is no heading.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let page = without_numbers(text);
    let headings = blocks(&page).filter(|block| block.kind == Kind::Heading);
    let headings: Vec<(usize, &str)> =
        headings.filter_map(|block| heading(&page[block.range])).take(MOST_ITEMS).collect();
    if headings.is_empty() {
        return false;
    }
    sheet.say(&format!("Markdown, {}", which_lines(text)));
    sheet.list("outline:", &outline(&headings, sheet.share(60)), sheet.share(60));
    true
}

/// Returns the headings down to the deepest level that fits.
fn outline(headings: &[(usize, &str)], room: usize) -> Vec<String> {
    let written: Vec<(usize, String)> = headings
        .iter()
        .map(|(level, title)| (*level, format!("{} {}", "#".repeat(*level), quote(&title.replace("**", ""), 60))))
        .collect();
    let cost = |deepest: usize| -> usize {
        written.iter().filter(|(level, _)| *level <= deepest).map(|(_, words)| utf16::len(words) + 2).sum()
    };
    let top = headings.iter().map(|(level, _)| *level).min().unwrap_or(1);
    let deepest = (top..=6).rev().find(|&deepest| cost(deepest) + 9 <= room);
    // A title alone is not an outline; in that case the next level is truncated instead.
    let least = if headings.iter().filter(|(level, _)| *level == top).count() == 1 { top + 1 } else { top };
    let deepest = deepest.unwrap_or(top).max(least);
    written.into_iter().filter(|(level, _)| *level <= deepest).map(|(_, words)| words).collect()
}

/// Returns the level and the title of a heading: `## Title ##`, or a line with `===` or `---` below it.
fn heading(words: &str) -> Option<(usize, &str)> {
    let (title, underline) = words.trim().split_once('\n').unwrap_or((words.trim(), ""));
    let level = match underline.trim_start().bytes().next() {
        Some(b'=') => 1,
        Some(_) => 2,
        None => title.bytes().take_while(|&byte| byte == b'#').count(),
    };
    let title = if underline.is_empty() { title[level..].trim().trim_end_matches('#') } else { title }.trim_end();
    (!title.is_empty()).then_some((level, title))
}
