//! Splits a text of several outputs into its parts and detects each of them.
//!
//! Headings split first, blank lines last, and only if the parts are of several kinds: a log with rules in it is one
//! log. A heading is a segment of its own and gives the hints for the text below it.

use std::ops::Range;

use super::command_line::{Heading, Strength, is_rule};
use super::page::{PageLine, Question, View};
use super::prose_shape::is_markdown;
use super::{Kind, find};
use crate::json_span::Budget;
use crate::numbered::NumberedLine;
use crate::{ContentType, Detection, Hints, Language, Segment, diff_hunk, html};

/// The maximum number of parts. A text with more parts is not several outputs.
const MAX_PARTS: usize = 400;
/// The minimum number of lines of an output, unless a heading says what they are.
const MIN_LINES: usize = 2;
/// The minimum number of lines of an output between blank lines.
const MIN_PARAGRAPH: usize = 3;

/// A part of a text.
#[derive(Debug)]
struct Part {
    range: Range<usize>,
    is_heading: bool,
    /// True if a heading above gives a hint and names a file.
    is_announced: bool,
    is_file: bool,
    /// Its kind; unknown for a heading.
    kind: Kind,
    /// The number of lines that are not blank.
    lines: usize,
}

impl Part {
    /// Creates a body below a heading with hints. Blank lines without other lines belong to the heading above them.
    fn of(body: View, hints: &Hints) -> Self {
        let lines = body.filled().count();
        let kind = if lines == 0 { Kind::UNKNOWN } else { find(body, hints) };
        let (is_announced, is_file) = (*hints != Hints::default(), hints.path.is_some());
        Self { range: body.range(), is_heading: lines == 0, is_announced, is_file, kind, lines }
    }

    fn heading(range: Range<usize>) -> Self {
        Self { range, is_heading: true, is_announced: false, is_file: false, kind: Kind::UNKNOWN, lines: 0 }
    }

    /// Returns true if it is large enough, or announced, to be an output.
    fn counts(&self) -> bool {
        !self.is_heading && (self.lines >= MIN_LINES || self.is_announced)
    }

    /// Returns true if structure, not words, determines its kind.
    fn is_structured(&self) -> bool {
        use ContentType::{Diff, Html, Json, Log, Search, Table};
        self.counts() && matches!(self.kind.content_type, Diff | Html | Json | Log | Search | Table)
    }
}

/// Detects a text of several outputs; returns `None` if the text is of one kind. `whole` is its kind as one output.
pub(super) fn detect(view: View, whole: Kind, hints: &Hints) -> Option<Detection> {
    use ContentType::{Log, Table, Text, Unknown};
    // A file that matches its name is one output, and so is a table with blank lines in its cells.
    let is_promised = hints.path.is_some() && !matches!(whole.content_type, Unknown | Log | Text);
    if is_promised || whole.content_type == Table && whole.is_proved {
        return None;
    }
    let parts = parts(view, whole)?;
    let (content_type, language) = prevailing(&parts);
    let segments = parts.iter().flat_map(|part| match part.is_heading {
        true => vec![Segment { range: part.range.clone(), content_type: Unknown, language: None }],
        false => part.kind.segments(view.within(part.range.clone())),
    });
    Some(Detection { content_type, language, segments: segments.collect() })
}

/// Splits a text at sure headings, and the text between them by the other rules.
fn parts(view: View, whole: Kind) -> Option<Vec<Part>> {
    let is_apart = |parts: &Vec<Part>| are_outputs(parts, whole, is_manual(view, whole), view.range().len());
    let Some(parts) = by_headings(view, Strength::Sure).filter(is_apart) else { return inner(view, whole) };
    let mut found = Vec::with_capacity(parts.len());
    for part in parts {
        let is_whole = part.is_heading || part.is_file;
        match if is_whole { None } else { inner(view.within(part.range.clone()), part.kind) } {
            Some(inner) => found.extend(inner),
            None => found.push(part),
        }
    }
    Some(found)
}

