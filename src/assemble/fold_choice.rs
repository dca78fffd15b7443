//! Chooses the blocks that are folded in this call.
//!
//! `every-turn` folds whatever may go. `cache-aware` estimates what the provider's cache holds and folds when that
//! pays.

use super::asked_again::lengthened;
use super::assembly::Assembly;
use super::blocks::KeyedBlock;
use super::fetch_answers::is_output;
use super::markers::is_reference;
use super::placeholder::expected_savings;
use super::replay::BlockState;
use super::report::{LARGE, THINKING};
use crate::config::{Config, Schedule, Thinking};
use crate::history::{Fate, Reason};
use crate::plan::cache::{Cache, ColdCause};
use crate::plan::economics::{ASKED, PlanContext, PlannedBlock, ThinkingEffect, plan_folds};
use crate::plan::model_name::ModelName;
use crate::plan::prices::{Prices, Tariff};
use crate::plan::provider::{FinishedThinking, Provider};
use crate::store::{Epoch, Ledger, Millis, StoreOptions};
use crate::transcript::{BlockKind, Transcript, is_cache_point};

/// A block to fold.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChosenBlock {
    /// Index among the keyed blocks.
    pub(super) index: usize,
    /// The reason printed in the report.
    pub(super) reason: &'static str,
}

/// The blocks to fold. `cause` is the reason of the epoch if it differs from the first block's.
#[derive(Debug, Default)]
pub(super) struct FoldChoice {
    pub(super) blocks: Vec<ChosenBlock>,
    pub(super) cause: Option<&'static str>,
    /// The minimum number of tokens that the fold must free once counted; otherwise no epoch is opened.
    pub(super) min_tokens_freed: u64,
    /// The number of blocks that the cache holds; `None` if the cache was not looked at.
    pub(super) cached_blocks: Option<usize>,
    /// Per block: true if a cache entry may end before it. Blocks beyond the end of the list count as true.
    pub(super) after_cache_entry: Vec<bool>,
}

