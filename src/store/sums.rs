//! Requests as they are added up, whichever backend has their rows.

use super::Millis;
use super::figures::Amount;

/// Milliseconds of a day.
pub const DAY_MS: Millis = 86_400_000;

/// Sums of requests, their bills in both units.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sums {
    /// The sums, with the bills in input tokens.
    pub amount: Amount,
    /// How many the provider reported the tokens of.
    pub measured: u64,
    /// The fetch tool, in tokens.
    pub overhead: u64,
    /// What fetching put into them, in tokens.
    pub fetched: u64,
    /// The bills with us and without, in dollars.
    pub usd: (f64, f64),
    /// How many have no price in dollars.
    pub unpriced: u64,
}

impl Sums {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let (a, b) = (self.amount, other.amount);
        Self {
            amount: Amount {
                requests: a.requests + b.requests,
                sent_tokens: a.sent_tokens + b.sent_tokens,
                without_tokens: a.without_tokens + b.without_tokens,
                sent_bill: a.sent_bill + b.sent_bill,
                without_bill: a.without_bill + b.without_bill,
            },
            measured: self.measured + other.measured,
            overhead: self.overhead + other.overhead,
            fetched: self.fetched + other.fetched,
            usd: (self.usd.0 + other.usd.0, self.usd.1 + other.usd.1),
            unpriced: self.unpriced + other.unpriced,
        }
    }

    /// The sums with the bills in the unit that is asked for.
    pub fn amount(self, in_usd: bool) -> Amount {
        match in_usd {
            true => Amount { sent_bill: self.usd.0, without_bill: self.usd.1, ..self.amount },
            false => self.amount,
        }
    }
}