fn is_manual(view: View, kind: Kind) -> bool {
    kind.content_type == ContentType::Text
        && view.sampled(|sample| is_markdown(&sample.lines.iter().collect::<Vec<_>>()))
}

/// Splits a text without sure headings.
fn inner(view: View, whole: Kind) -> Option<Vec<Part>> {
    // A script is one text, including the commands in its comments.
    if whole.content_type == ContentType::Code && whole.is_proved {
        return None;
    }
    let is_manual = is_manual(view, whole);
    let differ = |parts: &Vec<Part>| are_different(parts, whole, is_manual, view.range().len());
    let headed = by_headings(view, Strength::Likely).filter(differ);
    // The paragraphs of a manual are of many kinds, but it is one text.
    headed.or_else(|| if is_manual { None } else { by_blank_lines(view).filter(differ) })
}

/// Returns the type of more than half of all bodies, and the language if all code has the same one.
fn prevailing(parts: &[Part]) -> (ContentType, Option<Language>) {
    let bodies = || parts.iter().filter(|part| !part.is_heading);
    let total: usize = bodies().map(|part| part.range.len()).sum();
    let bytes = |kind: ContentType| {
        bodies().filter(|part| part.kind.content_type == kind).map(|part| part.range.len()).sum::<usize>()
    };
    let content_type =
        ContentType::ALL.iter().copied().find(|&kind| bytes(kind) * 2 > total).unwrap_or(ContentType::Unknown);
    let mut languages =
        bodies().filter(|part| part.kind.content_type == ContentType::Code).map(|part| part.kind.language);
    let first = languages.next().flatten();
    let is_one = content_type == ContentType::Code && languages.all(|language| language == first);
    (content_type, first.filter(|_| is_one))
}

/// Returns true if the parts between sure headings should be separate outputs.
fn are_outputs(parts: &[Part], whole: Kind, is_manual: bool, length: usize) -> bool {
    use ContentType::{Code, Log, Text, Unknown};
    let bytes = |is: &dyn Fn(&Part) -> bool| {
        parts.iter().filter(|part| !part.is_heading && is(part)).map(|part| part.range.len()).sum::<usize>()
    };
    let opens = parts.first().is_some_and(|part| part.is_heading);
    let all_like_whole = bytes(&|part| part.kind.content_type != whole.content_type) == 0;
    match whole.content_type {
        // Parts of one log are kept together, because they share what repeats in them.
        Log => {
            let is_other =
                |part: &Part| part.kind.content_type != Log && (part.kind.content_type != Unknown || part.is_announced);
            bytes(&is_other) * 5 >= length
        }
        Unknown => !all_like_whole,
        Text if is_manual => {
            opens && parts.iter().any(Part::counts) || bytes(&|part| part.is_structured()) * 5 >= length
        }
        // A program may print such headings itself.
        Code if !opens => bytes(&|part| part.is_structured()) * 5 >= length || are_in_languages(parts),
        Text if !opens => !all_like_whole,
        _ => parts.iter().any(|part| !part.is_heading),
    }
}

/// Returns true if the parts contain code in two languages.
fn are_in_languages(parts: &[Part]) -> bool {
    let mut languages = parts.iter().filter_map(|part| part.kind.language);
    languages.next().is_some_and(|first| languages.any(|language| language != first))
}

