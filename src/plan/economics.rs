//! Decides when folding pays: ski-rental over the prompt cache.
//!
//! Every call reads the cached prefix at `read`. A block that could have been folded has paid `read * frees` on each
//! call since (the rent). Folding it makes the cache take in everything after it again, at `write - read` more (the
//! price). As with skis, one buys when the rent, including that of the coming call, reaches the price. Rent and price
//! together are then at most twice the cost of the best decision in hindsight, without a forecast (Karlin, Manasse,
//! Rudolph, Sleator: Competitive Snoopy Caching, 1988). In addition the price must be covered by earlier savings, so
//! that no session is dearer than untouched because it ends too soon; otherwise the rent must be [`LONG_RENT`] times
//! the price, which limits the risk.

use super::cache::Cold;
use super::prices::Prices;
use crate::history::Fate;

/// The multiple of the price that must have been paid as rent if earlier savings do not cover the price. Chosen on the
/// development corpus (`npm run bench:replay`): from 4 on no session is dearer than untouched, at any price point; the
/// bill grows with it.
const LONG_RENT: f64 = 4.0;

/// The minimum number of tokens that a warm epoch frees if it breaks a cheaper prefix, or [`MIN_BATCH_PERCENT`] of the
/// context if that is less. Chosen by judgement.
const MIN_BATCH_TOKENS: u64 = 1500;
/// See [`MIN_BATCH_TOKENS`].
const MIN_BATCH_PERCENT: u64 = 2;

/// The minimum percentage of the context that leaves at once above a limit; with less, the prefix would break at each
/// call. Chosen by judgement.
const LIMIT_BATCH_PERCENT: u64 = 15;

/// A block of the history as the planner sees it, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Tokens as shown now.
    pub tokens: u64,
    /// Tokens that folding it frees; 0 if it stays.
    pub frees: u64,
    /// The decision whether it may go, and since when.
    pub fate: Fate,
    /// True if the cache of the called model holds it.
    pub is_held: bool,
    /// The number of other live caches that hold it: those of other models and lists of tools.
    pub others: u64,
    /// True if a cache entry ends before this block.
    pub is_entry: bool,
    /// The effect of a change before it, for thinking that such a change affects; otherwise `None`.
    pub thinking: Option<ThinkingEffect>,
}

impl Item {
    /// Returns the number of caches that have to take it in again when something before it changes.
    fn caches(&self) -> u64 {
        u64::from(self.is_held) + self.others
    }
}

/// The effect on thinking of a change before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingEffect {
    /// It leaves with the change, at no cost and without an epoch of its own.
    Leaves,
    /// It would become invalid and cannot leave, so nothing before it may change.
    Holds,
}

/// The state that a decision depends on, beside the blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Situation {
    /// Prices of tokens.
    pub prices: Prices,
    /// The reason why nothing is cached, if so.
    pub cold: Option<Cold>,
    /// True if a changed prefix invalidates retained thinking.
    pub binds_thinking: bool,
    /// Tokens of each request outside the blocks: system prompt and tools.
    pub overhead: u64,
    /// The number of tokens above which the context is full.
    pub limit: Option<u64>,
    /// The number of tokens above which the whole request costs more.
    pub cliff: Option<u64>,
    /// The number of user turns that a block waits for the rent; after that, earlier savings may pay for it.
    pub max_deferred_turns: u64,
    /// The savings of the session so far ([`super::balance`]).
    pub saved: f64,
}

/// The reason for an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nothing is cached, so it costs nothing.
    Cold(Cold),
    /// The rent reaches the price.
    SkiRental,
    /// The context is full.
    Limit,
    /// The next price step is reached.
    Cliff,
    /// A block has waited long enough, and earlier savings cover the price.
    Bound,
}

impl Cause {
    /// Returns true if there is a cached prefix to break.
    pub fn is_warm(self) -> bool {
        !matches!(self, Self::Cold(_))
    }

