//! The short forms of headers, without what repeats or can be counted. Each is checked against its decoder.
//!
//! A line of the text that looks like a short form is escaped with `>`, which no line of a hunk starts with.

use std::borrow::Cow;

use concertina_format::diff_crunch::{ESCAPE, FILES, is_extended, is_short, is_signed, read_hunk, unfold_commit};

use super::hunk::Hunk;
use crate::content::diff_hunk::HunkHeader;

/// Returns the short form of the file header at the start of `lines`, and the number of lines that it replaces.
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
    let fits = is_short(&short[0]) && lines.get(at..at + 2)? == sides;
    fits.then_some((short, at + 2))
}

/// Returns the short form of a hunk's header, if the counts follow from its lines.
pub(super) fn hunk(hunk: &Hunk, next: Option<&str>) -> Option<String> {
    let HunkHeader { old_start, new_start, section, .. } = &hunk.header;
    let short = format!("@@ -{old_start} +{new_start}{section}");
    // Without counts, the decoder ends a hunk at the first line without a sign.
    let ends = hunk.is_exact && !next.is_some_and(is_signed);
    (ends && read_hunk(&short) == Some((*old_start, *new_start, section))).then_some(short)
}

/// Returns a commit's header in one line, `commit hash; date; author`, the number of lines that it replaces, and the
/// author. The author is omitted from the line if it equals `last`.
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

/// Returns a line that is not a header, escaped if it looks like a short form.
pub(super) fn escape(line: &str) -> Cow<'_, str> {
    if is_short(line.trim_start_matches(ESCAPE)) { format!(">{line}").into() } else { line.into() }
}

#[cfg(test)]
mod tests {
    use concertina_format::diff_crunch::unfold_text as unfold;

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