/// Returns true if the parts between likely headings, or between blank lines, are clearly of several kinds.
fn are_different(parts: &[Part], whole: Kind, is_manual: bool, length: usize) -> bool {
    use ContentType::{Code, Html, Json, Log, Search, Table, Text, Unknown};
    let counted = || parts.iter().filter(|part| part.counts());
    let Some(first) = counted().next() else { return false };
    // Programs contain pages and values. Hits and log lines are found without a split.
    let is_inner = |kind: ContentType| match whole.content_type {
        Code => matches!(kind, Json | Html),
        Log => kind == Search,
        Search => kind == Log,
        _ => false,
    };
    let structured: usize = counted()
        .filter(|part| {
            part.is_structured()
                && part.kind.content_type != whole.content_type
                && (part.is_announced || !is_inner(part.kind.content_type))
        })
        .map(|part| part.range.len())
        .sum();
    let differ = counted().any(|part| part.kind.content_type != first.kind.content_type);
    let tables = || counted().filter(|part| part.kind.content_type == Table && part.lines > MIN_LINES);
    let has_tables = tables().count() > 1 && tables().map(|part| part.range.len()).sum::<usize>() * 2 >= length;
    let announced = parts.iter().filter(|part| part.is_announced).count();
    let is_mixed = match whole.content_type {
        Table => {
            tables().next().is_some() && (parts.iter().any(|part| part.kind.content_type == Text) || structured > 0)
        }
        Text | Unknown if !is_manual => differ && structured > 0,
        _ => differ && structured > 0 && (announced > 1 || structured * 8 >= length),
    };
    is_mixed || has_tables
}

/// Splits at headings of at least this strength, and at positions where the line numbers of a listing begin again.
fn by_headings(view: View, least: Strength) -> Option<Vec<Part>> {
    let mut marks = Vec::new();
    let mut scan = Scan::new(view);
    while let Some(found) = scan.next_mark(least) {
        marks.push(found);
        if marks.len() > MAX_PARTS {
            return None;
        }
    }
    if marks.is_empty() {
        return None;
    }
    let mut parts = Vec::with_capacity(marks.len() * 2 + 1);
    let mut hints = Hints::default();
    let mut start = view.start();
    for (range, says) in marks {
        push_body(view.within(start..range.start), &mut parts, &hints);
        (start, hints) = (range.end, says);
        if !range.is_empty() {
            push_heading(&mut parts, range);
        }
    }
    push_body(view.within(start..view.above.len()), &mut parts, &hints);
    Some(parts)
}

fn push_body(body: View, parts: &mut Vec<Part>, hints: &Hints) {
    if body.lines.is_empty() {
        return;
    }
    let part = Part::of(body, hints);
    if part.is_heading { push_heading(parts, part.range) } else { parts.push(part) }
}

fn push_heading(parts: &mut Vec<Part>, range: Range<usize>) {
    match parts.last_mut().filter(|last| last.is_heading) {
        Some(last) => last.range.end = range.end,
        None => parts.push(Part::heading(range)),
    }
}

/// A scan over lines for positions at which to split.
struct Scan<'p, 't> {
    view: View<'p, 't>,
    /// The number of lines scanned.
    at: usize,
    budget: Budget,
    /// The last number of a listing, and the number of consecutive lines before it.
    listing: (u64, usize),
    /// True if a fence without an end was found; then no other fence is searched.
    has_open_fence: bool,
}

impl<'p, 't> Scan<'p, 't> {
    fn new(view: View<'p, 't>) -> Self {
        Self { view, at: 0, budget: Budget::of(view.text()), listing: (0, 0), has_open_fence: false }
    }

    /// Returns the next heading with its hints. The range is empty where a listing begins again. Fences, diffs,
    /// documents and JSON values are skipped.
    fn next_mark(&mut self, least: Strength) -> Option<(Range<usize>, Hints)> {
        let lines = self.view.lines;
        while let Some(line) = lines.get(self.at) {
            self.at += 1;
            if let Some(end) = self.skip(line) {
                self.at = self.view.index(end);
                continue;
            }
            if self.begins_again(line) {
                return Some((line.start..line.start, Hints::default()));
            }
            if is_rule(line.text)
                && let Some([title, below]) = lines.get(self.at..self.at + 2)
                && let Some(heading) = Heading::of_banner([line.text, title.text, below.text])
                && heading.strength >= least
            {
                self.at += 2;
                return Some((line.start..below.end, heading.hints));
            }
            let heading = if line.is(Question::Heading) {
                Heading::parse(line.text)
            } else {
                lines.get(self.at).and_then(|below| Heading::of_label(line.text, below.text))
            };
            if let Some(heading) = heading.filter(|heading| heading.strength >= least) {
                return Some((line.start..line.end, heading.hints));
            }
        }
        None
    }

