//! line -> cells: what stands between blanks.

use std::ops::Range;

use concertina_format::lines::template::shown;

use super::Keeps;
use crate::pipeline::columns::cost;
use concertina_base::hashing::FastMap;

/// Longer lines are data: they stay as they are.
const MAX_LINE: usize = 2000;

/// The most cells of a line that are told apart; the rest belongs to the last one.
const MAX_CELLS: usize = 40;

/// What parts the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Every run of blanks.
    Words,
    /// Tabs and runs of two blanks or more, as between the columns of a table whose cells are of several words.
    Columns,
}

/// The lines of a text, each cut into cells.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    pub(super) texts: Vec<&'t str>,
    cells: Vec<(u32, u32)>,
    ends: Vec<usize>,
    /// For each cell the number of its text, from 0 in the order in which they come first.
    words: Vec<u32>,
    dumps: Vec<Option<Dump>>,
    /// Which lines stay as they are: they have no cells.
    pub(super) kept: Vec<bool>,
    /// About how many tokens each line has.
    costs: Vec<u32>,
}

/// The part of a dump's line that says its bytes as text, and follows from those in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Dump {
    /// Where the line ends without it.
    pub(super) head: usize,
    /// What stands before and behind the text.
    pub(super) around: (&'static str, &'static str),
}

impl Dump {
    fn of(line: &str) -> Option<Self> {
        line.trim_start().as_bytes().first().filter(|byte| byte.is_ascii_hexdigit())?;
        let (head, text) = shown(line)?;
        let arounds = [("  ", ""), ("  |", "|"), ("  >", "<")];
        let is_text = |around: &(&str, &str)| {
            let shown = line[head..].strip_prefix(around.0).and_then(|shown| shown.strip_suffix(around.1));
            shown == Some(&text)
        };
        Some(Self { head, around: arounds.into_iter().find(is_text)? })
    }
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str, view: View, keeps: Keeps) -> Self {
        let texts: Vec<&str> = text.split('\n').collect();
        let dumps = texts.iter().map(|text| Dump::of(text)).collect();
        let costs = texts.iter().map(|text| cost(text) as u32).collect();
        let kept = texts.iter().map(|text| keeps(text)).collect();
        Self::cut(texts, dumps, kept, costs, view)
    }

    /// The same lines, cut in another way.
    pub(super) fn seen_as(&self, view: View) -> Self {
        Self::cut(self.texts.clone(), self.dumps.clone(), self.kept.clone(), self.costs.clone(), view)
    }

    fn cut(texts: Vec<&'t str>, dumps: Vec<Option<Dump>>, kept: Vec<bool>, costs: Vec<u32>, view: View) -> Self {
        let mut cells = Vec::new();
        let mut ends = Vec::with_capacity(texts.len());
        let mut words = Vec::new();
        let mut numbers: FastMap<&str, u32> = FastMap::with_capacity_and_hasher(2 * texts.len(), <_>::default());
        for ((text, dump), &is_kept) in texts.iter().zip(&dumps).zip(&kept) {
            if text.len() <= MAX_LINE && !is_kept {
                cut(&text.as_bytes()[..dump.map_or(text.len(), |dump| dump.head)], view, &mut cells);
            }
            for &(start, end) in &cells[words.len()..] {
                let next = numbers.len() as u32;
                words.push(*numbers.entry(&text[start as usize..end as usize]).or_insert(next));
            }
            ends.push(cells.len());
        }
        Self { texts, cells, ends, words, dumps, kept, costs }
    }

    /// Byte ranges of a line's cells; none for a line that is blank, kept or too long.
    pub(super) fn cells(&self, line: usize) -> &[(u32, u32)] {
        &self.cells[line.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[line]]
    }

    /// About how many tokens some lines have, line ends included.
    pub(super) fn cost(&self, lines: Range<usize>) -> usize {
        self.costs[lines].iter().map(|&cost| cost as usize + 1).sum()
    }

    /// The numbers of the texts of a line's cells.
    pub(super) fn words(&self, line: usize) -> &[u32] {
        &self.words[line.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[line]]
    }

    /// How many texts have a number.
    pub(super) fn numbers(&self) -> usize {
        self.words.iter().max().map_or(0, |&last| last as usize + 1)
    }

    pub(super) fn dump(&self, line: usize) -> Option<Dump> {
        self.dumps[line]
    }

    /// A line without what follows from the rest of it.
    pub(super) fn head(&self, line: usize) -> &'t str {
        let text = self.texts[line];
        &text[..self.dumps[line].map_or(text.len(), |dump| dump.head)]
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
