//! Diffs, unified or without context: hunk headers, and where a diff that stands in other text ends.
//!
//! Hunks are read by their counts, not by looks: a removed line that reads `-- a` is a line, not a header.

use std::fmt;

use super::lines::{Line, lines_from};

/// A hunk header, `@@ -12,7 +12,9 @@ fn section`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HunkHeader<'a> {
    /// First line in the old file.
    pub old_start: u64,
    /// Number of old lines: context and removed.
    pub old_lines: u64,
    /// First line in the new file.
    pub new_start: u64,
    /// Number of new lines: context and added.
    pub new_lines: u64,
    /// What follows the second `@@`, with its blank.
    pub section: &'a str,
}

impl<'a> HunkHeader<'a> {
    /// Reads a header; a count that is left out is 1.
    pub fn parse(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("@@ -")?;
        let (old_start, old_lines, rest) = span(rest)?;
        let (new_start, new_lines, rest) = span(rest.strip_prefix(" +")?)?;
        Some(Self { old_start, old_lines, new_start, new_lines, section: rest.strip_prefix(" @@")? })
    }
}

impl fmt::Display for HunkHeader<'_> {
    /// As git and GNU diff print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |lines| if lines == 1 { String::new() } else { format!(",{lines}") };
        let (old, new) = (count(self.old_lines), count(self.new_lines));
        write!(f, "@@ -{}{old} +{}{new} @@{}", self.old_start, self.new_start, self.section)
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

/// How many old and new lines follow a command of a diff without context, `5,6c7`.
fn change(line: &str) -> Option<(u64, u64)> {
    let lines = |text| {
        let (first, rest) = number(text)?;
        let (last, rest) = rest.strip_prefix(',').map_or(Some((first, rest)), number)?;
        Some((last.checked_sub(first)?.checked_add(1)?, rest))
    };
    let (old, rest) = lines(line)?;
    let mut rest = rest.chars();
    let verb = rest.next()?;
    let (new, rest) = lines(rest.as_str())?;
    match (verb, rest) {
        ('a', "") => Some((0, new)),
        ('c', "") => Some((old, new)),
        ('d', "") => Some((old, 0)),
        _ => None,
    }
}

/// How many old and new lines a line inside a hunk is.
fn steps(line: &str) -> Option<(u64, u64)> {
    match line.as_bytes().first() {
        // Some tools strip the blank of an empty context line.
        Some(b' ') | None => Some((1, 1)),
        Some(b'-') => Some((1, 0)),
        Some(b'+') => Some((0, 1)),
        // `\ No newline at end of file`.
        Some(b'\\') => Some((0, 0)),
        Some(_) => None,
    }
}

