//! Successful lines -> one note for each run of them.
//!
//! A run ends at the first other line. The lines that lead up to that line stay with it: the headings above it, and the
//! step that it may be about.

use std::collections::HashMap;
use std::fmt::Write;
use std::iter::successors;
use std::ops::Range;

use super::sign::{Line, MIN_RUN, Part, Sign, speaks_of_failure};
use crate::pipeline::{Edit, elided};

/// A heading above a line.
#[derive(Debug, Clone, Copy)]
struct Above<'t> {
    line: usize,
    indent: usize,
    name: &'t str,
}

/// Returns the notes, in order. Odd lines stay visible. `place` is the byte offset and the number of the first line.
pub(super) fn notes(lines: &[Line], signs: &[Option<Sign>], odd: &[usize], place: (usize, usize)) -> Vec<Edit> {
    let mut loud: Vec<bool> =
        lines.iter().zip(signs).map(|(line, sign)| sign.is_some_and(|sign| is_loud(line, &sign))).collect();
    odd.iter().for_each(|&at| loud[at] = true);
    let headings = headings(lines, signs);
    let mut edits = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if signs[at].is_none() {
            at += 1;
            continue;
        }
        let (end, next) = run(lines, signs, at);
        for part in parts(lines, signs, &headings, at..end, next) {
            edits.extend(note(lines, signs, &loud, &headings, part, place));
        }
        at = next;
    }
    edits
}

/// Returns true if a line must stay visible because it mentions an error or is a note about omitted lines.
fn is_loud(line: &Line, sign: &Sign) -> bool {
    line.text.contains("[… ") || line.text.contains("[[") || !sign.quiet && speaks_of_failure(line.text)
}

/// Returns the end of the run that starts at a line, and the index of the next line that is not blank.
fn run(lines: &[Line], signs: &[Option<Sign>], start: usize) -> (usize, usize) {
    let mut end = start;
    let mut at = start;
    while at < lines.len() && (signs[at].is_some() || lines[at].is_blank()) {
        at += 1;
        if signs[at - 1].is_some() {
            end = at;
        }
    }
    (end, at)
}

/// Returns the parts of a run that are omitted, given the line after it.
fn parts(
    lines: &[Line],
    signs: &[Option<Sign>],
    headings: &[Option<usize>],
    run: Range<usize>,
    next: usize,
) -> Vec<Range<usize>> {
    let part_of = |at: usize| signs[at].map(|sign| sign.part);
    let trimmed = |mut range: Range<usize>| {
        while range.end > range.start && matches!(part_of(range.end - 1), None | Some(Part::Heading)) {
            range.end -= 1;
        }
        range
    };
    let mut whole = run;
    if next < lines.len() {
        whole = trimmed(whole);
        if whole.end == next && whole.end > whole.start && part_of(whole.end - 1) == Some(Part::Step) {
            whole = trimmed(whole.start..whole.end - 1);
        }
    }
    // The heading of a suite stays visible if other lines follow inside the suite.
    let is_inside = |heading: &usize| {
        *heading >= whole.start
            && *heading < whole.end
            && next < lines.len()
            && lines[next].indent > lines[*heading].indent
    };
    let last = (whole.start..whole.end).rev().find(|&at| signs[at].is_some());
    let mut above = last.and_then(|last| headings[last]);
    while let Some(heading) = above.filter(|heading| *heading >= whole.start && !is_inside(heading)) {
        above = headings[heading];
    }
    match above.filter(is_inside) {
        Some(heading) => vec![trimmed(whole.start..heading), heading + 1..whole.end],
        None => vec![whole],
    }
}

/// Returns the heading of each line that has a sign.
fn headings(lines: &[Line], signs: &[Option<Sign>]) -> Vec<Option<usize>> {
    let mut stack: Vec<Above> = Vec::new();
    let mut above = vec![None; lines.len()];
    for (at, (line, sign)) in lines.iter().zip(signs).enumerate() {
        let Some(sign) = sign else {
            // A line without indentation ends all suites, unless it is a mark of the same suite.
            if !line.is_blank() && line.indent == 0 {
                stack.clear();
            }
            continue;
        };
        while stack.last().is_some_and(|heading| {
            line.indent < heading.indent || line.indent == heading.indent && sign.title != heading.name
        }) {
            stack.pop();
        }
        above[at] = stack.last().map(|heading| heading.line);
        if sign.part == Part::Heading {
            stack.push(Above { line: at, indent: line.indent, name: sign.name });
        }
    }
    above
}

