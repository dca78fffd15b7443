//! Lines -> the runs of lines that stand a second time.
//!
//! A run is looked up by the lines at its start that make up [`KEY_BYTES`], so a repeated long line counts like a repeated
//! paragraph; then it is followed for as long as both places agree. Greedy from the left, linear.

use std::collections::HashMap;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// Words that a run must start with to be looked up, in bytes: shorter repeats do not pay for their reference.
const KEY_BYTES: usize = 96;

/// A run of lines that stands earlier too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeat {
    /// The later place, as line numbers from 0.
    pub(super) lines: Range<usize>,
    /// The first line of the earlier place. It ends before the later place starts.
    pub(super) earlier: usize,
}

/// A text cut into lines, or several texts one after the other.
#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    /// The lines, without their ends.
    pub(super) text: Vec<&'a str>,
    /// Where each line starts in its own text.
    starts: Vec<usize>,
    hashes: Vec<u64>,
    /// For each line, how many follow in the same text, itself included.
    left: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn add(&mut self, text: &'a str) -> Range<usize> {
        let start = self.text.len();
        let mut at = 0;
        for line in text.split('\n') {
            self.text.push(line);
            self.starts.push(at);
            at += line.len() + 1;
        }
        let end = self.text.len();
        self.hashes.extend(self.text[start..].iter().map(|line| xxh3_64(line.as_bytes())));
        self.left.extend((1..=end - start).rev());
        start..end
    }

    /// The byte range of lines of one text, without the last line end. There is at least one.
    pub(super) fn range(&self, lines: &Range<usize>) -> Range<usize> {
        let last = lines.end - 1;
        self.starts[lines.start]..self.starts[last] + self.text[last].len()
    }

    /// The key of the run that starts at a line, when its text has enough words.
    fn key(&self, start: usize) -> Option<u64> {
        if self.text[start].trim().is_empty() {
            return None;
        }
        let (mut bytes, mut key) = (0, 0_u64);
        for (index, line) in self.text[start..start + self.left[start]].iter().enumerate() {
            bytes += line.trim().len();
            key = (key.rotate_left(5) ^ self.hashes[start + index]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if bytes >= KEY_BYTES {
                return Some(key);
            }
            // Blank lines do not bring the end nearer.
            if index >= KEY_BYTES {
                break;
            }
        }
        None
    }

    /// The repeats of whole lines, in order, apart. Only lines that `may_go` are later places.
    pub(super) fn repeats(&self, may_go: impl Fn(usize) -> bool) -> Vec<Repeat> {
        let mut first: HashMap<u64, usize> = HashMap::new();
        let mut repeats = Vec::new();
        let mut line = 0;
        while line < self.text.len() {
            let Some(key) = self.key(line) else {
                line += 1;
                continue;
            };
            let earlier = *first.entry(key).or_insert(line);
            let mut len = if earlier < line && may_go(line) { self.common_run(earlier, line, &may_go) } else { 0 };
            while len > 0 && self.text[line + len - 1].trim().is_empty() {
                len -= 1;
            }
            let bytes: usize = self.text[line..line + len].iter().map(|text| text.trim().len()).sum();
            if bytes >= KEY_BYTES {
                repeats.push(Repeat { lines: line..line + len, earlier });
                line += len;
            } else {
                line += 1;
            }
        }
        repeats
    }

    fn common_run(&self, earlier: usize, later: usize, may_go: impl Fn(usize) -> bool) -> usize {
        let longest = self.left[earlier].min(self.left[later]).min(later - earlier);
        (0..longest)
            .take_while(|&index| {
                self.hashes[earlier + index] == self.hashes[later + index]
                    && self.text[earlier + index] == self.text[later + index]
                    && may_go(later + index)
            })
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(texts: &[&str]) -> Vec<Repeat> {
        let mut lines = Lines::default();
        for text in texts {
            lines.add(text);
        }
        lines.repeats(|_| true)
    }

    #[test]
    fn a_run_of_lines_that_stands_again_is_found_once_and_whole() {
        let run = (0..9).map(|n| format!("line number {n} of the run\n")).collect::<String>();
        let text = format!("first\n{run}\n\nother\n{run}end");
        assert_eq!(repeats(&[&text]), [Repeat { lines: 13..22, earlier: 1 }]);
        assert_eq!(repeats(&[&run, &run]), [Repeat { lines: 10..19, earlier: 0 }]);
    }

    #[test]
    fn a_long_line_is_a_run_and_a_short_one_is_not() {
        let long = "word ".repeat(40);
        assert_eq!(repeats(&[&format!("{long}\nx\n{long}")]), [Repeat { lines: 2..3, earlier: 0 }]);
        assert_eq!(repeats(&["short line\nx\nshort line"]), []);
    }

    #[test]
    fn repeats_never_overlap_the_place_they_refer_to() {
        let text = "the same line again and again and again and again\n".repeat(1000);
        for repeat in repeats(&[&text]) {
            assert!(repeat.earlier + repeat.lines.len() <= repeat.lines.start, "{repeat:?}");
        }
    }
}
