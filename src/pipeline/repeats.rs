//! Lines -> the runs of lines that occur a second time.
//!
//! A run is looked up by the lines at its start that make up [`KEY_BYTES`], so one long line counts as much as a
//! paragraph. It is then extended as long as both places agree. The search is greedy from the left, and linear.

use std::borrow::Cow;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use concertina_base::hashing::FastMap;

/// The minimum length of a run, in bytes without surrounding blanks. Shorter repeats do not pay for their reference.
const KEY_BYTES: usize = 96;

/// A run of lines that also occurs earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeat {
    /// The later place, as 0-based line numbers.
    pub(super) lines: Range<usize>,
    /// The first line of the earlier place, which ends before the later place starts.
    pub(super) earlier: usize,
}

/// Consecutive texts, split into lines.
#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    texts: Vec<Cow<'a, str>>,
    lines: Vec<Line>,
    /// The first line of the first run with each key.
    first: FastMap<u64, usize>,
}

#[derive(Debug)]
struct Line {
    text: usize,
    /// The line without its end.
    range: Range<usize>,
    hash: u64,
    /// The number of lines from here to the end of the text, including this one.
    left: usize,
}

impl<'a> Lines<'a> {
    /// Adds a text and returns its line numbers. Its runs become known with [`Lines::repeats`] or [`Lines::learn`].
    pub(super) fn add(&mut self, text: impl Into<Cow<'a, str>>) -> Range<usize> {
        let text = text.into();
        let start = self.lines.len();
        let mut at = 0;
        for line in text.split('\n') {
            let range = at..at + line.len();
            at = range.end + 1;
            self.lines.push(Line { text: self.texts.len(), range, hash: xxh3_64(line.as_bytes()), left: 0 });
        }
        let end = self.lines.len();
        self.lines[start..].iter_mut().enumerate().for_each(|(index, line)| line.left = end - start - index);
        self.texts.push(text);
        start..end
    }

    /// Removes the last text.
    pub(super) fn pop(&mut self) {
        self.texts.pop();
        let texts = self.texts.len();
        self.lines.truncate(self.lines.partition_point(|line| line.text < texts));
    }

    /// Returns a line without its end.
    pub(super) fn line(&self, line: usize) -> &str {
        let Line { text, range, .. } = &self.lines[line];
        &self.texts[*text][range.clone()]
    }

    /// Returns the 0-based number of the text that contains a line.
    pub(super) fn text_of(&self, line: usize) -> usize {
        self.lines[line].text
    }

    /// Returns true if a line is the first of its text.
    pub(super) fn begins_text(&self, line: usize) -> bool {
        line.checked_sub(1).is_none_or(|before| self.text_of(before) != self.text_of(line))
    }

    /// Returns the byte range of lines of one text, without the last line end. `lines` must not be empty.
    pub(super) fn range(&self, lines: &Range<usize>) -> Range<usize> {
        self.lines[lines.start].range.start..self.lines[lines.end - 1].range.end
    }

    /// Returns the key of the run that starts at a line; `None` if the rest of the text is too short.
    fn key(&self, start: usize) -> Option<u64> {
        if self.line(start).trim().is_empty() {
            return None;
        }
        let (mut bytes, mut key) = (0, 0_u64);
        for index in start..start + self.lines[start].left {
            bytes += self.line(index).trim().len();
            key = (key.rotate_left(5) ^ self.lines[index].hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if bytes >= KEY_BYTES {
                return Some(key);
            }
            // Blank lines add no bytes, so the number of lines needs a limit of its own.
            if index - start >= KEY_BYTES {
                break;
            }
        }
        None
    }

    /// Records the runs that start at these lines, so that repeats of them are found.
    pub(super) fn learn(&mut self, lines: Range<usize>) {
        for line in lines {
            if let Some(key) = self.key(line) {
                self.first.entry(key).or_insert(line);
            }
        }
    }

    /// Returns the repeats among all lines, in order and without overlaps. A later place contains only lines that
    /// `may_go`.
    pub(super) fn repeats(&mut self, may_go: impl Fn(usize) -> bool) -> Vec<Repeat> {
        self.scan(0..self.lines.len(), true, may_go)
    }

    /// Returns the repeats of known runs in `lines`, in order and without overlaps.
    pub(super) fn known_repeats(&mut self, lines: Range<usize>) -> Vec<Repeat> {
        self.scan(lines, false, |_| true)
    }

    fn scan(&mut self, lines: Range<usize>, learn: bool, may_go: impl Fn(usize) -> bool) -> Vec<Repeat> {
        let mut repeats = Vec::new();
        let mut line = lines.start;
        while line < lines.end {
            let key = self.key(line);
            let earlier = key.and_then(|key| self.first.get(&key)).copied();
            let run = earlier.map_or(0, |earlier| self.common_run(earlier, line, &may_go));
            if let Some(earlier) = earlier.filter(|_| run > 0) {
                repeats.push(Repeat { lines: line..line + run, earlier });
                line += run;
                continue;
            }
            if let (Some(key), None, true) = (key, earlier, learn) {
                self.first.insert(key, line);
            }
            line += 1;
        }
        repeats
    }

    /// Returns the number of lines that two places have in common; 0 if they are too short.
    fn common_run(&self, earlier: usize, later: usize, may_go: impl Fn(usize) -> bool) -> usize {
        let longest = self.lines[earlier].left.min(self.lines[later].left).min(later - earlier);
        let same = |index: &usize| {
            self.lines[earlier + index].hash == self.lines[later + index].hash
                && self.line(earlier + index) == self.line(later + index)
                && may_go(later + index)
        };
        let mut run = (0..longest).take_while(same).count();
        while run > 0 && self.line(later + run - 1).trim().is_empty() {
            run -= 1;
        }
        let bytes: usize = (later..later + run).map(|line| self.line(line).trim().len()).sum();
        if bytes >= KEY_BYTES { run } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(texts: &[&str]) -> Vec<Repeat> {
        let mut lines = Lines::default();
        for text in texts {
            lines.add(*text);
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
    fn only_learned_runs_are_known() {
        let run = (0..9).map(|n| format!("line number {n} of the run\n")).collect::<String>();
        let mut lines = Lines::default();
        let first = lines.add(run.clone());
        let later = lines.add(run.as_str());
        assert_eq!(lines.known_repeats(later.clone()), []);
        lines.learn(first);
        assert_eq!(lines.known_repeats(later.clone()), [Repeat { lines: 10..19, earlier: 0 }]);
        lines.pop();
        assert_eq!(lines.lines.len(), 10);
        assert_eq!(lines.add(run.as_str()), later);
        assert_eq!(lines.text_of(10), 1);
    }

    #[test]
    fn repeats_never_overlap_the_place_they_refer_to() {
        let text = "the same line again and again and again and again\n".repeat(1000);
        for repeat in repeats(&[&text]) {
            assert!(repeat.earlier + repeat.lines.len() <= repeat.lines.start, "{repeat:?}");
        }
    }
}
