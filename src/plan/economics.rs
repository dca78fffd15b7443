//! Decides when folding pays: ski-rental over the prompt cache.
//!
//! Every call reads the cached prefix at `read`. A block that could have been folded has paid `read * frees` on each
//! call since (the rent). Folding it makes the cache take in everything after it again, at `write - read` more (the
//! price). As with skis, one buys when the rent, including that of the coming call, reaches the price. Rent and price
//! together are then at most twice the cost of the best decision in hindsight, without a forecast (Karlin, Manasse,
//! Rudolph, Sleator: Competitive Snoopy Caching, 1988). In addition the price must be covered by earlier savings, so
//! that no session costs more than untouched because it ends too soon; otherwise the rent must be [`LONG_RENT`] times
//! the price, which limits the risk.

use super::cache::ColdCause;
use super::prices::Prices;
use crate::history::Fate;

/// The multiple of the price that must have been paid as rent if earlier savings do not cover the price. With 1,
/// recorded sessions cost up to 6 % more than untouched (`npm run bench:replay`). With 2 none does, but a long talk
/// after little tool work costs a fifth more if it ends at its epoch. From 2 to 4 the bill grows by .002.
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
pub struct PlannedBlock {
    /// Tokens as shown now.
    pub tokens: u64,
    /// Tokens that folding it frees; 0 if it stays.
    pub tokens_freed: u64,
    /// The decision whether it may go, and since when.
    pub fate: Fate,
    /// True if the cache of the called model holds it.
    pub is_cached: bool,
    /// The number of other live caches that hold it: those of other models and lists of tools.
    pub other_caches: u64,
    /// True if a cache entry ends before this block.
    pub is_after_cache_entry: bool,
    /// The effect of a change before it, for thinking that such a change affects; otherwise `None`.
    pub thinking: Option<ThinkingEffect>,
}

impl PlannedBlock {
    /// Returns the number of caches that have to take it in again when something before it changes.
    fn cache_count(&self) -> u64 {
        u64::from(self.is_cached) + self.other_caches
    }

    /// Returns true for thinking that leaves when something before it changes.
    fn has_leaving_thinking(&self) -> bool {
        matches!(self.thinking, Some(ThinkingEffect::Leaves | ThinkingEffect::IsLost))
    }
}

/// The effect on thinking of a change before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingEffect {
    /// It leaves with the change, at no cost and without an epoch of its own.
    Leaves,
    /// It would become invalid and leaves as well, but the model loses it: no warm prefix is broken for that.
    IsLost,
    /// It would become invalid and cannot leave, so nothing before it may change.
    Holds,
}

/// The state that a decision depends on, beside the blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanContext {
    /// Prices of tokens.
    pub prices: Prices,
    /// The reason why nothing is cached, if so.
    pub cold: Option<ColdCause>,
    /// Tokens of each request outside the blocks: system prompt and tools.
    pub overhead: u64,
    /// The number of tokens above which the context is full.
    pub limit: Option<u64>,
    /// True if a person asked for everything foldable to be folded.
    pub folds_all: bool,
    /// The number of user turns that a block waits for the rent; after that, earlier savings may pay for it.
    pub max_deferred_turns: u64,
    /// The savings of the session so far ([`super::balance`]).
    pub saved: f64,
}

/// The reason for an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochCause {
    /// Nothing is cached, so it costs nothing.
    Cold(ColdCause),
    /// The rent reaches the price.
    SkiRental,
    /// The context is full.
    Limit,
    /// The next price step is reached.
    Cliff,
    /// A block has waited long enough, and earlier savings cover the price.
    Bound,
    /// A person asked for it.
    Asked,
}

/// The reason of an epoch, and of a block that was not stale yet, that a person asked for.
pub const ASKED: &str = "asked";

impl EpochCause {
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
            Self::Asked => ASKED,
        }
    }
}

