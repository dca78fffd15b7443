//! Chooses the blocks that are folded in this call.
//!
//! `every-turn` folds whatever may go. `cache-aware` estimates what the provider's cache holds and folds when that
//! pays.

use super::assemble_options::AssembleOptions;
use super::blocks::KeyedBlock;
use super::engine::Engine;
use super::fetch_answers::is_output;
use super::markers::is_reference;
use super::placeholder::expected_savings;
use super::replay::BlockState;
use super::report::{LARGE, THINKING};
use crate::config::{Schedule, Thinking};
use crate::history::{Fate, is_over, may_go_fresh, may_replace};
use crate::plan::balance::{PastChange, balance};
use crate::plan::cache::{Cache, Cold};
use crate::plan::economics::{Item, Situation, ThinkingEffect, decide};
use crate::plan::prices::{Family, FinishedThinking, Prices};
use crate::store::{Ledger, Millis};
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
    pub(super) least: u64,
    /// Per block: true if a cache entry may end before it. Blocks beyond the end of the list count as true.
    pub(super) entries: Vec<bool>,
}

/// The state that a choice depends on, beside the history.
pub(super) struct CallContext<'o> {
    pub(super) options: &'o AssembleOptions,
    /// The session's ledger.
    pub(super) ledger: &'o Ledger,
    /// True if the ledger records a different model or list of tools.
    pub(super) is_switched: bool,
    /// The latest possible time of the last call, if its answer carries no timestamp.
    pub(super) last_call: Option<Millis>,
    /// True if earlier folds exist but none is in context any more: every block then has a different prefix.
    pub(super) is_rewritten: bool,
    pub(super) now: Millis,
}

/// The choice among the open blocks of one assembly.
pub(super) struct Chooser<'e, 't, 'a> {
    pub(super) engine: &'e Engine,
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) blocks: &'e [KeyedBlock<'t, 'a>],
    /// The present state of each block.
    pub(super) states: &'e [BlockState],
    pub(super) context: CallContext<'e>,
}

impl Chooser<'_, '_, '_> {
    /// Chooses by the configured schedule.
    pub(super) fn choose(&self) -> FoldChoice {
        match self.engine.config.schedule {
            Schedule::EveryTurn => self.choose_by_age(),
            Schedule::CacheAware => self.choose_by_price(),
        }
    }

    fn choose_by_age(&self) -> FoldChoice {
        let config = &self.engine.config;
        let is_open = |(index, block): &(usize, &KeyedBlock)| self.states[*index] == BlockState::Open && !stays(block);
        let open = self.blocks.iter().enumerate().filter(is_open);
        let blocks = open.filter_map(|(index, block)| {
            let reason = match block.fate.may_go() {
                Some(may_go) if block.tokens >= config.min_tokens_to_squeeze => may_go.reason.as_str(),
                _ if self.context.options.refer_oversize && self.is_oversize_output(block) => LARGE,
                _ => return None,
            };
            Some(ChosenBlock { index, reason })
        });
        FoldChoice { blocks: blocks.collect(), ..FoldChoice::default() }
    }

    fn choose_by_price(&self) -> FoldChoice {
        let Self { engine, transcript, blocks, states, ref context } = *self;
        let config = &engine.config;
        let model = context.options.model.as_deref();
        let family = Family::of(model);
        let prices = context.options.prices.unwrap_or(family.prices);
        let mut cache = Cache::of(transcript, &prices, model, context.is_switched, context.last_call, context.now);
        cache.cold = cache.cold.or(context.is_rewritten.then_some(Cold::Rewritten));
        let entries = entries(&cache, family.lookback, blocks);
        let own = cache.own.last().copied().unwrap_or(0);
        let (mut oversize, mut sent_tokens) = (Vec::new(), 0);
        let mut items: Vec<Item> = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| {
                let is_sent = block.message_index < cache.sent;
                let (tokens, is_open) = match states[index] {
                    BlockState::Open => (block.tokens, !stays(block)),
                    BlockState::Placeholder(tokens) | BlockState::Replaced(tokens) => (tokens, false),
                };
                sent_tokens += if is_sent { tokens } else { 0 };
                let fate = match block.fate {
                    // Fetched content is used for a while, so it stays.
                    Fate::Young { .. } if block.is_fetched => Fate::Stays,
                    fate if is_open => fate,
                    _ => Fate::Stays,
                };
                if is_open && context.options.refer_oversize && !is_sent && self.is_oversize_output(block) {
                    oversize.push(ChosenBlock { index, reason: LARGE });
                }
                let may_leave = matches!(fate, Fate::MayGo(_) | Fate::Young { .. });
                let worth = may_leave && tokens >= config.min_tokens_to_fold;
                let frees = if worth { expected_savings(block, config) } else { 0 };
                let thinking = if is_open { self.thinking(block, family.thinking) } else { None };
                let is_held = block.message_index < own;
                let others = cache.others.iter().filter(|&&other| block.message_index < other).count() as u64;
                Item { tokens, frees, fate, is_held, others, is_entry: entries[index], thinking }
            })
            .collect();
        let overhead = cache.last_request.saturating_sub(sent_tokens);
        let threshold = |budget: u64| budget.saturating_mul(config.context_threshold_percent) / 100;
        let situation = Situation {
            prices,
            cold: cache.cold,
            binds_thinking: family.thinking == FinishedThinking::Bound,
            overhead,
            // The host subtracts the system prompt from the budget that it states.
            limit: context.options.token_budget.map(|budget| threshold(budget) + overhead),
            cliff: family.cliff,
            max_deferred_turns: config.max_deferred_turns,
            saved: saved(transcript, context.ledger, &prices),
        };
        let decision = loop {
            let Some(decision) = decide(&items, &situation) else {
                return FoldChoice { blocks: oversize, ..FoldChoice::default() };
            };
            // A block that cannot leave frees nothing. The check reads the whole block, so it is made only for chosen
            // ones.
            let stays = |at: &usize| decision.cause.is_warm() && items[*at].frees > 0 && !self.may_leave(&blocks[*at]);
            let stay: Vec<usize> = decision.items.iter().copied().filter(stays).collect();
            if stay.is_empty() {
                break decision;
            }
            stay.into_iter().for_each(|at| items[at].frees = 0);
        };
        let cause = decision.cause.as_str();
        let chosen = decision.items.into_iter().map(|index| {
            let reason = match (items[index].thinking, items[index].fate.may_go()) {
                (Some(_), _) => THINKING,
                (None, Some(may_go)) => may_go.reason.as_str(),
                (None, None) => cause,
            };
            ChosenBlock { index, reason }
        });
        let mut blocks: Vec<ChosenBlock> = chosen.chain(oversize).collect();
        blocks.sort_by_key(|chosen| chosen.index);
        blocks.dedup_by_key(|chosen| chosen.index);
        FoldChoice { blocks, cause: Some(cause), least: decision.least, entries }
    }

    /// Returns the effect that a change before a thinking block has on it. Thinking that may not be stored unchanged
    /// cannot leave.
    fn thinking(&self, block: &KeyedBlock, provider: FinishedThinking) -> Option<ThinkingEffect> {
        let engine = self.engine;
        let BlockKind::Thinking(part) = block.block.kind else { return None };
        let is_storable = || {
            let json = part.to_string();
            engine.secrets().storable(&json).is_some_and(|stored| stored == json)
        };
        let leaves = || {
            block.fate == Fate::Finished
                && engine.config.thinking == Thinking::Auto
                && engine.contents.may_store(block.key.hash, is_storable)
        };
        match provider {
            FinishedThinking::Stays => None,
            FinishedThinking::MayLeave => leaves().then_some(ThinkingEffect::Leaves),
            FinishedThinking::Bound => Some(if leaves() { ThinkingEffect::Leaves } else { ThinkingEffect::Holds }),
        }
    }

    /// Returns true if the options and the secrets in a block permit it to leave.
    fn may_leave(&self, block: &KeyedBlock) -> bool {
        let engine = self.engine;
        let hash = block.key.hash;
        match (block.block.kind, &block.block.result) {
            (BlockKind::Text(text), Some(result)) => {
                may_replace(result, text, &engine.config)
                    && engine.contents.may_store(hash, || engine.secrets().storable(text).is_some())
            }
            (BlockKind::Call(call), _) => {
                engine.contents.may_store(hash, || engine.secrets().storable(&call.arguments.to_json()).is_some())
            }
            _ => true,
        }
    }

    /// Returns true if a fresh block is an output over the reference threshold that would have been replaced at birth.
    fn is_oversize_output(&self, block: &KeyedBlock) -> bool {
        block.block.result.is_some()
            && !block.is_fetched
            && matches!(block.block.kind, BlockKind::Text(text) if is_over(text, &self.engine.config))
            && may_go_fresh(block.message.raw, block.block, &self.engine.config)
    }
}

