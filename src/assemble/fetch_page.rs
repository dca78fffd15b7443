//! The part of an original that a fetch asks for, and the line that states its range.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::fetch_request::RequestedPart;
use super::line_matcher::LineMatcher;
use super::numbered_lines::{NumberedLines, render_arguments};
use crate::reference::{FETCH_TOOL, RefId};

/// The number of lines shown before and after a matching line, as with `grep -C 2`. Chosen by judgement.
const CONTEXT_LINES: usize = 2;

/// Characters reserved for the line that states the range: its longest wording.
const NOTE_CHARS: usize = 190;

/// Additional characters reserved where line numbers are not positions: the longest wording about their numbering.
const NUMBERING_NOTE_CHARS: usize = 60;

/// The minimum number of characters of a page: the reserved line and something to read.
const PAGE_MIN_CHARS: usize = 200;

/// The number of characters of a matching line that are shown on each side of the match. Chosen by judgement.
const MATCH_CONTEXT_CHARS: usize = 200;

/// Returns the number of characters that an answer has for lines.
fn page_budget(lines: &NumberedLines, max_chars: usize) -> usize {
    let note = NOTE_CHARS + if lines.numbering().is_empty() { 0 } else { NUMBERING_NOTE_CHARS };
    max_chars.saturating_sub(note).max(PAGE_MIN_CHARS - NOTE_CHARS)
}

/// An original from which parts are taken.
pub(super) struct OriginalText<'a> {
    pub(super) id: &'a RefId,
    pub(super) text: &'a str,
    /// The words that say that the host cut it, if it did.
    pub(super) cut: Option<&'a str>,
    pub(super) is_arguments: bool,
}

