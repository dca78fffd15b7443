//! `========== title ==========  ` -> `===== title =====`: shortens rules of a screen's width and removes trailing
//! blanks.
//!
//! Only a line of strokes, or the frame of a title, is a rule. Bars in charts and in diff statistics carry information.

use std::borrow::Cow;

/// The minimum length of a rule that is shortened.
const LONG_CHARS: usize = 12;

/// The maximum length of a line with a rule, in bytes. No screen is wider.
const LINE_MAX_BYTES: usize = 1200;

/// The length of a shortened rule. Headings of test runs are still recognised with this length.
const KEPT_CHARS: usize = 5;

/// Shortens the rules of lines and removes trailing blanks. `bars` tells which lines are bars of a chart.
pub(super) fn tidied<'a>(lines: &'a str, bars: &[bool]) -> Cow<'a, str> {
    let is_bar = |index: usize| bars.get(index).copied().unwrap_or_default();
    if !lines.contains('\n') {
        return tidied_line(lines, is_bar(0));
    }
    let tidied = lines.split('\n').enumerate().map(|(index, line)| tidied_line(line, is_bar(index)));
    Cow::Owned(tidied.collect::<Vec<_>>().join("\n"))
}

/// Returns the stroke that a line ends with, or begins with if it is box drawing, and the number of its occurrences.
pub(super) fn rule(line: &str) -> Option<(char, usize)> {
    let trimmed = line.trim().trim_matches(is_corner);
    let last = trimmed.chars().next_back().filter(|&c| is_stroke(c));
    let stroke = last.or_else(|| trimmed.chars().next().filter(|&c| is_stroke(c) && !c.is_ascii()))?;
    Some((stroke, trimmed.chars().filter(|&c| c == stroke).count()))
}

fn tidied_line(line: &str, is_bar: bool) -> Cow<'_, str> {
    let line = line.trim_end();
    if is_bar {
        return line.into();
    }
    let trimmed = line.trim_start();
    let (Some(first), Some(last)) = (trimmed.chars().next(), trimmed.chars().next_back()) else { return line.into() };
    if !(is_drawn(first) || is_drawn(last)) || line.len() > LINE_MAX_BYTES {
        return line.into();
    }
    let is_framed = first == last && is_stroke(first) && run_len(trimmed, first) >= KEPT_CHARS;
    if !(is_framed || trimmed.chars().all(|c| is_drawn(c) || c == ' ')) {
        return if first.is_ascii() && last.is_ascii() { line.into() } else { at_ends(line) };
    }
    let mut tidied = String::with_capacity(line.len());
    let (mut before, mut run) = (None, 0);
    for c in line.chars() {
        run = if before == Some(c) { run + 1 } else { 0 };
        before = Some(c);
        // A line without long runs is returned unchanged below.
        if !is_stroke(c) || run < KEPT_CHARS {
            tidied.push(c);
        }
    }
    let longest = line.chars().filter(|c| is_stroke(*c)).count();
    if longest >= LONG_CHARS { tidied.into() } else { line.into() }
}

/// Shortens box-drawing rules at the start or the end of a line: `── title ──────────`.
fn at_ends(line: &str) -> Cow<'_, str> {
    let is_box = |c: char| is_stroke(c) && !c.is_ascii();
    let indent = line.len() - line.trim_start().len();
    let trimmed = &line[indent..];
    let opening = trimmed.trim_start_matches(is_corner);
    let closing = trimmed.trim_end_matches(is_corner);
    let head = opening.chars().next().filter(|&c| is_box(c)).map_or(0, |c| run_len(opening, c));
    let tail = closing.chars().next_back().filter(|&c| is_box(c));
    let tail = tail.map_or(0, |c| closing.chars().rev().take_while(|&other| other == c).count());
    let (mut start, mut end) = (0, 0);
    if head >= LONG_CHARS {
        start = head - KEPT_CHARS;
    }
    if tail >= LONG_CHARS {
        end = tail - KEPT_CHARS;
    }
    if start + end == 0 {
        return line.into();
    }
    let chars: Vec<char> = trimmed.chars().collect();
    let corners = trimmed.chars().take_while(|&c| is_corner(c)).count();
    let closing_corners = trimmed.chars().rev().take_while(|&c| is_corner(c)).count();
    let left = chars.len() - closing_corners - end;
    let kept = chars
        .iter()
        .enumerate()
        .filter(|(at, _)| !(corners..corners + start).contains(at) && !(left..left + end).contains(at));
    Cow::Owned(line[..indent].chars().chain(kept.map(|(_, c)| *c)).collect())
}

fn run_len(text: &str, of: char) -> usize {
    text.chars().take_while(|&c| c == of).count()
}

/// Returns true for the characters that rules consist of.
#[rustfmt::skip]
fn is_stroke(c: char) -> bool {
    matches!(
        c,
        '-' | '=' | '_' | '—' | '─' | '━' | '═' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '╴' | '╶' | '╸' | '╺' | '▔' | '▁'
    )
}

/// Returns true for strokes and the characters that join them.
fn is_drawn(c: char) -> bool {
    is_stroke(c) || is_corner(c)
}

/// Returns true for characters that join strokes.
fn is_corner(c: char) -> bool {
    matches!(c, '+' | '|' | '\u{2500}'..='\u{257f}') && !is_stroke(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_short_and_what_measures_stays() {
        concertina_cases::check!("screen_rules", |text, _| {
            let once = tidied(text, &[]).into_owned();
            assert_eq!(tidied(&once, &[]), once);
            once
        });
        assert_eq!(tidied("a  \n--------------------\n", &[]), "a\n-----\n");
        let bars = "shop ━━━━━━━━━━━━━━━━━━\napi ━━━━━━━━━━━━━\n";
        assert_eq!(tidied(bars, &[true, true]), bars);
    }

    #[test]
    fn a_rule_is_known_by_its_stroke() {
        for (line, expected) in [
            ("  ====================  ", Some(('=', 20))),
            ("shop ━━━━━━━", Some(('━', 7))),
            ("━━━━━━━ shop", Some(('━', 7))),
            ("╭─ title ───╮", Some(('─', 4))),
            ("- an item", None),
            ("+--+--+", Some(('-', 4))),
            ("", None),
        ] {
            assert_eq!(rule(line), expected, "{line}");
        }
    }
}