    /// Returns the reason for the epoch log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cold(cold) => cold.as_str(),
            Self::SkiRental => "ski-rental",
            Self::Limit => "limit",
            Self::Cliff => "cliff",
            Self::Bound => "bound",
        }
    }
}

/// A decision: fold these items, by index, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The reason for the epoch.
    pub cause: Cause,
    /// The indexes of the items to fold; never empty.
    pub items: Vec<usize>,
    /// The tokens that the items must free once counted, without thinking that leaves with them; with less, the epoch
    /// is not worth it.
    pub least: u64,
}

/// Decides whether to open an epoch, and for which blocks. Linear in the items.
pub fn decide(items: &[Item], situation: &Situation) -> Option<Decision> {
    // Blocks before thinking that would become invalid stay.
    let start = items.iter().rposition(|item| item.thinking == Some(ThinkingEffect::Holds)).map_or(0, |last| last + 1);
    let (cause, mut chosen, least) = choose(items, start, situation)?;
    let leaves = |at: &usize| items[*at].thinking == Some(ThinkingEffect::Leaves);
    let changed = if cause.is_warm() { chosen.first().copied() } else { Some(start) };
    chosen.extend((changed?..items.len()).filter(leaves));
    chosen.sort_unstable();
    (!chosen.is_empty()).then_some(Decision { cause, items: chosen, least })
}

/// Chooses the blocks from `start` on to fold, without the thinking that leaves with them, and the tokens they must
/// free.
fn choose(items: &[Item], start: usize, situation: &Situation) -> Option<(Cause, Vec<usize>, u64)> {
    let ripe = |at: &usize| items[*at].fate.may_go().is_some() && items[*at].frees > 0;
    // Once the cache is warm again, folding these would cost more.
    let nearly = |at: &usize| matches!(items[*at].fate, Fate::Young { is_nearly_stale: true }) && items[*at].frees > 0;
    if let Some(cold) = situation.cold {
        let goes = |at: &usize| ripe(at) || cold.is_over_soon() && nearly(at);
        return Some((Cause::Cold(cold), (start..items.len()).filter(goes).collect(), 0));
    }
    let context: u64 = items.iter().map(|item| item.tokens).sum::<u64>() + situation.overhead;
    let limits = [(Cause::Limit, situation.limit), (Cause::Cliff, situation.cliff)];
    for (cause, limit) in limits {
        if let Some(limit) = limit.filter(|&limit| context > limit)
            && let Some(items) = make_room(items, start, context, limit)
        {
            return Some((cause, items, context * LIMIT_BATCH_PERCENT / 100));
        }
    }
    let (cause, first, least) = pays_from(items, start, context, situation)?;
    let goes = |at: &usize| ripe(at) || nearly(at);
    Some((cause, (first.max(start)..items.len()).filter(goes).collect(), least))
}

/// Chooses the blocks to fold when the context is full: all that may go, then the oldest young ones, until enough is
/// freed. Returns `None` if that cannot be reached, because a small gain at every call would break the prefix at every
/// call.
fn make_room(items: &[Item], start: usize, context: u64, limit: u64) -> Option<Vec<usize>> {
    let goal = (context * LIMIT_BATCH_PERCENT / 100).max(context - limit);
    let mut chosen: Vec<usize> = Vec::new();
    let mut freed = 0;
    let indexes = || (start..items.len()).filter(|&at| items[at].frees > 0);
    for at in indexes().filter(|&at| items[at].fate.may_go().is_some()) {
        chosen.push(at);
        freed += items[at].frees;
    }
    for at in indexes().filter(|&at| matches!(items[at].fate, Fate::Young { .. })) {
        if freed >= goal {
            break;
        }
        chosen.push(at);
        freed += items[at].frees;
    }
    chosen.sort_unstable();
    (freed >= context * LIMIT_BATCH_PERCENT / 100).then_some(chosen)
}

