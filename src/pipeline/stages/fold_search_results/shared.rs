//! Finds a common beginning and end of many hits, which is stated once and replaced by `…`.
//!
//! Both are cut at word boundaries, so that names stay whole.

use std::ops::Range;

use concertina_format::search_crunch::shared::Shared;

use crate::content::head;
use concertina_base::hashing::FastMap;

/// The number of bytes that are examined at either end of a line, and the maximum number of cuts.
const MAX_BYTES: usize = 96;
const MAX_CUTS: usize = 12;

/// The approximate cost of the legend, in tokens.
const LEGEND_TOKENS: usize = 8;

/// Returns the beginning and the end that save most in these texts, by estimate.
pub(super) fn find<'a>(texts: impl Iterator<Item = &'a str>) -> Shared {
    let texts: Vec<&str> = texts.collect();
    let end = best(texts.iter().copied(), ends).to_owned();
    let inner =
        texts.into_iter().map(|text| if end.is_empty() { text } else { text.strip_suffix(&end).unwrap_or(text) });
    let start = best(inner, starts).to_owned();
    Shared { start, end }
}

/// Returns the candidate that saves most; of equal ones the first. `find` adds the candidates of a text.
///
/// Shorter candidates come first and are shared by all texts with a common longer one. A text therefore stays in the
/// search only as long as its candidates are repeated.
fn best<'a>(texts: impl Iterator<Item = &'a str>, find: impl Fn(&'a str, &mut Vec<&'a str>)) -> &'a str {
    let mut candidates = Vec::new();
    // The remaining candidates of a text, and the number of equal texts in a row.
    let mut alive: Vec<(Range<usize>, usize)> = Vec::new();
    let mut found = Vec::with_capacity(MAX_CUTS);
    let mut last = None;
    for text in texts {
        if let Some((_, times)) = alive.last_mut().filter(|_| last == Some(text)) {
            *times += 1;
            continue;
        }
        last = Some(text);
        let start = candidates.len();
        find(text, &mut found);
        candidates.append(&mut found);
        alive.push((start..candidates.len(), 1));
    }
    let mut repeated: Vec<(&str, (usize, usize))> = Vec::new();
    let mut counts: FastMap<&str, (usize, usize)> = FastMap::default();
    while !alive.is_empty() {
        alive.retain(|(rest, _)| !rest.is_empty());
        for (rest, times) in &alive {
            counts.entry(candidates[rest.start]).or_insert((0, rest.start)).0 += times;
        }
        alive.retain_mut(|(rest, _)| {
            let is_repeated = counts[candidates[rest.start]].0 > 1;
            rest.start += 1;
            is_repeated
        });
        // A candidate that occurs once saves nothing.
        repeated.extend(counts.drain().filter(|(_, (count, _))| *count > 1));
    }
    let saving = |candidate: &str, count: usize| {
        let cost = estimate(candidate);
        (count * cost.saturating_sub(1)).saturating_sub(cost + LEGEND_TOKENS)
    };
    let savings = repeated.into_iter().map(|(candidate, (count, order))| (saving(candidate, count), order, candidate));
    let best =
        savings.filter(|(saving, ..)| *saving > 0).max_by_key(|&(saving, order, _)| (saving, std::cmp::Reverse(order)));
    best.map_or("", |(.., candidate)| candidate)
}

/// Adds the beginnings of a text that end before a word.
fn starts<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let mut word = false;
    for (at, c) in head(text, MAX_BYTES).char_indices() {
        if is_word(c) && !word && at > 0 && found.len() < MAX_CUTS {
            found.push(&text[..at]);
        }
        word = is_word(c);
    }
}

/// Adds the ends of a text that begin after a word.
fn ends<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES));
    let mut word = false;
    for (at, c) in text[from..].char_indices().rev() {
        let after = from + at + c.len_utf8();
        if is_word(c) && !word && after < text.len() && found.len() < MAX_CUTS {
            found.push(&text[after..]);
        }
        word = is_word(c);
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Estimates the tokens of a text from its words, runs of punctuation and runs of blanks.
fn estimate(text: &str) -> usize {
    let kind = |c: char| match c {
        c if is_word(c) => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let (mut tokens, mut run, mut last) = (0, 0, None);
    for kind in text.chars().map(kind) {
        run = if last == Some(kind) { run + 1 } else { 1 };
        last = Some(kind);
        tokens += usize::from(match kind {
            0 => run % 10 == 1,
            1 => run == 2,
            _ => run % 4 == 1,
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_search_asked_for_is_said_once() {
        let texts: Vec<String> = (0..20).map(|n| format!("func Test{n}x(t *testing.T) {{")).collect();
        let shared = find(texts.iter().map(String::as_str));
        assert_eq!(shared, Shared { start: String::new(), end: "(t *testing.T) {".into() });
        assert_eq!(shared.shorten(&texts[3]), "func Test3x…");
        assert_eq!(shared.lengthen("func Test3x…"), texts[3]);
    }

    #[test]
    fn names_stay_whole() {
        let texts: Vec<String> = (0..20).map(|n| format!("\t\treturn errors.New(\"session{n}\")")).collect();
        let shared = find(texts.iter().map(String::as_str));
        assert_eq!(shared.start, "\t\treturn errors.New(\"");
        assert!(!shared.shorten(&texts[7]).contains("errors"));
        assert!(shared.shorten(&texts[7]).contains("session7"));
    }

    #[test]
    fn few_or_short_ones_stay() {
        assert_eq!(find(["a.b()", "c.d()", "", "…"].into_iter()), Shared::default());
    }
}
