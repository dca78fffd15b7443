//! Parses unified diffs: headers and lines of hunks, rows of diffstats, and the end of a diff
//! inside other text.
//!
//! Hunks are read by the counts in their headers: a removed line that reads `-- a` is a line, not a header.

use std::fmt;

use concertina_format::diff_crunch::hunk_header;

use super::lines::{Line, lines_from};

/// A hunk header, `@@ -12,7 +12,9 @@ fn section`, or of a merge, `@@@ -12,7 -12,8 +12,9 @@@ fn section`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HunkHeader<'a> {
    /// The number of old files that the new one is compared with. Each has its column of signs.
    pub parents: usize,
    /// The first line in the (first) old file.
    pub old_start: u64,
    /// The number of old lines, context and removed, in all old files together.
    pub old_lines: u64,
    /// The first line in the new file.
    pub new_start: u64,
    /// The number of new lines, context and added.
    pub new_lines: u64,
    /// The text after the second `@@`, with its blank.
    pub section: &'a str,
}

impl<'a> HunkHeader<'a> {
    /// Parses a header. A missing count is 1.
    pub fn parse(line: &'a str) -> Option<Self> {
        let parents =
            line.bytes().take_while(|&byte| byte == b'@').count().checked_sub(1).filter(|&count| count > 0)?;
        let (marks, mut rest) = line.split_at(parents + 1);
        let (mut old_start, mut old_lines) = (None, 0u64);
        for _ in 0..parents {
            let (start, count, behind) = span(rest.strip_prefix(" -")?)?;
            (old_lines, rest) = (old_lines.checked_add(count)?, behind);
            old_start = old_start.or(Some(start));
        }
        let (new_start, new_lines, rest) = span(rest.strip_prefix(" +")?)?;
        let section = rest.strip_prefix(' ')?.strip_prefix(marks)?;
        Some(Self { parents, old_start: old_start?, old_lines, new_start, new_lines, section })
    }

    /// Reads the lines of the hunk from the lines below its header.
    pub fn body<'t>(&self, below: impl Iterator<Item = &'t str>) -> HunkBody {
        let (mut old, mut new) = (self.old_lines, self.new_lines);
        let mut body = HunkBody { lines: 0, added: 0, removed: 0, is_exact: true };
        for line in below {
            let Some((from_old, from_new)) = steps(line, self.parents) else { break };
            if (old, new) == (0, 0) && (from_old, from_new) != (0, 0) {
                break;
            }
            body.is_exact &= from_old <= old && from_new <= new;
            (old, new) = (old.saturating_sub(from_old), new.saturating_sub(from_new));
            body.lines += 1;
            body.added += usize::from(from_new > 0 && from_old < self.parents as u64);
            body.removed += usize::from(from_new == 0 && from_old > 0);
        }
        body.is_exact &= (old, new) == (0, 0);
        body
    }
}

/// Counts of the lines below a hunk's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HunkBody {
    /// The number of its lines, including notes on missing line ends.
    pub lines: usize,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// True if the counts match the header. They do not if a hunk is truncated, or is no line-by-line comparison, such
    /// as the output of `--word-diff`.
    pub is_exact: bool,
}

impl fmt::Display for HunkHeader<'_> {
    /// Writes the header as git and GNU diff print it between two files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hunk_header((self.old_start, self.old_lines), (self.new_start, self.new_lines), self.section))
    }
}

fn span(text: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => number(rest).map(|(count, rest)| (start, count, rest)),
        None => Some((start, 1, rest)),
    }
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Returns how many lines of the old files and of the new file a line inside a hunk counts for.
fn steps(line: &str, parents: usize) -> Option<(u64, u64)> {
    // The note `\ No newline at end of file`.
    if line.starts_with('\\') {
        return Some((0, 0));
    }
    // Some tools remove the blank of an empty context line.
    let signs = &line.as_bytes()[..line.len().min(parents)];
    let count = |sign: u8| signs.iter().filter(|&&byte| byte == sign).count();
    let (added, removed) = (count(b'+'), count(b'-'));
    match signs.len() - count(b' ') {
        other if other > added + removed || added > 0 && removed > 0 => None,
        _ if removed > 0 => Some((removed as u64, 0)),
        _ => Some(((parents - added) as u64, 1)),
    }
}

