//! Lines behind the line numbers of a tool -> the lines alone, with their places in the text.
//!
//! An edit of the lines must lie within one line, cover whole lines, or span the text between two such places.

use std::ops::Range;

use concertina_format::prefixes::{EACH, ROWS, is_quotable};

use super::edits::renumber;
use super::fold::{self, Fold};
use super::{Edit, FusionContext, lines};
use crate::config::Encoding;
use crate::content::numbered::number_lengths;

/// The lines of a part of a text without their numbers, from the first to the last line that has one.
#[derive(Debug)]
pub(super) struct PrefixedLines {
    /// The text of the lines.
    pub(super) text: String,
    /// The number of the first line.
    pub(super) first_line: usize,
    rows: Vec<Row>,
}

/// The position of a line. The last row is an empty line that marks the end.
#[derive(Debug)]
struct Row {
    /// The offset of the line in [`PrefixedLines::text`].
    in_lines: usize,
    /// The offset of the line's prefix in the text.
    prefix: usize,
    /// The offset of the line in the text, after its prefix.
    in_text: usize,
}

impl PrefixedLines {
    /// Reads the lines of a part of a text. The part starts at byte `start` and at line `number` of the text.
    pub(super) fn of(part: &str, start: usize, number: usize) -> Option<Self> {
        let lengths = number_lengths(part)?;
        let first = lengths.iter().position(|length| *length > 0)?;
        let last = lengths.iter().rposition(|length| *length > 0)?;
        let (mut text, mut rows) = (String::with_capacity(part.len()), Vec::with_capacity(lengths.len() + 1));
        let mut at = start;
        for (index, (line, length)) in part.split_inclusive('\n').zip(lengths).enumerate().take(last + 1) {
            if index >= first {
                rows.push(Row { in_lines: text.len(), prefix: at, in_text: at + length });
                text.push_str(&line[length..]);
            }
            at += line.len();
        }
        rows.push(Row { in_lines: text.len(), prefix: at, in_text: at });
        Some(Self { text, first_line: number + first, rows })
    }

    fn row(&self, at: usize) -> usize {
        self.rows.partition_point(|row| row.in_lines <= at).saturating_sub(1)
    }

    fn is_line_start(&self, at: usize) -> bool {
        self.rows[self.row(at)].in_lines == at
    }

    fn place(&self, at: usize) -> usize {
        let row = &self.rows[self.row(at)];
        row.in_text + (at - row.in_lines)
    }

    /// Maps a range of the lines to the text. Whole lines include their prefixes.
    pub(super) fn to_text(&self, range: &Range<usize>) -> Range<usize> {
        if self.is_line_start(range.start) && self.is_line_start(range.end) && !range.is_empty() {
            return self.rows[self.row(range.start)].prefix..self.rows[self.row(range.end)].prefix;
        }
        self.place(range.start)..self.place(range.end)
    }

    /// Maps sorted ranges of the text to ranges of the lines.
    pub(super) fn to_lines(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let place = |at: usize| match self.rows.partition_point(|row| row.prefix <= at) {
            0 => 0,
            above => {
                let row = &self.rows[above - 1];
                (row.in_lines + at.saturating_sub(row.in_text)).min(self.text.len())
            }
        };
        let (first, last) = (self.rows[0].prefix, self.rows[self.rows.len() - 1].prefix);
        let within = &ranges[ranges.partition_point(|range| range.end <= first)..];
        let within = within.iter().take_while(|range| range.start < last);
        within.map(|range| place(range.start)..place(range.end)).filter(|range| !range.is_empty()).collect()
    }