impl Assembly<'_, '_, '_> {
    /// Chooses among the open blocks by the configured schedule. `states` holds the present state of each block.
    /// `is_switched` is true if the ledger records a different model or list of tools, `is_rewritten` if earlier folds
    /// exist but none is in context any more: every block then has a different prefix.
    pub(super) fn choose(&self, states: &[BlockState], is_switched: bool, is_rewritten: bool) -> FoldChoice {
        let fates = self.fates();
        match self.engine.config.schedule {
            Schedule::EveryTurn => self.choose_by_age(states, &fates),
            Schedule::CacheAware => self.choose_by_price(states, &fates, is_switched, is_rewritten),
        }
    }

    fn choose_by_age(&self, states: &[BlockState], fates: &[Fate]) -> FoldChoice {
        let config = &self.engine.config;
        let is_open = |(index, block): &(usize, &KeyedBlock)| states[*index] == BlockState::Open && !is_kept(block);
        let open = self.blocks.iter().enumerate().filter(is_open);
        let blocks = open.filter_map(|(index, block)| {
            // A person may ask for blocks that are not stale yet.
            let can_fold_early =
                self.marks.folds_all && matches!(fates[index], Fate::Young { .. }) && !block.is_fetched;
            let reason = match fates[index].permission() {
                Some(permission) if block.tokens >= config.min_tokens_to_squeeze => permission.reason.as_str(),
                None if can_fold_early && block.tokens >= config.min_tokens_to_squeeze => ASKED,
                _ if self.options.refer_oversize && is_unprotected_oversize(block, config) => LARGE,
                _ => return None,
            };
            Some(ChosenBlock { index, reason })
        });
        FoldChoice { blocks: blocks.collect(), ..FoldChoice::default() }
    }

    /// Returns the fate of each block in this session: a stale one waits if its agent asked again for folded content of
    /// the same tool.
    fn fates(&self) -> Vec<Fate> {
        let limit = self.engine.config.stale_calls;
        let results = self.blocks.iter().filter(|block| block.block.result.is_some()).count();
        let waits = |block: &KeyedBlock| lengthened(limit, self.ledger, block.block.tool_name(), results) - limit;
        let fate = |block: &KeyedBlock| match block.fate {
            Fate::Foldable(permission) if permission.reason == Reason::Stale && permission.calls < waits(block) => {
                Fate::Young { is_nearly_stale: false }
            }
            fate => fate,
        };
        self.blocks.iter().map(fate).collect()
    }

    fn choose_by_price(
        &self,
        states: &[BlockState],
        fates: &[Fate],
        is_switched: bool,
        is_rewritten: bool,
    ) -> FoldChoice {
        let Self { engine, scope, transcript, blocks, ledger, options, now, .. } = *self;
        let config = &engine.config;
        let model = options.model.as_deref();
        // Only a model that the caller names may lose thinking.
        let thinking_rule = Provider::of(&ModelName::of(model)).thinking;
        let priced = model.or_else(|| transcript.last_model());
        let prices = Tariff::of(priced, options.prices.as_ref(), transcript).prices;
        let touch_interval = StoreOptions::from(&**config).touch_interval_ms();
        let last_call = engine.assemblies.last_call(scope, transcript, ledger, touch_interval);
        let mut cache = Cache::of(transcript, &prices, model, is_switched, last_call, now);
        cache.cold = cache.cold.or(is_rewritten.then_some(ColdCause::Rewritten));
        let after_cache_entry = after_cache_entry(&cache, blocks, now);
        let own_blocks = cache.own.longest(now).unwrap_or(0);
        let cached_blocks = Some(if cache.cold.is_some() { 0 } else { own_blocks });
        let (mut oversize, mut sent_tokens) = (Vec::new(), 0);
        let mut planned: Vec<PlannedBlock> = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| {
                let is_sent = index < cache.sent_blocks;
                let tokens = states[index].tokens(block);
                let is_open = states[index] == BlockState::Open && !is_kept(block);
                sent_tokens += if is_sent { tokens } else { 0 };
                let fate = match fates[index] {
                    // Fetched content is used for a while, so it stays.
                    Fate::Young { .. } if block.is_fetched => Fate::Stays,
                    fate if is_open => fate,
                    _ => Fate::Stays,
                };
                if is_open && options.refer_oversize && !is_sent && is_unprotected_oversize(block, config) {
                    oversize.push(ChosenBlock { index, reason: LARGE });
                }
                let can_leave = matches!(fate, Fate::Foldable(_) | Fate::Young { .. });
                let is_large_enough = can_leave && tokens >= config.min_tokens_to_fold;
                let tokens_freed = if is_large_enough { expected_savings(block, config) } else { 0 };
                let thinking = if is_open { self.thinking(block, thinking_rule) } else { None };
                PlannedBlock {
                    tokens,
                    tokens_freed,
                    fate,
                    is_cached: index < own_blocks,
                    other_caches: cache.others.iter().filter(|&&end| index < end).count() as u64,
                    is_after_cache_entry: after_cache_entry[index],
                    thinking,
                }
            })
            .collect();
        let overhead = cache.last_request.saturating_sub(sent_tokens);
        let threshold = |budget: u64| budget.saturating_mul(config.context_threshold_percent) / 100;
        let plan_context = PlanContext {
            prices,
            cold: cache.cold,
            overhead,
            // The host subtracts the system prompt from the budget that it states.
            limit: options.token_budget.map(|budget| threshold(budget) + overhead),
            folds_all: self.marks.folds_all,
            max_deferred_turns: config.max_deferred_turns,
            saved: saved(transcript, ledger, &prices),
        };
        let plan = loop {
            let Some(plan) = plan_folds(&planned, &plan_context) else {
                return FoldChoice { blocks: oversize, cached_blocks, after_cache_entry, ..FoldChoice::default() };
            };
            // A block that cannot leave frees nothing. The check reads the whole block, so it is made only for chosen
            // ones.
            let is_kept =
                |at: &usize| plan.cause.is_warm() && planned[*at].tokens_freed > 0 && !self.can_leave(&blocks[*at]);
            let unremovable: Vec<usize> = plan.blocks.iter().copied().filter(is_kept).collect();
            if unremovable.is_empty() {
                break plan;
            }
            unremovable.into_iter().for_each(|at| planned[at].tokens_freed = 0);
        };
        let cause = plan.cause.as_str();
        let chosen = plan.blocks.into_iter().map(|index| {
            let reason = match (planned[index].thinking, planned[index].fate.permission()) {
                (Some(_), _) => THINKING,
                (None, Some(permission)) => permission.reason.as_str(),
                (None, None) => cause,
            };
            ChosenBlock { index, reason }
        });
        let mut blocks: Vec<ChosenBlock> = chosen.chain(oversize).collect();
        blocks.sort_by_key(|chosen| chosen.index);
        blocks.dedup_by_key(|chosen| chosen.index);
        FoldChoice {
            blocks,
            cause: Some(cause),
            min_tokens_freed: plan.min_tokens_freed,
            cached_blocks,
            after_cache_entry,
        }
    }

    /// Returns the effect that a change before a thinking block has on it. Thinking that may not be stored unchanged
    /// cannot leave.
    fn thinking(&self, block: &KeyedBlock, provider: FinishedThinking) -> Option<ThinkingEffect> {
        let engine = self.engine;
        let BlockKind::Thinking(part) = block.block.kind else { return None };
        let is_storable = || {
            let json = part.to_string();
            engine.secrets().text_to_store(&json).is_some_and(|stored| stored == json)
        };
        let can_thinking_leave = || {
            block.fate == Fate::Finished
                && engine.config.thinking == Thinking::Auto
                && engine.contents.can_store(block.key.hash, is_storable)
        };
        match provider {
            FinishedThinking::Stays => None,
            FinishedThinking::MayLeave => can_thinking_leave().then_some(ThinkingEffect::Leaves),
            FinishedThinking::Bound => {
                Some(if can_thinking_leave() { ThinkingEffect::IsLost } else { ThinkingEffect::Holds })
            }
        }
    }

    /// Returns true if the secrets in a block permit it to leave.
    fn can_leave(&self, block: &KeyedBlock) -> bool {
        let engine = self.engine;
        let hash = block.key.hash;
        match (block.block.kind, &block.block.result) {
            (BlockKind::Text(text), Some(_)) => {
                engine.contents.can_store(hash, || engine.secrets().text_to_store(text).is_some())
            }
            (BlockKind::Call(call), _) => {
                engine.contents.can_store(hash, || engine.secrets().text_to_store(&call.arguments.to_json()).is_some())
            }
            _ => true,
        }
    }
}

