//! Tests with a check mark before their names, as printed by node's spec reporter, jest, vitest, mocha, PHPUnit's
//! testdox and JUnit's tree.
//!
//! People also write lists with check marks and durations, so marks count only if the text contains the totals of a
//! test runner.

use super::sign::{Line, Part, Sign, Tool, speaks_of_failure};
use crate::content::test_report::{Outcome, is_test_totals, mark, states_outcome};

/// Reads a passed test.
pub(super) fn judge<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    if let Some(rest) = line.trimmed.strip_prefix("▶ ") {
        let title = without_duration(rest);
        return (title.len() < rest.len()).then(|| Sign { title, ..Sign::aside(Tool::Marks) });
    }
    let (_, rest) = mark(line.trimmed).filter(|(outcome, _)| *outcome == Outcome::Passed)?;
    let rest = rest.strip_prefix(' ')?.trim_start();
    let title = without_duration(rest);
    // A test with a remark, such as `… # TODO`, `… # SKIP` or `… (1.2ms) # not yet`, may have failed or did not run.
    if title.is_empty() || title.contains(" # ") || is_file_of_tests(title) {
        return None;
    }
    let time = rest[title.len()..].trim_start_matches([' ', '(']);
    Some(Sign { title, ..Sign::passed(Tool::Marks, file_of(title)).taking(time) })
}

/// Returns the file of a title: `a.test.js` of vitest's `a.test.js > suite > test` and of Playwright's `12 [desktop] ›
/// a.test.js:14:7 › suite › test`. Empty if the title names no file.
fn file_of(title: &str) -> &str {
    let place = title.split(" › ").find(|part| !part.contains(' ') && part.contains('.'));
    if let Some(place) = place.filter(|place| place.len() < title.len()) {
        return place.split(':').next().unwrap_or(place);
    }
    let file = title.split_once(" > ").map_or("", |(file, _)| file);
    if file.contains(' ') { "" } else { file }
}

/// Returns true for a line that sums up a file: `a.test.js (20 tests | 1 skipped)`.
fn is_file_of_tests(title: &str) -> bool {
    title.strip_suffix(')').and_then(|title| title.rsplit_once(" (")).is_some_and(|(_, count)| {
        let words = count.trim_start_matches(|char: char| char.is_ascii_digit());
        words.len() < count.len() && words.starts_with(" test")
    })
}

/// Removes `(2.1ms)`, `(2 ms)` or `25ms` from the end.
fn without_duration(title: &str) -> &str {
    let trimmed = title.strip_suffix(')').unwrap_or(title);
    let Some(number) = trimmed.strip_suffix("ms").or_else(|| trimmed.strip_suffix('s')) else { return title };
    let number = number.trim_end();
    let rest = number.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let is_open = rest.len() < number.len() && (rest.ends_with('(') == title.ends_with(')'));
    match rest.strip_suffix('(').unwrap_or(rest).strip_suffix(' ') {
        Some(rest) if is_open => rest.trim_end(),
        _ => title,
    }
}

/// Returns true if a summary proves that a test runner wrote the marks.
pub(super) fn is_proved(lines: &[Line], signs: &[Option<Sign>]) -> bool {
    let is_test = |sign: &Option<Sign>| sign.is_some_and(|sign| sign.tool == Tool::Marks && sign.count > 0);
    signs.iter().any(is_test) && lines.iter().any(|line| is_test_totals(line.trimmed))
}

/// Turns the lines directly above more deeply indented marks into headings.
pub(super) fn attach<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    for at in (0..lines.len().saturating_sub(1)).rev() {
        let (line, next) = (&lines[at], &lines[at + 1]);
        let leads = signs[at + 1].is_some_and(|sign| {
            sign.tool == Tool::Marks && (sign.count > 0 && sign.name.is_empty() || sign.part == Part::Heading)
        });
        // One of several lines with the same indentation is part of a message, unless a test is above it. Only node's
        // suites begin with `▶`.
        let above = at.checked_sub(1).map(|above| &lines[above]);
        let is_alone = line.trimmed.starts_with('▶')
            || above.is_none_or(|above| {
                above.is_blank()
                    || above.indent != line.indent
                    || mark(above.trimmed).is_some_and(|(outcome, _)| outcome != Outcome::Passed)
                    || signs[at - 1].is_some()
            });
        if signs[at].is_none() && leads && is_alone && next.indent > line.indent && is_heading(line) {
            let name =
                line.trimmed.strip_prefix("▶ ").or_else(|| line.trimmed.strip_prefix("PASS ")).unwrap_or(line.trimmed);
            signs[at] = Some(Sign { title: name, ..Sign::heading(Tool::Marks, name) });
        }
    }
}

/// Returns true if a line may name a suite: it is neither a failure nor a summary, and states no outcome. A line with
/// an outcome closes the suite that it names, and the tests below it belong to others.
fn is_heading(line: &Line) -> bool {
    let is_plain = |first: char| first == '▶' || first.is_alphanumeric() || "#.`'\"<@/_".contains(first);
    line.trimmed.starts_with(is_plain)
        && !line.trimmed.starts_with("FAIL ")
        && !line.trimmed.starts_with("[…")
        && !line.trimmed.starts_with("Running ")
        && !speaks_of_failure(line.text)
        && !states_outcome(line.trimmed)
        && !is_test_totals(line.trimmed)
}
