//! Text and the type of its whole -> its parts, without gaps, each starting at a line start.
//!
//! Code, tables and HTML are one part. In everything else, parts of another kind stand apart: fenced code in Markdown, a
//! diff or a JSON value inside output, log lines below a sentence. A stack trace inside a log is part of the log.

use std::ops::Range;

use super::code::{language_of, skeleton};
use super::diff;
use super::hints::of_info;
use super::html;
use super::json::Budget;
use super::lines::{Line, lines, lines_from};
use super::log::is_log_line;
use super::numbered::NumberedLine;
use super::output::{is_frame, is_output_line};
use super::search::{SearchLine, is_web_header};
use super::table::{is_markdown_row, is_markdown_rule};
use super::text::{Fence, Shape};
use super::{ContentType, Language, Segment};

/// Fewer log lines or hits in a row than this stay part of what surrounds them.
const MIN_RUN: usize = 3;

/// What a line or block counts as before the whole is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A block of a known type, told by its own structure.
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
    /// Lines that are of the kind by themselves, not by what precedes them.
    strong: usize,
}

/// Splits `text`, whose whole is of type `whole`.
pub(super) fn split(text: &str, whole: ContentType, language: Option<Language>) -> Vec<Segment> {
    let one = |range: Range<usize>, content_type, language| Segment { range, content_type, language };
    if text.is_empty() {
        return Vec::new();
    }
    match whole {
        ContentType::Table | ContentType::Html => vec![one(0..text.len(), whole, None)],
        ContentType::Code => {
            let inner = numbered_range(text).unwrap_or(0..text.len());
            let parts = [
                one(0..inner.start, ContentType::Text, None),
                one(inner.clone(), whole, language),
                one(inner.end..text.len(), ContentType::Text, None),
            ];
            parts.into_iter().filter(|part| !part.range.is_empty()).collect()
        }
        _ => {
            let runs = with_bare_code(text, whole, runs(text, whole));
            let last = runs.len() - 1;
            // JSON that was cut, a listing: no part tells itself, so the whole is one.
            let is_bare = match whole {
                ContentType::Json | ContentType::Diff => !runs.iter().any(|run| run.kind == Kind::Block(whole, None)),
                ContentType::Search => !runs.iter().any(|run| run.kind == Kind::Search),
                _ => false,
            };
            if is_bare {
                return vec![one(0..text.len(), whole, None)];
            }
            let mut segments: Vec<Segment> = Vec::new();
            for (index, run) in runs.into_iter().enumerate() {
                let (content_type, language) = resolve(text, whole, &run, index == 0 || index == last);
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

/// From the first to the last line with a number, where the lines are numbered.
fn numbered_range(text: &str) -> Option<Range<usize>> {
    let is_numbered = |line: &Line| NumberedLine::parse(line.text).is_some();
    let (mut count, mut total, mut found) = (0usize, 0usize, None::<Range<usize>>);
    for line in lines(text).filter(|line| !line.text.trim().is_empty()) {
        total += 1;
        if is_numbered(&line) {
            count += 1;
            found = Some(found.map_or(line.start, |range| range.start)..line.end);
        }
    }
    found.filter(|_| count * 10 >= total * 6)
}

/// The type of a run once its surroundings are known.
fn resolve(text: &str, whole: ContentType, run: &Run, at_edge: bool) -> (ContentType, Option<Language>) {
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
            if stays || text[run.range.clone()].trim().is_empty() {
                (whole, None)
            } else if Shape::of(&text[run.range.clone()]).is_text() {
                (ContentType::Text, None)
            } else if matches!(whole, ContentType::Diff | ContentType::Json) {
                (ContentType::Unknown, None)
            } else {
                (whole, None)
            }
        }
    }
}

/// The runs of a text with the code in its prose that has no fence around it: paragraphs of nothing but code.
fn with_bare_code(text: &str, whole: ContentType, runs: Vec<Run>) -> Vec<Run> {
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
        for paragraph in paragraphs(text, run.range.clone()) {
            if is_bare_code(&text[paragraph.clone()], is_code) != is_code {
                push_part(text, &mut parted, start..paragraph.start, is_code);
                start = paragraph.start;
                is_code = !is_code;
            }
        }
        push_part(text, &mut parted, start..run.range.end, is_code);
    }
    parted
}

fn push_part(text: &str, runs: &mut Vec<Run>, range: Range<usize>, is_code: bool) {
    if !range.is_empty() {
        let language = || language_of(&skeleton(&text[range.clone()]));
        let kind = if is_code { Kind::Block(ContentType::Code, language()) } else { Kind::Plain };
        push(runs, range, kind, 1);
    }
}

/// Runs of lines with the blank lines below them.
fn paragraphs(text: &str, within: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    std::iter::from_fn(move || {
        let start = at;
        let mut was_blank = false;
        for line in lines_from(text, start).take_while(|line| line.start < within.end) {
            let is_blank = line.text.trim().is_empty();
            if was_blank && !is_blank {
                break;
            }
            was_blank = is_blank;
            at = line.end;
        }
        (at > start).then_some(start..at)
    })
}

/// Whether a paragraph is code without a fence: four lines or more, or any number below other code.
fn is_bare_code(paragraph: &str, below_code: bool) -> bool {
    let shape = Shape::of(paragraph);
    let is_code = shape.code * 100 >= shape.lines * 90 || shape.is_surely_code();
    shape.prose == 0 && shape.markup == 0 && is_code && (below_code || shape.lines >= 4)
}

/// One walk over the lines; never empty for a text that is not.
fn runs(text: &str, whole: ContentType) -> Vec<Run> {
    let is_readable = matches!(whole, ContentType::Text | ContentType::Unknown);
    let mut runs: Vec<Run> = Vec::new();
    let mut budget = Budget::of(text);
    let mut at = 0;
    while let Some(line) = lines_from(text, at).next() {
        at = line.end;
        if is_readable && let Some(open) = Fence::parse(line.text) {
            push(&mut runs, line.start..line.end, Kind::Plain, 1);
            let body = line.end..fence_end(text, line.end, &open);
            if !body.is_empty() {
                at = body.end;
                push(&mut runs, body.clone(), fenced(&text[body], open.info), 1);
            }
            // The closing line, lest it open another fence.
            if let Some(close) = lines_from(text, at).next() {
                push(&mut runs, close.start..close.end, Kind::Plain, 1);
                at = close.end;
            }
        } else if let Some((end, kind)) = block(text, &line, is_readable, &mut budget) {
            push(&mut runs, line.start..end, kind, 1);
            at = end;
        } else {
            let before = runs.last().map(|run| run.kind);
            let (kind, strong) = classify(line.text, whole, before);
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

/// Where the body of a fence ends: before its closing line, or with the text.
fn fence_end(text: &str, start: usize, open: &Fence) -> usize {
    let closes = |line: &Line| Fence::parse(line.text).is_some_and(|fence| fence.closes(open));
    lines_from(text, start).find(closes).map_or(text.len(), |line| line.start)
}

fn fenced(body: &str, info: &str) -> Kind {
    match of_info(info) {
        Some(expected) => Kind::Block(expected.content_type, expected.language),
        None => {
            let found = super::detect::judge(body);
            Kind::Block(
                if found.content_type == ContentType::Text { ContentType::Unknown } else { found.content_type },
                found.language,
            )
        }
    }
}

/// A block that tells itself by its first line: where it ends and what it is.
fn block(text: &str, line: &Line, is_readable: bool, budget: &mut Budget) -> Option<(usize, Kind)> {
    let found = |end: usize, content_type| (end, Kind::Block(content_type, None));
    if diff::may_start(line.text)
        && let Some(end) = diff::block_end(text, line.start)
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

/// The kind of a line, given the kind of the run before it, and whether it is that by itself.
fn classify(line: &str, whole: ContentType, before: Option<Kind>) -> (Kind, usize) {
    let bare = line.trim();
    if bare.is_empty() {
        let goes_on = before.filter(|kind| !matches!(kind, Kind::Block(..)));
        return (goes_on.unwrap_or(Kind::Plain), 0);
    }
    match SearchLine::parse(line) {
        Some(SearchLine::Separator) if before != Some(Kind::Search) => {}
        Some(_) => return (Kind::Search, 1),
        None => {}
    }
    if whole == ContentType::Search && is_web_header(line) {
        return (Kind::Search, 1);
    }
    if is_log_line(line) {
        return (Kind::Log, 1);
    }
    let goes_on = before == Some(Kind::Log) && (line.starts_with([' ', '\t']) || is_frame(line));
    if goes_on
        || whole == ContentType::Log && is_output_line(line)
        || line.starts_with("Traceback (most recent call last)")
    {
        return (Kind::Log, usize::from(is_frame(line)));
    }
    (Kind::Plain, 0)
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, detect};
    use super::*;

    fn parts(text: &str) -> Vec<(ContentType, Option<Language>, &str)> {
        detect(text, &Hints::default())
            .segments
            .into_iter()
            .map(|segment| (segment.content_type, segment.language, &text[segment.range]))
            .collect()
    }

    #[test]
    fn a_fence_in_prose_is_code_and_its_marks_are_prose() {
        let text = "Use the function like this, please:\n\n```rust\nfn main() {}\n```\n\nThat is all there is to it.\n";
        assert_eq!(
            parts(text),
            [
                (ContentType::Text, None, "Use the function like this, please:\n\n```rust\n"),
                (ContentType::Code, Some(Language::Rust), "fn main() {}\n"),
                (ContentType::Text, None, "```\n\nThat is all there is to it.\n"),
            ]
        );
    }

    #[test]
    fn code_in_prose_stands_apart_without_a_fence() {
        let prose = "This is what the function looks like in our tree today.\n\n";
        let code =
            "fn area(side: u32) -> u32 {\n    let area = side * side;\n    println!(\"{area}\");\n    area\n}\n\n";
        let text = format!("{prose}{code}It has been like that for years, and nobody complained.\n");
        let found = parts(&text);
        assert_eq!(
            found.iter().map(|part| part.0).collect::<Vec<_>>(),
            [ContentType::Text, ContentType::Code, ContentType::Text]
        );
        assert_eq!((found[1].1, found[1].2), (Some(Language::Rust), code));
    }

    #[test]
    fn a_document_inside_a_log_is_json() {
        let log = "2024-01-02 03:04:05 INFO request sent to the server\n".repeat(4);
        let text = format!("{log}{{\n  \"a\": [1, 2],\n  \"b\": \"c\"\n}}\n{log}");
        let kinds: Vec<_> = parts(&text).iter().map(|part| part.0).collect();
        assert_eq!(kinds, [ContentType::Log, ContentType::Json, ContentType::Log]);
    }

    #[test]
    fn a_trace_stays_in_its_log() {
        let log = "2024-01-02 03:04:05 INFO request sent to the server\n".repeat(4);
        let text = format!(
            "{log}Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nValueError: no\n{log}"
        );
        assert_eq!(parts(&text), [(ContentType::Log, None, text.as_str())]);
    }

    #[test]
    fn log_lines_below_a_sentence_stand_apart() {
        let log = "2024-01-02 03:04:05 INFO request sent to the server\n".repeat(4);
        let text = format!("Here are the last lines of the server's log:\n\n{log}");
        let kinds: Vec<_> = parts(&text).iter().map(|part| part.0).collect();
        assert_eq!(kinds, [ContentType::Text, ContentType::Log]);
    }

    #[test]
    fn a_diff_inside_output_stands_apart() {
        let diff = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n";
        let text = format!(
            "The following was changed by the last commit:\n\n{diff}\nThat was all of it, nothing else is left.\n"
        );
        let found = parts(&text);
        assert_eq!(
            found.iter().map(|part| part.0).collect::<Vec<_>>(),
            [ContentType::Text, ContentType::Diff, ContentType::Text]
        );
        assert_eq!(found[1].2.trim_end(), diff.trim_end());
    }

    #[test]
    fn numbered_code_is_code_from_its_first_to_its_last_number() {
        let text = "[File: a.rs (3 lines total)]\n1:use std::fs;\n2:pub fn f(a: &str) -> Option<u32> {\n3:    let mut b = None; b }\n(no more)\n";
        let found = parts(text);
        assert_eq!(
            found.iter().map(|part| part.0).collect::<Vec<_>>(),
            [ContentType::Text, ContentType::Code, ContentType::Text]
        );
        assert!(found[1].2.starts_with("1:use") && found[1].2.ends_with("b }\n"));
    }
}