/// A file's row of a diffstat, ` src/a.rs | 12 ++--`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatRow<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The text after the bar: `12 ++--` or `Bin 0 -> 3 bytes`.
    pub change: &'a str,
}

impl<'a> StatRow<'a> {
    /// Parses a row.
    pub fn parse(line: &'a str) -> Option<Self> {
        let (path, change) = line.strip_prefix(' ')?.rsplit_once(" | ")?;
        let (path, change) = (path.trim(), change.trim_start());
        let is_change = change.starts_with("Bin")
            || change.starts_with(|c: char| c.is_ascii_digit())
                && change.bytes().all(|byte| byte.is_ascii_digit() || b" +-".contains(&byte));
        (!path.is_empty() && is_change).then_some(Self { path, change })
    }

    /// Returns true if a line is the total below the rows, ` 3 files changed, 9 insertions(+)`.
    pub fn is_total(line: &str) -> bool {
        line.contains(" changed") && {
            let counted = line.trim().trim_start_matches(|c: char| c.is_ascii_digit());
            counted.len() < line.trim().len()
                && [" file changed", " files changed"].iter().any(|words| counted.starts_with(words))
        }
    }
}

/// Returns the end of the diff that starts at byte `start` of `text`, a line start; `None` if no diff starts there.
///
/// A diff starts with `diff --git`, `Index: `, `--- a` with `+++ b` and a hunk below, or a commit header that leads to
/// one of them or to a diffstat. Commit headers, messages and stats between files belong to it. A truncated hunk ends
/// it.
pub(crate) fn block_end(text: &str, start: usize) -> Option<usize> {
    let mut scan = Scan { text, at: start, proved: false, is_git: false };
    loop {
        let before = scan.at;
        let took = scan.file() || scan.commit();
        if !took || scan.at == before {
            break;
        }
    }
    scan.proved.then_some(scan.at)
}

