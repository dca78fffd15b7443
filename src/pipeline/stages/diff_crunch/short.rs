//! The short forms of headers, each with its inverse: what repeats and what can be counted is left out.
//!
//! A line of the text that looks like a short form has a `>` in front, which is no sign of a hunk's line.

use std::borrow::Cow;

use super::hunk::{Hunk, is_signed, number, sizes};
use super::stat;
use crate::content::diff_hunk::HunkHeader;

/// `diff path`, `new file path`, `deleted file path` and what they stand for.
const FILES: [File; 3] = [
    File { word: "diff ", mode: None, old: "a/", new: "b/" },
    File { word: "new file ", mode: Some("new file mode 100644"), old: "/dev/null", new: "b/" },
    File { word: "deleted file ", mode: Some("deleted file mode 100644"), old: "a/", new: "/dev/null" },
];

const ESCAPE: char = '>';

struct File {
    word: &'static str,
    mode: Option<&'static str>,
    old: &'static str,
    new: &'static str,
}

impl File {
    fn side(&self, mark: &str, prefix: &str, path: &str) -> String {
        format!("{mark} {prefix}{}", if prefix == "/dev/null" { "" } else { path })
    }

    /// The two lines above the first hunk.
    fn sides(&self, path: &str) -> [String; 2] {
        [self.side("---", self.old, path), self.side("+++", self.new, path)]
    }
}

/// Whether a line may stand between `diff --git` and `---`.
fn is_extended(line: &str) -> bool {
    line.starts_with("index ") || line.starts_with("old mode ") || line.starts_with("new mode ")
}

/// The short form of the file header that `lines` begin with, and how many lines it was.
pub(super) fn file<'a>(lines: &[&'a str]) -> Option<(Vec<Cow<'a, str>>, usize)> {
    let both = lines.first()?.strip_prefix("diff --git a/")?;
    let path = &both.get(..both.len().checked_sub(3)? / 2)?;
    if both != format!("{path} b/{path}") {
        return None;
    }
    let form = FILES.iter().rev().find(|form| form.mode.is_none_or(|mode| lines.get(1) == Some(&mode)))?;
    let mut at = 1 + usize::from(form.mode.is_some());
    let mut short = vec![Cow::Owned(format!("{}{path}", form.word))];
    while let Some(line) = lines.get(at).filter(|line| is_extended(line)) {
        short.push(Cow::Borrowed(*line));
        at += 1;
    }
    let sides = form.sides(path);
    let fits = is_short_header(&short[0]) && lines.get(at..at + 2)? == sides;
    fits.then_some((short, at + 2))
}

/// The lines that a short file header stands for, and how many lines it was.
fn unfold_file<'a>(lines: &[&'a str]) -> Option<(Vec<Cow<'a, str>>, usize)> {
    let (form, path) = FILES.iter().find_map(|form| Some((form, lines.first()?.strip_prefix(form.word)?)))?;
    let mut long = vec![Cow::Owned(format!("diff --git a/{path} b/{path}"))];
    long.extend(form.mode.map(Cow::Borrowed));
    let extended = lines[1..].iter().take_while(|line| is_extended(line)).count();
    long.extend(lines[1..=extended].iter().map(|line| Cow::Borrowed(*line)));
    long.extend(form.sides(path).map(Cow::Owned));
    Some((long, 1 + extended))
}

/// The short form of a hunk's header, where its lines tell its counts.
pub(super) fn hunk(hunk: &Hunk, next: Option<&str>) -> Option<String> {
    let HunkHeader { old_start, new_start, section, .. } = &hunk.header;
    let short = format!("@@ -{old_start} +{new_start}{section}");
    // Without counts a hunk ends at the first line that has no sign.
    let ends = hunk.is_exact && !next.is_some_and(is_signed);
    (ends && read_hunk(&short) == Some((*old_start, *new_start, section))).then_some(short)
}

fn read_hunk(line: &str) -> Option<(u64, u64, &str)> {
    let (old, rest) = number(line.strip_prefix("@@ -")?)?;
    let (new, section) = number(rest.strip_prefix(" +")?)?;
    let is_section = section.is_empty() || (section.starts_with(' ') && !section.starts_with(" @@"));
    is_section.then_some((old, new, section))
}

fn unfold_hunk<'a>(lines: &[&'a str]) -> Option<(Vec<Cow<'a, str>>, usize)> {
    let (old_start, new_start, section) = read_hunk(lines.first()?)?;
    let body = &lines[1..1 + lines[1..].iter().take_while(|line| is_signed(line)).count()];
    let (old_lines, new_lines) = sizes(body);
    let header = HunkHeader { parents: 1, old_start, old_lines, new_start, new_lines, section };
    let long =
        std::iter::once(Cow::Owned(header.to_string())).chain(body.iter().map(|line| Cow::Borrowed(*line))).collect();
    Some((long, 1 + body.len()))
}

/// A commit's header in one line, and how many lines it was: `commit hash; date; author`, without the author where it is the
/// same as `last`.
pub(super) fn commit<'a>(lines: &[&'a str], last: Option<&str>) -> Option<(String, usize, &'a str)> {
    let hash = lines.first()?.strip_prefix("commit ")?;
    let merge = lines.get(1).and_then(|line| line.strip_prefix("Merge: "));
    let at = 1 + usize::from(merge.is_some());
    let author = lines.get(at)?.strip_prefix("Author: ")?;
    let date = lines.get(at + 1)?.strip_prefix("Date:   ")?;
    if !lines.get(at + 2)?.is_empty() {
        return None;
    }
    let merge = merge.map(|merge| format!("; merge {merge}")).unwrap_or_default();
    let by = if last == Some(author) { String::new() } else { format!("; {author}") };
    let short = format!("commit {hash}{merge}; {date}{by}");
    let (long, read) = unfold_commit(&short, last)?;
    (long == lines[..at + 3] && read == author).then_some((short, at + 3, author))
}

