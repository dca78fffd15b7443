//! `/w` and `./src/../a.rs` -> `/w/a.rs`
//!
//! Normalizes a path to the one name by which a file is known. Only the text counts: symbolic links are not resolved,
//! and relative paths without a known folder are compared only with each other.

/// Returns the normalized path; a relative one is resolved against `folder` if it is known.
pub(super) fn resolve(folder: Option<&str>, path: &str) -> String {
    let (folder, path) = (folder.map(str::trim), path.trim());
    let folder = folder.filter(|_| root_of(path).is_empty());
    let whole = folder.map_or_else(|| path.to_owned(), |folder| format!("{folder}/{path}"));
    let whole = if is_windows_path(&whole) { whole.replace('\\', "/") } else { whole };
    let root = root_of(&whole);
    let mut parts: Vec<&str> = Vec::new();
    for part in whole[root.len()..].split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // Nothing is above a root. What is above a home or an unknown folder has no other name.
            ".." if parts.is_empty() && !root.is_empty() && !root.starts_with('~') => {}
            part => parts.push(part),
        }
    }
    let name = parts.join("/");
    match root.trim_end_matches('/') {
        _ if root.is_empty() => name,
        root => format!("{}/{name}", root.to_ascii_uppercase()),
    }
}

/// Returns true if a path is absolute.
pub(super) fn is_rooted(path: &str) -> bool {
    !root_of(path.trim()).is_empty()
}

fn is_windows_path(path: &str) -> bool {
    path.starts_with(r"\\")
        || matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns the root of a path: `/`, `~/`, `C:/`, or nothing.
fn root_of(path: &str) -> &str {
    match path.as_bytes() {
        [b'/', ..] => &path[..1],
        [b'~'] => path,
        [b'~', b'/', ..] | [b'\\', b'\\', ..] => &path[..2],
        _ if is_windows_path(path) => &path[..3],
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name() {
        for (folder, path, expected) in [
            (None, "a.rs", "a.rs"),
            (None, "./a.rs", "a.rs"),
            (None, " b/../a.rs", "a.rs"),
            (None, "b//./c/", "b/c"),
            (None, "../a.rs", "../a.rs"),
            (None, "b/../../../a.rs", "../../a.rs"),
            (None, "/w/./b/../a.rs", "/w/a.rs"),
            (None, "/../a.rs", "/a.rs"),
            (Some("/w"), "a.rs", "/w/a.rs"),
            (Some("/w/"), "./b/../a.rs", "/w/a.rs"),
            (Some("/w/b"), "../a.rs", "/w/a.rs"),
            (Some("/w"), "/v/a.rs", "/v/a.rs"),
            (Some("w"), "a.rs", "w/a.rs"),
            (Some("."), "a.rs", "a.rs"),
            (None, "~/a.rs", "~/a.rs"),
            (None, "~/../a.rs", "~/../a.rs"),
            (Some("~"), "a.rs", "~/a.rs"),
            (Some(r"c:\w"), r"b\..\a.rs", "C:/w/a.rs"),
            (None, "C:/w/a.rs", "C:/w/a.rs"),
            (None, r"\\host\w\a.rs", "/host/w/a.rs"),
            (None, r"a\b.rs", r"a\b.rs"),
        ] {
            assert_eq!(resolve(folder, path), expected, "{folder:?} {path}");
            assert_eq!(resolve(None, expected), expected, "a name is its own");
        }
    }
}