    /// Maps an edit of the lines to an edit of the context's text. Returns `None` if the new lines would need differing
    /// prefixes.
    pub(super) fn to_edit(&self, context: &FusionContext, mut edit: Edit) -> Option<Edit> {
        let replaced = &self.text[edit.range.clone()];
        let first = self.row(edit.range.start);
        let before = |count: usize| {
            let rows = self.rows.get(first..first + count)?;
            Some(rows.iter().map(|row| &context.text[row.prefix..row.in_text]).collect::<Vec<&str>>())
        };
        if edit.lossless {
            let (inner, _) = fold::parse(&edit.text)?;
            let lines = 1 + memchr::memchr_iter(b'\n', replaced.as_bytes()).count();
            let fold = fold_with_prefixes(inner, &before(lines)?, context.encoding)?;
            let range = self.rows[first].prefix..self.place(edit.range.end);
            return Some(Edit { excludes_others: edit.excludes_others, ..Edit::fold(range, &fold) });
        }
        // A fold must stand at the start of a line.
        if edit.text.contains(fold::OPENING) {
            return None;
        }
        let above = self.first_line - 1;
        renumber(&mut edit, replaced, |first, last| Some((first + above, last + above)));
        let before = before(replaced.split_inclusive('\n').count().max(1))?;
        let (prefix, is_same) = (before[0], before.iter().all(|prefix| *prefix == before[0]));
        let is_whole = edit.text.is_empty() || edit.text.ends_with('\n');
        let within = self.place(edit.range.start)..self.place(edit.range.end);
        let range = if is_whole { self.to_text(&edit.range) } else { within.clone() };
        // An edit of whole lines also replaces their prefixes.
        let lines = edit.text.split_inclusive('\n');
        let (text, told) = if range.start < within.start {
            (lines.clone().flat_map(|line| [prefix, line]).collect::<String>(), lines.count())
        } else {
            (edit.text.replace('\n', &format!("\n{prefix}")), 1 + edit.text.matches('\n').count())
        };
        (told <= 1 || is_same).then_some(Edit { range, text, ..edit })
    }
}

/// Turns a fold of lines into a fold of the same lines with prefixes, one prefix for each line.
fn fold_with_prefixes(inner: Fold, prefixes: &[&str], encoding: Encoding) -> Option<Fold> {
    let same = prefixes.iter().all(|prefix| *prefix == prefixes[0]).then_some(prefixes[0]);
    let (words, rows) = match same.filter(|prefix| is_quotable(prefix)) {
        Some(prefix) => (format!("{EACH}\"{prefix}\""), None),
        None => {
            let rows = lines::fold_prefixes(&inner.stage, &prefixes.join("\n"), encoding)?.to_string();
            (format!("{EACH}{ROWS}{} lines", rows.split('\n').count()), Some(rows))
        }
    };
    let legend = if inner.legend.is_empty() { words } else { format!("{words}; {}", inner.legend) };
    let body = inner.body.into_iter().chain(rows).collect::<Vec<_>>().join("\n");
    Some(Fold::new(&inner.stage, legend, Some(body)))
}

#[cfg(test)]
mod tests {
    use concertina_format::prefixes::{Before, MAX_QUOTED, told};

    use super::*;

    /// Returns the text after an edit of some of its lines; `None` if the edit is not possible.
    fn edited(text: &str, replaced: &str, by: &str) -> Option<String> {
        let lines = PrefixedLines::of(text, 0, 1).expect("lines behind prefixes");
        let start = lines.text.find(replaced).expect("lines that have it");
        let edit = Edit::reversible(start..start + replaced.len(), by);
        let edit = lines.to_edit(&FusionContext::of(text, &[]), edit)?;
        Some([&text[..edit.range.start], &edit.text, &text[edit.range.end..]].concat())
    }

    fn document(before: impl Fn(usize) -> String) -> String {
        let members: String = (0..9).map(|at| format!("  \"key{at}\": {at},\n")).collect();
        let lines = format!("{{\n{members}  \"last\": null\n}}\n");
        lines.lines().enumerate().map(|(at, line)| format!("{}{line}\n", before(at))).collect()
    }

    fn number(at: usize) -> String {
        format!("{:>6}\t", at + 8)
    }

    #[test]
    fn lines_reach_from_the_first_number_to_the_last() {
        let text = format!("$ cat -n a.json\n{}\n", document(number));
        let lines = PrefixedLines::of(&text, 0, 1).expect("numbered lines");
        assert_eq!((lines.text.as_str(), lines.first_line), (&*document(|_| String::new()), 2));
        assert_eq!(lines.to_text(&(0..lines.text.len())), 16..text.len() - 1);
        assert_eq!(lines.to_lines(&[0..16, 16..25, 26..30, text.len() - 1..text.len()]), std::slice::from_ref(&(0..2)));
        assert!(PrefixedLines::of(&document(|_| String::new()), 0, 1).is_none());
    }

