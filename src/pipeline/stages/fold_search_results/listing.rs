//! One path per line <-> `directory/ name name`. A directory may carry the most frequent suffix: `src/*.rs lib main`
//! means `src/lib.rs` and `src/main.rs`.

use std::ops::Range;

use super::tree;
use crate::content::hit_line::is_path;
use crate::pipeline::fold::Fold;
use concertina_format::search_crunch::listing::{PLAIN, SUFFIXED, unfold};

/// The minimum number of paths that are folded.
const MIN_PATHS: usize = 4;

/// The minimum number of names that share a suffix.
const MIN_SHARED: usize = 3;

/// The maximum number of suffixes that are counted for one directory.
const MAX_SUFFIXES: usize = 16;

/// Returns the range from the first path to the last, if most of its lines are paths.
pub(super) fn range(text: &str) -> Option<Range<usize>> {
    let (mut paths, mut others, mut found) = (0usize, 0usize, None::<Range<usize>>);
    let mut start = 0;
    for line in text.split('\n') {
        if is_listed(line) {
            paths += 1;
            found = Some(found.map_or(start, |range| range.start)..start + line.len());
        } else if !line.is_empty() {
            others += 1;
        }
        start += line.len() + 1;
    }
    found.filter(|_| paths >= MIN_PATHS && paths >= 4 * others)
}

fn is_listed(line: &str) -> bool {
    is_path(line) && !line.contains(' ') && !line.ends_with(['/', '.'])
}

/// A line of the folded form: an optional directory, and names.
struct Line {
    depth: usize,
    directory: Option<String>,
    suffix: Option<String>,
    /// The index of the line that holds the directory of the names.
    owner: Option<usize>,
    names: Vec<String>,
}

/// Folds a text without a final line end.
pub(super) fn fold(stage: &str, text: &str) -> Option<Fold> {
    let paths: Vec<&str> = text.split('\n').filter(|line| is_listed(line)).collect();
    let mut steps = tree::fold(&paths).into_iter();
    let mut lines: Vec<Result<Line, &str>> = Vec::new();
    let mut owners: Vec<usize> = Vec::new();
    for text in text.split('\n') {
        if !is_listed(text) {
            lines.push(Err(text));
            continue;
        }
        for step in steps.next()? {
            add(&mut lines, &mut owners, &step);
        }
    }
    let suffixed = share_suffixes(&mut lines);
    let body: Vec<String> = lines.iter().map(write).collect();
    let fold = Fold::new(stage, if suffixed { SUFFIXED } else { PLAIN }, Some(body.join("\n")));
    (unfold(&fold).as_deref() == Some(text)).then_some(fold)
}

fn add(lines: &mut Vec<Result<Line, &str>>, owners: &mut Vec<usize>, step: &str) {
    let text = step.trim_start_matches(' ');
    let depth = step.len() - text.len();
    owners.truncate(depth);
    let owner = owners.last().copied();
    if text.ends_with('/') {
        owners.push(lines.len());
        let directory = Some(text.to_owned());
        lines.push(Ok(Line { depth, directory, suffix: None, owner: None, names: Vec::new() }));
        return;
    }
    let is_next = |line: &Line| if line.directory.is_some() { line.depth + 1 == depth } else { line.depth == depth };
    match lines.last_mut() {
        Some(Ok(line)) if is_next(line) => line.names.push(text.to_owned()),
        _ => lines.push(Ok(Line { depth, directory: None, suffix: None, owner, names: vec![text.to_owned()] })),
    }
}

/// Moves common suffixes from names to their directories. Returns true if there were any.
fn share_suffixes(lines: &mut [Result<Line, &str>]) -> bool {
    let mut counts: Vec<Vec<(String, usize)>> = vec![Vec::new(); lines.len()];
    let owner = |index: usize, line: &Line| if line.directory.is_some() { Some(index) } else { line.owner };
    for (index, line) in lines.iter().enumerate() {
        let Ok(line) = line else { continue };
        let Some(owner) = owner(index, line) else { continue };
        for suffix in line.names.iter().filter_map(|name| suffix(name)) {
            let counts = &mut counts[owner];
            match counts.iter().position(|(known, _)| known == suffix) {
                Some(index) => counts[index].1 += 1,
                // The limit keeps the search linear.
                None if counts.len() < MAX_SUFFIXES => counts.push((suffix.to_owned(), 1)),
                None => {}
            }
        }
    }
    let best: Vec<Option<String>> = counts
        .into_iter()
        .map(|counts| {
            let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
            most.filter(|(_, count)| *count >= MIN_SHARED).map(|(suffix, _)| suffix)
        })
        .collect();
    for (index, line) in lines.iter_mut().enumerate() {
        let Ok(line) = line else { continue };
        let Some(shared) = owner(index, line).and_then(|owner| best[owner].as_deref()) else { continue };
        if line.directory.is_some() {
            line.suffix = Some(shared.to_owned());
        }
        for name in &mut line.names {
            if suffix(name) == Some(shared) {
                name.truncate(name.len() - shared.len());
            } else if !name.contains('.') {
                name.push('.');
            }
        }
    }
    best.iter().any(Option::is_some)
}

/// Returns the suffix of a name with a single dot: `.rs` of `lib.rs`.
fn suffix(name: &str) -> Option<&str> {
    let dot = name.find('.').filter(|&dot| dot > 0)?;
    let suffix = &name[dot..];
    (suffix.len() > 1 && !suffix[1..].contains('.') && !suffix.contains('/')).then_some(suffix)
}

fn write(line: &Result<Line, &str>) -> String {
    let line = match line {
        Ok(line) => line,
        Err("") => return String::new(),
        Err(text) => return format!("\\{text}"),
    };
    let directory = line.directory.iter().map(|directory| match &line.suffix {
        Some(suffix) => format!("{directory}*{suffix}"),
        None => directory.clone(),
    });
    let words: Vec<String> = directory.chain(line.names.iter().cloned()).collect();
    format!("{:depth$}{}", "", words.join(" "), depth = line.depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        let fold = fold("searchCrunch", text).expect("a fold");
        assert_eq!(unfold(&fold).as_deref(), Some(text));
        fold.body.expect("a body")
    }

    #[test]
    fn names_stand_behind_their_directory_without_its_suffix() {
        let text = "src/app/a.rs\nsrc/app/a_test.rs\nsrc/app/Makefile\nsrc/app/deep/x.rs\nsrc/app/deep/y.tar.gz\n\
                    src/app/deep/z.rs\nsrc/app/w.rs\nREADME.md";
        let folded = "src/app/*.rs a a_test Makefile. deep/x deep/y.tar.gz deep/z w\nREADME.md";
        assert_eq!(body(text), folded);
    }

    #[test]
    fn other_lines_stay_where_they_are() {
        let text = "./a\n\n./b\n./c/d\n./c/e\ntotal 12 of\n./c/f\n./1/x";
        assert_eq!(body(text), "./ a\n\n b c/d c/e\n\\total 12 of\n c/f >1/x");
    }

    #[test]
    fn folds_from_outside_are_bounded() {
        let body = format!("{}{}", "a/".repeat(2000), " b".repeat(100_000));
        let bomb = Fold::new("searchCrunch", PLAIN, Some(body));
        assert_eq!(unfold(&bomb), None);
    }
}
