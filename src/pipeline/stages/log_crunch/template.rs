//! lines -> groups that differ only in some words.
//!
//! A line is words and the single separators between them; words may be empty, so that joining them gives the line back and a
//! value never holds a separator. Lines with the same separators and mostly the same words are of one group. A word with a
//! digit in it may differ; other words must agree for most of their length.

use crate::pipeline::stages::hashing::FastMap;

/// A separator that stands for the line's stamp. No byte of a line is ever read as this one.
pub(super) const STAMP: u8 = 0;
/// Longer lines are left alone.
const MAX_LINE: usize = 4096;
/// Lines of more words are left alone.
const MAX_WORDS: usize = 400;
/// How many groups with the same separators a line is compared with: keeps grouping linear.
/// How much of the fixed text of two lines of a group agrees, at least: a half. Whether a template pays is asked later.
const SAME: (usize, usize) = (1, 2);
const MAX_PEERS: usize = 24;

/// A line in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words<'a> {
    /// One more than separators.
    pub(super) words: Vec<&'a str>,
    /// ASCII bytes, or [`STAMP`].
    pub(super) separators: Vec<u8>,
}

/// Whether a byte separates words.
pub(super) fn is_separator(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b',' | b';' | b'=' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'\'' | b'|' | b'<' | b'>'
    )
}

impl<'a> Words<'a> {
    /// Splits a line around its stamp; `None` for a line too long to be one of many.
    pub(super) fn split(line: &'a str, stamp: Option<(usize, usize)>) -> Option<Self> {
        if line.len() > MAX_LINE {
            return None;
        }
        let mut found = Self { words: Vec::with_capacity(16), separators: Vec::with_capacity(16) };
        let rest = match stamp {
            Some((start, end)) => {
                found.push(&line[..start]);
                found.separators.push(STAMP);
                &line[end..]
            }
            None => line,
        };
        found.push(rest);
        (found.words.len() <= MAX_WORDS).then_some(found)
    }

    fn push(&mut self, text: &'a str) {
        let mut start = 0;
        for (at, byte) in text.bytes().enumerate() {
            if is_separator(byte) {
                self.words.push(&text[start..at]);
                self.separators.push(byte);
                start = at + 1;
            }
        }
        self.words.push(&text[start..]);
    }
}

/// Lines of one group.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// The words of its first line, each with how much of it is fixed.
    words: Vec<(&'a str, usize)>,
    /// Which lines, ascending.
    pub(super) lines: Vec<usize>,
}

/// Groups lines; `None` entries and lines that match no group with room stay alone.
pub(super) fn group<'a: 'b, 'b>(lines: impl Iterator<Item = Option<&'b Words<'a>>>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut peers: FastMap<&[u8], Vec<usize>> = FastMap::default();
    let mut exact: FastMap<(&[u8], Vec<&str>), usize> = FastMap::default();
    for (index, line) in lines.enumerate() {
        let Some(line) = line else { continue };
        let fixed: Vec<&str> = line.words.iter().map(|word| if is_variable(word) { "0" } else { word }).collect();
        let place = *exact.entry((line.separators.as_slice(), fixed)).or_insert_with_key(|(separators, fixed)| {
            let fixed_len = |(word, fixed): (&'a str, &&str)| (word, if *fixed == "0" { 0 } else { word.len() });
            let words: Vec<(&str, usize)> = line.words.iter().copied().zip(fixed).map(fixed_len).collect();
            let peers = peers.entry(*separators).or_default();
            peers.iter().find(|&&peer| is_alike(&groups[peer].words, &words)).copied().unwrap_or_else(|| {
                groups.push(Group { words, lines: Vec::new() });
                if peers.len() < MAX_PEERS {
                    peers.push(groups.len() - 1);
                }
                groups.len() - 1
            })
        });
        groups[place].lines.push(index);
    }
    groups
}

