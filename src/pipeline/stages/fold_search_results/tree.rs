//! Paths in order <-> indented lines, in which a common directory stands once.
//!
//! A line that ends with `/` is a directory, and deeper lines continue it. Each level is indented by one blank.

use concertina_format::search_crunch::tree::MAX_DEPTH;

/// Returns for each path the lines that lead to it, including its own, in order.
pub(super) fn fold(paths: &[&str]) -> Vec<Vec<String>> {
    let mut lines = vec![Vec::new(); paths.len()];
    place(paths, Place { cut: 0, from: 0, depth: 0 }, &mut lines);
    lines
}

#[derive(Clone, Copy)]
struct Place {
    /// The number of bytes of each path that are already written as directory lines.
    cut: usize,
    /// The number of bytes of each path that are known to be equal.
    from: usize,
    depth: usize,
}

fn place(paths: &[&str], at: Place, lines: &mut [Vec<String>]) {
    let mut start = 0;
    while start < paths.len() {
        let path = paths[start];
        let component = path[at.from..].find('/').map(|slash| &path[at.from..=at.from + slash]);
        let run = match component {
            Some(component) if at.depth < MAX_DEPTH => {
                paths[start..].iter().take_while(|other| other[at.from..].starts_with(component)).count()
            }
            _ => 1,
        };
        let (run, below) = (&paths[start..start + run], &mut lines[start..start + run]);
        start += run.len();
        match component {
            Some(component) if run.len() > 1 => {
                let shared = common_directory(run, at.from + component.len());
                if pays(run.len(), &path[at.cut..shared], at.depth) {
                    below[0].push(line(at.depth, &path[at.cut..shared]));
                    place(run, Place { cut: shared, from: shared, depth: at.depth + 1 }, below);
                } else {
                    place(run, Place { from: at.from + component.len(), ..at }, below);
                }
            }
            _ => below[0].push(line(at.depth, &path[at.cut..])),
        }
    }
}

/// Returns the length of the longest common directory. The first `from` bytes are known to be equal.
fn common_directory(paths: &[&str], from: usize) -> usize {
    let first = paths[0].as_bytes();
    let shared = paths[1..].iter().fold(first.len(), |shared, path| {
        let equal = first[from..shared].iter().zip(&path.as_bytes()[from..]).take_while(|(a, b)| a == b).count();
        from + equal
    });
    first[from..shared].iter().rposition(|&byte| byte == b'/').map_or(from, |slash| from + slash + 1)
}

/// Returns true if a directory line saves tokens. A component costs about two tokens; a line end costs one, and so does
/// indentation.
fn pays(paths: usize, directory: &str, depth: usize) -> bool {
    let components = directory.bytes().filter(|&byte| byte == b'/').count();
    (paths - 1) * components * 2 > 1 + if depth > 0 { paths } else { 0 }
}

fn line(depth: usize, text: &str) -> String {
    // The rest must not look like a line number, a mark or indentation.
    let is_plain = !text.starts_with(|c: char| c.is_ascii_digit() || " \t\\:(~>[-".contains(c)) && !text.is_empty();
    format!("{:depth$}{}{text}", "", if is_plain { "" } else { ">" })
}

#[cfg(test)]
mod tests {
    use concertina_format::search_crunch::tree::{Directories, Entry};

    use super::*;

    fn unfold(lines: &[Vec<String>]) -> Vec<String> {
        let mut directories = Directories::default();
        let paths = lines.iter().flatten().filter_map(|line| match directories.read(line).unwrap() {
            Entry::Path(path) => Some(path),
            Entry::Directory => None,
        });
        paths.collect()
    }

    #[test]
    fn a_shared_directory_stands_once() {
        let paths = ["src/pipeline/a.rs", "src/pipeline/b.rs", "src/pipeline/stages/x/c.rs", "README.md"];
        let lines = fold(&paths).concat();
        assert_eq!(lines, ["src/pipeline/", " a.rs", " b.rs", " stages/x/c.rs", "README.md"]);
    }

    #[test]
    fn paths_of_any_look_come_back() {
        for paths in [
            vec!["a", "b/", "12/x/y/1", "12/x/y/2", "12/x/y/3"],
            vec!["/u/v/w/ x", "/u/v/w/>y", "/u/v/w/\\z", "/u/v/w/z", "C:\\a", "C:\\b"],
            vec!["a//b//c", "a//b//d", "a//b//e", "a//b//"],
        ] {
            let files: Vec<&str> = paths.into_iter().filter(|path| !path.ends_with('/')).collect();
            assert_eq!(unfold(&fold(&files)), files);
        }
    }
}
