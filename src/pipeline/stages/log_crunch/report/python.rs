//! pytest and unittest.
//!
//! ```text
//! tests/a.py::test_x[1] PASSED                 [  0%]
//! [gw0] [  0%] PASSED tests/a.py::test_x[1]
//! tests/a.py ........................          [ 20%]
//! test_x (a.ATest.test_x) ... ok
//! ```

use super::{Line, Sign, Tool};
use crate::content::is_number;

/// Fewer dots without a percentage may be an ellipsis.
const MIN_DOTS: usize = 20;

/// What the summaries of runners that print dots say behind a number.
const COUNTED: [&str; 6] = [" passed", " failed", " passing", " examples, ", " runs, ", " tests, "];

/// A test of `pytest -v`.
pub(super) fn verbose<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let id = without_share(line.bare).strip_suffix(" PASSED")?;
    file_of(id).map(|file| Sign::passed(Tool::Pytest, file))
}

/// A test of `pytest -v -n 4`.
pub(super) fn worker<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (worker, rest) = line.bare.strip_prefix("[gw")?.split_once("] ")?;
    let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once("%] ")).map_or(rest, |(_, rest)| rest);
    let file = file_of(rest.strip_prefix("PASSED ")?)?;
    is_number(worker).then(|| Sign::passed(Tool::Pytest, file))
}

/// Gives the lines with which `pytest -n` announces its tests to the ones that say how they went.
pub(super) fn attach<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    for at in (0..lines.len().saturating_sub(1)).rev() {
        let is_announced = lines[at + 1].bare.starts_with("[gw") && signs[at + 1].is_some()
            || signs[at + 1].is_some_and(|sign| sign.tool == Tool::Pytest && sign.count == 0);
        if is_announced && signs[at].is_none() && lines[at].indent == 0 && file_of(lines[at].bare).is_some() {
            signs[at] = Some(Sign::opening(Tool::Pytest));
        }
    }
}

/// A line of dots, below the name of a file or alone. Any other letter among them is no pass.
pub(super) fn dots<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let rest = without_progress(line.bare);
    let (file, dots) = rest.rsplit_once(' ').map_or(("", rest), |(file, dots)| (file.trim_end(), dots));
    let is_certain = rest.len() < line.bare.len() || dots.len() >= MIN_DOTS;
    let is_file = file.is_empty() || !file.contains(' ') && file.contains('.');
    (is_certain && is_file && !dots.is_empty() && dots.bytes().all(|byte| byte == b'.'))
        .then(|| Sign { count: dots.len(), ..Sign::passed(Tool::Dots, file) })
}

/// Takes lines of nothing but dots for no tests, where no summary of a runner says that they are: a drawing has such lines, too.
pub(super) fn check<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    if lines.iter().any(|line| is_summary(line.bare)) {
        return;
    }
    for (line, sign) in lines.iter().zip(signs) {
        if line.bare.bytes().all(|byte| byte == b'.') {
            sign.take_if(|sign| sign.tool == Tool::Dots);
        }
    }
}

/// `==== 98 passed in 1.2s ====`, `Ran 98 tests in 0.1s`, `OK (98 tests, 98 assertions)`, `98 examples, 0 failures`.
fn is_summary(line: &str) -> bool {
    let bare = line.trim_matches(['=', ' ']);
    let counted = |rest: &str| rest.starts_with(|char: char| char.is_ascii_digit());
    ["Ran ", "OK (", "Tests: "].iter().any(|word| bare.strip_prefix(word).is_some_and(counted))
        || counted(bare) && COUNTED.iter().any(|word| bare.contains(word))
}

/// A test of `unittest -v`. Its description, where it has one, stands on a line of its own.
pub(super) fn unittest<'t>(lines: &[Line<'t>], at: usize) -> Option<Sign<'t>> {
    let line = &lines[at];
    if let Some(head) = line.bare.strip_suffix(" ... ok") {
        let class = class_of(head).or_else(|| class_of(lines[at.checked_sub(1)?].bare))?;
        return Some(Sign::passed(Tool::Unittest, class));
    }
    let class = class_of(line.bare)?;
    let is_described = lines.get(at + 1).is_some_and(|next| {
        next.bare.ends_with(" ... ok") && class_of(next.bare.trim_end_matches(" ... ok")).is_none()
    });
    is_described.then(|| Sign { name: class, ..Sign::aside(Tool::Unittest) })
}

/// `a.ATest` of `test_x (a.ATest.test_x)` and of `test_x (a.ATest)`.
fn class_of(head: &str) -> Option<&str> {
    let (test, class) = head.strip_suffix(')')?.split_once(" (")?;
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    let class = class.strip_suffix(test).and_then(|class| class.strip_suffix('.')).unwrap_or(class);
    (is_name(test) && class.contains('.') && is_name(class)).then_some(class)
}

/// The file of `tests/a.py::ATest::test_x[1]`.
fn file_of(id: &str) -> Option<&str> {
    let (file, test) = id.split_once("::")?;
    (!file.is_empty() && !file.contains(' ') && !test.is_empty()).then_some(file)
}

/// Without `[ 12%]` at the end.
fn without_share(line: &str) -> &str {
    let share = line.strip_suffix("%]").and_then(|line| line.rsplit_once('['));
    share.filter(|(_, share)| is_number(share.trim_start())).map_or(line, |(line, _)| line.trim_end())
}

/// Without `[ 12%]`, `12/100` or `12 / 100 ( 12%)` at the end.
fn without_progress(line: &str) -> &str {
    let line = without_share(line);
    let line = line
        .strip_suffix("%)")
        .and_then(|line| line.rsplit_once(" ("))
        .filter(|(_, share)| is_number(share.trim_start()))
        .map_or(line, |(line, _)| line);
    let rest = line.trim_end_matches(|char: char| char.is_ascii_digit() || char == '/' || char == ' ');
    if line[rest.len()..].matches('/').count() == 1 && rest.ends_with('.') { rest } else { line }
}