fn is_variable(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// Whether enough of the fixed text of two lines agrees. Words that begin alike, such as paths, agree in part.
fn is_alike(known: &[(&str, usize)], words: &[(&str, usize)]) -> bool {
    let (mut same, mut all) = (0, 0);
    for (&(known, known_fixed), &(word, fixed)) in known.iter().zip(words) {
        all += fixed.max(known_fixed);
        if fixed > 0 && known_fixed > 0 {
            let is_same = word == known;
            let common = || word.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
            same += if is_same { fixed } else { common() };
        }
    }
    same * SAME.1 >= all * SAME.0
}

/// How many bytes all values share at the start and at the end, cut where a run of letters or digits begins or ends.
pub(super) fn shared_affixes(values: &[&str]) -> (usize, usize) {
    let Some((first, others)) = values.split_first() else { return (0, 0) };
    let mut prefix = first.len();
    for value in others {
        prefix = value.bytes().zip(first.bytes()).take(prefix).take_while(|(a, b)| a == b).count();
    }
    let is_cut = |at: usize| values.iter().all(|value| is_boundary(value.as_bytes(), at));
    while prefix > 0 && !is_cut(prefix) {
        prefix -= 1;
        // Below the first difference all values have the same bytes, so this ends at the next boundary of the first one.
        while prefix > 0 && !is_boundary(first.as_bytes(), prefix) {
            prefix -= 1;
        }
    }
    let shortest = values.iter().map(|value| value.len()).min().unwrap_or(0);
    let mut suffix = shortest - prefix;
    for value in others {
        suffix = value.bytes().rev().zip(first.bytes().rev()).take(suffix).take_while(|(a, b)| a == b).count();
    }
    let is_cut = |from_end: usize| values.iter().all(|value| is_boundary(value.as_bytes(), value.len() - from_end));
    while suffix > 0 && !is_cut(suffix) {
        suffix -= 1;
    }
    (prefix, suffix)
}

/// Whether a cut falls between runs of letters (anything beyond ASCII counts as one), of digits, and other characters.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    let kind = |b: u8| match b {
        b'0'..=b'9' => 0,
        b if b.is_ascii_alphabetic() || !b.is_ascii() => 1,
        _ => 2,
    };
    at == 0 || at >= bytes.len() || kind(bytes[at - 1]) == 2 || kind(bytes[at - 1]) != kind(bytes[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(lines: &[&str]) -> Vec<Vec<usize>> {
        let words: Vec<_> = lines.iter().map(|line| Words::split(line, None)).collect();
        group(words.iter().map(Option::as_ref)).into_iter().map(|group| group.lines).collect()
    }

    #[test]
    fn words_and_separators_join_to_the_line() {
        for line in ["", " ", "a b", "k=v, (x)  [y]", "tab\there ", "é=“1”"] {
            let split = Words::split(line, None).unwrap();
            let mut joined = split.words[0].to_owned();
            for (separator, word) in split.separators.iter().zip(&split.words[1..]) {
                joined.push(char::from(*separator));
                joined.push_str(word);
            }
            assert_eq!(joined, line);
        }
    }

    #[test]
    fn lines_that_differ_in_numbers_or_few_words_are_one_group() {
        let lines = [
            "user anna logged in from 10.0.0.1",
            "user bert logged in from 10.0.0.22",
            "server started on port 80 at all",
        ];
        assert_eq!(groups(&lines), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn affixes_cut_at_the_edges_of_runs() {
        for (values, expected) in [
            (["blk_388", "blk_-695"], (4, 0)),
            (["12ms", "4ms"], (0, 2)),
            (["0100", "0199"], (0, 0)),
            (["Interface", "Internet"], (0, 0)),
            (["10.251.73.220:50010", "10.251.43.115:50010"], (7, 6)),
            (["a/b", "a/b/c"], (3, 0)),
            (["é1é", "é2é"], (2, 2)),
        ] {
            assert_eq!(shared_affixes(&values), expected, "{values:?}");
        }
    }
}
