//! make, CMake, ninja, configure scripts, and the compilers that they call.

use super::{Line, Sign, Tool};
use crate::content::is_number;

const COMPILERS: [&str; 12] =
    ["gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ar", "libtool:", "javac", "ranlib", "emcc"];

/// What a numbered step does.
const VERBS: [&str; 9] = [
    "Building ",
    "Linking ",
    "Generating ",
    "Compiling ",
    "Copying ",
    "Installing ",
    "Creating ",
    "Automatic ",
    "Scanning ",
];

/// `[12/300] Building C object a.o`, `[ 12%] Linking C static library a.a`, `[ 12%] Built target a`.
pub(super) fn numbered<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let rest = behind_number(line.bare)?;
    if let Some(target) = rest.strip_prefix("Built target ") {
        return Some(Sign::done(Tool::Build, "built", target));
    }
    let is_verb = VERBS.iter().any(|verb| rest.starts_with(verb));
    (is_verb || is_command(rest))
        .then(|| Sign { quiet: !is_verb && !names_error(rest), ..Sign::step(Tool::Build, "build steps") })
}

/// What stands behind `[12/300] ` or `[ 12%] `.
fn behind_number(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let is_share = number.strip_suffix('%').is_some_and(|share| is_number(share.trim_start()));
    (is_share || number.split_once('/').is_some_and(|(at, all)| is_number(at) && is_number(all))).then_some(rest)
}

/// `gcc -O2 -c -o a.o a.c`. What a shell would still expand is no command that ran.
pub(super) fn command<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    is_command(line.bare).then(|| Sign { quiet: !names_error(line.bare), ..Sign::step(Tool::Build, "build steps") })
}

/// The command of a line, which may be a numbered one.
pub(super) fn command_of(line: &str) -> Option<&str> {
    Some(behind_number(line).unwrap_or(line)).filter(|command| is_command(command))
}

fn is_command(line: &str) -> bool {
    let program = line.split(' ').next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    COMPILERS.contains(&name)
        && line.len() > program.len()
        && [" -", " rcs ", " qc ", ": "].iter().any(|word| line.contains(word))
        && !line.contains(['$', '`', '\\'])
        && !line.contains(": error")
        && !line.contains(": warning")
        && !line.contains(": fatal")
        && !line[program.len()..].starts_with(": ")
}

/// Whether an argument that is no option speaks of errors, as the name of a file may.
fn names_error(command: &str) -> bool {
    command.split(' ').filter(|word| !word.starts_with('-')).any(|word| word.contains("rror") || word.contains("ail"))
}

/// `CC a.o`, `make[2]: Leaving directory '/a'`, `Scanning dependencies of target a`, `checking for a.h... yes`.
pub(super) fn make<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    if let Some(rest) = line.bare.strip_prefix("make[") {
        let (depth, rest) = rest.split_once("]: ")?;
        let is_calm = rest.starts_with("Leaving directory ")
            || rest.starts_with("Entering directory ")
            || rest.starts_with("Nothing to be done for ")
            || rest.ends_with(" is up to date.");
        return (is_calm && depth.len() <= 2).then(|| Sign { quiet: true, ..Sign::opening(Tool::Build) });
    }
    if let Some(rest) = line.bare.strip_prefix("checking ") {
        let (asked, answer) = rest.rsplit_once("... ")?;
        return match answer {
            "yes" | "(cached) yes" | "ok" => Some(Sign::step(Tool::Configure, "checks: yes")),
            "none needed" => Some(Sign { name: asked, ..Sign::step(Tool::Configure, "checks: none needed") }),
            _ => None,
        };
    }
    line.bare.starts_with("Scanning dependencies of target ").then(|| Sign::opening(Tool::Build))
}

/// `-- Looking for stdint.h - found`, `-- Detecting C compiler ABI info`.
pub(super) fn cmake<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let rest = line.bare.strip_prefix("-- ")?;
    let asks = ["Looking for ", "Performing Test ", "Check ", "Detecting ", "Check size of "];
    let asked = asks.iter().find_map(|ask| rest.strip_prefix(ask)).filter(|_| line.indent == 0)?;
    match asked.rsplit_once(" - ") {
        None => Some(Sign::opening(Tool::Configure)),
        Some((_, "found" | "Success" | "done" | "works")) => Some(Sign::step(Tool::Configure, "checks: yes")),
        Some((asked, "skipped")) => Some(Sign { name: asked, ..Sign::step(Tool::Configure, "checks: skipped") }),
        Some(_) => None,
    }
}
