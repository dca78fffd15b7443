//! The bill of a request, and the bill that it would have had without the plugin.
//!
//! The provider's report is taken as it is. Without one, the cache is assumed to hold the previous request up to the
//! first change, for as long as the cache lives. We estimate the cache hit of the hypothetical request as the larger of
//! its length minus our uncached tail and our cached prefix. If an epoch broke the prefix, the hypothetical request
//! would have found all of the previous one. If the previous request is unknown and at least half of ours was cached,
//! it would have found everything except our uncached tail. Content that the host alone would have compacted away
//! ([`HostCompaction`]) is in no hypothetical request.

use super::host_compaction::HostCompaction;
use super::prices::Prices;
use crate::store::figures::Request;
use crate::transcript::Usage;

/// One request. Counts are in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BilledCall {
    /// The time of the request, in milliseconds since 1970.
    pub at: i64,
    /// The usage that the provider reported.
    pub usage: Option<Usage>,
    /// Our own token count, for requests without a reported usage.
    pub counted: u64,
    /// Tokens that were removed from it, or never sent in full.
    pub freed: u64,
    /// Tokens in it that were fetched.
    pub fetched: u64,
    /// Tokens in it that could have been folded and stayed because they are protected. They change no bill.
    pub protected: u64,
    /// Tokens of the fetch tool's definition.
    pub overhead: u64,
    /// True if it was only made because something had been fetched.
    pub is_for_fetch: bool,
    /// The tokens of the previous request that are not in the prefix of this one, if an epoch broke the prefix.
    pub rewritten: Option<u64>,
    /// True if a user turn begins with it.
    pub begins_turn: bool,
    /// True if the host compacted the conversation since the previous request.
    pub was_compacted: bool,
}