/// A decision: fold these items, by index, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldPlan {
    /// The reason for the epoch.
    pub cause: EpochCause,
    /// The indexes of the items to fold; never empty.
    pub blocks: Vec<usize>,
    /// The tokens that the items must free once counted, without thinking that leaves with them; with less, the epoch
    /// is not worth it.
    pub min_tokens_freed: u64,
}

/// Decides whether to open an epoch, and for which blocks. Linear in the items.
pub fn plan_folds(blocks: &[PlannedBlock], context: &PlanContext) -> Option<FoldPlan> {
    // Blocks before thinking that would become invalid stay.
    let start =
        blocks.iter().rposition(|block| block.thinking == Some(ThinkingEffect::Holds)).map_or(0, |last| last + 1);
    let (cause, mut chosen, min_tokens_freed) = choose(blocks, start, context)?;
    let is_leaving_thinking = |at: &usize| blocks[*at].has_leaving_thinking();
    let changed = if cause.is_warm() { chosen.first().copied() } else { Some(start) };
    chosen.extend((changed?..blocks.len()).filter(is_leaving_thinking));
    chosen.sort_unstable();
    (!chosen.is_empty()).then_some(FoldPlan { cause, blocks: chosen, min_tokens_freed })
}

/// Chooses the blocks from `start` on to fold, without the thinking that leaves with them, and the tokens they must
/// free.
fn choose(blocks: &[PlannedBlock], start: usize, context: &PlanContext) -> Option<(EpochCause, Vec<usize>, u64)> {
    let is_foldable = |at: &usize| blocks[*at].fate.permission().is_some() && blocks[*at].tokens_freed > 0;
    // Once the cache is warm again, folding these would cost more.
    let is_nearly_stale =
        |at: &usize| matches!(blocks[*at].fate, Fate::Young { is_nearly_stale: true }) && blocks[*at].tokens_freed > 0;
    if context.folds_all {
        let is_young = |at: &usize| matches!(blocks[*at].fate, Fate::Young { .. }) && blocks[*at].tokens_freed > 0;
        let is_chosen = |at: &usize| is_foldable(at) || is_young(at);
        let cause = context.cold.map_or(EpochCause::Asked, EpochCause::Cold);
        return Some((cause, (start..blocks.len()).filter(is_chosen).collect(), 0));
    }
    if let Some(cold) = context.cold {
        let is_chosen = |at: &usize| is_foldable(at) || cold.is_cache_refilled_by_next_call() && is_nearly_stale(at);
        return Some((EpochCause::Cold(cold), (start..blocks.len()).filter(is_chosen).collect(), 0));
    }
    let context_tokens: u64 = blocks.iter().map(|block| block.tokens).sum::<u64>() + context.overhead;
    let limits = [(EpochCause::Limit, context.limit), (EpochCause::Cliff, context.prices.step.map(|step| step.above))];
    for (cause, limit) in limits {
        if let Some(limit) = limit.filter(|&limit| context_tokens > limit)
            && let Some(blocks) = free_to_limit(blocks, start, context_tokens, limit)
        {
            return Some((cause, blocks, context_tokens * LIMIT_BATCH_PERCENT / 100));
        }
    }
    let (cause, first, min_tokens_freed) = first_paying_block(blocks, start, context_tokens, context)?;
    let is_chosen = |at: &usize| is_foldable(at) || is_nearly_stale(at);
    Some((cause, (first.max(start)..blocks.len()).filter(is_chosen).collect(), min_tokens_freed))
}