fn unfold_commit<'a>(line: &'a str, last: Option<&'a str>) -> Option<(Vec<String>, &'a str)> {
    let mut parts = line.strip_prefix("commit ")?.split("; ").peekable();
    let hash = parts.next()?;
    let merge = parts.next_if(|part| part.starts_with("merge ")).map(|part| part.replacen("merge ", "Merge: ", 1));
    let date = parts.next()?;
    let author = parts.next().or(last)?;
    if parts.next().is_some() {
        return None;
    }
    let first = std::iter::once(format!("commit {hash}")).chain(merge);
    Some((first.chain([format!("Author: {author}"), format!("Date:   {date}"), String::new()]).collect(), author))
}

/// The short form of a diffstat; see [`stat::fold`].
pub(super) fn stat(lines: &[&str]) -> Option<(Vec<String>, usize)> {
    stat::fold(lines).filter(|(short, _)| !short.iter().any(|line| is_short_header(line)))
}

/// Whether a line reads as a short form.
pub(super) fn is_short(line: &str) -> bool {
    is_short_header(line) || stat::is_short(line)
}

fn is_short_header(line: &str) -> bool {
    let is_file = FILES.iter().any(|form| {
        line.strip_prefix(form.word)
            .is_some_and(|path| !path.is_empty() && !path.starts_with('-') && !path.starts_with("mode "))
    });
    is_file || read_hunk(line).is_some() || (line.starts_with("commit ") && line.contains("; "))
}

/// A line of the text that is no header, as it stands in the fold.
pub(super) fn escape(line: &str) -> Cow<'_, str> {
    if is_short(line.trim_start_matches(ESCAPE)) { format!(">{line}").into() } else { line.into() }
}

fn owned<'a>(lines: Vec<String>) -> Vec<Cow<'a, str>> {
    lines.into_iter().map(Cow::Owned).collect()
}

/// All lines that short ones stand for.
pub(super) fn unfold(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut long: Vec<Cow<str>> = Vec::with_capacity(lines.len());
    let mut author = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if !is_short(line) {
            let is_escaped = line.starts_with(ESCAPE) && is_short(line.trim_start_matches(ESCAPE));
            long.push(Cow::Borrowed(&line[usize::from(is_escaped)..]));
            at += 1;
            continue;
        }
        let (unfolded, taken) = if !is_short_header(line) {
            let files = lines[at..].iter().take_while(|line| stat::is_short(line) && !is_short_header(line)).count();
            let (unfolded, taken) = stat::unfold(&lines[at..at + files])?;
            (owned(unfolded), taken)
        } else if line.starts_with("commit ") {
            let (unfolded, by) = unfold_commit(line, author)?;
            author = Some(by);
            (owned(unfolded), 1)
        } else {
            unfold_hunk(&lines[at..]).or_else(|| unfold_file(&lines[at..]))?
        };
        long.extend(unfolded);
        at += taken;
    }
    Some(long.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_headers_shrink_to_one_path() {
        for (long, expected) in [
            ("diff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\n+++ b/x y", "diff x y\nindex 1..2 100644"),
            ("diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n", "new file n"),
            ("diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null", "deleted file n"),
        ] {
            let lines: Vec<&str> = long.split('\n').collect();
            let (short, taken) = file(&lines).expect("a header");
            assert_eq!((short.join("\n").as_str(), taken), (expected, lines.len()));
            assert_eq!(unfold(expected).as_deref(), Some(long));
        }
        for other in [
            "diff --git a/x b/y\n--- a/x\n+++ b/y",
            "diff --git a/x b/x\nold mode 1\nnew mode 2",
            "diff --git a/-x b/-x\n--- a/-x\n+++ b/-x",
            "diff -u a b\n--- a\n+++ b",
        ] {
            assert_eq!(file(&other.split('\n').collect::<Vec<_>>()), None, "{other}");
        }
    }

    #[test]
    fn an_author_is_named_when_it_changes() {
        let long = "commit abc (HEAD -> main)\nMerge: a b\nAuthor: A <a@b>\nDate:   Mon\n";
        let lines: Vec<&str> = long.split('\n').collect();
        let (short, taken, author) = commit(&lines, None).unwrap();
        assert_eq!((short.as_str(), taken), ("commit abc (HEAD -> main); merge a b; Mon; A <a@b>", 5));
        assert_eq!(commit(&lines, Some(author)).unwrap().0, "commit abc (HEAD -> main); merge a b; Mon");
        assert_eq!(unfold(&short).as_deref(), Some(long));
        assert_eq!(commit(&["commit a", "Author: A; B", "Date:   D", ""], None), None);
    }

    #[test]
    fn look_alikes_are_escaped() {
        for line in ["diff x", ">diff x", "@@ -1 +1", "@@ -1 +1 x", "commit a; b", "new file x", ">>commit a; b"] {
            let escaped = escape(line);
            assert_ne!(escaped, line);
            assert_eq!(unfold(&escaped).as_deref(), Some(line));
        }
        for line in ["diff --cc x", "new file mode 100644", "@@ -1 +1 @@", "commit a", "\\ No newline", "", "-diff x"] {
            assert_eq!(escape(line), line);
            assert_eq!(unfold(line).as_deref(), Some(line));
        }
    }
}
