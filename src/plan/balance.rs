//! The savings of a session so far, in input tokens at full price, compared with an untouched context.
//!
//! The ledger records the changes and their times, the history tells how many calls were made since, so the balance
//! needs no memory of its own. An epoch that costs no more than the balance leaves the session no more expensive than
//! untouched, even if it ends with the next call.

use super::prices::Prices;

/// A past change that made every later request smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastChange {
    /// The number of model calls made since.
    pub calls: u64,
    /// The number of tokens that each later call saved.
    pub freed: u64,
    /// The number of cached tokens that the provider had to take in again.
    pub rebilled: u64,
    /// True if the freed tokens were not cached: the first later call would have written them to the cache.
    pub is_fresh: bool,
}

/// Returns the sum of the savings, less the costs, of the changes.
pub fn balance(changes: impl IntoIterator<Item = PastChange>, prices: &Prices) -> f64 {
    let Prices { read, write, .. } = *prices;
    let of = |change: PastChange| {
        let (first, reads) =
            if change.is_fresh { (write, change.calls.saturating_sub(1)) } else { (0.0, change.calls) };
        change.freed as f64 * (first + read * reads as f64) - (write - read).max(0.0) * change.rebilled as f64
    };
    changes.into_iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_fold_saves_a_write_and_an_epoch_pays_for_itself_by_and_by() {
        let prices = Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000, step: None };
        let sum = |change| balance([change], &prices);
        let fresh = PastChange { calls: 0, freed: 1000, rebilled: 0, is_fresh: true };
        assert!((sum(fresh) - 1250.0).abs() < 1e-9);
        assert!((sum(PastChange { calls: 3, ..fresh }) - 1450.0).abs() < 1e-9);
        let epoch = PastChange { calls: 1, freed: 1000, rebilled: 2000, is_fresh: false };
        assert!((sum(epoch) + 2200.0).abs() < 1e-9);
        assert!((sum(PastChange { calls: 23, ..epoch })).abs() < 1e-9);
    }
}