/// Returns true if a line may start a diff. This is a cheap check before [`block_end`].
pub(crate) fn may_start(line: &str) -> bool {
    line.starts_with("diff ")
        || line.starts_with("--- ")
        || line.starts_with("Index: ")
        || is_commit(line)
        || line.starts_with("From ")
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// True if a hunk, a git file header or a diffstat was found.
    proved: bool,
    /// True if the current file has a git header.
    is_git: bool,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<Line<'a>> {
        lines_from(self.text, self.at).next()
    }

    /// Consumes lines while `pass` accepts them, and returns their number.
    fn take_while(&mut self, mut pass: impl FnMut(&str) -> bool) -> usize {
        let mut count = 0;
        while let Some(line) = self.peek().filter(|line| pass(line.text)) {
            self.at = line.end;
            count += 1;
        }
        count
    }

    fn skip(&mut self, count: usize) {
        self.at = lines_from(self.text, self.at).take(count).last().map_or(self.at, |line| line.end);
    }

    fn take_one(&mut self, pass: impl Fn(&str) -> bool) -> bool {
        let found = self.peek().filter(|line| pass(line.text));
        self.at = found.map_or(self.at, |line| line.end);
        found.is_some()
    }

    /// Reads one file: its headers and hunks.
    fn file(&mut self) -> bool {
        let start = self.at;
        let git = self.take_one(|line| line.starts_with("diff ") || line.starts_with("Index: "));
        self.is_git = self.text[start..].starts_with("diff --git ");
        if git {
            self.take_while(is_extended_header);
        }
        let mut headed = false;
        let mut ahead = lines_from(self.text, self.at).map(|line| (line.text, line.end));
        if let (Some((old, _)), Some((new, end)), hunk) = (ahead.next(), ahead.next(), ahead.next())
            && old.starts_with("--- ")
            && new.starts_with("+++ ")
            && (git || hunk.is_some_and(|(line, _)| line.starts_with("@@")))
        {
            self.at = end;
            headed = true;
        }
        while (git || headed) && self.hunk() {}
        let found = headed || self.is_git;
        self.proved |= found;
        if !found {
            self.at = start;
        }
        found
    }

    /// Reads one hunk, by its counts.
    fn hunk(&mut self) -> bool {
        let Some(line) = self.peek() else { return false };
        let Some(header) = HunkHeader::parse(line.text) else { return false };
        let body = header.body(lines_from(self.text, line.end).map(|line| line.text));
        self.at = line.end;
        self.skip(body.lines);
        self.overrun();
        true
    }

    /// Reads the rest of a hunk whose header counts too few lines, as in edited diffs. Lines that look like lines of a
    /// hunk belong to it if another header or the end of the text follows.
    fn overrun(&mut self) {
        let start = self.at;
        let mut blank = false;
        self.take_while(|line| {
            blank |= line.is_empty();
            steps(line, 1).is_some() && !line.starts_with("--- ")
        });
        let goes_on = match self.peek() {
            Some(line) => line.text.starts_with("@@ -") || line.text.starts_with("diff --git "),
            None => self.is_git && !blank,
        };
        if !goes_on {
            self.at = start;
        }
    }

    /// Reads a commit header with its message, and the diffstat below.
    fn commit(&mut self) -> bool {
        let start = self.at;
        self.take_while(|line| line.trim().is_empty());
        let mail = self.peek().is_some_and(|line| line.text.starts_with("From "));
        if !self.peek().is_some_and(|line| mail || is_commit(line.text)) {
            // A stat or a blank line between the files of one commit.
            let stat = self.take_while(is_stat);
            self.take_while(|line| line.trim().is_empty());
            let goes_on = stat > 0 || self.peek().is_some_and(|line| line.text.starts_with("diff --git "));
            if !self.proved || !goes_on {
                self.at = start;
            }
            return self.at > start;
        }
        self.take_one(|_| true);
        let headers = self.take_while(|line| {
            line.split_once(": ").is_some_and(|(key, _)| {
                key.len() <= 12 && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
            })
        });
        if headers == 0 {
            self.at = start;
            return false;
        }
        if mail {
            self.take_while(|line| line != "---" && !line.starts_with("diff --git ") && !line.starts_with("From "));
        } else {
            self.take_while(|line| line.is_empty() || line.starts_with("    "));
        }
        self.take_while(|line| line == "---");
        let stat = self.take_while(is_stat);
        let has_diff = self.peek().is_some_and(|line| line.text.starts_with("diff --git "));
        self.proved |= stat > 0;
        if !(stat > 0 || has_diff || self.proved) {
            self.at = start;
            return false;
        }
        self.take_while(|line| line.trim().is_empty());
        true
    }
}

/// Returns true if a line begins the header of a commit.
pub fn is_commit(line: &str) -> bool {
    line.strip_prefix("commit ").is_some_and(|rest| {
        let hash = rest.split(' ').next().unwrap_or_default();
        (7..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns true for a row of a diffstat, its total, ` create mode 100644 a`, or `M<tab>src/a.rs`.
fn is_stat(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix(' ') {
        const MODES: [&str; 5] = ["create mode ", "delete mode ", "rename ", "copy ", "mode change "];
        return StatRow::parse(line).is_some()
            || StatRow::is_total(line)
            || MODES.iter().any(|word| rest.starts_with(word));
    }
    let mut parts = line.splitn(2, '\t');
    matches!(parts.next().map(str::as_bytes), Some([b'A' | b'M' | b'D' | b'R' | b'C' | b'T', rest @ ..]) if rest.len() <= 3 && rest.iter().all(u8::is_ascii_digit))
        && parts.next().is_some_and(|path| !path.is_empty())
}

fn is_extended_header(line: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "index ", "old mode ", "new mode ", "deleted file mode ", "new file mode ", "copy from ", "copy to ",
        "rename from ", "rename to ", "similarity index ", "dissimilarity index ", "Binary files ",
        "GIT binary patch", "mode ", "=====",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}
