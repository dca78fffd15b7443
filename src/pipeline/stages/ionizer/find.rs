//! A text -> the JSON values in it that stand on lines of their own.
//!
//! Values on consecutive lines (NDJSON, or one pretty-printed value after another) are found as one run. Where a
//! segment breaks off, as outputs cut by a host do, its whole elements are found.

use std::ops::Range;

use super::scan::{Node, Scan, Tree, scan, scan_cut};
use crate::content::json_span::value_end;

/// One value, or a run of them as one array.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// Byte range of whole lines in the text, without the last line end.
    pub(super) range: Range<usize>,
    /// The value, scanned.
    pub(super) scan: Scan<'a>,
    /// True if it is a run of values.
    pub(super) lines: bool,
    /// The text after a cut value on its line.
    pub(super) tail: &'a str,
}

/// The smallest text that is folded, in bytes.
const SMALLEST: usize = 100;

/// Finds values in a segment of a text, which as a whole is JSON.
pub(super) fn find(text: &str, segment: Range<usize>) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let mut at = segment.start;
    // Text that only looks like JSON may be read a few times, not once per line.
    let mut patience = 4 * segment.len();
    while at < segment.end {
        let line_end = end_of_line(text, at).min(segment.end);
        let opens = text[at..line_end].trim_start_matches([' ', '\t']).starts_with(['{', '[']);
        if opens && patience > 0 {
            match run(&text[..segment.end], at, &mut patience) {
                Some(one) => {
                    at = next_line(text, one.range.end);
                    if one.range.len() >= SMALLEST {
                        found.push(one);
                    }
                    continue;
                }
                None if found.is_empty() => {
                    if let Some(one) = cut(&text[..segment.end], at) {
                        return vec![one];
                    }
                }
                None => {}
            }
        }
        at = next_line(text, line_end);
    }
    found
}

fn end_of_line(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length)
}

fn next_line(text: &str, line_end: usize) -> usize {
    (line_end + 1).min(text.len())
}

/// Returns the values that begin at the start of a line and follow each other.
fn run<'a>(text: &'a str, start: usize, patience: &mut usize) -> Option<Found<'a>> {
    let mut scans = Vec::new();
    let mut at = start;
    let mut end = start;
    while at < text.len() {
        let blank = text[at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if !text[at + blank..].starts_with(['{', '[']) {
            break;
        }
        let length = match value_end(&text[at..]) {
            Ok(length) => length,
            Err(taken) => {
                *patience = patience.saturating_sub(taken);
                break;
            }
        };
        let line_end = end_of_line(text, at + length);
        let rest = &text[at + length..line_end];
        if !rest.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            *patience = patience.saturating_sub(length);
            break;
        }
        scans.push((scan(&text[at..at + length])?, rest));
        end = at + length;
        at = line_end + 1;
    }
    match scans.len() {
        0 => None,
        1 => {
            // The rest of the line belongs to the fold, which consists of whole lines.
            let (scan, tail) = scans.pop()?;
            Some(Found { range: start..end + tail.len(), scan, lines: false, tail })
        }
        _ => {
            let tail = scans.last()?.1;
            Some(Found { range: start..end + tail.len(), scan: join(scans), lines: true, tail })
        }
    }
}

fn cut(text: &str, start: usize) -> Option<Found<'_>> {
    let scan = scan_cut(&text[start..])?;
    let end = start + scan.end;
    let line_end = end_of_line(text, end);
    Some(Found { range: start..line_end, scan, lines: false, tail: &text[end..line_end] })
}

/// Several scans, one after another, as one array; with what follows each on its line.
fn join<'a>(scans: Vec<(Scan<'a>, &'a str)>) -> Scan<'a> {
    let mut tree = Tree::default();
    let mut gaps = Vec::new();
    let mut items = Vec::new();
    let mut before = None;
    for (scan, after) in scans {
        items.push(tree.append(scan.tree));
        gaps.extend(before);
        gaps.extend(scan.gaps);
        before = Some(after);
    }
    Scan { tree: tree.finish(Node::Array(items)), gaps, closers: String::new(), end: 0 }
}
