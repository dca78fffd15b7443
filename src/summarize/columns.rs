//! A column of a table, or of the objects of a list in JSON -> its extremes, or how often it has each of a few words.

use indexmap::IndexMap;

use super::keys::{is_failed_state, last_word};
use super::sheet::quote;

/// The most columns that are read.
pub(super) const MOST_COLUMNS: usize = 64;

/// The most different words of a column that is a category.
const MOST_CATEGORIES: usize = 8;

/// The fewest rows with words of a column that gives states.
const FEW_ROWS: usize = 8;

#[derive(Default)]
pub(super) struct Column {
    filled: usize,
    numbers: usize,
    low: Option<Extreme>,
    high: Option<Extreme>,
    words: IndexMap<String, usize>,
    has_many_words: bool,
}

struct Extreme {
    value: f64,
    cell: String,
    row: String,
}

impl Column {
    /// Adds a cell; `row` returns the name of its row, or nothing.
    pub(super) fn add(&mut self, cell: &str, row: impl Fn() -> String) {
        let cell = cell.trim();
        if cell.is_empty() {
            return;
        }
        self.filled += 1;
        if let Some(value) = number(cell) {
            self.numbers += 1;
            let new = || Some(Extreme { value, cell: quote(cell, 24), row: quote(&row(), 32) });
            if self.low.as_ref().is_none_or(|low| value < low.value) {
                self.low = new();
            }
            if self.high.as_ref().is_none_or(|high| value > high.value) {
                self.high = new();
            }
        } else if let Some(count) = self.words.get_mut(cell) {
            *count += 1;
        } else if self.words.len() < MOST_CATEGORIES && cell.len() <= 40 {
            self.words.insert(cell.to_owned(), 1);
        } else {
            self.has_many_words = true;
        }
    }

    /// Returns true for a column of a few words that recur, one of which states a failure.
    pub(super) fn is_state(&self) -> bool {
        let recurs = self.filled - self.numbers >= FEW_ROWS.max(self.words.len() * 2);
        recurs && !self.has_many_words && self.words.len() > 1 && self.words.keys().any(|word| is_failed_state(word))
    }

    /// Returns `status Running ×40 Failed ×1` for a column of few words.
    pub(super) fn categories(&self, name: &str) -> Option<String> {
        if self.has_many_words || self.numbers > 0 || self.words.len() < 2 || self.filled < self.words.len() * 2 {
            return None;
        }
        let mut words: Vec<(&String, &usize)> = self.words.iter().collect();
        words.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let words: Vec<String> = words.iter().map(|(word, count)| format!("{} ×{count}", quote(word, 40))).collect();
        Some(format!("{name} {}", words.join(" ")))
    }

    /// Returns `price 3 (MSFT) to 707 (GOOG)` for a column of numbers that are no ids.
    pub(super) fn extremes(&self, name: &str) -> Option<String> {
        let (low, high) = (self.low.as_ref()?, self.high.as_ref()?);
        let is_id = last_word(name).eq_ignore_ascii_case("id");
        if self.numbers * 10 < self.filled * 8 || low.value >= high.value || is_id {
            return None;
        }
        let at = |extreme: &Extreme| {
            if extreme.row.is_empty() || extreme.row == extreme.cell {
                extreme.cell.clone()
            } else {
                format!("{} ({})", extreme.cell, extreme.row)
            }
        };
        Some(format!("{name} {} to {}", at(low), at(high)))
    }
}

/// Returns the value of a cell that is a number.
pub(super) fn number(cell: &str) -> Option<f64> {
    let digits = cell.strip_suffix('%').unwrap_or(cell);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    is_number.then(|| digits.parse().ok()).flatten().filter(|value: &f64| value.is_finite())
}
