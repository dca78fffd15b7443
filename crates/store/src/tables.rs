//! The tables of a store, common to all backends, so that one store can be copied into another.
//!
//! A backend may have further columns and tables that are derived from these.

use super::row::Cell;
use ColumnType::{Bytes, Flag, Integer, Real, Text};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number.
    Integer,
    /// An integer that is 0 or 1.
    Flag,
    /// A floating-point number.
    Real,
    /// Text, U+0000 included.
    Text,
    /// Bytes.
    Bytes,
}

/// A table: its name, its columns, and the number of leading columns that are unique together.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns. Rows are read in the order of the key columns.
    pub columns: &'static [(&'static str, ColumnType)],
    /// The number of columns that identify a row; 0 for a table with one row.
    pub key: usize,
}

/// A function that receives rows.
pub type RowSink<'a> = dyn FnMut(&'static Table, Vec<Cell>) -> concertina_base::error::Result<()> + 'a;

/// `table!(name, key, column type, ...)`
macro_rules! table {
    ($name:ident, $key:literal, $($column:ident $type:ident),+) => {
        Table { name: stringify!($name), columns: &[$((stringify!($column), $type)),+], key: $key }
    };
}

/// The originals, the one table with large rows.
pub static ORIGINALS: Table = table!(originals, 1,
    id Integer, hash Bytes, ref_id Text, mime Text, label Text, size Integer, is_zstd Flag, payload Bytes);

/// All tables, each after those to which its rows refer.
pub static TABLES: [&Table; 15] = [
    &table!(sessions, 1,
        id Integer, session_id Text, agent_id Text, session_key Text, last_seen Integer, tools Bytes, held Flag,
        ended_at Integer, parent Integer, is_off Flag),
    &table!(session_hosts, 2, session Integer, host Text),
    &ORIGINALS,
    &table!(grants, 2, session Integer, original Integer, granted_at Integer, left_at Integer),
    &table!(projections, 1,
        id Integer, session Integer, block Bytes, place Integer, replacement Text, original Integer, reason Text),
    &table!(printed, 2, session Integer, text Bytes, is_answer Flag, original Integer, saved Integer),
    &table!(marks, 3, session Integer, kind Text, content Bytes, at Integer),
    &table!(turns, 2, session Integer, advancement_key Text, at Integer),
    &table!(receipts, 1,
        id Integer, session Integer, at Integer, kind Text, tokens_before Integer, tokens_after Integer, detail Text),
    &table!(epochs, 1,
        id Integer, session Integer, at Integer, reason Text, tokens_freed Integer, tokens_rebilled Integer,
        blocks Integer),
    &table!(requests, 1,
        id Integer, session Integer, at Integer, is_measured Flag, sent Integer, without Integer, overhead Integer,
        fetched Integer, protected Integer, sent_bill Real, without_bill Real, usd Real, counted Integer, growth_reported Integer,
        growth_counted Integer, dropped Integer, without_under Real, without_over Real, answered Integer, answer_bill
          Real),
    &table!(fetches, 1, id Integer, session Integer, at Integer, ref_id Text, tokens Integer, tool Text, is_rerun Flag),
    &table!(folded, 3, session Integer, day Integer, kind Text, tokens_before Integer, tokens_after Integer),
    &table!(swept, 0, turns Integer, tokens_before Integer, tokens_after Integer),
    &table!(swept_requests, 1,
        day Integer, requests Integer, measured Integer, sent Integer, without Integer, overhead Integer,
        fetched Integer, protected Integer, sent_bill Real, without_bill Real, sent_usd Real, without_usd Real, unpriced Integer,
        fetches Integer, bypassed Integer, compacting Integer, answered Integer, answer_tokens Integer,
        unpriced_answers Integer, under_bill Real, over_bill Real, answer_bill Real, without_answer_bill Real,
        under_usd Real, over_usd Real, answer_usd Real, without_answer_usd Real),
];

impl Table {
    /// Returns true if the table is empty in a new store.
    pub fn is_empty_in_new_store(&self) -> bool {
        self.key > 0
    }

    /// Returns the statement that reads all rows in order. With this collation, texts are ordered by their bytes.
    pub fn select(&self, collation: &str) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let order: Vec<String> = (self.columns[..self.key].iter())
            .map(|(name, kind)| format!("{name}{}", if *kind == Text { collation } else { "" }))
            .collect();
        let order = if order.is_empty() { String::new() } else { format!(" ORDER BY {}", order.join(", ")) };
        format!("SELECT {} FROM {}{order}", columns.join(", "), self.name)
    }
}
