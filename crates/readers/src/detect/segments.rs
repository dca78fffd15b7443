//! Splits a text of a known type into segments without gaps, each starting at a line start.
//!
//! Code, tables and HTML are one segment. In all other types, blocks of another kind are separate: fenced code in
//! Markdown, a diff or a JSON value inside output, log lines below a sentence. A stack trace inside a log is part of
//! the log.

use std::ops::Range;

use super::code::{language_of, skeleton};
use super::page::{PageLine, Question, View};
use super::prose_shape::Shape;
use super::search::is_web_header;
use crate::hints::of_info;
use crate::json_span::Budget;
use crate::lines::lines_from;
use crate::markup_block::{is_markdown_row, is_markdown_rule};
use crate::numbered::Listing;
use crate::{ContentType, Language, Segment, diff_hunk, html};

/// The minimum number of consecutive log lines or hits that form a segment.
const MIN_RUN: usize = 3;

/// The kind of a line or block before the whole text is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A block of a known type, identified by its own structure.
    Block(ContentType, Option<Language>),
    /// A line of a log.
    Log,
    /// A search hit.
    Search,
    /// Anything else.
    Plain,
}

#[derive(Debug)]
struct Run {
    range: Range<usize>,
    kind: Kind,
    /// The number of lines that are of this kind by themselves, not because of the lines before them.
    strong: usize,
}

/// Splits lines that are of type `whole` as a whole.
pub(super) fn split(view: View, whole: ContentType, language: Option<Language>) -> Vec<Segment> {
    let one = |range: Range<usize>, content_type, language| Segment { range, content_type, language };
    let all = view.range();
    if all.is_empty() {
        return Vec::new();
    }
    match whole {
        ContentType::Table | ContentType::Html => vec![one(all, whole, None)],
        ContentType::Code => {
            let listed = Listing::of(view.text()).map(|listing| listing.range());
            let inner = listed.map_or(all.clone(), |listed| all.start + listed.start..all.start + listed.end);
            let parts = [
                one(all.start..inner.start, ContentType::Text, None),
                one(inner.clone(), whole, language),
                one(inner.end..all.end, ContentType::Text, None),
            ];
            parts.into_iter().filter(|part| !part.range.is_empty()).collect()
        }
        _ => {
            let runs = with_bare_code(view, whole, runs(view, whole));
            let last = runs.len() - 1;
            // In truncated JSON or a listing, no part is recognisable by itself, so the whole is one segment.
            let is_bare = match whole {
                ContentType::Json | ContentType::Diff => !runs.iter().any(|run| run.kind == Kind::Block(whole, None)),
                ContentType::Search => !runs.iter().any(|run| run.kind == Kind::Search),
                _ => false,
            };
            if is_bare {
                return vec![one(all, whole, None)];
            }
            let mut segments: Vec<Segment> = Vec::new();
            for (index, run) in runs.into_iter().enumerate() {
                let (content_type, language) = resolve(view, whole, &run, index == 0 || index == last);
                match segments.last_mut() {
                    Some(before) if before.content_type == content_type && before.language == language => {
                        before.range.end = run.range.end
                    }
                    _ => segments.push(one(run.range, content_type, language)),
                }
            }
            segments
        }
    }
}

/// Returns the type of a run, given its surroundings.
fn resolve(view: View, whole: ContentType, run: &Run, at_edge: bool) -> (ContentType, Option<Language>) {
    match run.kind {
        Kind::Block(content_type, language) => (content_type, language),
        Kind::Log if run.strong >= MIN_RUN => (ContentType::Log, None),
        Kind::Search if run.strong >= MIN_RUN => (ContentType::Search, None),
        _ => {
            let stays = match whole {
                ContentType::Log | ContentType::Search => !at_edge || run.kind != Kind::Plain,
                ContentType::Diff | ContentType::Json => false,
                _ => true,
            };
            let lines = view.within(run.range.clone());
            if stays || lines.filled().next().is_none() {
                (whole, None)
            } else if shape(lines).is_text() {
                (ContentType::Text, None)
            } else if matches!(whole, ContentType::Diff | ContentType::Json) {
                (ContentType::Unknown, None)
            } else {
                (whole, None)
            }
        }
    }
}

/// Returns the runs of a text, with unfenced code in prose (paragraphs of code only) as runs of their own.
fn with_bare_code(view: View, whole: ContentType, runs: Vec<Run>) -> Vec<Run> {
    if whole != ContentType::Text {
        return runs;
    }
    let mut parted = Vec::with_capacity(runs.len());
    for run in runs {
        if run.kind != Kind::Plain {
            parted.push(run);
            continue;
        }
        let mut start = run.range.start;
        let mut is_code = false;
        for paragraph in paragraphs(view.within(run.range.clone())) {
            if is_bare_code(paragraph, is_code) != is_code {
                push_part(view, &mut parted, start..paragraph.start(), is_code);
                start = paragraph.start();
                is_code = !is_code;
            }
        }
        push_part(view, &mut parted, start..run.range.end, is_code);
    }
    parted
}

fn push_part(view: View, runs: &mut Vec<Run>, range: Range<usize>, is_code: bool) {
    if !range.is_empty() {
        let language = || language_of(&skeleton(view.within(range.clone()).lines));
        let kind = if is_code { Kind::Block(ContentType::Code, language()) } else { Kind::Plain };
        push(runs, range, kind, 1);
    }
}