/// Bills a request, in input tokens at the price below any step. `before` is the request before it; its `without` and
/// `dropped` are those of the last one that would also have been made without the plugin. `compaction` is that of the
/// host, if the model's window is known. Also returns the calls with which the host alone would have compacted the
/// conversation before this request.
pub fn bill(
    call: &BilledCall,
    before: Option<&Request>,
    prices: &Prices,
    compaction: Option<&HostCompaction>,
) -> (Request, Vec<Request>) {
    let sent = call.usage.map_or(call.counted, |usage| usage.total());
    let is_warm = before.is_some_and(|before| call.at.saturating_sub(before.at) <= prices.cache_ttl_ms);
    let rewritten = call.rewritten.filter(|_| is_warm);
    let usage = call.usage.unwrap_or_else(|| {
        let cached = before.filter(|_| is_warm).map_or(0, |before| before.sent.saturating_sub(rewritten.unwrap_or(0)));
        let read = cached.min(sent);
        Usage { input: 0, read, written: sent - read, output: None }
    });
    let sent_bill = (usage.input as f64 + usage.read as f64 * prices.read + usage.written as f64 * prices.write)
        * prices.of_step(sent);
    let dropped = before.map_or(0, |before| before.dropped);
    let most_fetched = sent.saturating_sub(call.overhead);
    let fetched = if call.is_for_fetch { most_fetched } else { call.fetched.min(most_fetched) };
    let request = Request {
        at: call.at,
        is_measured: call.usage.is_some(),
        sent,
        dropped,
        overhead: call.overhead.min(sent),
        fetched,
        protected: call.protected.min(sent),
        sent_bill,
        ..Request::default()
    };
    if call.is_for_fetch {
        return (request, Vec::new());
    }
    let unfolded = (sent + call.freed).saturating_sub(fetched + call.overhead);
    let uncompacted = match (before, compaction) {
        // The host alone compacts at other times than with the plugin, so its history continues unchanged.
        (Some(before), Some(_)) if call.was_compacted => before.without,
        _ => unfolded.saturating_add_signed(dropped.saturating_neg()),
    };
    let must_compact = |compaction: &&HostCompaction| {
        let last = before.map_or(0, |before| before.without);
        uncompacted > compaction.window || call.begins_turn && last.max(uncompacted) > compaction.limit()
    };
    let compacting = compaction.filter(must_compact);
    let without = compacting.map_or(uncompacted, |compaction| compaction.compacted(uncompacted));
    let read = match (before, rewritten) {
        (Some(before), Some(_)) => before.without,
        (Some(before), None) if usage.read >= before.sent.div_ceil(2) => {
            before.without.saturating_sub(before.sent.saturating_sub(usage.read))
        }
        (None, _) if usage.read >= sent.div_ceil(2) => without.saturating_sub(sent.saturating_sub(usage.read)),
        _ => usage.read,
    };
    let read = read.min(compacting.map_or(without, |compaction| compaction.fixed.min(without))) as f64;
    let uncached = usage.input + usage.written;
    let price = match uncached {
        0 => prices.write,
        _ => (usage.input as f64 + usage.written as f64 * prices.write) / uncached as f64,
    };
    let without_bill = (read * prices.read + (without as f64 - read) * price) * prices.of_step(without);
    let dropped = unfolded as i64 - without as i64;
    let share = without_bill / (without.max(1)) as f64;
    let (may_be_lower, may_be_higher) = match compaction {
        Some(compaction) if dropped != 0 => compaction.margins(without, unfolded),
        _ => (0, 0),
    };
    let (without_under, without_over) = (may_be_lower as f64 * share, may_be_higher as f64 * share);
    // Neither compaction call hits the cache: their tools differ from the conversation's.
    let compacting = compacting.map_or([0; 2], |compaction| {
        let flushed = before.filter(|_| call.begins_turn).map_or(0, |before| before.without.min(compaction.window));
        [flushed, compaction.to_summarize()]
    });
    let compacting_call = |without: u64| {
        let bill = without as f64 * price * prices.of_step(without);
        Request { at: call.at, without, without_bill: bill, without_under: bill, ..Request::default() }
    };
    let compacting = compacting.into_iter().filter(|tokens| *tokens > 0).map(compacting_call).collect();
    (Request { without, dropped, without_bill, without_under, without_over, ..request }, compacting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::prices::PriceStep;

    const PRICES: Prices = Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000, step: None };
    const CALL: BilledCall = BilledCall {
        at: 1000,
        usage: None,
        counted: 10_000,
        freed: 0,
        fetched: 0,
        protected: 0,
        overhead: 0,
        is_for_fetch: false,
        rewritten: None,
        begins_turn: true,
        was_compacted: false,
    };

    fn before() -> Request {
        Request { sent: 8000, without: 8000, ..Request::default() }
    }

    fn billed(call: &BilledCall, before: Option<Request>) -> Request {
        bill(call, before.as_ref(), &PRICES, None).0
    }

    fn bills(call: BilledCall, before: Option<Request>) -> (u64, u64, f64, f64) {
        let Request { sent, without, sent_bill, without_bill, .. } = billed(&call, before);
        (sent, without, sent_bill.round(), without_bill.round())
    }

    #[test]
    fn where_nothing_was_done_both_bills_are_one() {
        let reported = Usage { input: 3, read: 7900, written: 2097, output: None };
        for before in [None, Some(before())] {
            for usage in [None, Some(reported)] {
                let billed = billed(&BilledCall { usage, ..CALL }, before);
                assert_eq!((billed.sent, billed.without), (10_000, 10_000));
                assert!((billed.sent_bill - billed.without_bill).abs() < 1e-6, "{billed:?}");
            }
        }
    }

    #[test]
    fn a_cache_is_modelled_where_nothing_is_reported() {
        assert_eq!(bills(CALL, None).2, 12_500.0);
        assert_eq!(bills(CALL, Some(before())).2, 800.0 + 2500.0);
        let late = BilledCall { at: 300_001, ..CALL };
        assert_eq!(bills(late, Some(before())).2, 12_500.0);
        let rewritten = BilledCall { rewritten: Some(3000), ..CALL };
        assert_eq!(bills(rewritten, Some(before())), (10_000, 10_000, 500.0 + 6250.0, 800.0 + 2500.0));
        assert_eq!(bills(BilledCall { at: 300_001, ..rewritten }, Some(before())).3, 12_500.0);
    }

    #[test]
    fn above_a_price_step_all_tokens_cost_more() {
        let prices = Prices { step: Some(PriceStep { above: 10_000, input: 2.0, output: 1.5 }), ..PRICES };
        let usage = Some(Usage { input: 0, read: 4000, written: 1000, output: None });
        let call = BilledCall { usage, freed: 5000, ..CALL };
        let bills = |call| {
            let (Request { sent_bill, without_bill, .. }, _) = bill(&call, None, &prices, None);
            (sent_bill.round(), without_bill.round())
        };
        assert_eq!(bills(call), (400.0 + 1250.0, 900.0 + 1250.0));
        assert_eq!(bills(BilledCall { freed: 5001, ..call }), (400.0 + 1250.0, 2.0 * (900.1_f64 + 1250.0).round()));
    }

    #[test]
    fn what_left_would_have_been_read_and_what_never_came_would_have_been_written() {
        let folded = Request { sent: 4000, ..before() };
        let usage = Some(Usage { input: 0, read: 4000, written: 1000, output: None });
        let call = BilledCall { usage, freed: 4500, ..CALL };
        assert_eq!(bills(call, Some(folded)), (5000, 9500, 400.0 + 1250.0, 800.0 + 1875.0));
        let end = BilledCall { usage: Some(Usage { input: 0, read: 3900, written: 1100, output: None }), ..call };
        assert_eq!(bills(end, Some(folded)), (5000, 9500, 390.0 + 1375.0, 790.0 + 2000.0));
        let beginning = BilledCall { usage: Some(Usage { input: 0, read: 500, written: 4500, output: None }), ..call };
        assert_eq!(bills(beginning, Some(folded)), (5000, 9500, 50.0 + 5625.0, 50.0 + 11_250.0));
        let cold = BilledCall { usage: Some(Usage { input: 5000, read: 0, written: 0, output: None }), ..call };
        assert_eq!(bills(cold, Some(folded)), (5000, 9500, 5000.0, 9500.0));
    }

    #[test]
    fn where_nothing_is_known_of_the_request_before_what_left_was_cached_if_most_of_the_rest_was() {
        let usage = Some(Usage { input: 0, read: 4000, written: 1000, output: None });
        let call = BilledCall { usage, freed: 5000, ..CALL };
        assert_eq!(bills(call, None), (5000, 10_000, 400.0 + 1250.0, 900.0 + 1250.0));
        let cold = BilledCall { usage: Some(Usage { input: 0, read: 0, written: 5000, output: None }), ..call };
        assert_eq!(bills(cold, None), (5000, 10_000, 6250.0, 12_500.0));
        assert_eq!(bills(BilledCall { usage: None, counted: 5000, ..call }, None), (5000, 10_000, 6250.0, 12_500.0));
    }

    #[test]
    fn fetches_and_our_own_words_are_charged() {
        let call = BilledCall { freed: 1000, fetched: 300, overhead: 100, ..CALL };
        let of_call = billed(&call, None);
        assert_eq!((of_call.sent, of_call.without, of_call.fetched), (10_000, 10_600, 300));
        let of_fetch = billed(&BilledCall { is_for_fetch: true, ..call }, Some(before()));
        assert_eq!((of_fetch.without, of_fetch.fetched), (0, 9900));
        assert!(of_fetch.without_bill < 1e-9 && of_fetch.sent_bill > 3000.0);
    }

    /// Returns the request sizes of a host that sends everything and compacts by itself.
    fn compacting_host(compaction: &HostCompaction, grows: u64, turns: u64, calls: u64) -> Vec<u64> {
        let (mut size, mut sizes) = (compaction.fixed, Vec::new());
        for _ in 0..turns {
            for call in 0..calls {
                if size + grows > (if call == 0 { compaction.limit() } else { compaction.window }) {
                    size = compaction.compacted(size + grows).saturating_sub(grows);
                }
                size += grows;
                sizes.push(size);
            }
        }
        sizes
    }

    /// Neighbours: windows of four sizes x three steps by which requests grow x two numbers of calls in a turn x three
    /// shares that were folded x whether the host had to compact with us, too.
    #[test]
    fn the_host_alone_is_billed_what_it_sends_and_never_more_than_the_window() {
        for window in [16_000, 32_000, 200_000, 1_000_000] {
            for grows in [window / 100, window / 20, window / 8] {
                for calls in [1, 3] {
                    for folded in [0, 50, 90] {
                        for has_compacted in [false, true] {
                            let compaction = HostCompaction {
                                window,
                                fixed: window / 20,
                                kept: window / 10,
                                summarized: window / 20,
                            };
                            let real = compacting_host(&compaction, grows, 60, calls);
                            let (mut unfolded, mut before, mut modelled) =
                                (compaction.fixed, None::<Request>, Vec::new());
                            for number in 0..60 * calls {
                                let was_compacted = has_compacted && number > 0 && number % (20 * calls) == 0;
                                unfolded =
                                    if was_compacted { compaction.fixed + compaction.kept } else { unfolded + grows };
                                let freed = unfolded * folded / 100;
                                let usage = Some(Usage { input: unfolded - freed, read: 0, written: 0, output: None });
                                let begins_turn = number % calls == 0;
                                let call = BilledCall { usage, freed, begins_turn, was_compacted, ..CALL };
                                let (billed, compacting) = bill(&call, before.as_ref(), &PRICES, Some(&compaction));
                                let what =
                                    format!("{window} {grows} {calls} {folded} {has_compacted} {number}: {billed:?}");
                                assert!(
                                    billed.without <= window && billed.without_under <= billed.without_bill,
                                    "{what}"
                                );
                                assert!(compacting.iter().all(|call| call.without <= window), "{what}");
                                assert_eq!(billed.sent, unfolded - freed);
                                modelled.push(billed.without);
                                before = Some(billed);
                            }
                            let (real, modelled) =
                                (real.iter().sum::<u64>() as f64, modelled.iter().sum::<u64>() as f64);
                            let what =
                                format!("{window} {grows} {calls} {folded} {has_compacted}: {modelled} of {real}");
                            assert!((modelled / real - 1.0).abs() < 0.1, "{what}");
                        }
                    }
                }
            }
        }
    }
}
