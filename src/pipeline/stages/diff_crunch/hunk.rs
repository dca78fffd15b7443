//! Hunks of unified diffs, read by their counts and not by looks: a removed line that starts with `--` reads `---`.

/// `@@ -12,7 +12,9 @@ section`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) old_start: u64,
    pub(super) old_lines: u64,
    pub(super) new_start: u64,
    pub(super) new_lines: u64,
    /// What follows the second `@@`, with its blank.
    pub(super) section: &'a str,
}

impl<'a> Header<'a> {
    /// Reads a header; a count that is left out is 1.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("@@ -")?;
        let (old_start, old_lines, rest) = span(rest)?;
        let (new_start, new_lines, rest) = span(rest.strip_prefix(" +")?)?;
        Some(Self { old_start, old_lines, new_start, new_lines, section: rest.strip_prefix(" @@")? })
    }

    /// The header as git and GNU diff print it.
    pub(super) fn write(&self) -> String {
        let count = |lines| if lines == 1 { String::new() } else { format!(",{lines}") };
        let (old, new) = (count(self.old_lines), count(self.new_lines));
        format!("@@ -{}{old} +{}{new} @@{}", self.old_start, self.new_start, self.section)
    }
}

fn span(text: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => number(rest).map(|(count, rest)| (start, count, rest)),
        None => Some((start, 1, rest)),
    }
}

/// A number that prints back as it is.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_plain = (1..=18).contains(&digits) && (digits == 1 || !text.starts_with('0'));
    is_plain.then(|| text[..digits].parse().ok().map(|number| (number, &text[digits..])))?
}

/// A hunk: its header and as many of the lines below as belong to it.
#[derive(Debug)]
pub(super) struct Hunk<'a> {
    pub(super) header: Header<'a>,
    pub(super) lines: &'a [&'a str],
    /// Whether the counts of the header hold.
    pub(super) is_exact: bool,
}

impl<'a> Hunk<'a> {
    /// Reads the hunk whose header is the first of `lines`.
    ///
    /// Where the counts do not hold, it ends at the first line that has no sign.
    pub(super) fn read(lines: &'a [&'a str]) -> Option<Self> {
        let (first, below) = lines.split_first()?;
        let header = Header::read(first)?;
        match counted(&header, below) {
            Some(end) => Some(Self { header, lines: &below[..end], is_exact: true }),
            None => Some(Self { header, lines: &below[..signed(below)], is_exact: false }),
        }
    }
}

/// How many lines the counts take; `None` where they do not hold.
fn counted(header: &Header, lines: &[&str]) -> Option<usize> {
    let (mut old, mut new, mut end) = (header.old_lines, header.new_lines, 0);
    while old > 0 || new > 0 {
        let (old_step, new_step) = match lines.get(end)?.as_bytes().first()? {
            b' ' => (1, 1),
            b'-' => (1, 0),
            b'+' => (0, 1),
            b'\\' if end > 0 => (0, 0),
            _ => return None,
        };
        (old, new) = (old.checked_sub(old_step)?, new.checked_sub(new_step)?);
        end += 1;
    }
    // `\ No newline at end of file` belongs to the line before it.
    Some(end + usize::from(end > 0 && lines.get(end).is_some_and(|line| line.starts_with('\\'))))
}

/// How many lines have a sign; the header of the next file has not.
fn signed(lines: &[&str]) -> usize {
    let is_file = |index: usize| {
        let starts =
            |ahead: usize, with: &str| lines.get(index + ahead).is_some_and(|line: &&str| line.starts_with(with));
        starts(0, "--- ") && starts(1, "+++ ") && starts(2, "@@ ")
    };
    (0..lines.len()).take_while(|&index| is_signed(lines[index]) && !is_file(index)).count()
}

/// Whether a line may be one of a hunk.
pub(super) fn is_signed(line: &str) -> bool {
    line.starts_with([' ', '+', '-', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_print_back() {
        for line in ["@@ -1,2 +3,4 @@ fn x()", "@@ -1 +0,0 @@", "@@ -0,0 +1 @@x"] {
            assert_eq!(Header::read(line).map(|header| header.write()).as_deref(), Some(line));
        }
        for line in ["@@ -01,2 +3,4 @@", "@@@ -1 -1 +1 @@@", "@@ -1,2 +3", "@@ -1234567890123456789 +1 @@", ""] {
            assert_eq!(Header::read(line), None, "{line}");
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
