//! Sums of requests: their SQL, and the figures computed from them. Also the SQL for the totals of forgotten sessions.

use std::ops::AddAssign;
use std::sync::LazyLock;

use super::figures::{Amount, Total};
use super::row::{BadColumn, Row};
use super::time::DAY_MS;

/// The counts of requests: the column of `swept_requests` for each, and its SQL in every backend. A row with nothing
/// sent is a call that only a host without the plugin would have made.
const COUNT_SUMS: [(&str, &str); 13] = [
    ("requests", "count(CASE WHEN sent > 0 OR without = 0 THEN 1 END)"),
    ("measured", "count(CASE WHEN is_measured THEN 1 END)"),
    ("bypassed", "count(CASE WHEN growth_reported IS NULL AND (sent > 0 OR without = 0) THEN 1 END)"),
    ("compacting", "count(CASE WHEN sent = 0 AND without > 0 THEN 1 END)"),
    ("sent", "sum(sent)"),
    ("without", "sum(without)"),
    ("overhead", "sum(overhead)"),
    ("fetched", "sum(fetched)"),
    ("protected", "sum(protected)"),
    ("unpriced", "count(*) - count(usd)"),
    ("answered", "count(answered)"),
    ("answer_tokens", "sum(answered)"),
    ("unpriced_answers", "count(answered) - count(answer_bill)"),
];

/// The bills of requests in input tokens: the columns `..._bill` and, in dollars, `..._usd` of `swept_requests`, and
/// the SQL of each.
const BILL_SUMS: [(&str, &str); 6] = [
    ("sent", "sent_bill"),
    ("without", "without_bill"),
    ("under", "without_under"),
    ("over", "without_over"),
    ("answer", "answer_bill"),
    ("without_answer", "CASE WHEN without > 0 THEN answer_bill END"),
];

/// The number of columns of [`Sums`].
pub(crate) const SUM_COLUMNS: usize = COUNT_SUMS.len() + 2 * BILL_SUMS.len();

/// The SQL of the sums of requests, and the columns of `swept_requests` in the same order.
pub(crate) static SUMS: LazyLock<SumsSql> = LazyLock::new(|| {
    let sum = |expression: &str, kind: &str| format!("CAST(coalesce({expression}, 0) AS {kind})");
    let real = |expression: &str| sum(&format!("sum({expression})"), "double precision");
    let counts = COUNT_SUMS.map(|(name, sql)| (name.to_owned(), sum(sql, "bigint")));
    let bills = BILL_SUMS.map(|(name, sql)| (format!("{name}_bill"), real(sql)));
    let usd = BILL_SUMS.map(|(name, sql)| (format!("{name}_usd"), real(&format!("({sql}) * usd"))));
    let (names, selected): (Vec<String>, Vec<String>) = counts.into_iter().chain(bills).chain(usd).unzip();
    let added = names.iter().map(|name| format!("{name} = swept_requests.{name} + excluded.{name}"));
    SumsSql { added: added.collect::<Vec<_>>().join(", "), selected: selected.join(", "), columns: names.join(", ") }
});

/// Fragments of statements over [`Sums`].
#[derive(Debug)]
pub(crate) struct SumsSql {
    /// The columns to select from `requests`.
    pub(crate) selected: String,
    /// The columns to select from `swept_requests`.
    pub(crate) columns: String,
    /// The assignments that add a row of `swept_requests` to an existing one.
    added: String,
}

/// The SQL condition for a session that a sweep forgets: it has no grants, nothing happened in it since the time `?1`,
/// and folding is not switched off in it.
pub const FORGETTABLE: &str = "last_seen < ?1 AND (NOT held OR ended_at < ?1) AND NOT is_off
    AND NOT EXISTS (SELECT 1 FROM grants WHERE session = sessions.id)
    AND NOT EXISTS (SELECT 1 FROM turns WHERE session = sessions.id AND at >= ?1)
    AND NOT EXISTS (SELECT 1 FROM receipts WHERE session = sessions.id AND at >= ?1)";

