//! Building and pulling images.

use super::{Line, Sign, Tool, packages};
use crate::content::is_number;

/// What follows the number of a step while it only moves bytes, or is done.
const MOVES: [&str; 8] =
    ["sha256:", "extracting sha256:", "transferring ", "resolve ", "DONE ", "CACHED", "exporting ", "writing "];

/// What a layer of a pulled image goes through.
const STATES: [&str; 7] = [
    "Pulling fs layer",
    "Waiting",
    "Verifying Checksum",
    "Download complete",
    "Pull complete",
    "Already exists",
    "Downloading",
];

/// `#12 sha256:… 1.2MB / 3MB`, `#7 [2/8] RUN …`, and what a known tool prints in a step.
pub(super) fn plain<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (number, rest) = line.bare.strip_prefix('#')?.split_once(' ')?;
    if !is_number(number) {
        return None;
    }
    if MOVES.iter().any(|word| rest.starts_with(word)) || rest == "..." {
        // A cached step takes no time.
        let time = if rest == "CACHED" { "0s" } else { rest.strip_prefix("DONE ").unwrap_or_default() };
        return Some(Sign::opening(Tool::Docker).taking(time));
    }
    if let Some((step, command)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        return (is_step(step) && !command.is_empty()).then(|| Sign::step(Tool::Docker, "build steps"));
    }
    let (time, output) = rest.split_once(' ')?;
    let is_time = time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let inner = Line::of(line.start, output);
    is_time.then(|| packages::apt(&inner).or_else(|| packages::pip(&inner)))?
}

/// ` => CACHED [2/8] RUN …`, ` => => sha256:…`, but not ` => => # …`, which a step printed.
pub(super) fn fancy<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let rest = line.bare.strip_prefix("=> ")?;
    if rest.starts_with("=> ") {
        return (!rest.starts_with("=> #")).then(|| Sign::aside(Tool::Docker));
    }
    rest.starts_with("CACHED [").then(|| Sign::step(Tool::Docker, "cached steps"))
}

/// ` ---> Using cache`, `Removing intermediate container 0123456789ab`.
pub(super) fn classic<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let layer = line.bare.strip_prefix("---> ");
    let is_layer =
        layer.is_some_and(|layer| layer == "Using cache" || layer.starts_with("Running in ") || is_id(layer));
    (is_layer || line.bare.starts_with("Removing intermediate container ")).then(|| Sign::opening(Tool::Docker))
}

/// `0123456789ab: Pull complete`.
pub(super) fn pull<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (id, state) = line.bare.split_once(": ")?;
    if !is_id(id) || !STATES.iter().any(|known| state.starts_with(known)) {
        return None;
    }
    let is_end = state == "Pull complete" || state == "Already exists";
    Some(if is_end { Sign::done(Tool::Docker, "layers", "") } else { Sign::opening(Tool::Docker) })
}

/// `2/8`, `base 2/8`, `internal`.
fn is_step(step: &str) -> bool {
    let last = step.rsplit(' ').next().unwrap_or(step);
    matches!(last, "internal" | "auth") || last.split_once('/').is_some_and(|(at, all)| is_number(at) && is_number(all))
}

fn is_id(word: &str) -> bool {
    word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}
