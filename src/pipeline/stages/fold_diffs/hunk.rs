//! Reads hunks of unified diffs by their counts, because a removed line that starts with `--` looks like a `---`
//! header.

use concertina_format::diff_crunch::{is_signed, number};

use crate::content::diff_hunk::HunkHeader;

/// Parses a header. Returns `None` if its numbers would not be printed in the same form.
fn header(line: &str) -> Option<HunkHeader<'_>> {
    let header = HunkHeader::parse(line).filter(|header| header.parents == 1)?;
    let mut numbers = line[..line.len() - header.section.len()].split(|c: char| !c.is_ascii_digit());
    numbers.all(|digits| digits.is_empty() || number(digits).is_some()).then_some(header)
}

/// A hunk: its header and the lines that belong to it.
#[derive(Debug)]
pub(super) struct Hunk<'a> {
    pub(super) header: HunkHeader<'a>,
    pub(super) lines: &'a [&'a str],
    /// True if the counts of the header are right.
    pub(super) is_exact: bool,
}

impl<'a> Hunk<'a> {
    /// Reads the hunk whose header is the first of `lines`.
    ///
    /// If the counts are wrong, the hunk ends at the first line without a sign.
    pub(super) fn read(lines: &'a [&'a str]) -> Option<Self> {
        let (first, below) = lines.split_first()?;
        let header = header(first)?;
        let body = header.body(below.iter().copied());
        // The decoder cannot tell an empty line from the end of the hunk.
        let is_exact = body.is_exact && below[..body.lines].iter().all(|line| is_signed(line));
        let end = if is_exact { body.lines } else { signed(below) };
        Some(Self { header, lines: &below[..end], is_exact })
    }
}

/// Returns the number of lines with a sign, up to the header of the next file.
fn signed(lines: &[&str]) -> usize {
    let is_file = |index: usize| {
        let starts =
            |ahead: usize, with: &str| lines.get(index + ahead).is_some_and(|line: &&str| line.starts_with(with));
        starts(0, "--- ") && starts(1, "+++ ") && starts(2, "@@ ")
    };
    (0..lines.len()).take_while(|&index| is_signed(lines[index]) && !is_file(index)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_print_back() {
        for line in ["@@ -1,2 +3,4 @@ fn x()", "@@ -1 +0,0 @@", "@@ -0,0 +1 @@x"] {
            assert_eq!(header(line).map(|header| header.to_string()).as_deref(), Some(line));
        }
        for line in ["@@ -01,2 +3,4 @@", "@@@ -1 -1 +1 @@@", "@@ -1,2 +3", "@@ -1234567890123456789 +1 @@", ""] {
            assert_eq!(header(line), None, "{line}");
        }
    }

    #[test]
    fn counts_decide_where_a_hunk_ends() {
        let lines = ["@@ -1,2 +1,2 @@", "--- one", "+++ two", " same", "\\ No newline", "- a list item"];
        let hunk = Hunk::read(&lines).unwrap();
        assert!(hunk.is_exact);
        assert_eq!(hunk.lines, &lines[1..5]);
    }

    #[test]
    fn a_hunk_with_wrong_counts_ends_at_the_next_header() {
        let lines = ["@@ -1,1 +1,1 @@", "-a", " b", " c", "--- x", "+++ y", "@@ -1 +1 @@"];
        let hunk = Hunk::read(&lines).unwrap();
        assert!(!hunk.is_exact);
        assert_eq!(hunk.lines, &lines[1..4]);
    }
}
