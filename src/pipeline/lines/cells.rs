//! Lines -> cells, cut at blanks.

use std::ops::Range;

use super::Keeps;
use crate::pipeline::columns::cost;
use crate::pipeline::stage::begins_with_note;
use concertina_base::hashing::FastMap;

/// The longest line that is cut, in bytes. Longer lines are data and stay unchanged.
const MAX_LINE: usize = 2000;

/// The most cells of a line; the last one takes the rest of the line.
const MAX_CELLS: usize = 40;

/// The separators of the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Cells are separated by every run of blanks.
    Words,
    /// Cells are separated by tabs and runs of two or more blanks, as in tables with several words per cell.
    Columns,
}

/// The lines of a text, each cut into cells.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    pub(super) texts: Vec<&'t str>,
    cells: Vec<(u32, u32)>,
    ends: Vec<usize>,
    /// For each cell the number of its distinct text, from 0 in order of first occurrence.
    words: Vec<u32>,
    /// True for lines that stay unchanged; they have no cells.
    pub(super) kept: Vec<bool>,
    /// The estimated tokens of each line.
    costs: Vec<u32>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str, view: View, keeps: Keeps) -> Self {
        let texts: Vec<&str> = text.split('\n').collect();
        let costs = texts.iter().map(|text| cost(text) as u32).collect();
        let kept = texts.iter().map(|text| keeps(text) || begins_with_note(text)).collect();
        Self::cut(texts, kept, costs, view)
    }

    /// Returns the same lines, cut by another view.
    pub(super) fn seen_as(&self, view: View) -> Self {
        Self::cut(self.texts.clone(), self.kept.clone(), self.costs.clone(), view)
    }

    fn cut(texts: Vec<&'t str>, kept: Vec<bool>, costs: Vec<u32>, view: View) -> Self {
        let mut cells = Vec::new();
        let mut ends = Vec::with_capacity(texts.len());
        let mut words = Vec::new();
        let mut numbers: FastMap<&str, u32> = FastMap::with_capacity_and_hasher(2 * texts.len(), <_>::default());
        for (text, &is_kept) in texts.iter().zip(&kept) {
            if text.len() <= MAX_LINE && !is_kept {
                cut(text.as_bytes(), view, &mut cells);
            }
            for &(start, end) in &cells[words.len()..] {
                let next = numbers.len() as u32;
                words.push(*numbers.entry(&text[start as usize..end as usize]).or_insert(next));
            }
            ends.push(cells.len());
        }
        Self { texts, cells, ends, words, kept, costs }
    }

    /// Returns the byte ranges of a line's cells; none for a line that is blank, kept or too long.
    pub(super) fn cells(&self, line: usize) -> &[(u32, u32)] {
        &self.cells[line.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[line]]
    }

    /// Estimates the tokens of some lines, including line ends.
    pub(super) fn cost(&self, lines: Range<usize>) -> usize {
        self.costs[lines].iter().map(|&cost| cost as usize + 1).sum()
    }

    /// Returns the text numbers of a line's cells.
    pub(super) fn words(&self, line: usize) -> &[u32] {
        &self.words[line.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[line]]
    }

    /// Returns the number of distinct texts.
    pub(super) fn numbers(&self) -> usize {
        self.words.iter().max().map_or(0, |&last| last as usize + 1)
    }

    pub(super) fn cell(&self, line: usize, cell: usize) -> &'t str {
        let (start, end) = self.cells(line)[cell];
        &self.texts[line][start as usize..end as usize]
    }
}

fn cut(line: &[u8], view: View, cells: &mut Vec<(u32, u32)>) {
    let first = cells.len();
    let is_blank = |at: usize| matches!(line[at], b' ' | b'\t');
    let parts = |at: usize| match view {
        View::Words => true,
        View::Columns => line[at] == b'\t' || line.get(at + 1).is_none_or(|next| matches!(next, b' ' | b'\t')),
    };
    let mut at = 0;
    while at < line.len() {
        if is_blank(at) {
            at += 1;
            continue;
        }
        let start = at;
        while at < line.len() && !(is_blank(at) && parts(at)) {
            at += 1;
        }
        if cells.len() - first == MAX_CELLS {
            cells.last_mut().expect("there are as many").1 = at as u32;
        } else {
            cells.push((start as u32, at as u32));
        }
    }
}