/// Returns the statement that adds the turns and receipts of sessions that are about to be forgotten to the totals.
/// `is_gone` is the condition on the column `session`, in the SQL of the backend.
pub fn sql_to_keep_totals(is_gone: &str) -> String {
    let receipts = |column: &str| format!("(SELECT coalesce(sum(receipts.{column}), 0) FROM receipts WHERE {is_gone})");
    format!(
        "UPDATE swept SET turns = turns + (SELECT count(*) FROM turns WHERE {is_gone}),
           tokens_before = tokens_before + {}, tokens_after = tokens_after + {}",
        receipts("tokens_before"),
        receipts("tokens_after")
    )
}

/// Returns the statement that adds the requests of such sessions to the totals by day.
pub fn sql_to_keep_sums(is_gone: &str) -> String {
    let SumsSql { selected, columns, added } = &*SUMS;
    format!(
        "INSERT INTO swept_requests (day, {columns}, fetches) SELECT day, {selected},
           (SELECT count(*) FROM fetches WHERE {is_gone} AND fetches.at / {DAY_MS} = day)
         FROM (SELECT *, at / {DAY_MS} AS day FROM requests WHERE {is_gone}) AS days GROUP BY day
         ON CONFLICT (day) DO UPDATE SET {added}, fetches = swept_requests.fetches + excluded.fetches"
    )
}

/// Sums of requests, with their bills in both units.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Sums {
    counts: [u64; COUNT_SUMS.len()],
    /// The bills in input tokens, and in dollars.
    bills: [[f64; BILL_SUMS.len()]; 2],
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, more)| *sum += more);
        self.bills.iter_mut().flatten().zip(other.bills.into_iter().flatten()).for_each(|(sum, more)| *sum += more);
    }
}

impl Sums {
    /// Reads the columns of [`SUMS`], starting at a column.
    pub(crate) fn read(row: &Row, from: usize) -> Result<Self, BadColumn> {
        let mut sums = Self::default();
        for (column, into) in (from..).zip(&mut sums.counts) {
            *into = row.get(column)?;
        }
        for (column, into) in (from + COUNT_SUMS.len()..).zip(sums.bills.iter_mut().flatten()) {
            *into = row.get(column)?;
        }
        Ok(sums)
    }

    /// Returns true if every request has a price in dollars.
    pub(crate) fn is_priced(&self) -> bool {
        let [requests, .., unpriced, _, _, _] = self.counts;
        requests > 0 && unpriced == 0
    }

    /// Returns the figures of these requests, in dollars or in input tokens.
    pub(crate) fn amount(&self, in_usd: bool) -> Amount {
        let [requests, _, bypassed, _, sent_tokens, without_tokens, ..] = self.counts;
        let [sent_bill, without_bill, under, over, ..] = self.bills[usize::from(in_usd)];
        let (without_least, without_most) = (without_bill - under, without_bill + over);
        Amount { requests, bypassed, sent_tokens, without_tokens, sent_bill, without_bill, without_least, without_most }
    }

    /// Returns the figures of all requests, with the number of originals fetched.
    pub(crate) fn total(&self, in_usd: bool, fetches: u64) -> Total {
        let [
            _,
            measured,
            _,
            compacting,
            _,
            _,
            overhead_tokens,
            fetch_tokens,
            protected_tokens,
            _,
            answered,
            answer_tokens,
            unpriced,
        ] = self.counts;
        let [.., answer_bill, without_answer_bill] = self.bills[usize::from(in_usd)];
        let if_priced = |bill: f64| (answered > 0 && unpriced == 0).then_some(bill);
        Total {
            amount: self.amount(in_usd),
            measured,
            compacting,
            fetches,
            fetch_tokens,
            overhead_tokens,
            protected_tokens,
            answered,
            answer_tokens,
            answer_bill: if_priced(answer_bill),
            without_answer_bill: if_priced(without_answer_bill),
        }
    }
}
