//! Which directory some paths have in front and others lack: some tools print hits relative and the lines around them absolute.

use std::collections::{HashMap, HashSet};

use crate::content::hit_line::Hit;

/// Paths with more components are not looked at.
const MAX_COMPONENTS: usize = 40;

/// The directory, and who has it by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Root<'a> {
    /// Ends with a separator; empty when there is none.
    pub(super) directory: &'a str,
    pub(super) hits: bool,
    pub(super) context: bool,
}

impl<'a> Root<'a> {
    /// The most frequent one.
    pub(super) fn find(hits: &[Hit<'a>]) -> Self {
        if !hits.iter().any(|hit| is_absolute(hit.path)) {
            return Self::default();
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
            return Self::default();
        }
        let most = |wanted: bool| {
            let of_kind = hits.iter().filter(|hit| hit.is_context() == wanted);
            let (rooted, all) = of_kind
                .fold((0, 0), |(rooted, all), hit| (rooted + usize::from(hit.path.starts_with(directory)), all + 1));
            rooted * 2 > all
        };
        Self { directory, hits: most(false), context: most(true) }
    }

    /// The path without the directory, and whether that is not as expected of such a line.
    pub(super) fn strip(&self, path: &'a str, is_context: bool) -> (&'a str, bool) {
        let rest = path.strip_prefix(self.directory).filter(|rest| !rest.is_empty() && !self.directory.is_empty());
        (rest.unwrap_or(path), rest.is_some() != self.expected(is_context))
    }

    /// Whether such a line has the directory in front.
    pub(super) fn expected(&self, is_context: bool) -> bool {
        if is_context { self.context } else { self.hits }
    }
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
        let root = Root::find(&hits);
        assert_eq!(root, Root { directory: "/w/cli/", hits: false, context: true });
        assert_eq!(root.strip("/w/cli/cmd/a.go", true), ("cmd/a.go", false));
        assert_eq!(root.strip("cmd/a.go", true), ("cmd/a.go", true));
        assert_eq!(root.strip("cmd/a.go", false), ("cmd/a.go", false));
        assert_eq!(Root::find(&hits[1..3]), Root::default());
    }
}
