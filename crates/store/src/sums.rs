//! Requests as they are added up, whichever backend has their rows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Millis;
use super::figures::{Amount, Day, FetchedOriginal, Figures, KindTokens, SessionAmount, SessionEpoch, Stored, Total};

/// Milliseconds of a day.
pub const DAY_MS: Millis = 86_400_000;

/// Counts of requests: the column of `swept_requests` that holds each, and what it is in the SQL of every backend. A row with nothing sent is
/// a call that only a host without us would have made.
const COUNTS: [(&str, &str); 12] = [
    ("requests", "count(CASE WHEN sent > 0 OR without = 0 THEN 1 END)"),
    ("measured", "count(CASE WHEN is_measured THEN 1 END)"),
    ("bypassed", "count(CASE WHEN weighed_told IS NULL AND (sent > 0 OR without = 0) THEN 1 END)"),
    ("compacting", "count(CASE WHEN sent = 0 AND without > 0 THEN 1 END)"),
    ("sent", "sum(sent)"),
    ("without", "sum(without)"),
    ("overhead", "sum(overhead)"),
    ("fetched", "sum(fetched)"),
    ("unpriced", "count(*) - count(usd)"),
    ("answered", "count(answered)"),
    ("answer_tokens", "sum(answered)"),
    ("unpriced_answers", "count(answered) - count(answer_bill)"),
];

/// Bills of requests in input tokens: the columns `..._bill` and, in dollars, `..._usd` of `swept_requests`, and what each is in SQL.
const BILLS: [(&str, &str); 6] = [
    ("sent", "sent_bill"),
    ("without", "without_bill"),
    ("under", "without_under"),
    ("over", "without_over"),
    ("answer", "answer_bill"),
    ("without_answer", "CASE WHEN without > 0 THEN answer_bill END"),
];

/// The sums of requests as SQL selects them, and as the columns of `swept_requests` in the same order.
pub static SUMS: LazyLock<SumsSql> = LazyLock::new(|| {
    let sum = |expression: &str, kind: &str| format!("CAST(coalesce({expression}, 0) AS {kind})");
    let real = |expression: &str| sum(&format!("sum({expression})"), "double precision");
    let counts = COUNTS.map(|(name, sql)| (name.to_owned(), sum(sql, "bigint")));
    let bills = BILLS.map(|(name, sql)| (format!("{name}_bill"), real(sql)));
    let usd = BILLS.map(|(name, sql)| (format!("{name}_usd"), real(&format!("({sql}) * usd"))));
    let (names, selected): (Vec<String>, Vec<String>) = counts.into_iter().chain(bills).chain(usd).unzip();
    let added = names.iter().map(|name| format!("{name} = swept_requests.{name} + excluded.{name}"));
    SumsSql { added: added.collect::<Vec<_>>().join(", "), selected: selected.join(", "), columns: names.join(", ") }
});

/// Pieces of statements over [`Sums`].
#[derive(Debug)]
pub struct SumsSql {
    /// What to select from `requests`.
    pub selected: String,
    /// What to select from `swept_requests`.
    pub columns: String,
    /// What adds a row of `swept_requests` to the one that is there.
    pub added: String,
}

/// How many columns [`Sums`] takes.
pub const WIDTH: usize = COUNTS.len() + 2 * BILLS.len();

/// Sums of requests, their bills in both units.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sums {
    counts: [u64; COUNTS.len()],
    /// In input tokens, and in dollars.
    bills: [[f64; BILLS.len()]; 2],
}