    /// Returns the end of a block that starts with this line.
    fn skip(&mut self, line: &PageLine) -> Option<usize> {
        let body = self.view.above;
        if let Some(open) = line.fence().filter(|_| !self.has_open_fence) {
            let closes = |line: &&PageLine| line.fence().is_some_and(|fence| fence.closes(&open));
            let behind = &self.view.lines[self.view.index(line.end)..];
            let end = behind.iter().find(closes).map(|close| close.end);
            self.has_open_fence = end.is_none();
            return end;
        }
        if line.is(Question::DiffStart) {
            // A truncated hunk takes the rule below it for one of its lines.
            let end = diff_hunk::block_end(body, line.start)?;
            let last = body[line.start..end].trim_end().rfind('\n').map_or(line.start, |at| line.start + at + 1);
            let is_heading = last > line.start
                && Heading::parse(body[last..end].trim_end()).is_some_and(|found| found.strength == Strength::Sure);
            return Some(if is_heading { last } else { end });
        }
        if line.text.starts_with(['{', '[']) {
            return self.budget.block_end(body, line.start);
        }
        if line.text.starts_with('<') {
            return html::block_end(body, line.start);
        }
        None
    }

    /// Returns true if a line is the first one of a listing that follows another listing.
    fn begins_again(&mut self, line: &PageLine) -> bool {
        // Search hits and table cells have numbers, too.
        let is_listed = |found: &NumberedLine| {
            !found.prefix.ends_with(':') && (found.prefix.starts_with(' ') || found.prefix.ends_with('→'))
        };
        let parsed = if line.is(Question::Numbered) { NumberedLine::parse(line.text) } else { None };
        let Some(found) = parsed.filter(is_listed) else { return false };
        let (last, run) = self.listing;
        self.listing = (found.number, if found.number == last + 1 { run + 1 } else { 0 });
        found.number == 1 && run > 0
    }
}

/// Splits at blank lines outside of blocks, and joins neighbours of one kind.
fn by_blank_lines(view: View) -> Option<Vec<Part>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut scan = Scan::new(view);
    let mut was_blank = true;
    while let Some(line) = view.lines.get(scan.at) {
        let is_blank = line.is(Question::Blank);
        let block = scan.skip(line);
        let end = block.unwrap_or(line.end);
        scan.at = view.index(end);
        match ranges.last_mut().filter(|_| block.is_none() && (is_blank || !was_blank)) {
            Some(range) => range.end = end,
            None if is_blank => continue,
            None => ranges.push(if ranges.is_empty() { view.start() } else { line.start }..end),
        }
        was_blank = is_blank || block.is_some();
        if ranges.len() > MAX_PARTS {
            return None;
        }
    }
    if ranges.len() < 2 {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    for range in ranges {
        let part = Part::of(view.within(range), &Hints::default());
        let joins = parts.last().is_some_and(|last| goes_on(last, &part));
        match parts.last_mut().filter(|_| joins) {
            Some(last) => {
                last.range.end = part.range.end;
                last.lines += part.lines;
            }
            None => parts.push(part),
        }
    }
    (parts.len() > 1).then_some(parts)
}

/// Returns true if a paragraph belongs to the one before it.
fn goes_on(before: &Part, part: &Part) -> bool {
    use ContentType::{Code, Log, Table, Unknown};
    let is_same = before.kind == part.kind && part.kind.content_type != Table;
    // Some paragraphs of code and logs have no recognisable kind.
    let is_odd = matches!(before.kind.content_type, Code | Log)
        && (part.kind.content_type == Unknown || part.kind.content_type == Code && part.kind.language.is_none());
    is_same
        || is_odd
        || part.lines < MIN_PARAGRAPH && part.kind.content_type != ContentType::Text && before.kind.content_type == Log
}
