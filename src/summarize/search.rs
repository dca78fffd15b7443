//! Matches (`path:line:text`, ripgrep headings) and lists of paths -> totals, hits for each file, matched definitions.
//!
//! A row may be context (`path-12-text`): it counts as a line of the file, not as a match.

use indexmap::IndexMap;

use super::identifiers::begins_definition;
use super::paths::common_directory;
use super::sheet::{Sheet, quote};
use crate::content::hit_line::{Hit, Row, has_suffix, is_name, read_lines, unnumbered};
use crate::content::severity::severity;
use crate::tokens::utf16;

/// The most files and matched lines that are kept.
const KEPT: usize = 20_000;

/// The most errors of the program that are quoted.
const QUOTED: usize = 10;

/// The minimum share of lines that are matches or paths, in percent. The other lines are not told, so they must be few.
const UNDERSTOOD_PERCENT: usize = 90;

#[derive(Default)]
struct File {
    matches: usize,
    first: Option<u64>,
}

#[derive(Default)]
struct Found<'t> {
    lines: usize,
    understood: usize,
    matches: usize,
    paths: usize,
    files: IndexMap<&'t str, File>,
    /// The errors of the program.
    failures: Vec<&'t str>,
    /// The path, line and text of matched definitions, and of the other matches.
    definitions: Vec<(&'t str, Option<u64>, &'t str)>,
    uses: Vec<(&'t str, Option<u64>, &'t str)>,
}

/// Writes the summary, and returns false if too many lines are neither matches nor paths.
pub(super) fn summarize(text: &str, is_searched: bool, sheet: &mut Sheet) -> bool {
    let found = read(text);
    if found.files.is_empty() || found.files.len() == KEPT || found.understood * 100 < found.lines * UNDERSTOOD_PERCENT
    {
        return false;
    }
    found.write(is_searched, sheet);
    true
}

fn read(text: &str) -> Found<'_> {
    let mut found = Found::default();
    for (line, row) in read_lines(text) {
        if line.trim().is_empty() || line.starts_with("--") {
            continue;
        }
        found.lines += 1;
        match row {
            Row::Hit(hit) if hit.is_context() => found.understood += 1,
            Row::Hit(hit) if is_match(&hit) => found.add(&hit),
            Row::Heading(path) => found.add_path(path),
            _ => match (listed_path(line), unnumbered(line)) {
                (Some(path), _) => found.add_path(path),
                (_, Some(hit)) if is_match(&hit) => found.add(&hit),
                _ if severity(line).is_failure() => found.failures.push(line),
                _ => {}
            },
        }
    }
    found
}

/// Returns true if a hit is a match: without a number, `a.py::test_b PASSED` is a verdict and `a.com://x` an address.
fn is_match(hit: &Hit) -> bool {
    hit.line().is_some() || !hit.text.starts_with([':', '/']) && !hit.text.is_empty()
}

/// Returns the path that a line consists of.
fn listed_path(line: &str) -> Option<&str> {
    let path = line.trim().trim_end_matches(':');
    let has_drive = path.get(1..3) == Some(":\\");
    let is_listed =
        is_name(path) && (has_drive || !path.contains([' ', ':']) && (path.contains('/') || has_suffix(path)));
    is_listed.then_some(path)
}

impl<'t> Found<'t> {
    fn add(&mut self, hit: &Hit<'t>) {
        self.understood += 1;
        self.matches += 1;
        if self.files.len() < KEPT || self.files.contains_key(hit.path) {
            let file = self.files.entry(hit.path).or_default();
            file.matches += 1;
            file.first = file.first.or(hit.line());
        }
        let kept = if begins_definition(hit.text) { &mut self.definitions } else { &mut self.uses };
        if kept.len() < KEPT {
            kept.push((hit.path, hit.line(), hit.text));
        }
    }

    fn add_path(&mut self, path: &'t str) {
        self.understood += 1;
        self.paths += 1;
        if self.files.len() < KEPT {
            self.files.entry(path).or_default();
        }
    }

    fn write(&self, is_searched: bool, sheet: &mut Sheet) {
        let common = common_directory(self.files.keys().copied());
        let shown = |path: &str| quote(&path[common.len()..], 200);
        let under = if common.is_empty() { String::new() } else { format!(" under {common}") };
        if self.matches == 0 {
            sheet.say(&format!("{} paths{under}", self.paths));
            self.write_failures(sheet);
            self.write_paths(&shown, sheet);
            return;
        }
        // Without a search, the places may be those of messages of a linter.
        let (kind, rows) = if is_searched { ("search, ", "matches") } else { ("", "places") };
        let files = self.matched_files().count();
        sheet.say(&format!("{kind}{} {rows} in {files} files{under}", self.matches));
        self.write_failures(sheet);
        let mut files: Vec<(&str, &File)> = self.matched_files().collect();
        files.sort_by_key(|(_, file)| std::cmp::Reverse(file.matches));
        let files: Vec<String> = files
            .iter()
            .map(|(path, file)| {
                let path = shown(path);
                match (file.matches, file.first) {
                    (1, None) => path,
                    (1, Some(line)) => format!("{path}:{line}"),
                    (count, None) => format!("{path} ×{count}"),
                    (count, Some(line)) => format!("{path} ×{count} from {line}"),
                }
            })
            .collect();
        sheet.list("files:", &files, sheet.share(60));
        let quotes: Vec<String> = self
            .definitions
            .iter()
            .chain(&self.uses)
            .take(60)
            .map(|(path, line, text)| {
                let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
                format!("{name}:{} {}", line.map_or(String::new(), |line| line.to_string()), quote(text, 120))
            })
            .collect();
        sheet.lines(&quotes, sheet.share(70));
    }

    fn write_failures(&self, sheet: &mut Sheet) {
        let quoted: Vec<String> = self.failures.iter().take(QUOTED).map(|line| quote(line, 200)).collect();
        sheet.lines(&quoted, sheet.share(50));
    }

    fn matched_files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().filter(|(_, file)| file.matches > 0).map(|(path, file)| (*path, file))
    }

    /// Writes all paths if they fit, else the directories with their counts and then paths.
    fn write_paths(&self, shown: &dyn Fn(&str) -> String, sheet: &mut Sheet) {
        let paths: Vec<String> = self.files.keys().map(|path| shown(path)).collect();
        let all: usize = paths.iter().map(|path| utf16::len(path) + 2).sum();
        if all + 10 > sheet.left() {
            let mut directories: IndexMap<&str, usize> = IndexMap::new();
            for path in &paths {
                let (directory, _) = path.rsplit_once(['/', '\\']).unwrap_or((".", path));
                *directories.entry(directory).or_insert(0) += 1;
            }
            if directories.len() > 1 {
                let mut counts: Vec<(&str, usize)> = directories.into_iter().collect();
                counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                let counts: Vec<String> =
                    counts.iter().map(|(directory, count)| format!("{directory}/ {count}")).collect();
                sheet.list("in", &counts, sheet.share(60));
            }
        }
        sheet.list("paths:", &paths, usize::MAX);
    }
}
