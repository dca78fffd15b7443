//! One path per line <-> `directory/ name name`.

use std::ops::Range;

use super::tree;
use crate::content::hit_line::is_path;
use crate::pipeline::fold::Fold;
use concertina_format::search_crunch::listing::{PLAIN, unfold};

/// The minimum number of paths that are folded.
const MIN_PATHS: usize = 4;

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
    names: Vec<String>,
}

/// Folds a text without a final line end.
pub(super) fn fold(stage: &str, text: &str) -> Option<Fold> {
    let paths: Vec<&str> = text.split('\n').filter(|line| is_listed(line)).collect();
    let mut steps = tree::fold(&paths).into_iter();
    let mut lines: Vec<Result<Line, &str>> = Vec::new();
    for text in text.split('\n') {
        if !is_listed(text) {
            lines.push(Err(text));
            continue;
        }
        for step in steps.next()? {
            add(&mut lines, &step);
        }
    }
    let body: Vec<String> = lines.iter().map(write).collect();
    let fold = Fold::new(stage, PLAIN, Some(body.join("\n")));
    (unfold(&fold).as_deref() == Some(text)).then_some(fold)
}

fn add(lines: &mut Vec<Result<Line, &str>>, step: &str) {
    let text = step.trim_start_matches(' ');
    let depth = step.len() - text.len();
    if text.ends_with('/') {
        lines.push(Ok(Line { depth, directory: Some(text.to_owned()), names: Vec::new() }));
        return;
    }
    let is_next = |line: &Line| if line.directory.is_some() { line.depth + 1 == depth } else { line.depth == depth };
    match lines.last_mut() {
        Some(Ok(line)) if is_next(line) => line.names.push(text.to_owned()),
        _ => lines.push(Ok(Line { depth, directory: None, names: vec![text.to_owned()] })),
    }
}

fn write(line: &Result<Line, &str>) -> String {
    let line = match line {
        Ok(line) => line,
        Err("") => return String::new(),
        Err(text) => return format!("\\{text}"),
    };
    let words: Vec<&str> = line.directory.iter().chain(&line.names).map(String::as_str).collect();
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
    fn names_stand_behind_their_directory() {
        let text = "src/app/a.rs\nsrc/app/a_test.rs\nsrc/app/Makefile\nsrc/app/deep/x.rs\nsrc/app/deep/y.tar.gz\n\
                    src/app/deep/z.rs\nsrc/app/w.rs\nREADME.md";
        let folded = "src/app/ a.rs a_test.rs Makefile deep/x.rs deep/y.tar.gz deep/z.rs w.rs\nREADME.md";
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