/// Returns runs of lines, each with the blank lines below it.
fn paragraphs<'p, 't>(view: View<'p, 't>) -> impl Iterator<Item = View<'p, 't>> {
    let mut rest = view.lines;
    std::iter::from_fn(move || {
        let is_blank = |line: &PageLine| line.is(Question::Blank);
        let opens = |pair: &[PageLine]| is_blank(&pair[0]) && !is_blank(&pair[1]);
        let count = rest.windows(2).position(opens).map_or(rest.len(), |at| at + 1);
        let (lines, behind) = rest.split_at(count);
        rest = behind;
        let end = lines.last()?.end;
        Some(View { above: &view.above[..end], lines })
    })
}

/// Returns the shape of lines.
fn shape(view: View) -> Shape {
    Shape::of(view.lines.iter().map(PageLine::class))
}

/// Returns true if a paragraph is unfenced code: at least four lines, or any number below other code.
fn is_bare_code(paragraph: View, below_code: bool) -> bool {
    let shape = shape(paragraph);
    let is_code = shape.code * 100 >= shape.lines * 90 || shape.is_surely_code();
    shape.prose == 0 && shape.markup == 0 && is_code && (below_code || shape.lines >= 4)
}

/// Splits lines into runs in one pass. The result is empty only if there are no lines.
fn runs(view: View, whole: ContentType) -> Vec<Run> {
    let is_readable = matches!(whole, ContentType::Text | ContentType::Unknown);
    let mut runs: Vec<Run> = Vec::new();
    let mut budget = Budget::of(view.text());
    let mut at = 0;
    while let Some(line) = view.lines.get(at) {
        at += 1;
        if is_readable && let Some(open) = line.fence() {
            push(&mut runs, line.start..line.end, Kind::Plain, 1);
            let closes = |line: &PageLine| line.fence().is_some_and(|fence| fence.closes(&open));
            let close = view.lines[at..].iter().find(|line| closes(line));
            let body = line.end..close.map_or(view.above.len(), |line| line.start);
            if !body.is_empty() {
                push(&mut runs, body.clone(), fenced(view.within(body.clone()), open.info), 1);
            }
            at = view.index(body.end);
            // The closing line is skipped, because it could open another fence.
            if let Some(close) = close {
                push(&mut runs, close.start..close.end, Kind::Plain, 1);
                at += 1;
            }
        } else if let Some((end, kind)) = block(view.above, line, is_readable, &mut budget) {
            push(&mut runs, line.start..end, kind, 1);
            at = view.index(end);
        } else {
            let before = runs.last().map(|run| run.kind);
            let (kind, strong) = classify(line, whole, before);
            push(&mut runs, line.start..line.end, kind, strong);
        }
    }
    runs
}

fn push(runs: &mut Vec<Run>, range: Range<usize>, kind: Kind, strong: usize) {
    match runs.last_mut() {
        Some(run) if run.kind == kind => {
            run.range.end = range.end;
            run.strong += strong;
        }
        _ => runs.push(Run { range, kind, strong }),
    }
}

fn fenced(body: View, info: &str) -> Kind {
    match of_info(info) {
        Some(expected) => Kind::Block(expected.content_type, expected.language),
        None => {
            let found = super::judge(body);
            Kind::Block(
                if found.content_type == ContentType::Text { ContentType::Unknown } else { found.content_type },
                found.language,
            )
        }
    }
}

/// Returns the end and the kind of a block that is identified by its first line.
fn block(text: &str, line: &PageLine, is_readable: bool, budget: &mut Budget) -> Option<(usize, Kind)> {
    let found = |end: usize, content_type| (end, Kind::Block(content_type, None));
    if line.is(Question::DiffStart)
        && let Some(end) = diff_hunk::block_end(text, line.start)
    {
        return Some(found(end, ContentType::Diff));
    }
    if line.text.trim_start().starts_with(['{', '['])
        && let Some(end) = budget.block_end(text, line.start)
    {
        return Some(found(end, ContentType::Json));
    }
    if line.text.starts_with('<')
        && let Some(end) = html::block_end(text, line.start)
    {
        return Some(found(end, ContentType::Html));
    }
    if is_readable && is_markdown_row(line.text) {
        let mut rows = lines_from(text, line.end);
        let mut end = rows.next().filter(|rule| is_markdown_rule(rule.text))?.end;
        for row in rows.take_while(|row| is_markdown_row(row.text)) {
            end = row.end;
        }
        return Some(found(end, ContentType::Table));
    }
    None
}

/// Returns the kind of a line, given the kind of the run before it, and 1 if it is of that kind by itself.
fn classify(line: &PageLine, whole: ContentType, before: Option<Kind>) -> (Kind, usize) {
    if line.is(Question::Blank) {
        let goes_on = before.filter(|kind| !matches!(kind, Kind::Block(..)));
        return (goes_on.unwrap_or(Kind::Plain), 0);
    }
    let is_hit = line.is(Question::Hit) && (line.text != "--" || before == Some(Kind::Search));
    if is_hit || whole == ContentType::Search && is_web_header(line.text) {
        return (Kind::Search, 1);
    }
    if line.is_log() {
        return (Kind::Log, 1);
    }
    let goes_on = before == Some(Kind::Log) && (line.text.starts_with([' ', '\t']) || line.is(Question::Frame));
    if goes_on
        || whole == ContentType::Log && line.is(Question::Output)
        || line.text.starts_with("Traceback (most recent call last)")
    {
        return (Kind::Log, usize::from(line.is(Question::Frame)));
    }
    (Kind::Plain, 0)
}
