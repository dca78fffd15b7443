//! lines -> groups that differ only in some words.
//!
//! A line is words and the single separators between them; words may be empty, so that joining them gives the line back and a
//! value never holds a separator. Lines with the same separators and mostly the same words are of one group. A word with a
//! digit in it may differ; other words must agree for most of their length.

use std::hash::{Hash, Hasher};

use crate::pipeline::hashing::{FastHasher, FastMap, first_like};

/// A separator that stands for the line's stamp. No byte of a line is ever read as this one.
pub(super) const STAMP: u8 = 0;
/// Longer lines are left alone.
const MAX_LINE: usize = 4096;
/// Lines of more words are left alone.
const MAX_WORDS: usize = 400;
/// How much of the fixed text of two lines of a group agrees, at least: a half. Whether a template pays is asked later.
const SAME: (usize, usize) = (1, 2);
/// How many groups with the same separators a line is compared with: keeps grouping linear.
const MAX_PEERS: usize = 24;

/// The lines of a log in words, side by side.
#[derive(Debug, Default)]
pub(super) struct Words<'a> {
    words: Vec<&'a str>,
    /// What stands behind each word: an ASCII byte, [`STAMP`], or the line end.
    separators: Vec<u8>,
    /// Where the words of each line end.
    ends: Vec<usize>,
}

/// A line in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut<'w, 'a> {
    pub(super) words: &'w [&'a str],
    /// As many: the last one is the line end.
    pub(super) separators: &'w [u8],
}

/// Whether a byte separates words.
pub(super) fn is_separator(byte: u8) -> bool {
    static SEPARATORS: [bool; 256] = {
        let (mut table, mut at) = ([false; 256], 0);
        while at < 16 {
            table[b" \t,;=()[]{}\"'|<>"[at] as usize] = true;
            at += 1;
        }
        table
    };
    SEPARATORS[usize::from(byte)]
}

impl<'a> Words<'a> {
    /// Room for the words of a text of so many bytes in so many lines.
    pub(super) fn with_capacity(bytes: usize, lines: usize) -> Self {
        let words = bytes / 6 + lines;
        Self {
            words: Vec::with_capacity(words),
            separators: Vec::with_capacity(words),
            ends: Vec::with_capacity(lines),
        }
    }

    /// Adds a line, cut around its stamp, unless it is too long to be one of many.
    pub(super) fn push(&mut self, line: &'a str, stamp: Option<(usize, usize)>) {
        let start = self.words.len();
        if line.len() <= MAX_LINE {
            let rest = match stamp {
                Some((start, end)) => {
                    self.cut(&line[..start], STAMP);
                    &line[end..]
                }
                None => line,
            };
            self.cut(rest, b'\n');
            if self.words.len() - start > MAX_WORDS {
                self.words.truncate(start);
                self.separators.truncate(start);
            }
        }
        self.ends.push(self.words.len());
    }

    /// Adds a line that is to stay alone.
    pub(super) fn push_none(&mut self) {
        self.ends.push(self.words.len());
    }

    fn cut(&mut self, text: &'a str, end: u8) {
        let mut start = 0;
        for (at, byte) in text.bytes().enumerate() {
            if is_separator(byte) {
                self.words.push(&text[start..at]);
                self.separators.push(byte);
                start = at + 1;
            }
        }
        self.words.push(&text[start..]);
        self.separators.push(end);
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A line, unless it stays alone.
    pub(super) fn of(&self, line: usize) -> Option<Cut<'_, 'a>> {
        let range = line.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[line];
        (!range.is_empty()).then(|| Cut { words: &self.words[range.clone()], separators: &self.separators[range] })
    }
}

impl Cut<'_, '_> {
    /// The same for lines that differ in nothing but words that may.
    fn key(self) -> u64 {
        let mut hasher = FastHasher::default();
        hasher.write(self.separators);
        for word in self.words {
            if is_variable(word) { hasher.write_u8(0) } else { word.hash(&mut hasher) }
        }
        hasher.finish()
    }

    fn differs_in_values(self, other: Self) -> bool {
        self.separators == other.separators
            && self.words.iter().zip(other.words).all(|(a, b)| a == b || is_variable(a) && is_variable(b))
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

/// Groups the lines of a kind; those that match no group with room stay alone.
pub(super) fn group<'a>(words: &Words<'a>, is_of_kind: impl Fn(usize) -> bool) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut peers: FastMap<&[u8], Vec<usize>> = FastMap::default();
    // By key: the first line with it and its group.
    let mut known: FastMap<u64, (usize, usize)> = FastMap::default();
    for index in (0..words.len()).filter(|&line| is_of_kind(line)) {
        let Some(line) = words.of(index) else { continue };
        let is_like = |(first, _)| words.of(first).is_some_and(|first| first.differs_in_values(line));
        let (_, place) = first_like(&mut known, line.key(), is_like, || {
            let fixed = |&word: &&'a str| (word, if is_variable(word) { 0 } else { word.len() });
            let fixed: Vec<(&str, usize)> = line.words.iter().map(fixed).collect();
            let peers = peers.entry(line.separators).or_default();
            let peer = peers.iter().find(|&&peer| is_alike(&groups[peer].words, &fixed)).copied();
            let place = peer.unwrap_or_else(|| {
                groups.push(Group { words: fixed, lines: Vec::new() });
                if peers.len() < MAX_PEERS {
                    peers.push(groups.len() - 1);
                }
                groups.len() - 1
            });
            (index, place)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'a>(lines: &[&'a str]) -> Words<'a> {
        let mut words = Words::default();
        lines.iter().for_each(|line| words.push(line, None));
        words
    }

    fn groups(lines: &[&str]) -> Vec<Vec<usize>> {
        group(&words(lines), |_| true).into_iter().map(|group| group.lines).collect()
    }

    #[test]
    fn words_and_separators_join_to_the_line() {
        for line in ["", " ", "a b", "k=v, (x)  [y]", "tab\there ", "é=“1”"] {
            let words = words(&[line]);
            let cut = words.of(0).unwrap();
            let pairs = cut.words.iter().zip(cut.separators);
            let joined: String = pairs.map(|(word, separator)| format!("{word}{}", char::from(*separator))).collect();
            assert_eq!(joined, format!("{line}\n"));
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
}