impl OriginalText<'_> {
    /// Returns the requested part, or as much of it as fits. The result is longer than `max_chars` only if no page fits
    /// at all.
    pub(super) fn part(&self, requested: &RequestedPart, max_chars: usize) -> String {
        if requested.is_whole() && self.text.chars().count() <= max_chars {
            return self.text.to_owned();
        }
        let max_chars = max_chars.max(PAGE_MIN_CHARS);
        // Character ranges always refer to the original itself.
        let by_line = requested.matcher.is_some() || requested.lines.is_some();
        let rendering = if self.is_arguments && by_line { render_arguments(self.text) } else { None };
        let lines = || rendering.as_deref().map_or_else(|| NumberedLines::of(self.text), NumberedLines::of_rendering);
        match (&requested.matcher, &requested.lines, &requested.characters) {
            (Some(matcher), requested, _) => self.matching_lines(&lines(), matcher, requested.as_ref(), max_chars),
            (None, Some(requested), _) => self.line_page(&lines(), requested, max_chars),
            (None, None, Some(characters)) => self.character_page(characters, max_chars),
            (None, None, None) => self.first_page(max_chars),
        }
    }

    /// Returns the largest head of whole lines. Returns a head of characters instead if the first line alone is too
    /// long or the original is arguments.
    fn first_page(&self, max_chars: usize) -> String {
        let first_line = self.text.split_inclusive('\n').next().unwrap_or_default();
        if self.is_arguments || first_line.chars().count() > max_chars.saturating_sub(NOTE_CHARS) {
            self.character_page(&(1..=usize::MAX), max_chars)
        } else {
            // A listing may begin with the number 0.
            self.line_page(&NumberedLines::of(self.text), &(0..=usize::MAX), max_chars)
        }
    }

    fn line_page(&self, lines: &NumberedLines, requested: &RangeInclusive<usize>, max_chars: usize) -> String {
        let (selected, is_by_position) = lines.find(requested);
        if selected.is_empty() {
            let (first, last) = (requested.start(), requested.end());
            let absent = if *last == usize::MAX { format!("{first} and after") } else { format!("{first}-{last}") };
            return format!("The original {} has {}; lines {absent} do not exist.", self.id, lines.count());
        }
        let budget = page_budget(lines, max_chars);
        let (mut page, mut used, mut end) = (String::new(), 0, selected.start);
        for line in &lines.all[selected.clone()] {
            used += line.text.chars().count();
            if used > budget {
                break;
            }
            page.push_str(line.text);
            end += 1;
        }
        let is_cut = end == selected.start;
        let next_is_long = lines.all[end..selected.end].first().is_some_and(|line| line.text.chars().count() > budget);
        // A line that fits no page is paged by characters, together with the few lines before it, which are not worth a
        // call of their own.
        if next_is_long && page.chars().count() * 2 < budget && !lines.is_rendering() {
            let start = lines.all[..selected.start].iter().map(|line| line.text.chars().count()).sum::<usize>() + 1;
            return self.character_page(&(start..=usize::MAX), max_chars);
        }
        if is_cut {
            page.extend(lines.all[end].text.chars().take(budget));
            end += 1;
        }
        let range_words =
            lines.describe(&(selected.start..end), is_by_position) + if is_cut { "; the line is cut" } else { "" };
        let next = lines.all[end..selected.end].first().map(|line| line.number.to_string());
        self.append_range_note(&mut page, &range_words, next.as_deref(), end == lines.all.len());
        page
    }

    fn character_page(&self, characters: &RangeInclusive<usize>, max_chars: usize) -> String {
        let total = self.text.chars().count();
        let (first, selected) = (*characters.start(), (*characters.end()).min(total));
        if first > total {
            return format!(
                "The original {} has {total} characters; characters {first} and after do not exist.",
                self.id
            );
        }
        let budget = max_chars.saturating_sub(NOTE_CHARS).max(1);
        let mut page: String = self.text.chars().skip(first - 1).take((selected - first + 1).min(budget)).collect();
        let last = first - 1 + page.chars().count();
        let next = (last < selected).then(|| format!("c{}", last + 1));
        self.append_range_note(&mut page, &format!("chars {first}-{last} of {total}"), next.as_deref(), last == total);
        page
    }

    /// Appends the line that states the range of a page and the call that continues, and at the end of an original the
    /// note that the host cut it.
    fn append_range_note(&self, page: &mut String, range_words: &str, next: Option<&str>, is_end: bool) {
        if !page.ends_with('\n') {
            page.push('\n');
        }
        let _ = write!(page, "[{range_words}");
        if let Some(next) = next {
            let _ = write!(page, r#"; continue with {FETCH_TOOL} {{"ref_ids":["{}:{next}-"]}}"#, self.id);
        }
        if let Some(words) = self.cut.filter(|_| is_end) {
            let _ = write!(page, "; {words}");
        }
        page.push(']');
    }

    /// Returns the matching lines with their numbers, as `grep -n -C 2` prints them.
    fn matching_lines(
        &self,
        lines: &NumberedLines,
        matcher: &LineMatcher,
        requested: Option<&RangeInclusive<usize>>,
        max_chars: usize,
    ) -> String {
        let all = &lines.all;
        let requested = requested.map_or(0..all.len(), |requested| lines.find(requested).0);
        let least = matcher.most(all[requested.clone()].iter().flat_map(|line| line.text.lines()));
        // A numbered line of a listing may have unnumbered lines below it.
        let find_match = |at: usize| all[at].text.lines().find_map(|row| Some((row, matcher.find(row, least)?)));
        let matching: Vec<usize> = requested.filter(|&at| find_match(at).is_some()).collect();
        if matching.is_empty() {
            return format!("No line of the original {} ({}) matches.", self.id, lines.count());
        }
        let budget = page_budget(lines, max_chars);
        let (mut page, mut used, mut next, mut shown) = (String::new(), 0, 0, 0);
        for &hit in &matching {
            let mut piece = String::new();
            let first = hit.saturating_sub(CONTEXT_LINES).max(next);
            if first > next && next > 0 {
                piece.push_str("--\n");
            }
            let last = (hit + CONTEXT_LINES).min(all.len() - 1);
            for line in all.iter().take(last + 1).skip(first) {
                for row in line.text.lines() {
                    let match_start = matcher.find(row, least);
                    let separator = if match_start.is_some() { ':' } else { '-' };
                    let _ =
                        writeln!(piece, "{}{separator}{}", line.number, shorten_around(row, match_start.unwrap_or(0)));
                }
            }
            if used + piece.chars().count() > budget {
                if shown > 0 {
                    break;
                }
                // Even one match with its context is too long: show as much of its line as fits.
                let (row, at) = find_match(hit).unwrap_or_default();
                page = format!("{}:{}", all[hit].number, shorten_around(row, at))
                    .chars()
                    .take(budget.saturating_sub(1))
                    .collect();
                page.push('\n');
                shown = 1;
                break;
            }
            used += piece.chars().count();
            page.push_str(&piece);
            next = next.max(last + 1);
            shown += 1;
        }
        let _ = write!(page, "[{shown} of {} {}{}", matching.len(), matcher.describe(least), lines.numbering());
        if shown < matching.len() {
            let _ = write!(page, "; continue with {}", matcher.continuation(self.id, all[matching[shown]].number));
        }
        page.push(']');
        page
    }
}

/// Returns a line that is short enough to show: 400 characters around a byte offset, with `…` where it was cut.
fn shorten_around(line: &str, at: usize) -> String {
    let start = line[..at].char_indices().rev().nth(MATCH_CONTEXT_CHARS - 1).map_or(0, |(start, _)| start);
    let end = line[at..].char_indices().nth(MATCH_CONTEXT_CHARS).map_or(line.len(), |(end, _)| at + end);
    let cut = |cut: bool| if cut { "…" } else { "" };
    format!("{}{}{}", cut(start > 0), &line[start..end], cut(end < line.len()))
}
