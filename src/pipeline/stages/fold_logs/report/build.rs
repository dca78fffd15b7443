//! The compiler commands that make, ninja and similar tools print.

use super::sign::{Line, Sign, Tool};
use crate::content::is_number;

const COMPILERS: [&str; 12] =
    ["gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ar", "libtool:", "javac", "ranlib", "emcc"];

/// Returns the text after `[12/300] ` or `[ 12%] `.
fn behind_number(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let is_share = number.strip_suffix('%').is_some_and(|share| is_number(share.trim_start()));
    (is_share || number.split_once('/').is_some_and(|(at, all)| is_number(at) && is_number(all))).then_some(rest)
}

/// Reads a compiler command, such as `gcc -O2 -c -o a.o a.c`.
pub(super) fn command<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let command = command_of(line.trimmed)?;
    Some(Sign { quiet: !names_error(command), ..Sign::step(Tool::Build, "build steps") })
}

/// Returns the command of a line, which may be numbered.
pub(super) fn command_of(line: &str) -> Option<&str> {
    Some(behind_number(line).unwrap_or(line)).filter(|command| is_command(command))
}

/// Returns true if a line calls a compiler. Text that a shell would still expand is not a command that ran.
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

/// Returns true if an argument that is not an option contains an error word, such as the name of a file.
fn names_error(command: &str) -> bool {
    command.split(' ').filter(|word| !word.starts_with('-')).any(|word| word.contains("rror") || word.contains("ail"))
}
