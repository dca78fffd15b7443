//! Diff, patch series or `--stat` -> files with `+`/`-` counts, commits, the functions they touch, changed definitions.
//!
//! Inside a hunk, the counts of its header decide which lines belong to it: a removed `-- comment` also starts with
//! `---`. A file that several commits change is listed once.

use indexmap::{IndexMap, IndexSet};

use super::identifiers::{DEFINING, MODIFIERS, words};
use super::paths::common_directory;
use super::sheet::{Sheet, quote};
use crate::content::diff_hunk::{HunkHeader, StatRow};
use crate::content::head;

#[derive(Default)]
struct File<'t> {
    path: &'t str,
    added: usize,
    removed: usize,
    /// True if a hunk does not have the number of lines in its header: it is truncated, or the diff is not line by line
    /// (`--word-diff`).
    is_uncounted: bool,
    note: &'static str,
}

#[derive(Default)]
struct Changes<'t> {
    files: Vec<File<'t>>,
    commits: Vec<&'t str>,
    /// The subjects of the commits, in their order.
    subjects: Vec<&'t str>,
    /// The texts behind the second `@@` of hunk headers.
    headings: IndexSet<&'t str>,
    /// The rows of `--stat`.
    stats: Vec<StatRow<'t>>,
    total: Option<&'t str>,
}

/// Writes the summary, and returns false if the text changes no file.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let changes = read(text);
    if changes.files.is_empty() && changes.stats.is_empty() {
        return false;
    }
    changes.write(sheet);
    true
}

fn read(text: &str) -> Changes<'_> {
    let mut changes = Changes::default();
    let mut old_path = "";
    let mut awaits_subject = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            changes.files.push(File { path: new_path(rest), ..File::default() });
            old_path = "";
        } else if let Some(path) = line.strip_prefix("diff --cc ").or_else(|| line.strip_prefix("diff --combined ")) {
            changes.files.push(File { path: file_path(path), ..File::default() });
            old_path = "";
        } else if let Some(path) = line.strip_prefix("--- ") {
            old_path = file_path(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = file_path(path);
            let path = if path == "/dev/null" { old_path } else { path };
            match changes.files.last_mut() {
                Some(file) if file.added + file.removed == 0 && (file.path == path || file.path.is_empty()) => {
                    file.path = path
                }
                _ => changes.files.push(File { path, ..File::default() }),
            }
        } else if let (Some(hunk), Some(file)) = (HunkHeader::parse(line), changes.files.last_mut()) {
            let body = hunk.body(lines.clone());
            file.added += body.added;
            file.removed += body.removed;
            file.is_uncounted |= !body.is_exact;
            lines.by_ref().take(body.lines).for_each(drop);
            let heading = hunk.section.trim();
            if !heading.is_empty() {
                changes.headings.insert(heading);
            }
        } else if let Some(note) = note_of(line) {
            if let Some(file) = changes.files.last_mut() {
                file.note = note;
            }
        } else if let Some(commit) = line.strip_prefix("commit ") {
            changes.commits.push(commit);
            awaits_subject = true;
        } else if awaits_subject && line.starts_with("    ") && !line.trim().is_empty() {
            changes.subjects.push(line.trim());
            awaits_subject = false;
        } else if StatRow::is_total(line) {
            changes.total = Some(line.trim());
        } else {
            changes.stats.extend(StatRow::parse(line));
        }
    }
    changes
}

/// `a/x b/x` -> `x`. Returns the half after the middle blank if there is one, else the last word.
fn new_path(pair: &str) -> &str {
    let middle = pair.len() / 2;
    if pair.is_char_boundary(middle) && pair[middle..].starts_with(' ') {
        return file_path(&pair[middle + 1..]);
    }
    file_path(pair.rsplit(' ').next().unwrap_or(pair))
}

fn file_path(path: &str) -> &str {
    let path = path.split('\t').next().unwrap_or(path).trim().trim_matches('"');
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

fn note_of(line: &str) -> Option<&'static str> {
    [
        ("new file mode", "new"),
        ("deleted file mode", "deleted"),
        ("rename to", "renamed"),
        ("Binary files", "binary"),
        ("GIT binary", "binary"),
    ]
    .into_iter()
    .find_map(|(start, note)| line.starts_with(start).then_some(note))
}