/// The content of a note: counts by label, and names with their counts.
#[derive(Debug, Default)]
struct Told<'t> {
    labels: Vec<(&'static str, usize)>,
    names: Vec<Named>,
    known: HashMap<(&'static str, &'t str, &'t str), usize>,
    /// The index of the name of each heading, by the heading's line; `None` if the heading's name is part of a nested
    /// heading's.
    headed: HashMap<usize, Option<usize>>,
}

#[derive(Debug)]
struct Named {
    label: &'static str,
    name: String,
    count: usize,
}

impl<'t> Told<'t> {
    /// Counts a sign. `path` is the omitted headings above it, the nearest first.
    fn add(&mut self, sign: &Sign<'t>, nearest: Option<Above<'t>>, path: impl Iterator<Item = Above<'t>>) {
        match self.labels.iter_mut().find(|(label, _)| *label == sign.label) {
            Some((_, count)) => *count += sign.count,
            None => self.labels.push((sign.label, sign.count)),
        }
        let index = match nearest {
            _ if !sign.name.is_empty() => self.known.get(&(sign.label, sign.name, sign.detail)).copied(),
            Some(above) => self.headed.get(&above.line).copied().flatten(),
            None => return,
        };
        let index = index.unwrap_or_else(|| {
            let mut name = sign.name.to_owned();
            let next = self.names.len();
            match nearest.filter(|_| sign.name.is_empty()) {
                Some(above) => {
                    above.name.clone_into(&mut name);
                    self.headed.insert(above.line, Some(next));
                    for above in path {
                        if self.headed.contains_key(&above.line) {
                            break;
                        }
                        self.headed.insert(above.line, None);
                        name = format!("{} > {name}", above.name);
                    }
                }
                None => {
                    if !sign.detail.is_empty() {
                        name = format!("{name} ({})", sign.detail);
                    }
                    self.known.insert((sign.label, sign.name, sign.detail), next);
                }
            }
            self.names.push(Named { label: sign.label, name, count: 0 });
            next
        });
        self.names[index].count += sign.count;
    }
}

/// Returns the note for a part of a run. Lines of the part that stay visible follow the note.
fn note(
    lines: &[Line],
    signs: &[Option<Sign>],
    loud: &[bool],
    headings: &[Option<usize>],
    part: Range<usize>,
    (offset, first_line): (usize, usize),
) -> Option<Edit> {
    let goes = |at: &usize| signs[*at].is_some() && !loud[*at];
    let first = part.clone().find(goes)?;
    let last = part.clone().rev().find(goes)?;
    let part = first..last + 1;
    if part.clone().filter(goes).count() < MIN_RUN {
        return None;
    }
    let mut told = Told::default();
    let mut stays = String::new();
    let mut gone = 0;
    for at in part.clone() {
        if loud[at] {
            stays.push('\n');
            stays.push_str(lines[at].text);
            continue;
        }
        gone += 1;
        let Some(sign) = &signs[at] else { continue };
        let above =
            |heading: usize| Some(Above { line: heading, indent: lines[heading].indent, name: signs[heading]?.name });
        let nearest = headings[at].and_then(above);
        // A line that closes a suite has the suite's name. Its tests were counted already.
        let closes = nearest.is_some_and(|above| above.indent == lines[at].indent && above.name == sign.title);
        if sign.count > 0 && !closes {
            let parent = |above: &Above| headings[above.line].filter(|&line| line >= part.start);
            let path = successors(nearest, |nearest| parent(nearest).and_then(above)).skip(1);
            told.add(sign, nearest, path);
        }
    }
    // Lines of the range that stay follow the note.
    let unit = if gone < part.len() { "of lines" } else { "lines" };
    let mut text = elided(gone, unit, Some((first_line + first, first_line + last)));
    if told.labels.is_empty() {
        text.push_str(" progress");
    }
    for (index, (label, count)) in told.labels.iter().enumerate() {
        let before = if index == 0 { " " } else { "; " };
        write!(text, "{before}{count} {label}").expect("a string takes everything");
        let names: Vec<&Named> = told.names.iter().filter(|named| named.label == *label).collect();
        let has_counts = *label == "passed" || names.iter().any(|named| named.count > 1);
        for (index, named) in names.iter().enumerate() {
            text.push_str(if index == 0 { ": " } else { ", " });
            text.push_str(&named.name);
            if has_counts && !(names.len() == 1 && named.count == *count) {
                write!(text, " {}", named.count).expect("a string takes everything");
            }
        }
    }
    text.push_str(&stays);
    Some(Edit::note(offset + lines[first].start..offset + lines[last].end, text))
}