/// The diff that starts at byte `start` of `text`, a line start: the byte where it ends, or `None` when none starts there.
///
/// It starts with `diff --git`, `Index: `, `--- a` with `+++ b` and a hunk below, `5,6c7` with its lines below, or a commit
/// header that leads to one of them or to a diffstat. Commit headers, messages and stats between files belong to it. A hunk
/// that is cut short ends it.
pub(super) fn block_end(text: &str, start: usize) -> Option<usize> {
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

/// Whether a line may start a diff; cheap, to be asked before [`block_end`].
pub(super) fn may_start(line: &str) -> bool {
    line.starts_with("diff ")
        || line.starts_with("--- ")
        || line.starts_with("Index: ")
        || is_commit(line)
        || line.starts_with("From ")
        || change(line).is_some()
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// Whether a hunk, a file header of git's or a diffstat was seen.
    proved: bool,
    /// Whether the file at hand has git's header.
    is_git: bool,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<Line<'a>> {
        lines_from(self.text, self.at).next()
    }

    /// Takes lines while they pass.
    fn take_while(&mut self, mut pass: impl FnMut(&str) -> bool) -> usize {
        let mut count = 0;
        while let Some(line) = self.peek().filter(|line| pass(line.text)) {
            self.at = line.end;
            count += 1;
        }
        count
    }

    fn take_one(&mut self, pass: impl Fn(&str) -> bool) -> bool {
        let found = self.peek().filter(|line| pass(line.text));
        self.at = found.map_or(self.at, |line| line.end);
        found.is_some()
    }

    /// One file: its headers and hunks.
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
        let found = headed || self.is_git || self.changes();
        self.proved |= found;
        if !found {
            self.at = start;
        }
        found
    }

    /// The hunks of a file in a diff without context.
    fn changes(&mut self) -> bool {
        let start = self.at;
        while self.change() {}
        self.at > start
    }

    /// One of them, by its counts; the last may be cut short.
    fn change(&mut self) -> bool {
        let start = self.at;
        let Some((old, new)) = self.peek().and_then(|line| change(line.text)) else { return false };
        self.take_one(|_| true);
        let body = self.at;
        let is_whole = self.side('<', old)
            && (old == 0 || new == 0 || self.peek().is_none() || self.take_one(|line| line == "---"))
            && self.side('>', new);
        if !is_whole || self.at == body {
            self.at = start;
        }
        self.at > start
    }

    /// So many lines behind a sign, as far as the text goes.
    fn side(&mut self, sign: char, mut lines: u64) -> bool {
        self.take_while(|line| {
            let is_line =
                lines > 0 && line.strip_prefix(sign).is_some_and(|line| line.is_empty() || line.starts_with(' '));
            lines -= u64::from(is_line);
            is_line || line.starts_with("\\ ")
        });
        lines == 0 || self.peek().is_none()
    }

    /// One hunk, by its counts.
    fn hunk(&mut self) -> bool {
        let Some(line) = self.peek() else { return false };
        let Some(header) = HunkHeader::parse(line.text) else {
            // A merge's hunk, `@@@ -1,2 -1,2 +1,3 @@@`: two columns of signs, so its lines are told by looks.
            if !line.text.starts_with("@@@ ") {
                return false;
            }
            self.at = line.end;
            self.take_while(|line| line.starts_with([' ', '+', '-', '\\']));
            return true;
        };
        self.at = line.end;
        let (mut old, mut new) = (header.old_lines, header.new_lines);
        while let Some(line) = self.peek() {
            let Some(steps) = steps(line.text).filter(|steps| (old, new) != (0, 0) || *steps == (0, 0)) else { break };
            (old, new) = (old.saturating_sub(steps.0), new.saturating_sub(steps.1));
            self.at = line.end;
        }
        self.overrun();
        true
    }

    /// The rest of a hunk whose header counts too few lines, as edited diffs have it: what looks like its lines belongs to it
    /// when another header follows, or nothing at all.
    fn overrun(&mut self) {
        let start = self.at;
        let mut blank = false;
        self.take_while(|line| {
            blank |= line.is_empty();
            steps(line).is_some() && !line.starts_with("--- ")
        });
        let goes_on = match self.peek() {
            Some(line) => line.text.starts_with("@@ -") || line.text.starts_with("diff --git "),
            None => self.is_git && !blank,
        };
        if !goes_on {
            self.at = start;
        }
    }

    /// A commit header with its message, and the diffstat below.
    fn commit(&mut self) -> bool {
        let start = self.at;
        self.take_while(|line| line.trim().is_empty());
        let mail = self.peek().is_some_and(|line| line.text.starts_with("From "));
        if !self.peek().is_some_and(|line| mail || is_commit(line.text)) {
            // A stat or a blank line between files of one commit.
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

fn is_commit(line: &str) -> bool {
    line.strip_prefix("commit ").is_some_and(|rest| {
        let hash = rest.split(' ').next().unwrap_or_default();
        (7..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// ` src/a.rs | 12 ++--`, ` 3 files changed, ...`, ` create mode 100644 a`, `M<tab>src/a.rs`.
fn is_stat(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix(' ') {
        return rest.rsplit_once(" | ").is_some_and(|(_, count)| {
            let count = count.trim_start();
            count.starts_with("Bin") || count.starts_with(|c: char| c.is_ascii_digit())
        }) || (rest.contains(" changed, ") || rest.ends_with(" changed"))
            && rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
            || ["create mode ", "delete mode ", "rename ", "copy ", "mode change "]
                .iter()
                .any(|word| rest.starts_with(word));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunk_headers_are_read() {
        let header = HunkHeader::parse("@@ -44,11 +44,8 @@ func main() {").expect("a header");
        assert_eq!((header.old_start, header.old_lines, header.new_start, header.new_lines), (44, 11, 44, 8));
        assert_eq!(header.section, " func main() {");
        let short = HunkHeader::parse("@@ -1 +0,0 @@").expect("a header");
        assert_eq!((short.old_lines, short.new_lines, short.section), (1, 0, ""));
        for line in ["@@ -1,2 @@", "@@ -a +b @@", "@@ -1 +1", "@@ -99999999999999999999,1 +1,1 @@", ""] {
            assert_eq!(HunkHeader::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_hunk_ends_where_its_counts_say() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- one\n+++ two\n same\n";
        let text = format!("{diff}- a list item\n");
        assert_eq!(block_end(&text, 0), Some(diff.len()));
    }

    #[test]
    fn a_whole_log_with_messages_and_stats_is_one_diff() {
        let text = "commit 08c7055d9187cdd5bac8ef3d26d0733709bd55b1\nAuthor: A <a@b>\nDate:   Sun Mar 31\n\n    Subject\n\n    - body\n\n a.rs | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n\ncommit 18c7055d9187cdd5bac8ef3d26d0733709bd55b1\nAuthor: A <a@b>\nDate:   Sun Mar 31\n\n    Second\n\ndiff --git a/b.png b/b.png\nnew file mode 100644\nBinary files /dev/null and b/b.png differ\n";
        assert_eq!(block_end(text, 0), Some(text.len()));
    }

    #[test]
    fn rules_and_commit_lists_are_no_diffs() {
        assert_eq!(block_end("--- a rule\ntext\n", 0), None);
        assert_eq!(block_end("commit 08c7055d91\nAuthor: A\n\n    only a message\n", 0), None);
        assert_eq!(block_end("diff erent\n", 0), None);
    }

    #[test]
    fn a_hunk_that_counts_too_few_lines_goes_up_to_the_next_header() {
        let text = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,2 @@\n a\n+b\n+c\n\n+d\n@@ -9 +9 @@\n-e\n+f\n+g\n";
        assert_eq!(block_end(text, 0), Some(text.len()));
        let followed = format!("{text}\n- an item\n");
        assert_eq!(block_end(&followed, 0), Some(text.len() - "+g\n".len()));
    }

    #[test]
    fn a_diff_without_context_is_read_by_its_counts() {
        let file = "diff -r old/a new/a\n2,3c2\n< **one**  \n<\n---\n> one\n7d5\n< 8a9\n9a8,9\n> > quoted\n> ---\n\\ No newline at end of file\n";
        let text = format!("{file}diff -r old/b new/b\n1c1\n< a\n---\n> b\n");
        assert_eq!(block_end(&text, 0), Some(text.len()));
        let bare = file.find("2,3c2").unwrap_or_default();
        assert_eq!(block_end(&format!("{file}Only in new: c\n"), bare), Some(file.len()));
        let cut = file.find("---").unwrap_or_default();
        assert_eq!(block_end(&file[..cut], 0), Some(cut));
        for text in
            ["12a13 is a seat\n", "3c3\n", "3c3\nwords\n", "3d2\n> a\n", "2,3c2\n< a\n---\n> b\nc\n", "3,2d1\n< a\n"]
        {
            assert_eq!(block_end(text, 0), None, "{text}");
        }
    }

    #[test]
    fn a_cut_hunk_ends_with_the_text() {
        let text = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n a\n-b\n";
        assert_eq!(block_end(text, 0), Some(text.len()));
    }
}