    #[test]
    fn one_line_may_replace_lines_and_no_more() {
        let text = document(number);
        for (replaced, by, before, after) in [
            ("0,", "none", "\"key0\": 0,\n", "\"key0\": none\n"),
            ("  \"key0\": 0,\n", "", "     9\t  \"key0\": 0,\n", ""),
            ("  \"key1\": 1,", "[… 1 lines 3-3]", "  \"key1\": 1,", "[… 1 lines 3-3]"),
            ("  \"key0\": 0,\n  \"key1\": 1,", "[… 2 lines]", "  \"key0\": 0,\n    10\t  \"key1\": 1,", "[… 2 lines]"),
        ] {
            assert_eq!(edited(&text, replaced, by), Some(text.replacen(before, after, 1)), "{replaced:?} -> {by:?}");
        }
        assert_eq!(edited(&text, "  \"key0\": 0,\n  \"key1\": 1,", "a\nb"), None);
        assert_eq!(edited(&text, "  \"key1\": 1,", "[[FOLD:x 0]]"), None);
        let below = format!("head\n{text}");
        assert!(edited(&below, "  \"key1\": 1,", "[… 1 lines 3-3]").unwrap().contains("    10\t[… 1 lines 4-4]\n"));
    }

    /// Returns the fold of lines with prefixes, after checking that it can be restored.
    fn folded(prefixes: &[String], legend: &str) -> String {
        let inner: Vec<String> =
            (0..prefixes.len()).map(|line| ["", "{", "[[FOLD:x 1]] y"][line % 3].to_owned()).collect();
        let alone = Fold::new("x", legend, Some(inner.join("\n")));
        let before: Vec<&str> = prefixes.iter().map(String::as_str).collect();
        let fold = fold_with_prefixes(alone.clone(), &before, Encoding::O200kBase).expect("prefixes that fold");
        let (told, lines) = told(&fold).expect("prefixes that are told");
        assert_eq!(lines, alone, "{fold}");
        let text: Vec<String> = prefixes.iter().zip(&inner).map(|(prefix, line)| format!("{prefix}{line}")).collect();
        assert_eq!(told.put(&inner.join("\n")), Some(text.join("\n")), "{fold}");
        fold.to_string()
    }

    #[test]
    fn the_legend_says_what_stands_before_each_line() {
        assert!(
            folded(&["web-1  | "; 3].map(str::to_owned), "json 2")
                .starts_with("[[FOLD:x 3]] each line begins \"web-1  | \"; json 2\n")
        );
        assert!(folded(&[">\t".to_owned()], "").starts_with("[[FOLD:x 1]] each line begins \">\t\"\n"));
    }

    #[test]
    fn prefixes_that_differ_are_rows_at_the_end() {
        let made: [fn(usize) -> String; 5] = [
            |at| format!("2026-11-22T10:00:{:02}.{:03}Z ", at % 60, at * 37 % 1000),
            |at| format!("[{}/3] ", at % 3 + 1),
            |at| ["web-1  | ", "db-1   | "][at * at % 7 % 2].to_owned(),
            |at| if at % 10 == 9 { String::new() } else { ">> ".to_owned() },
            |_| "\"quoted\" ".to_owned(),
        ];
        for prefix in made {
            let prefixes: Vec<String> = (0..60).map(prefix).collect();
            let fold = folded(&prefixes, "json 2; more");
            assert!(fold.contains("]] each line begins as in the last "), "{fold}");
            assert!(fold.contains(" lines; json 2; more\n"), "{fold}");
        }
    }

    #[test]
    fn what_nobody_wrote_tells_of_no_prefixes() {
        for words in [
            "json 2",
            "each line begins ",
            "each line begins \"",
            "each line begins \"\"",
            "each line begins \"a\"json",
            "each line begins \"a\"; ",
            "each line begins as in the last 0 lines",
            "each line begins as in the last 02 lines",
            "each line begins as in the last +2 lines",
            "each line begins as in the last 9 lines",
            "each line begins as in the last 2 lines",
        ] {
            let fold = Fold::new("x", words, Some("a\nb\nc".to_owned()));
            assert!(told(&fold).is_none(), "{words}");
        }
        let long = format!("{EACH}\"{}\"", "a".repeat(MAX_QUOTED + 1));
        assert!(told(&Fold::new("x", long, Some("a".to_owned()))).is_none());
    }

    #[test]
    fn no_text_makes_much_of_little() {
        let lines = "\n".repeat(1 << 18);
        assert_eq!(Before::Same("a".repeat(MAX_QUOTED)).put(&lines), None);
        let rows =
            lines::fold("x", &"2026-11-22T10:00:00Z \n".repeat(9), Encoding::O200kBase, |_| false).expect("a fold");
        assert_eq!(Before::Rows(rows).put("b\nc"), None, "there are more prefixes than lines");
    }
}
