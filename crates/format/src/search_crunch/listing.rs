//! One path per line <-> `directory/ name name`. The most frequent suffix of a directory may be written with it:
//! `src/*.rs lib main` is `src/lib.rs` and `src/main.rs`.

use super::limit;
use super::tree::{Directories, Entry};
use crate::fold::Fold;

/// The legend of a listing without shared suffixes.
pub const PLAIN: &str = "paths: a/ b c = a/b a/c";

/// The legend of a listing with shared suffixes, which is no longer written.
const SUFFIXED: &str = "paths: a/*.x b c.y = a/b.x a/c.y";

/// Returns the paths that a fold stands for; the inverse of [`fold`].
pub fn unfold(fold: &Fold) -> Option<String> {
    if fold.legend != PLAIN && fold.legend != SUFFIXED {
        return None;
    }
    let body = fold.body.as_ref()?;
    let limit = limit(fold);
    let mut directories = Directories::default();
    let mut suffixes: Vec<Option<&str>> = Vec::new();
    let mut paths: Vec<String> = Vec::new();
    let mut size = 0;
    for line in body.split('\n') {
        if line.is_empty() || line.starts_with('\\') {
            paths.push(line.get(1..).unwrap_or_default().to_owned());
            continue;
        }
        let mut depth = line.bytes().take_while(|&byte| byte == b' ').count();
        suffixes.resize(depth.min(suffixes.len()), None);
        for (index, word) in line[depth..].split(' ').enumerate() {
            let (directory, suffix) = match word.rfind("/*.") {
                Some(at) if index == 0 => (Some(&word[..=at]), Some(&word[at + 2..])),
                _ => (Some(word).filter(|word| index == 0 && word.ends_with('/')), None),
            };
            if let Some(directory) = directory {
                directories.read(&format!("{:depth$}{directory}", ""))?;
                suffixes.resize(depth, None);
                suffixes.push(suffix);
                depth += 1;
                continue;
            }
            let shared = depth.checked_sub(1).and_then(|owner| suffixes.get(owner).copied().flatten());
            let name = match (shared, word.strip_suffix('.')) {
                (Some(_), Some(bare)) => bare.to_owned(),
                (Some(shared), None) if !word.contains('.') => format!("{word}{shared}"),
                _ => word.to_owned(),
            };
            let Entry::Path(path) = directories.read(&format!("{:depth$}{name}", ""))? else { return None };
            size += path.len() + 1;
            if size > limit {
                return None;
            }
            paths.push(path);
        }
    }
    Some(paths.join("\n"))
}
