//! Maven, Gradle, and `dotnet test`.

use super::{Line, Sign, Tool};

/// `[INFO] Running a.BTest`, `[INFO] Tests run: 5, Failures: 0, … in a.BTest`, `Downloading from central: …`.
pub(super) fn maven<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let rest = line.bare.strip_prefix("[INFO] ").unwrap_or(line.bare);
    if rest.starts_with("Downloading from ") || rest.starts_with("Downloading: http") {
        return Some(Sign::opening(Tool::Maven));
    }
    if rest.starts_with("Downloaded from ") || rest.starts_with("Downloaded: http") {
        return Some(Sign::step(Tool::Maven, "downloaded"));
    }
    if rest.starts_with("Progress (") {
        return Some(Sign::opening(Tool::Maven));
    }
    if let Some(class) = rest.strip_prefix("Running ") {
        return (class.contains('.') && !class.contains(' ')).then(|| Sign::opening(Tool::Maven));
    }
    let (count, rest) =
        rest.strip_prefix("Tests run: ")?.split_once(", Failures: 0, Errors: 0, Skipped: 0, Time elapsed: ")?;
    let (time, class) = rest.rsplit_once(" in ")?;
    Some(Sign { count: count.parse().ok()?, quiet: true, ..Sign::passed(Tool::Maven, class).taking(time) })
}

/// `> Task :compileJava UP-TO-DATE`, `BTest > adds() PASSED`.
pub(super) fn gradle<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    if let Some(task) = line.bare.strip_prefix("> Task :") {
        // Tests that did not run did not pass.
        let tests = task.split(' ').next().is_some_and(|name| name.to_ascii_lowercase().contains("test"));
        let is_left_out = tests && (task.ends_with(" SKIPPED") || task.ends_with(" NO-SOURCE"));
        return (!is_left_out && !task.ends_with("FAILED")).then(|| Sign::step(Tool::Gradle, "tasks"));
    }
    let (class, test) = line.bare.strip_suffix(" PASSED")?.split_once(" > ")?;
    (!class.is_empty() && !test.is_empty()).then(|| Sign::passed(Tool::Gradle, class))
}

/// `Passed A.B.CTest.Adds [< 1 ms]`.
pub(super) fn dotnet<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (test, time) = line.bare.strip_prefix("Passed ")?.strip_suffix(']')?.rsplit_once(" [")?;
    let name = test.split('(').next().unwrap_or(test).trim();
    let class = name.rsplit_once('.').map_or("", |(class, _)| class);
    (time.ends_with('s') && !class.contains(' ')).then(|| Sign::passed(Tool::Dotnet, class).taking(time))
}
