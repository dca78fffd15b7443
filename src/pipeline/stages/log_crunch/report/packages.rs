//! Package managers: pip and uv, npm and its kin, apt; and git where it moves objects.

use super::{Line, Sign, Tool};

/// `Collecting a`, `Downloading a.whl (9 kB)`, `Requirement already satisfied: a in … (1.2)`.
pub(super) fn pip<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (word, rest) = line.bare.split_once(' ')?;
    match word {
        "Requirement" => {
            let rest = rest.strip_prefix("already satisfied: ")?;
            let name = rest.split(" in ").next()?;
            let version =
                rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).map_or("", |(_, version)| version);
            let detail = if version.starts_with(|char: char| char.is_ascii_digit()) { version } else { "" };
            Some(Sign { detail, ..Sign::done(Tool::Pip, "already satisfied", requirement(name)) })
        }
        "Collecting" => is_requirement(rest).then(|| Sign::step(Tool::Pip, "collected")),
        "Downloading" | "Downloaded" => {
            let is_file = rest.ends_with("B)")
                || rest.ends_with(".metadata")
                || rest.contains(".whl")
                || rest.contains(".tar.gz");
            is_file.then(|| Sign::opening(Tool::Pip))
        }
        "Using" => rest.starts_with("cached ").then(|| Sign::opening(Tool::Pip)),
        "Preparing" | "Getting" | "Installing" | "Building" => {
            let is_done = rest.ends_with("...")
                || rest.ends_with(" started")
                || rest.ends_with("status 'done'")
                || rest.ends_with(" done");
            (is_done && (rest.contains("metadata") || rest.contains("build") || rest.contains("requirements")))
                .then(|| Sign::opening(Tool::Pip))
        }
        "Found" => rest.starts_with("existing installation: ").then(|| Sign::opening(Tool::Pip)),
        "Attempting" => rest.starts_with("uninstall: ").then(|| Sign::opening(Tool::Pip)),
        _ => None,
    }
}

/// A requirement without what other packages ask of it.
fn requirement(name: &str) -> &str {
    name.split(['<', '>', '=', '!', '~', ';', ' ']).next().unwrap_or(name)
}

fn is_requirement(text: &str) -> bool {
    let name = requirement(text);
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.[],".contains(&byte))
        && (name.len() == text.len() || text.ends_with(')') || !text.contains(' '))
}

/// `━━━━━━━ 411.8/411.8 kB 36.8 MB/s eta 0:00:00`, and yarn's `➤ YN0013: │ a can't be found in the cache`.
pub(super) fn bar<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    if line.bare.starts_with("━━━━") {
        let rest = line.bare.trim_start_matches(['━', '╸', '╺']);
        return (rest.contains('/') && rest.contains('B')).then(|| Sign::aside(Tool::Pip));
    }
    let rest = line.bare.strip_prefix("➤ YN0013: ")?;
    rest.contains("the cache").then(|| Sign::step(Tool::Node, "fetched"))
}

/// `npm http fetch GET 200 …`, `Progress: resolved 1, reused 0, downloaded 0, added 0`.
pub(super) fn node<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    if let Some(rest) = line.bare.strip_prefix("npm http ") {
        let is_fine = rest.contains(" GET 200 ") || rest.contains(" GET 304 ") || rest.starts_with("cache ");
        let time = rest.split(' ').nth(4).unwrap_or_default();
        return is_fine.then(|| Sign::step(Tool::Node, "fetched").taking(time));
    }
    line.bare.starts_with("Progress: resolved ").then(|| Sign::aside(Tool::Node))
}

/// `Get:7 http://… a 1.2 [9 kB]`, `Unpacking a (1.2) ...`, `Setting up a (1.2) ...`.
pub(super) fn apt<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let bare = line.bare;
    if let Some(rest) = bare.strip_prefix("Setting up ") {
        let (name, version) = rest.strip_suffix(") ...")?.split_once(" (")?;
        return Some(Sign { name, detail: version, ..Sign::step(Tool::Apt, "set up") });
    }
    if let Some(rest) = bare.strip_prefix("Unpacking ") {
        let (name, version) = rest.split_once(" (")?;
        let version = version.strip_suffix(") ...")?;
        // `1.2) over (1.1`: nothing else may say what was there before.
        let detail = if version.contains(") over (") { version } else { "" };
        return Some(Sign { name, detail, ..Sign::step(Tool::Apt, "unpacked") });
    }
    let is_item = |word: &str| {
        bare.strip_prefix(word)
            .is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()) && rest.contains(" http"))
    };
    let is_step = is_item("Get:")
        || is_item("Hit:")
        || is_item("Ign:")
        || bare.starts_with("Selecting previously unselected package ")
        || bare.starts_with("Preparing to unpack ") && bare.ends_with(" ...")
        || bare.starts_with("Processing triggers for ") && bare.ends_with(") ...")
        || bare.starts_with("(Reading database ... ");
    is_step.then(|| Sign::opening(Tool::Apt))
}

/// `Receiving objects:  45% (9/20)`, `* [new branch] a -> origin/a`.
pub(super) fn git<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    if let Some(rest) = line.bare.strip_prefix("* [new ") {
        let (kind, rest) = rest.split_once(']')?;
        let (name, _) = rest.split_once(" -> ")?;
        let label = if kind == "tag" { "new tags" } else { "new branches" };
        return Some(Sign::done(Tool::Git, label, name.trim()));
    }
    let rest = line.bare.strip_prefix("remote: ").unwrap_or(line.bare);
    let (what, share) = rest.split_once(": ")?;
    let is_work = [
        "Counting objects",
        "Compressing objects",
        "Receiving objects",
        "Resolving deltas",
        "Updating files",
        "Writing objects",
        "Filtering content",
    ]
    .contains(&what);
    let (percent, _) = share.trim_start().split_once("% (")?;
    let is_under_way = percent.parse::<u8>().is_ok_and(|percent| percent < 100) && !line.text.contains('\r');
    (is_work && is_under_way).then(|| Sign::aside(Tool::Git))
}