/// Returns the number of tokens that must be freed for a cached prefix to be broken.
fn enough(context: u64, prices: &Prices) -> u64 {
    // If a cache read costs as much as a write, there is no cached prefix to break.
    if prices.write > prices.read { MIN_BATCH_TOKENS.min(context * MIN_BATCH_PERCENT / 100) } else { 1 }
}

/// Returns the reason, the first item of the largest tail from `start` on whose folding pays, and the tokens to free.
///
/// The part that caches have to take in again begins at the last entry before the change, not at the change itself.
fn pays_from(items: &[Item], start: usize, context: u64, situation: &Situation) -> Option<(Cause, usize, u64)> {
    let Prices { read, write, .. } = situation.prices;
    let enough = enough(context, &situation.prices);
    let unchanged = since_entry(items);
    // `now` is what the coming call saves at once.
    let (mut rent, mut now, mut survives, mut freed, mut has_waited) = (0.0, 0.0, 0u64, 0u64, false);
    let mut first = None;
    for (at, item) in items.iter().enumerate().skip(start).rev() {
        let Some(ripe) = item.fate.may_go().filter(|_| item.frees > 0) else {
            let leaves = item.thinking == Some(ThinkingEffect::Leaves);
            survives += if leaves { 0 } else { item.tokens * item.caches() };
            continue;
        };
        freed += item.frees;
        has_waited |= ripe.turns >= situation.max_deferred_turns;
        if item.caches() > 0 {
            let next = if item.is_held { read } else { write };
            now += if item.is_held { 0.0 } else { write * item.frees as f64 };
            rent += (read * ripe.calls as f64 + next) * item.frees as f64;
            // Its placeholder has to be taken in too.
            survives += (item.tokens - item.frees) * item.caches();
        }
        let is_free = survives == 0 && item.caches() == 0;
        let price = (write - read).max(0.0) * (survives + unchanged[at]) as f64;
        let is_covered = price <= situation.saved + now;
        let pays = rent >= price && (is_covered || rent >= LONG_RENT * price);
        let may_break = freed >= enough && !situation.binds_thinking;
        if is_free {
            first = Some((Cause::SkiRental, at, 1));
        } else if may_break && pays {
            first = Some((Cause::SkiRental, at, enough));
        } else if may_break && has_waited && is_covered {
            first = Some((Cause::Bound, at, enough));
        }
    }
    first
}

