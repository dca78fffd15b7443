//! text -> lines with their stamps, judged, and grouped by what they share.

use super::alarm::{Alarm, alarm};
use super::column::drop_needles;
use super::stamp::{Layout, Stamp};
use super::template::{Group, Words, group};

/// One line is no group.
const MIN_LINES: usize = 2;
/// A failure that is said more often than this is no news.
const MAX_FAILURES: usize = 8;
/// An error that is said more often than this may become rows where errors may at all, behind the first few.
const MAX_ERRORS: usize = 32;
const FIRST_ERRORS: usize = 4;
/// Lines that a layout of stamps is chosen from.
const SAMPLES: usize = 128;

/// A log, read but not yet rewritten.
#[derive(Debug)]
pub(super) struct Log<'a> {
    /// Whether every line ends with a carriage return. The lines are without.
    pub(super) is_crlf: bool,
    pub(super) text: &'a str,
    /// How stamps are written.
    pub(super) layout: Option<Layout>,
    /// The first stamp.
    pub(super) clock: i64,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) words: Words<'a>,
    /// Lines of which there are many; all others are to be kept as they are.
    pub(super) groups: Vec<Group<'a>>,
}

/// One line.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) stamp: Option<Stamp>,
    pub(super) alarm: Alarm,
}

impl<'a> Log<'a> {
    /// Reads a log. Errors are in no group unless `errors_may_fold` and they are a flood.
    pub(super) fn read(text: &'a str, errors_may_fold: bool) -> Self {
        let mut texts = lines(text);
        let is_crlf = texts.iter().all(|line| line.ends_with('\r'));
        if is_crlf {
            texts.iter_mut().for_each(|line| *line = &line[..line.len() - 1]);
        }
        let layout = Layout::of_most(texts.iter().copied().step_by(texts.len().div_ceil(SAMPLES)));
        let lines: Vec<Line> = texts
            .into_iter()
            .map(|text| {
                let stamp = layout.as_ref().and_then(|layout| layout.find(text));
                Line { text, stamp, alarm: alarm(&text[stamp.map_or(0, |stamp| stamp.end)..]) }
            })
            .collect();
        let start = lines.iter().find_map(|line| line.stamp);
        let mut words = Words::with_capacity(text.len(), lines.len());
        // The last line tells how it ended: it stays as it is.
        for line in &lines[..lines.len() - 1] {
            words.push(line.text, line.stamp.map(|stamp| (stamp.start, stamp.end)));
        }
        words.push_none();
        let is_error = |line: usize| lines[line].alarm == Alarm::Error;
        let mut groups = group(&words, |line| !is_error(line));
        groups.retain(|group| {
            let is_failure = group.lines.iter().any(|&line| lines[line].alarm == Alarm::Failure);
            group.lines.len() > if is_failure { MAX_FAILURES } else { MIN_LINES - 1 }
        });
        if errors_may_fold {
            let mut floods = group(&words, is_error);
            floods.retain(|group| group.lines.len() > MAX_ERRORS);
            floods.iter_mut().for_each(|group| drop(group.lines.drain(..FIRST_ERRORS)));
            groups.append(&mut floods);
        }
        groups.iter_mut().for_each(|group| drop_needles(group, &words));
        groups.retain(|group| group.lines.len() >= MIN_LINES);
        Self {
            is_crlf,
            text,
            layout: layout.filter(|_| start.is_some()),
            clock: start.map_or(0, |stamp| stamp.ticks),
            lines,
            words,
            groups,
        }
    }
}

/// The lines of a text, without their line ends; the last one may be empty.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::with_capacity(text.len() / 64);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        lines.push(&text[start..end]);
        start = end + 1;
    }
    lines.push(&text[start..]);
    lines
}
