//! cargo, its test runner, and nextest.

use super::{Line, Sign, Tool};

/// `Compiling serde v1.0.229`, `test a::b ... ok`, `PASS [   0.005s] books ledger::tests::a`.
pub(super) fn judge<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (word, rest) = line.bare.split_once(' ')?;
    match word {
        "test" => test(rest),
        "PASS" => nextest(rest),
        "Compiling" => package(rest, "compiled"),
        "Checking" => package(rest, "checked"),
        "Fresh" => package(rest, "fresh"),
        "Documenting" => package(rest, "documented"),
        "Downloaded" => package(rest, "downloaded"),
        _ => None,
    }
}

/// `a::b ... ok`, `src/lib.rs - a::b (line 12) ... ok`.
fn test(rest: &str) -> Option<Sign<'_>> {
    let path = rest.strip_suffix(" ... ok")?;
    let path = path.strip_suffix(" - should panic").unwrap_or(path);
    let module = match path.split_once(" - ") {
        Some((file, _)) => file,
        None if path.contains(' ') => return None,
        None => path.rsplit_once("::").map_or("", |(module, _)| module),
    };
    Some(Sign::passed(Tool::CargoTest, module))
}

fn nextest(rest: &str) -> Option<Sign<'_>> {
    let (time, rest) = rest.strip_prefix('[')?.split_once("] ")?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, rest)| rest);
    let (binary, test) = rest.trim_start().split_once(' ')?;
    (time.ends_with('s') && !test.is_empty()).then(|| Sign::passed(Tool::Nextest, binary).taking(time))
}

/// A package by name and version. Those that are not from the usual registry come with their source, and stay by name: the packages
/// of the workspace without their paths.
fn package<'t>(rest: &'t str, label: &'static str) -> Option<Sign<'t>> {
    let (name, version) = rest.split_once(' ')?;
    let number = version.strip_prefix('v').filter(|number| number.starts_with(|char: char| char.is_ascii_digit()))?;
    let sign = Sign::step(Tool::Cargo, label);
    match number.split_once(' ') {
        None => Some(sign),
        Some((_, source)) => {
            let source = source.strip_prefix('(')?;
            let is_path = !source.contains("://") && !source.starts_with("registry ");
            let detail = if is_path { "" } else { source.strip_suffix(')').unwrap_or(source) };
            Some(Sign { name, detail, ..sign })
        }
    }
}
