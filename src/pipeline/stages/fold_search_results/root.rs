//! Finds a directory that precedes some paths and is missing from others. Some tools print the paths of hits relative
//! and those of context lines absolute.

use std::collections::{HashMap, HashSet};

use concertina_format::search_crunch::root::Root;

use crate::content::hit_line::Hit;

/// The maximum number of components of a path that are examined.
const MAX_COMPONENTS: usize = 40;

/// Returns the most frequent such directory.
pub(super) fn find<'a>(hits: &[Hit<'a>]) -> Root<'a> {
    if !hits.iter().any(|hit| is_absolute(hit.path)) {
        return Root::default();
    }
    let paths: HashSet<&str> = hits.iter().map(|hit| hit.path).collect();
    let mut votes: HashMap<&str, usize> = HashMap::new();
    let mut best = ("", 0);
    for path in hits.iter().map(|hit| hit.path).filter(|path| is_absolute(path)) {
        let mut suffixes = path.match_indices(['/', '\\']).map(|(at, _)| at + 1).skip(1).take(MAX_COMPONENTS);
        let Some(at) = suffixes.find(|&at| at < path.len() && paths.contains(&path[at..])) else { continue };
        let count = votes.entry(&path[..at]).or_default();
        *count += 1;
        if *count > best.1 {
            best = (&path[..at], *count);
        }
    }
    let directory = best.0;
    if directory.is_empty() {
        return Root::default();
    }
    let most = |wanted: bool| {
        let of_kind = hits.iter().filter(|hit| hit.is_context() == wanted);
        let (rooted, all) =
            of_kind.fold((0, 0), |(rooted, all), hit| (rooted + usize::from(hit.path.starts_with(directory)), all + 1));
        rooted * 2 > all
    };
    Root { directory, hits: most(false), context: most(true) }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.as_bytes().get(1) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::hit_line::Form;

    #[test]
    fn the_directory_that_only_context_lines_have_is_found() {
        let hit = |path, form| Hit { path, is_headed: false, form, column: None, place: "", text: "" };
        let hits = [
            hit("/w/cli/cmd/a.go", Form::Context(1)),
            hit("cmd/a.go", Form::Numbered(2)),
            hit("cmd/a.go", Form::Context(3)),
            hit("/w/cli/cmd/a.go", Form::Context(4)),
        ];
        let root = find(&hits);
        assert_eq!(root, Root { directory: "/w/cli/", hits: false, context: true });
        assert_eq!(root.strip("/w/cli/cmd/a.go", true), ("cmd/a.go", false));
        assert_eq!(root.strip("cmd/a.go", true), ("cmd/a.go", true));
        assert_eq!(root.strip("cmd/a.go", false), ("cmd/a.go", false));
        assert_eq!(find(&hits[1..3]), Root::default());
    }
}