/// Chooses the blocks to fold when the context is full: all that may go, then the oldest young ones, until enough is
/// freed. Returns `None` if that cannot be reached, because a small gain at every call would break the prefix at every
/// call.
fn free_to_limit(blocks: &[PlannedBlock], start: usize, context_tokens: u64, limit: u64) -> Option<Vec<usize>> {
    let goal = (context_tokens * LIMIT_BATCH_PERCENT / 100).max(context_tokens - limit);
    let mut chosen: Vec<usize> = Vec::new();
    let mut freed = 0;
    let indexes = || (start..blocks.len()).filter(|&at| blocks[at].tokens_freed > 0);
    for at in indexes().filter(|&at| blocks[at].fate.permission().is_some()) {
        chosen.push(at);
        freed += blocks[at].tokens_freed;
    }
    for at in indexes().filter(|&at| matches!(blocks[at].fate, Fate::Young { .. })) {
        if freed >= goal {
            break;
        }
        chosen.push(at);
        freed += blocks[at].tokens_freed;
    }
    chosen.sort_unstable();
    (freed >= context_tokens * LIMIT_BATCH_PERCENT / 100).then_some(chosen)
}

/// Returns the number of tokens that must be freed for a cached prefix to be broken.
fn min_batch_tokens(context_tokens: u64, prices: &Prices) -> u64 {
    // If a cache read costs as much as a write, there is no cached prefix to break.
    if prices.write > prices.read { MIN_BATCH_TOKENS.min(context_tokens * MIN_BATCH_PERCENT / 100) } else { 1 }
}

/// Returns the reason, the first item of the largest tail from `start` on whose folding pays, and the tokens to free.
///
/// The part that caches have to take in again begins at the last entry before the change, not at the change itself.
fn first_paying_block(
    blocks: &[PlannedBlock],
    start: usize,
    context_tokens: u64,
    context: &PlanContext,
) -> Option<(EpochCause, usize, u64)> {
    let Prices { read, write, .. } = context.prices;
    let min_batch_tokens = min_batch_tokens(context_tokens, &context.prices);
    let since_cache_entry = tokens_since_cache_entry(blocks);
    // `saved_at_once` is what the coming call saves at once.
    let (mut rent, mut saved_at_once, mut recached_tokens, mut freed, mut has_waited) = (0.0, 0.0, 0u64, 0u64, false);
    let (mut first, mut would_lose_thinking) = (None, false);
    for (at, block) in blocks.iter().enumerate().skip(start).rev() {
        let Some(permission) = block.fate.permission().filter(|_| block.tokens_freed > 0) else {
            would_lose_thinking |= block.thinking == Some(ThinkingEffect::IsLost);
            recached_tokens += if block.has_leaving_thinking() { 0 } else { block.tokens * block.cache_count() };
            continue;
        };
        freed += block.tokens_freed;
        has_waited |= permission.turns >= context.max_deferred_turns;
        if block.cache_count() > 0 {
            let next = if block.is_cached { read } else { write };
            saved_at_once += if block.is_cached { 0.0 } else { write * block.tokens_freed as f64 };
            rent += (read * permission.calls as f64 + next) * block.tokens_freed as f64;
            // Its placeholder has to be taken in too.
            recached_tokens += (block.tokens - block.tokens_freed) * block.cache_count();
        }
        let is_free = recached_tokens == 0 && block.cache_count() == 0;
        let price = (write - read).max(0.0) * (recached_tokens + since_cache_entry[at]) as f64;
        let is_covered = price <= context.saved + saved_at_once;
        let is_rent_paid = rent >= price && (is_covered || rent >= LONG_RENT * price);
        let can_break_prefix = freed >= min_batch_tokens && !would_lose_thinking;
        if is_free {
            first = Some((EpochCause::SkiRental, at, 1));
        } else if can_break_prefix && is_rent_paid {
            first = Some((EpochCause::SkiRental, at, min_batch_tokens));
        } else if can_break_prefix && has_waited && is_covered {
            first = Some((EpochCause::Bound, at, min_batch_tokens));
        }
    }
    first
}

