//! Plain text -> first line, the lines that carry a failure, last line, the lines that carry a result or figures.
//!
//! Lines are ranked, not rewritten; a long paragraph is ranked by its sentences.

use std::sync::LazyLock;

use indexmap::IndexSet;
use regex::Regex;

use super::line_pattern;
use super::log::lines_from_end;
use super::numbers::which_lines;
use super::sheet::{Sheet, quote};
use crate::content::head;
use crate::content::is_number;
use crate::content::severity::{Severity, severity, severity_of_state};

/// The number of bytes of a line or sentence that are ranked.
const FRONT: usize = 400;

/// The most lines and sentences that are ranked.
const KEPT: usize = 50_000;

/// The number of first-ranked pieces from which duplicates are removed.
const RANKED: usize = 400;

/// The weight of a line that reports a failure. Nothing else weighs as much.
const FAILURE: usize = 13;

static TELLING: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"(?i)\b(?:must|never|important|result|total|found|conclusion|summary|note|fixed|missing|created|because|root cause|(?:execution|planning) time|flag|key|password|answer|done|successfully|recommend\w*)\b",
    )
});

/// Writes the summary, and returns false if the text is blank.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let mut pieces = pieces(text).filter(|piece| piece.chars().any(char::is_alphanumeric));
    let Some(first) = pieces.next() else { return false };
    let last =
        lines_from_end(text).map(|line| without_rule(line.trim())).next().filter(|last| !last.starts_with(first));
    sheet.say(&format!("text, {}", which_lines(text)));
    sheet.line(first, sheet.share(35).min(160));
    // A run that failed often gives the reason at its end.
    let mut ranked: Vec<(usize, &str)> = last
        .into_iter()
        .chain(pieces.take(KEPT).filter(|piece| last != Some(piece)))
        .map(|piece| (weight(piece), piece))
        .filter(|(weight, _)| *weight > 0)
        .collect();
    ranked.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    ranked.truncate(RANKED);
    let grave = ranked.partition_point(|(weight, _)| *weight >= FAILURE);
    let quoted = |pieces: &[(usize, &str)]| pieces.iter().map(|(_, piece)| quote(piece, 140)).collect::<IndexSet<_>>();
    let (failures, others) = (quoted(&ranked[..grave]), quoted(&ranked[grave..]));
    sheet.lines(&Vec::from_iter(failures), sheet.share(65));
    if let Some(last) = last.filter(|last| weight(last) < FAILURE) {
        sheet.line(last, sheet.share(35).min(160));
    }
    sheet.lines(&Vec::from_iter(others.iter().filter(|line| !sheet.has_line(line))), sheet.share(65));
    true
}

/// Returns the lines of a text; a long one by its sentences, and a label with the line below it, because quoted without
/// it the label would seem to stand above the next line that is quoted.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    labelled_lines(text).flat_map(|line| {
        let sentences = line.len() > FRONT;
        let whole = (!sentences).then_some(line);
        let split = sentences.then(|| line.split_inclusive(". "));
        let pieces = whole.into_iter().chain(split.into_iter().flatten());
        pieces.map(|piece| without_rule(piece.trim())).filter(|piece| !piece.is_empty())
    })
}

fn labelled_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end_of = |from: usize| rest[from..].find('\n').map_or(rest.len(), |end| from + end);
        let mut end = (!rest.is_empty()).then(|| end_of(0))?;
        if rest[..end].trim_end().ends_with(':') && end < rest.len() {
            let below = end_of(end + 1);
            end = if rest[end + 1..below].trim().is_empty() { end } else { below };
        }
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line)
    })
}

/// Returns the weight of a piece. A failure outweighs a result, and a result outweighs numbers. A failed state is the
/// shortest report of a failure and weighs most.
fn weight(piece: &str) -> usize {
    const WARNING: usize = 3;
    const STATE: usize = 25;
    let piece = head(piece, FRONT);
    let failure = match severity(piece) {
        _ if is_failed_state(piece) => STATE,
        Severity::None => 0,
        Severity::Warning => WARNING,
        _ => FAILURE,
    };
    let has_figure = piece.bytes().filter(u8::is_ascii_digit).count().min(3);
    let told = TELLING.find_iter(piece).take(3).count();
    let ends_label = usize::from(piece.ends_with(':'));
    if piece.len() < 12 && failure <= WARNING {
        return 0;
    }
    (failure + told * 3 + has_figure).saturating_sub(ends_label * 2)
}

/// Returns true for a key with a failure as its whole value, such as `Reason: CrashLoopBackOff` or `Exit Code: 137`,
/// and for an error with its number, such as `curl: (60) …`.
fn is_failed_state(piece: &str) -> bool {
    piece.split_once(':').is_some_and(|(key, value)| {
        let value = value.trim();
        let number = value.strip_prefix('(').and_then(|value| value.split_once(") "));
        if number.is_some_and(|(number, _)| is_number(number) && number != "0" && !key.contains(' ')) {
            return true;
        }
        let is_code = || !value.is_empty() && value != "0" && value.bytes().all(|byte| byte.is_ascii_digit());
        severity_of_state(value) >= Severity::Error || key.ends_with("Exit Code") && is_code()
    })
}

/// Returns a line without the rule at its end: `PLAY [web] *********`.
fn without_rule(line: &str) -> &str {
    const LEAST: usize = 4;
    let bare = line.trim_end_matches(['*', '=', '-', '─']);
    if line.len() - bare.len() < LEAST { line } else { bare.trim_end() }
}