impl Sums {
    /// Reads the columns of [`SUMS`], of which these give the ones with the given numbers.
    ///
    /// # Errors
    /// Theirs.
    pub fn read<E>(count: impl Fn(usize) -> Result<u64, E>, bill: impl Fn(usize) -> Result<f64, E>) -> Result<Self, E> {
        let mut sums = Self::default();
        for (column, into) in sums.counts.iter_mut().enumerate() {
            *into = count(column)?;
        }
        for (column, into) in sums.bills.iter_mut().flatten().enumerate() {
            *into = bill(COUNTS.len() + column)?;
        }
        Ok(sums)
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, more)| *sum += more);
        self.bills.iter_mut().flatten().zip(other.bills.into_iter().flatten()).for_each(|(sum, more)| *sum += more);
        self
    }

    /// Whether every request has a price in dollars.
    fn is_priced(&self) -> bool {
        let [requests, .., unpriced, _, _, _] = self.counts;
        requests > 0 && unpriced == 0
    }

    fn amount(&self, in_usd: bool) -> Amount {
        let [requests, _, bypassed, _, sent_tokens, without_tokens, ..] = self.counts;
        let [sent_bill, without_bill, under, over, ..] = self.bills[usize::from(in_usd)];
        let (without_least, without_most) = (without_bill - under, without_bill + over);
        Amount { requests, bypassed, sent_tokens, without_tokens, sent_bill, without_bill, without_least, without_most }
    }

    fn total(&self, in_usd: bool, fetches: u64) -> Total {
        let [_, measured, _, compacting, _, _, overhead_tokens, fetch_tokens, _, answered, answer_tokens, unpriced] =
            self.counts;
        let [.., answer_bill, without_answer_bill] = self.bills[usize::from(in_usd)];
        let known = |bill: f64| (answered > 0 && unpriced == 0).then_some(bill);
        Total {
            amount: self.amount(in_usd),
            measured,
            compacting,
            fetches,
            fetch_tokens,
            overhead_tokens,
            answered,
            answer_tokens,
            answer_bill: known(answer_bill),
            without_answer_bill: known(without_answer_bill),
        }
    }
}

/// The requests that figures are of, by day.
#[derive(Debug, Default)]
pub struct Days {
    days: BTreeMap<i64, Sums>,
    /// How many originals were fetched.
    pub fetches: u64,
}

impl Days {
    /// Adds requests of a day since 1970.
    pub fn add(&mut self, day: i64, sums: Sums) {
        let of_day = self.days.entry(day).or_default();
        *of_day = of_day.plus(sums);
    }

    fn all(&self) -> Sums {
        self.days.values().fold(Sums::default(), |all, sums| all.plus(*sums))
    }

    /// Whether bills are in dollars: where every request has a price.
    pub fn is_in_usd(&self) -> bool {
        self.all().is_priced()
    }

    /// The figures that these requests, their sessions and all else that was read come to.
    pub fn figures(self, sessions: Vec<SessionSums>, rest: Rest) -> Figures {
        let (all, in_usd) = (self.all(), self.is_in_usd());
        let session = |SessionSums { session_id, session_key, last_at, sums }| SessionAmount {
            session_id,
            session_key,
            last_at,
            amount: sums.amount(in_usd),
        };
        let Rest { epochs, kinds, fetched, store, last_fold_at } = rest;
        Figures {
            unit: if in_usd { "usd" } else { "input tokens" },
            total: all.total(in_usd, self.fetches),
            days: self
                .days
                .into_iter()
                .map(|(day, sums)| Day { day: date(day), amount: sums.amount(in_usd) })
                .collect(),
            sessions: sessions.into_iter().map(session).collect(),
            epochs,
            kinds,
            fetched,
            store,
            last_fold_at,
        }
    }
}

/// The requests of a session, as they are read.
#[derive(Debug)]
pub struct SessionSums {
    /// [`SessionAmount::session_id`].
    pub session_id: String,
    /// [`SessionAmount::session_key`].
    pub session_key: Option<String>,
    /// [`SessionAmount::last_at`].
    pub last_at: Millis,
    /// Their sums.
    pub sums: Sums,
}

/// What of [`Figures`] is no sum of requests.
#[derive(Debug)]
pub struct Rest {
    /// [`Figures::epochs`].
    pub epochs: Vec<SessionEpoch>,
    /// [`Figures::kinds`].
    pub kinds: Vec<KindTokens>,
    /// [`Figures::fetched`].
    pub fetched: Vec<FetchedOriginal>,
    /// [`Figures::store`].
    pub store: Stored,
    /// [`Figures::last_fold_at`].
    pub last_fold_at: Option<Millis>,
}

/// The date of a day since 1970, in the Gregorian calendar (H. Hinnant, `civil_from_days`).
pub fn date(day: i64) -> String {
    let shifted = day.saturating_add(719_468);
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (20_484, "2026-01-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (2_932_897, "10000-01-01"),
        ] {
            assert_eq!(date(day), expected);
        }
    }
}