/// Returns true if a fresh block would have been replaced at birth.
fn is_unprotected_oversize(block: &KeyedBlock, config: &Config) -> bool {
    !block.fate.is_protected() && block.is_oversize_output(config)
}

/// Returns for each block whether the coming request finds a cache entry that ends before it. It has the breakpoints
/// that the caller set, or one at its end.
fn after_cache_entry(cache: &Cache, blocks: &[KeyedBlock], now: Millis) -> Vec<bool> {
    if cache.own.reads_any_prefix() {
        return vec![true; blocks.len()];
    }
    let is_marked = |block: &KeyedBlock| is_cache_point(block.message.raw, &block.block.path);
    let mut breakpoints: Vec<usize> = (1..=blocks.len()).filter(|&end| is_marked(&blocks[end - 1])).collect();
    if breakpoints.is_empty() {
        breakpoints.push(blocks.len());
    }
    let mut after_cache_entry = vec![false; blocks.len()];
    let ends = cache.own.found(&breakpoints, Some(now)).filter(|&end| end < blocks.len());
    ends.for_each(|end| after_cache_entry[end] = true);
    after_cache_entry
}

/// Returns what the session has saved so far, in input tokens at full price, compared with an untouched context. Calls
/// without a timestamp, and all calls before them, are not counted.
///
/// An epoch that costs no more than this leaves the session no more expensive than untouched, even if it ends with the
/// next call.
fn saved(transcript: &Transcript, ledger: &Ledger, prices: &Prices) -> f64 {
    let calls = transcript.messages.iter().rev().filter(|message| message.is_call);
    // Newest first; a clock that was set back does not make an earlier call a later one.
    let earliest = |earliest: &mut Millis, time: Millis| {
        *earliest = time.min(*earliest);
        Some(*earliest)
    };
    let times: Vec<Millis> = calls.map_while(|call| call.timestamp).scan(Millis::MAX, earliest).collect();
    let since = |at: Millis| times.partition_point(|&time| time >= at) as u64;
    let Prices { read, write, .. } = *prices;
    // The first later call would have written the freed tokens to the cache.
    let fresh = |at, freed: u64| freed as f64 * (write + read * since(at).saturating_sub(1) as f64);
    let epoch = |(at, epoch): &(Millis, Epoch)| {
        if ColdCause::is_cold_reason(&epoch.reason) {
            return fresh(*at, epoch.tokens_freed);
        }
        epoch.tokens_freed as f64 * (read * since(*at) as f64) - (write - read).max(0.0) * epoch.tokens_rebilled as f64
    };
    ledger.admitted.iter().map(|&(at, freed)| fresh(at, freed)).chain(ledger.epochs.iter().map(epoch)).sum()
}

/// Returns true for a block that is never folded although it may go: an output that already is a placeholder, of
/// whichever session, and a call with a cache breakpoint of the caller. A part of a call's arguments always stays, and
/// a block with a breakpoint leaves whole or not at all.
fn is_kept(block: &KeyedBlock) -> bool {
    match block.block.kind {
        BlockKind::Text(text) => is_output(block.block) && is_reference(text),
        BlockKind::Call(_) => is_cache_point(block.message.raw, &block.block.path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_fresh_fold_saves_a_write_and_an_epoch_pays_for_itself_by_and_by() {
        let prices = Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000, step: None };
        let after = |calls: i64, ledger: &Ledger| {
            let messages: Vec<Value> = (1..=calls).map(|at| json!({ "role": "assistant", "timestamp": at })).collect();
            saved(&Transcript::read(&messages), ledger, &prices)
        };
        let fresh = Ledger { admitted: vec![(1, 1000)], ..Ledger::default() };
        assert!((after(0, &fresh) - 1250.0).abs() < 1e-9);
        assert!((after(3, &fresh) - 1450.0).abs() < 1e-9);
        let epoch = Epoch { reason: "stale".into(), tokens_freed: 1000, tokens_rebilled: 2000, blocks: 1 };
        let epoch = Ledger { epochs: vec![(1, epoch)], ..Ledger::default() };
        assert!((after(1, &epoch) + 2200.0).abs() < 1e-9);
        assert!(after(23, &epoch).abs() < 1e-9);
    }
}