/// Returns for each item the tokens between it and the last entry before it, summed over the caches that would have to
/// take them in again.
fn since_entry(items: &[Item]) -> Vec<u64> {
    let mut since = 0;
    let tokens = |item: &Item| {
        let before = if item.is_entry { 0 } else { since };
        since = before + item.tokens * item.caches();
        before
    };
    items.iter().map(tokens).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{MayGo, Reason};

    const WARM: Situation = Situation {
        prices: Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000 },
        cold: None,
        binds_thinking: false,
        overhead: 0,
        limit: None,
        cliff: None,
        max_deferred_turns: 40,
        saved: f64::INFINITY,
    };

    fn stays(tokens: u64) -> Item {
        Item { tokens, frees: 0, fate: Fate::Stays, is_held: true, others: 0, is_entry: true, thinking: None }
    }

    fn ripe(tokens: u64, calls: u64) -> Item {
        let fate = Fate::MayGo(MayGo { reason: Reason::Stale, is_old: true, calls, turns: calls });
        Item { tokens, frees: tokens - 50, fate, is_held: true, others: 0, is_entry: true, thinking: None }
    }

    #[test]
    fn a_block_is_bought_when_its_rent_reaches_the_price() {
        // Price 1.15 * (50 + 4000) = 4657.5; rent 0.1 * 1950 = 195 a call, the next one's included.
        let after = |calls| decide(&[stays(500), ripe(2000, calls), stays(4000)], &WARM);
        assert_eq!(after(22), None);
        assert_eq!(after(23), Some(Decision { cause: Cause::SkiRental, items: vec![1], least: 130 }));
    }

    #[test]
    fn an_epoch_is_paid_out_of_what_was_saved_or_after_a_long_rent() {
        let after = |calls| [stays(500), ripe(2000, calls), stays(4000)];
        let items = after(30);
        assert_eq!(decide(&items, &Situation { saved: 4657.0, ..WARM }), None);
        assert!(decide(&items, &Situation { saved: 4658.0, ..WARM }).is_some());
        // Rent 195 a call, price 4657.5.
        let poor = Situation { saved: 0.0, max_deferred_turns: 1000, ..WARM };
        assert_eq!(decide(&after(94), &poor), None);
        assert!(decide(&after(95), &poor).is_some());
    }

    #[test]
    fn the_largest_tail_that_pays_goes_and_what_stands_before_it_waits() {
        let items = [ripe(2000, 1), stays(90_000), ripe(5000, 30), stays(1000), ripe(2000, 0)];
        assert_eq!(decide(&items, &WARM).unwrap().items, [2, 4]);
    }

    #[test]
    fn cold_takes_all_and_even_little() {
        let cold = Situation { cold: Some(Cold::Lapsed), ..WARM };
        let items = [ripe(100, 0), stays(90_000), ripe(200, 0)];
        assert_eq!(
            decide(&items, &cold),
            Some(Decision { cause: Cause::Cold(Cold::Lapsed), items: vec![0, 2], least: 0 })
        );
        assert_eq!(decide(&items, &WARM), None);
        assert_eq!(decide(&[stays(5)], &cold), None);
    }

    #[test]
    fn what_is_nearly_ripe_goes_where_nothing_is_cached_and_soon_will_be() {
        let young = |is_nearly_stale| Item { fate: Fate::Young { is_nearly_stale }, ..ripe(2000, 0) };
        let items = [young(true), young(false), stays(4000), ripe(2000, 0)];
        let chosen = |cold| decide(&items, &Situation { cold, ..WARM }).map(|decision| decision.items);
        assert_eq!(chosen(Some(Cold::Lapsed)), Some(vec![0, 3]));
        assert_eq!(chosen(Some(Cold::Unused)), Some(vec![3]), "it can still go for nothing when it is ripe");
        assert_eq!(chosen(None), Some(vec![3]));
    }

    #[test]
    fn without_a_price_of_writing_any_gain_pays() {
        let flat = Situation { prices: Prices { read: 1.0, write: 1.0, ..WARM.prices }, saved: 0.0, ..WARM };
        let items = [ripe(100, 0), stays(90_000)];
        assert_eq!(decide(&items, &flat).unwrap().items, [0]);
        assert_eq!(decide(&items, &WARM), None);
    }

    #[test]
    fn a_full_context_lets_go_enough_at_once_or_nothing() {
        let full = Situation { limit: Some(9000), ..WARM };
        let young = |tokens| Item { fate: Fate::Young { is_nearly_stale: false }, ..ripe(tokens, 0) };
        let items = [stays(5000), ripe(500, 0), young(2000), young(3000)];
        assert_eq!(decide(&items, &full), Some(Decision { cause: Cause::Limit, items: vec![1, 2], least: 1575 }));
        assert_eq!(decide(&[ripe(300, 0), stays(9500)], &full), None, "300 of 9,800 tokens are too few");
        let cliff = Situation { limit: None, cliff: Some(9000), ..WARM };
        assert_eq!(decide(&items, &cliff).unwrap().cause, Cause::Cliff);
    }

    #[test]
    fn deferral_is_bounded_by_what_was_saved() {
        let after = |calls| [ripe(3000, calls), stays(90_000)];
        assert_eq!(decide(&after(39), &WARM), None);
        assert_eq!(decide(&after(40), &WARM).unwrap().cause, Cause::Bound);
        // Price 1.15 * (50 + 90,000).
        assert_eq!(decide(&after(40), &Situation { saved: 103_000.0, ..WARM }), None);
        assert!(decide(&after(40), &Situation { saved: 104_000.0, ..WARM }).is_some());
    }

    /// Neighbours: entries at no, one or each block before the change, and zero to two other caches.
    #[test]
    fn a_change_costs_all_since_the_last_entry_in_each_cache() {
        for others in 0..=2u64 {
            for (entry, rewritten) in [(None, 5000 + 50 + 4000), (Some(1), 3000 + 50 + 4000), (Some(2), 50 + 4000)] {
                let items = |calls| {
                    let mut items = [stays(2000), stays(3000), ripe(2000, calls), stays(4000)];
                    for (at, item) in items.iter_mut().enumerate() {
                        item.is_entry = entry == Some(at);
                        item.others = others;
                    }
                    items
                };
                let price = 1.15 * (rewritten * (1 + others)) as f64;
                let calls = (price / 195.0).ceil() as u64;
                let unbounded = Situation { max_deferred_turns: 1000, ..WARM };
                assert_eq!(decide(&items(calls - 2), &unbounded), None, "{others} {entry:?}");
                assert!(decide(&items(calls), &unbounded).is_some(), "{others} {entry:?}");
            }
        }
    }

    #[test]
    fn what_only_another_cache_holds_saves_a_write_at_once() {
        let items = |frees: u64| {
            let mut items = [stays(500), Item { frees, ..ripe(frees + 50, 0) }, stays(4000)];
            items.iter_mut().for_each(|item| (item.is_held, item.others) = (false, 1));
            items
        };
        let poor = Situation { saved: 0.0, ..WARM };
        // Price 1.15 * 4,050, and 1.25 of each token that goes.
        assert_eq!(decide(&items(3700), &poor), None);
        assert!(decide(&items(3750), &poor).is_some());
    }

    #[test]
    fn finished_thinking_leaves_with_what_changes_before_it_and_opens_nothing() {
        let thinking = |tokens| Item { thinking: Some(ThinkingEffect::Leaves), ..stays(tokens) };
        let items = [thinking(400), ripe(2000, 23), thinking(300), stays(4000), thinking(200)];
        assert_eq!(decide(&items, &WARM).unwrap().items, [1, 2, 4]);
        // Thinking that leaves is not taken in again: a price of 4,050 tokens, as without it.
        assert_eq!(decide(&[ripe(2000, 22), thinking(300), stays(4000)], &WARM), None);
        assert_eq!(decide(&[thinking(50_000), stays(4000)], &WARM), None);
        let cold = Situation { cold: Some(Cold::Lapsed), ..WARM };
        assert_eq!(decide(&items, &cold).unwrap().items, [0, 1, 2, 4]);
        assert_eq!(decide(&items[2..4], &cold).unwrap().items, [0]);
    }

    #[test]
    fn nothing_changes_before_thinking_that_would_be_spoilt() {
        let holds = Item { thinking: Some(ThinkingEffect::Holds), ..stays(100) };
        let leaves = Item { thinking: Some(ThinkingEffect::Leaves), ..stays(100) };
        let items = [leaves, ripe(5000, 60), holds, ripe(5000, 60), stays(10)];
        let cold = Situation { cold: Some(Cold::Lapsed), ..WARM };
        let full = Situation { limit: Some(2000), ..WARM };
        for situation in [WARM, cold, full] {
            assert_eq!(decide(&items, &situation).unwrap().items, [3], "{situation:?}");
        }
        assert_eq!(decide(&items[..3], &cold), None);
    }

    #[test]
    fn bound_thinking_changes_only_what_was_never_sent_or_must_go() {
        let bound = Situation { binds_thinking: true, ..WARM };
        let unsent = Item { is_held: false, ..ripe(3000, 0) };
        let items = [ripe(5000, 60), stays(100), unsent];
        assert_eq!(decide(&items, &bound).unwrap().items, [2]);
        assert_eq!(decide(&items[..2], &bound), None);
        let full = Situation { limit: Some(2000), ..bound };
        assert_eq!(decide(&items[..2], &full).unwrap().cause, Cause::Limit);
    }
}