/// Returns for each item the tokens between it and the last entry before it, summed over the caches that would have to
/// take them in again.
fn tokens_since_cache_entry(blocks: &[PlannedBlock]) -> Vec<u64> {
    let mut since = 0;
    let tokens = |block: &PlannedBlock| {
        let before = if block.is_after_cache_entry { 0 } else { since };
        since = before + block.tokens * block.cache_count();
        before
    };
    blocks.iter().map(tokens).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{FoldPermission, Reason};
    use crate::plan::prices::PriceStep;

    const WARM: PlanContext = PlanContext {
        prices: Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000, step: None },
        cold: None,
        overhead: 0,
        limit: None,
        folds_all: false,
        max_deferred_turns: 40,
        saved: f64::INFINITY,
    };

    fn stays(tokens: u64) -> PlannedBlock {
        PlannedBlock {
            tokens,
            tokens_freed: 0,
            fate: Fate::Stays,
            is_cached: true,
            other_caches: 0,
            is_after_cache_entry: true,
            thinking: None,
        }
    }

    fn foldable(tokens: u64, calls: u64) -> PlannedBlock {
        let fate = Fate::Foldable(FoldPermission { reason: Reason::Stale, is_old: true, calls, turns: calls });
        PlannedBlock { tokens_freed: tokens - 50, fate, ..stays(tokens) }
    }

    #[test]
    fn a_block_is_bought_when_its_rent_reaches_the_price() {
        // Price 1.15 * (50 + 4000) = 4657.5; rent 0.1 * 1950 = 195 a call, the next one's included.
        let after = |calls| plan_folds(&[stays(500), foldable(2000, calls), stays(4000)], &WARM);
        assert_eq!(after(22), None);
        assert_eq!(after(23), Some(FoldPlan { cause: EpochCause::SkiRental, blocks: vec![1], min_tokens_freed: 130 }));
    }

    #[test]
    fn an_epoch_is_paid_out_of_what_was_saved_or_after_a_long_rent() {
        let after = |calls| [stays(500), foldable(2000, calls), stays(4000)];
        let blocks = after(30);
        assert_eq!(plan_folds(&blocks, &PlanContext { saved: 4657.0, ..WARM }), None);
        assert!(plan_folds(&blocks, &PlanContext { saved: 4658.0, ..WARM }).is_some());
        // Rent 195 a call, price 4657.5.
        let poor = PlanContext { saved: 0.0, max_deferred_turns: 1000, ..WARM };
        assert_eq!(plan_folds(&after(94), &poor), None);
        assert!(plan_folds(&after(95), &poor).is_some());
    }

    #[test]
    fn the_largest_tail_that_pays_goes_and_what_stands_before_it_waits() {
        let blocks = [foldable(2000, 1), stays(90_000), foldable(5000, 30), stays(1000), foldable(2000, 0)];
        assert_eq!(plan_folds(&blocks, &WARM).unwrap().blocks, [2, 4]);
    }

    #[test]
    fn cold_takes_all_and_even_little() {
        let cold = PlanContext { cold: Some(ColdCause::Lapsed), ..WARM };
        let blocks = [foldable(100, 0), stays(90_000), foldable(200, 0)];
        assert_eq!(
            plan_folds(&blocks, &cold),
            Some(FoldPlan { cause: EpochCause::Cold(ColdCause::Lapsed), blocks: vec![0, 2], min_tokens_freed: 0 })
        );
        assert_eq!(plan_folds(&blocks, &WARM), None);
        assert_eq!(plan_folds(&[stays(5)], &cold), None);
    }

    #[test]
    fn what_is_nearly_ripe_goes_where_nothing_is_cached_and_soon_will_be() {
        let young = |is_nearly_stale| PlannedBlock { fate: Fate::Young { is_nearly_stale }, ..foldable(2000, 0) };
        let blocks = [young(true), young(false), stays(4000), foldable(2000, 0)];
        let chosen = |cold| plan_folds(&blocks, &PlanContext { cold, ..WARM }).map(|decision| decision.blocks);
        assert_eq!(chosen(Some(ColdCause::Lapsed)), Some(vec![0, 3]));
        assert_eq!(chosen(Some(ColdCause::Unused)), Some(vec![3]), "it can still go for nothing when it is ripe");
        assert_eq!(chosen(None), Some(vec![3]));
    }

    #[test]
    fn all_that_may_go_goes_where_a_person_asks() {
        let young = PlannedBlock { fate: Fate::Young { is_nearly_stale: false }, ..foldable(2000, 0) };
        let protected = PlannedBlock { fate: Fate::Protected { is_due: true }, ..foldable(2000, 0) };
        let blocks = [foldable(100, 0), stays(90_000), young, protected];
        let asked = PlanContext { folds_all: true, saved: 0.0, ..WARM };
        let plan = FoldPlan { cause: EpochCause::Asked, blocks: vec![0, 2], min_tokens_freed: 0 };
        assert_eq!(plan_folds(&blocks, &asked), Some(plan));
        assert_eq!(plan_folds(&blocks[1..2], &asked), None);
    }

    #[test]
    fn without_a_price_of_writing_any_gain_pays() {
        let flat = PlanContext { prices: Prices { read: 1.0, write: 1.0, ..WARM.prices }, saved: 0.0, ..WARM };
        let blocks = [foldable(100, 0), stays(90_000)];
        assert_eq!(plan_folds(&blocks, &flat).unwrap().blocks, [0]);
        assert_eq!(plan_folds(&blocks, &WARM), None);
    }

    #[test]
    fn a_full_context_lets_go_enough_at_once_or_nothing() {
        let full = PlanContext { limit: Some(9000), ..WARM };
        let young = |tokens| PlannedBlock { fate: Fate::Young { is_nearly_stale: false }, ..foldable(tokens, 0) };
        let blocks = [stays(5000), foldable(500, 0), young(2000), young(3000)];
        assert_eq!(
            plan_folds(&blocks, &full),
            Some(FoldPlan { cause: EpochCause::Limit, blocks: vec![1, 2], min_tokens_freed: 1575 })
        );
        assert_eq!(plan_folds(&[foldable(300, 0), stays(9500)], &full), None, "300 of 9,800 tokens are too few");
        let step = Some(PriceStep { above: 9000, input: 2.0, output: 2.0 });
        let cliff = PlanContext { limit: None, prices: Prices { step, ..WARM.prices }, ..WARM };
        assert_eq!(plan_folds(&blocks, &cliff).unwrap().cause, EpochCause::Cliff);
    }

    #[test]
    fn deferral_is_bounded_by_what_was_saved() {
        let after = |calls| [foldable(3000, calls), stays(90_000)];
        assert_eq!(plan_folds(&after(39), &WARM), None);
        assert_eq!(plan_folds(&after(40), &WARM).unwrap().cause, EpochCause::Bound);
        // Price 1.15 * (50 + 90,000).
        assert_eq!(plan_folds(&after(40), &PlanContext { saved: 103_000.0, ..WARM }), None);
        assert!(plan_folds(&after(40), &PlanContext { saved: 104_000.0, ..WARM }).is_some());
    }

    /// Neighbours: entries at no, one or each block before the change, and zero to two other caches.
    #[test]
    fn a_change_costs_all_since_the_last_entry_in_each_cache() {
        for other_caches in 0..=2u64 {
            for (entry, rewritten) in [(None, 5000 + 50 + 4000), (Some(1), 3000 + 50 + 4000), (Some(2), 50 + 4000)] {
                let blocks = |calls| {
                    let mut blocks = [stays(2000), stays(3000), foldable(2000, calls), stays(4000)];
                    for (at, block) in blocks.iter_mut().enumerate() {
                        block.is_after_cache_entry = entry == Some(at);
                        block.other_caches = other_caches;
                    }
                    blocks
                };
                let price = 1.15 * (rewritten * (1 + other_caches)) as f64;
                let calls = (price / 195.0).ceil() as u64;
                let unbounded = PlanContext { max_deferred_turns: 1000, ..WARM };
                assert_eq!(plan_folds(&blocks(calls - 2), &unbounded), None, "{other_caches} {entry:?}");
                assert!(plan_folds(&blocks(calls), &unbounded).is_some(), "{other_caches} {entry:?}");
            }
        }
    }

    #[test]
    fn what_only_another_cache_holds_saves_a_write_at_once() {
        let blocks = |tokens_freed: u64| {
            let mut blocks = [stays(500), PlannedBlock { tokens_freed, ..foldable(tokens_freed + 50, 0) }, stays(4000)];
            blocks.iter_mut().for_each(|block| (block.is_cached, block.other_caches) = (false, 1));
            blocks
        };
        let poor = PlanContext { saved: 0.0, ..WARM };
        // Price 1.15 * 4,050, and 1.25 of each token that goes.
        assert_eq!(plan_folds(&blocks(3700), &poor), None);
        assert!(plan_folds(&blocks(3750), &poor).is_some());
    }

    #[test]
    fn finished_thinking_leaves_with_what_changes_before_it_and_opens_nothing() {
        let thinking = |tokens| PlannedBlock { thinking: Some(ThinkingEffect::Leaves), ..stays(tokens) };
        let blocks = [thinking(400), foldable(2000, 23), thinking(300), stays(4000), thinking(200)];
        assert_eq!(plan_folds(&blocks, &WARM).unwrap().blocks, [1, 2, 4]);
        // Thinking that leaves is not taken in again: a price of 4,050 tokens, as without it.
        assert_eq!(plan_folds(&[foldable(2000, 22), thinking(300), stays(4000)], &WARM), None);
        assert_eq!(plan_folds(&[thinking(50_000), stays(4000)], &WARM), None);
        let cold = PlanContext { cold: Some(ColdCause::Lapsed), ..WARM };
        assert_eq!(plan_folds(&blocks, &cold).unwrap().blocks, [0, 1, 2, 4]);
        assert_eq!(plan_folds(&blocks[2..4], &cold).unwrap().blocks, [0]);
    }

    #[test]
    fn nothing_changes_before_thinking_that_would_be_spoilt() {
        let holds = PlannedBlock { thinking: Some(ThinkingEffect::Holds), ..stays(100) };
        let is_leaving_thinking = PlannedBlock { thinking: Some(ThinkingEffect::Leaves), ..stays(100) };
        let blocks = [is_leaving_thinking, foldable(5000, 60), holds, foldable(5000, 60), stays(10)];
        let cold = PlanContext { cold: Some(ColdCause::Lapsed), ..WARM };
        let full = PlanContext { limit: Some(2000), ..WARM };
        for context in [WARM, cold, full] {
            assert_eq!(plan_folds(&blocks, &context).unwrap().blocks, [3], "{context:?}");
        }
        assert_eq!(plan_folds(&blocks[..3], &cold), None);
    }

    #[test]
    fn no_warm_prefix_is_broken_before_thinking_that_would_be_lost() {
        let lost = PlannedBlock { thinking: Some(ThinkingEffect::IsLost), ..stays(100) };
        let unsent = PlannedBlock { is_cached: false, ..foldable(3000, 0) };
        let blocks = [foldable(5000, 60), lost, unsent];
        assert_eq!(plan_folds(&blocks, &WARM).unwrap().blocks, [2]);
        assert_eq!(plan_folds(&blocks[..2], &WARM), None);
        let cold = PlanContext { cold: Some(ColdCause::Lapsed), ..WARM };
        let full = PlanContext { limit: Some(2000), ..WARM };
        for context in [cold, full] {
            assert_eq!(plan_folds(&blocks[..2], &context).unwrap().blocks, [0, 1], "{context:?}");
        }
        let behind = [lost, foldable(5000, 60), stays(100)];
        assert_eq!(plan_folds(&behind, &WARM).unwrap().blocks, [1]);
    }
}
