//! `go test -v`: `=== RUN   TestA`, `--- PASS: TestA (0.00s)`.

use super::{Line, Sign, Tool};

/// A passed test, or a line that says which one goes on.
pub(super) fn judge<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let bare = line.bare;
    if let Some(rest) = bare.strip_prefix("--- PASS: ") {
        let (_, time) = rest.strip_suffix(')')?.rsplit_once(" (")?;
        return time.ends_with('s').then(|| Sign::passed(Tool::Go, "").taking(time));
    }
    if let Some(rest) = bare.strip_prefix("=== ") {
        let is_event = ["RUN ", "PAUSE ", "CONT ", "NAME "].iter().any(|event| rest.starts_with(event));
        return is_event.then(|| Sign::opening(Tool::Go));
    }
    let package = bare.strip_prefix("?")?.trim_start().strip_suffix("[no test files]")?.trim_end();
    (!package.contains([' ', '\t'])).then(|| Sign::done(Tool::Go, "without test files", package))
}
