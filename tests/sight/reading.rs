//! Asks a naive reader (`concertina_format::naive`) for every cell of the folds of an output.
//!
//! A cell is a word between blanks and punctuation. It is found by the nearest word before it in its line that occurs
//! nowhere else in the fold, and by the nearest one behind it if there is none: both must be read.

use std::collections::{HashMap, HashSet};

use concertina_format::naive::{Read, UNREAD, read};

/// The answers for one fold.
pub(crate) struct Reading {
    /// The first line of the fold.
    pub(crate) header: String,
    /// The number of cells.
    pub(crate) cells: usize,
    /// The number of cells that are not read.
    pub(crate) wrong: usize,
    /// The number of cells that are in no line of the fold as they are, but made from it.
    pub(crate) made: usize,
    /// The first line with a cell that is not read, as read.
    pub(crate) sample: String,
}

impl Reading {
    /// The price of the fold: cells in a hundred that are looked up, and those that are not read ten times.
    pub(crate) fn cost(&self) -> usize {
        (100 * self.made + 1000 * self.wrong) / self.cells.max(1)
    }
}

fn is_mark(c: char) -> bool {
    c.is_whitespace() || ",;:\"{}[]()=|<>".contains(c)
}

/// Returns the words of a line with their places.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = line.split(is_mark).map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word));
    parts.filter(|(_, word)| word.chars().any(char::is_alphanumeric))
}

/// Returns the answers for each fold of an output.
pub(crate) fn readings(output: &str) -> Vec<Reading> {
    read(output).iter().map(reading).collect()
}

fn reading(Read { fold, whole, read }: &Read) -> Reading {
    let shown = fold.to_string();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    whole.lines().flat_map(words).for_each(|(_, word)| *counts.entry(word).or_default() += 1);
    let stated: HashSet<&str> = shown.lines().flat_map(words).map(|(_, word)| word).collect();
    let mut sum = Reading {
        header: shown.lines().next().unwrap_or_default().to_owned(),
        cells: 0,
        wrong: 0,
        made: 0,
        sample: String::new(),
    };
    let lines = whole.split('\n').zip(read.split('\n'));
    for (line, seen) in lines {
        let words: Vec<(usize, &str)> = words(line).collect();
        let is_read = |(at, word): &(usize, &str)| !seen.as_bytes()[*at..at + word.len()].contains(&UNREAD);
        let keys: Vec<usize> = (0..words.len()).filter(|&index| counts[words[index].1] == 1).collect();
        for (index, word) in words.iter().enumerate() {
            let next = keys.partition_point(|&key| key < index);
            let key = next.checked_sub(1).map(|before| keys[before]).or_else(|| keys.get(next).copied());
            let is_wrong = !is_read(word) || key.is_some_and(|key| !is_read(&words[key]));
            sum.cells += 1;
            sum.wrong += usize::from(is_wrong);
            sum.made += usize::from(!stated.contains(word.1));
            if is_wrong && sum.sample.is_empty() {
                sum.sample = seen.replace(char::from(UNREAD), "?").chars().take(100).collect();
            }
        }
    }
    sum
}