impl Changes<'_> {
    fn write(&self, sheet: &mut Sheet) {
        let (added, removed) =
            self.files.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
        let files = self.changed_files();
        let is_uncounted = files.iter().any(|file| file.is_uncounted);
        if self.files.is_empty() {
            sheet.say(&format!("diff stat, {} rows", self.stats.len()));
            if let (Some(total), true) = (self.total, self.commits.len() < 2) {
                sheet.say(total);
            }
        } else {
            let counted = if is_uncounted { String::new() } else { format!(", +{added} -{removed}") };
            sheet.say(&format!("diff, {} files{counted}", files.len()));
        }
        if !self.commits.is_empty() {
            sheet.say(&format!("{} commits", self.commits.len()));
            let commits: Vec<String> = self
                .commits
                .iter()
                .zip(&self.subjects)
                .map(|(hash, subject)| format!("{} {}", head(hash, 10), quote(subject, 100)))
                .collect();
            sheet.lines(&commits, sheet.share(30));
        }
        let common = common_directory(files.iter().map(|file| file.path));
        let label = if common.is_empty() { "files:".to_owned() } else { format!("files under {common}:") };
        sheet.list(&label, &self.file_facts(files, common.len()), sheet.share(70));
        let names: IndexSet<String> = self.headings.iter().filter_map(|heading| definition_name(heading)).collect();
        if !names.is_empty() {
            sheet.list("in:", &names.into_iter().collect::<Vec<_>>(), sheet.share(50));
        }
    }

    /// Returns each file once, with the changes of all commits added up.
    fn changed_files(&self) -> Vec<File<'_>> {
        let mut files: IndexMap<&str, File<'_>> = IndexMap::new();
        for change in &self.files {
            let file = files.entry(change.path).or_insert(File { path: change.path, ..File::default() });
            file.added += change.added;
            file.removed += change.removed;
            file.is_uncounted |= change.is_uncounted;
            file.note = if file.note.is_empty() { change.note } else { file.note };
        }
        files.into_values().collect()
    }

    /// Returns `path +3 -1` for each file, the most changed first, relative to the common directory.
    fn file_facts(&self, mut files: Vec<File<'_>>, common: usize) -> Vec<String> {
        if files.is_empty() {
            return self.stats.iter().map(stat_fact).collect();
        }
        files.sort_by_key(|file| std::cmp::Reverse(file.added + file.removed));
        files
            .iter()
            .map(|file| {
                let mut fact = quote(&file.path[common..], 200);
                if !file.note.is_empty() {
                    fact = format!("{fact} {}", file.note);
                }
                if file.added > 0 && !file.is_uncounted {
                    fact = format!("{fact} +{}", file.added);
                }
                if file.removed > 0 && !file.is_uncounted {
                    fact = format!("{fact} -{}", file.removed);
                }
                fact
            })
            .collect()
    }
}

fn stat_fact(row: &StatRow) -> String {
    format!("{} {}", quote(row.path, 200), row.change.trim_end_matches(['+', '-', ' ']))
}

/// `func (s *Store) Load(id string) error {` -> `Load`. Returns the first name before a parenthesis, else the first
/// name that is not a keyword if the line has a defining keyword. Git prints any line above a hunk that begins with a
/// letter, so a line of prose returns `None`.
fn definition_name(heading: &str) -> Option<String> {
    if heading.starts_with("import") || heading.starts_with("from ") {
        return None;
    }
    let names = || {
        words(heading).filter(|range| {
            let name = &heading[range.clone()];
            let starts_as_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            name.len() > 2 && starts_as_name && !DEFINING.contains(&name) && !MODIFIERS.contains(&name)
        })
    };
    let called = names().find(|range| heading[range.end..].starts_with('('));
    let is_defining = || words(heading).any(|range| DEFINING.contains(&&heading[range]));
    called.or_else(|| names().next().filter(|_| is_defining())).map(|range| quote(&heading[range], 60))
}
