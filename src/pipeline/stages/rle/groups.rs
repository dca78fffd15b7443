//! `src/a/x.rs`, `src/a/y.rs` -> `src/a/`, ` x.rs`, ` y.rs`: a list of paths by directory, in its order.

use crate::pipeline::fold::Fold;

const LEGEND: &str = "indented names are in the directory above them";

/// Groups lines by the directory they begin with; `None` when no two neighbours share one.
pub(super) fn fold(lines: &[&str]) -> Option<Fold> {
    let mut body: Vec<String> = Vec::new();
    let (mut directory, mut is_any) = ("", false);
    for (at, line) in lines.iter().enumerate() {
        let own = directory_of(line);
        if own.is_empty() || (own != directory && lines.get(at + 1).is_none_or(|next| directory_of(next) != own)) {
            body.push(if is_plain(line) { (*line).to_owned() } else { format!("\\{line}") });
            continue;
        }
        if own != directory {
            directory = own;
            is_any = true;
            body.push(own.to_owned());
        }
        body.push(format!(" {}", &line[own.len()..]));
    }
    is_any.then(|| Fold::new(super::NAME, LEGEND, Some(body.join("\n"))))
}

/// Undoes [`fold`].
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    (fold.legend == LEGEND).then_some(())?;
    let mut lines = Vec::new();
    let mut directory = None;
    for line in fold.body.as_deref()?.split('\n') {
        if let Some(line) = line.strip_prefix('\\') {
            lines.push(line.to_owned());
        } else if let Some(name) = line.strip_prefix(' ') {
            lines.push(format!("{}{name}", directory?));
        } else if line.ends_with('/') {
            directory = Some(line);
        } else {
            lines.push(line.to_owned());
        }
    }
    Some(lines.join("\n"))
}

/// Everything up to the last slash, where something follows it and the line itself is no notation.
fn directory_of(line: &str) -> &str {
    match line.rfind('/') {
        Some(at) if at + 1 < line.len() && !line.starts_with(['\\', ' ']) && !line.starts_with("[[FOLD:") => {
            &line[..=at]
        }
        _ => "",
    }
}

fn is_plain(line: &str) -> bool {
    !line.starts_with(['\\', ' ']) && !line.ends_with('/') && !line.starts_with("[[FOLD:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_their_directory() {
        let lines = ["top", "a/b/x", "a/b/y", "a/c/z", "a/b/w", "a/", " in", "\\s", "", "a/b//q", "a/b//r"];
        let folded = fold(&lines).unwrap();
        assert_eq!(folded.body.as_deref(), Some("top\na/b/\n x\n y\na/c/z\n w\n\\a/\n\\ in\n\\\\s\n\na/b//\n q\n r"));
        assert_eq!(unfold(&folded).as_deref(), Some(lines.join("\n").as_str()));
        assert_eq!(fold(&["a/b", "c/d", "e"]), None);
    }
}