/// Returns for each block whether a cache entry ends before it: an earlier request ended there, within the provider's
/// lookback.
fn entries(cache: &Cache, lookback: Option<usize>, blocks: &[KeyedBlock]) -> Vec<bool> {
    let Some(lookback) = lookback else { return vec![true; blocks.len()] };
    let mut entries = vec![false; blocks.len()];
    let ends = cache.own.iter().map(|&call| blocks.partition_point(|block| block.message_index < call));
    let is_reached = |end: &usize| *end < blocks.len() && end + lookback >= blocks.len();
    ends.filter(is_reached).for_each(|end| entries[end] = true);
    entries
}

/// Returns what the session has saved so far. Calls without a timestamp, and all calls before them, are not counted.
fn saved(transcript: &Transcript, ledger: &Ledger, prices: &Prices) -> f64 {
    let calls = transcript.messages.iter().rev().filter(|message| message.is_call());
    // Newest first; a clock that was set back does not make an earlier call a later one.
    let earliest = |earliest: &mut Millis, time: Millis| {
        *earliest = time.min(*earliest);
        Some(*earliest)
    };
    let times: Vec<Millis> = calls.map_while(|call| call.timestamp).scan(Millis::MAX, earliest).collect();
    let since = |at: Millis| times.partition_point(|&time| time >= at) as u64;
    let admitted = ledger.admitted.iter();
    let fresh = admitted.map(|&(at, freed)| PastChange { calls: since(at), freed, rebilled: 0, is_fresh: true });
    let epochs = ledger.epochs.iter().map(|(at, epoch)| {
        let is_cold = Cold::is_reason(&epoch.reason);
        let rebilled = if is_cold { 0 } else { epoch.tokens_rebilled };
        PastChange { calls: since(*at), freed: epoch.tokens_freed, rebilled, is_fresh: is_cold }
    });
    balance(fresh.chain(epochs), prices)
}

/// Returns true for a block that is never folded although it may go: an output that already is a placeholder, of
/// whichever session, and a call with a cache breakpoint of the caller. A part of a call's arguments always stays, and
/// a block with a breakpoint leaves whole or not at all.
fn stays(block: &KeyedBlock) -> bool {
    match block.block.kind {
        BlockKind::Text(text) => is_output(block.block) && is_reference(text),
        BlockKind::Call(_) => is_cache_point(block.message.raw, &block.block.path),
        _ => false,
    }
}
