//! Lines of pytest and unittest that can only be read together with others.

use super::sign::{Line, Sign, Tool};
use crate::content::test_report::is_test_totals;

/// Gives a sign to each line with which `pytest -n` announces a test whose result follows.
pub(super) fn attach<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    for at in (0..lines.len().saturating_sub(1)).rev() {
        let is_announced = lines[at + 1].trimmed.starts_with("[gw") && signs[at + 1].is_some()
            || signs[at + 1].is_some_and(|sign| sign.tool == Tool::Pytest && sign.count == 0);
        if is_announced && signs[at].is_none() && lines[at].indent == 0 && file_of(lines[at].trimmed).is_some() {
            signs[at] = Some(Sign::opening(Tool::Pytest));
        }
    }
}

/// Removes the signs of lines that consist of dots, unless the totals of a test runner follow: drawings contain such
/// lines too.
pub(super) fn check<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    if lines.iter().any(|line| is_test_totals(line.trimmed)) {
        return;
    }
    for (line, sign) in lines.iter().zip(signs) {
        if line.trimmed.bytes().all(|byte| byte == b'.') {
            sign.take_if(|sign| sign.tool == Tool::Dots);
        }
    }
}

/// Reads a test of `unittest -v`. A test with a description takes two lines, with the description on the second one.
pub(super) fn unittest<'t>(lines: &[Line<'t>], at: usize) -> Option<Sign<'t>> {
    let line = &lines[at];
    if let Some(head) = line.trimmed.strip_suffix(" ... ok") {
        let class = class_of(head).or_else(|| class_of(lines[at.checked_sub(1)?].trimmed))?;
        return Some(Sign::passed(Tool::Unittest, class));
    }
    let class = class_of(line.trimmed)?;
    let is_described = lines.get(at + 1).is_some_and(|next| {
        next.trimmed.ends_with(" ... ok") && class_of(next.trimmed.trim_end_matches(" ... ok")).is_none()
    });
    is_described.then(|| Sign { name: class, ..Sign::aside(Tool::Unittest) })
}

/// Returns the class: `a.ATest` of `test_x (a.ATest.test_x)` or `test_x (a.ATest)`.
fn class_of(head: &str) -> Option<&str> {
    let (test, class) = head.strip_suffix(')')?.split_once(" (")?;
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    let class = class.strip_suffix(test).and_then(|class| class.strip_suffix('.')).unwrap_or(class);
    (is_name(test) && class.contains('.') && is_name(class)).then_some(class)
}

/// Returns the file of `tests/a.py::ATest::test_x[1]`.
fn file_of(id: &str) -> Option<&str> {
    let (file, test) = id.split_once("::")?;
    (!file.is_empty() && !file.contains(' ') && !test.is_empty()).then_some(file)
}
