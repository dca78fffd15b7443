//! Which blocks of a history are folded in this call.
//!
//! `every-turn` folds whatever may go. `cache-aware` asks what the provider's cache holds and folds when that pays.

use super::identity::Known;
use super::placeholder::expected_savings;
use super::replay::State;
use super::unfold::{is_output, is_reference};
use super::{AssembleOptions, Engine};
use crate::config::{self, Schedule};
use crate::history::{Fate, is_over, may_go_fresh, may_replace};
use crate::plan::balance::{Change, balance};
use crate::plan::cache::{Cache, Cold};
use crate::plan::economics::{Item, Situation, Thinking, decide};
use crate::plan::prices::{Family, FinishedThinking, Prices};
use crate::store::{Ledger, Millis};
use crate::transcript::{Kind, Transcript, is_cache_point};

/// A block to fold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    /// Index among the known blocks.
    pub(super) known: usize,
    /// The word for the report.
    pub(super) reason: &'static str,
}

/// The word for an output over the reference threshold.
pub(super) const LARGE: &str = "large";

/// The word for thinking that leaves.
pub(super) const THINKING: &str = "thinking";

/// What to fold, and the reason of the epoch where it is not the first block's.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) blocks: Vec<Chosen>,
    pub(super) cause: Option<&'static str>,
    /// How much all of it has to free when it is counted; else none of it is folded.
    pub(super) least: u64,
    /// Of each known block, whether the cache can be read up to it; of those that are not named it can.
    pub(super) entries: Vec<bool>,
}

/// The moment of a call, beside its history.
pub(super) struct Moment<'o> {
    pub(super) options: &'o AssembleOptions,
    /// What the session knows.
    pub(super) ledger: &'o Ledger,
    /// Whether the ledger knows another model or list of tools.
    pub(super) is_switched: bool,
    /// When the last call was made, at the latest, where its answer has no time.
    pub(super) last_call: Option<Millis>,
    /// Whether nothing is left in place of what was folded before: another past stands before every block.
    pub(super) is_rewritten: bool,
    pub(super) now: Millis,
}

impl Engine {
    /// Chooses among the open blocks.
    pub(super) fn choose(&self, transcript: &Transcript, known: &[Known], states: &[State], moment: &Moment) -> Choice {
        match self.config.schedule {
            Schedule::EveryTurn => self.choose_by_age(known, states, moment.options),
            Schedule::CacheAware => self.choose_by_price(transcript, known, states, moment),
        }
    }

    fn choose_by_age(&self, known: &[Known], states: &[State], options: &AssembleOptions) -> Choice {
        let is_open = |(index, known): &(usize, &Known)| states[*index] == State::Open && !stays(known);
        let open = known.iter().enumerate().filter(is_open);
        let blocks = open.filter_map(|(index, known)| {
            let reason = match known.fate.may_go() {
                Some(may_go) if known.tokens >= self.config.min_tokens_to_squeeze => may_go.reason.as_str(),
                _ if options.refer_oversize && self.is_oversize_output(known) => LARGE,
                _ => return None,
            };
            Some(Chosen { known: index, reason })
        });
        Choice { blocks: blocks.collect(), ..Choice::default() }
    }

    fn choose_by_price(&self, transcript: &Transcript, known: &[Known], states: &[State], moment: &Moment) -> Choice {
        let model = moment.options.model.as_deref();
        let family = Family::of(model);
        let prices = moment.options.prices.unwrap_or(family.prices);
        let mut cache = Cache::of(transcript, &prices, model, moment.is_switched, moment.last_call, moment.now);
        cache.cold = cache.cold.or(moment.is_rewritten.then_some(Cold::Rewritten));
        let entries = entries(&cache, family.lookback, known);
        let own = cache.own.last().copied().unwrap_or(0);
        let (mut oversize, mut sent_tokens) = (Vec::new(), 0);
        let mut items: Vec<Item> = known
            .iter()
            .enumerate()
            .map(|(index, known)| {
                let is_sent = known.message < cache.sent;
                let (tokens, is_open) = match states[index] {
                    State::Open => (known.tokens, !stays(known)),
                    State::Placeholder(tokens) | State::Replaced(tokens) => (tokens, false),
                };
                sent_tokens += if is_sent { tokens } else { 0 };
                let fate = match known.fate {
                    // What was fetched on purpose is used for a while.
                    Fate::Young { .. } if known.is_fetched => Fate::Stays,
                    fate if is_open => fate,
                    _ => Fate::Stays,
                };
                if is_open && moment.options.refer_oversize && !is_sent && self.is_oversize_output(known) {
                    oversize.push(Chosen { known: index, reason: LARGE });
                }
                let may_leave = matches!(fate, Fate::MayGo(_) | Fate::Young { .. });
                let worth = may_leave && tokens >= self.config.min_tokens_to_fold;
                let frees = if worth { expected_savings(known, &self.config) } else { 0 };
                let thinking = if is_open { self.thinking(known, family.thinking) } else { None };
                let is_held = known.message < own;
                let others = cache.others.iter().filter(|&&other| known.message < other).count() as u64;
                Item { tokens, frees, fate, is_held, others, is_entry: entries[index], thinking }
            })
            .collect();
        let overhead = cache.last_request.saturating_sub(sent_tokens);
        let threshold = |budget: u64| budget.saturating_mul(self.config.context_threshold_percent) / 100;
        let situation = Situation {
            prices,
            cold: cache.cold,
            binds_thinking: family.thinking == FinishedThinking::Bound,
            overhead,
            // The host takes the system prompt off the budget that it states.
            limit: moment.options.token_budget.map(|budget| threshold(budget) + overhead),
            cliff: family.cliff,
            max_deferred_turns: self.config.max_deferred_turns,
            saved: saved(transcript, moment.ledger, &prices),
        };
        let decision = loop {
            let Some(decision) = decide(&items, &situation) else {
                return Choice { blocks: oversize, ..Choice::default() };
            };
            // What cannot go frees nothing. Whether it can is asked only of what was chosen, for that takes reading it.
            let stays = |at: &usize| decision.cause.is_warm() && items[*at].frees > 0 && !self.may_leave(&known[*at]);
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
            Chosen { known: index, reason }
        });
        let mut blocks: Vec<Chosen> = chosen.chain(oversize).collect();
        blocks.sort_by_key(|chosen| chosen.known);
        blocks.dedup_by_key(|chosen| chosen.known);
        Choice { blocks, cause: Some(cause), least: decision.least, entries }
    }

    /// What a change before a block does to it, if it is thinking. What may not be stored as it is cannot leave.
    fn thinking(&self, known: &Known, provider: FinishedThinking) -> Option<Thinking> {
        let Kind::Thinking(part) = known.block.kind else { return None };
        let is_storable = || {
            let json = part.to_string();
            self.storable(&json).is_some_and(|stored| stored == json)
        };
        let leaves = || {
            known.fate == Fate::Finished
                && self.config.thinking == config::Thinking::Auto
                && self.memo.may_store(known.key.hash, is_storable)
        };
        match provider {
            FinishedThinking::Stays => None,
            FinishedThinking::MayLeave => leaves().then_some(Thinking::Leaves),
            FinishedThinking::Bound => Some(if leaves() { Thinking::Leaves } else { Thinking::Holds }),
        }
    }

    /// Whether the options and the secrets in a block let it leave.
    fn may_leave(&self, known: &Known) -> bool {
        let hash = known.key.hash;
        match (known.block.kind, &known.block.result) {
            (Kind::Text(text), Some(result)) => {
                may_replace(result, text, &self.config) && self.memo.may_store(hash, || self.storable(text).is_some())
            }
            (Kind::Call(call), _) => self.memo.may_store(hash, || self.storable(&call.arguments.to_json()).is_some()),
            _ => true,
        }
    }

    /// Whether a fresh block is an output over the reference threshold that birth would have replaced.
    fn is_oversize_output(&self, known: &Known) -> bool {
        known.block.result.is_some()
            && !known.is_fetched
            && matches!(known.block.kind, Kind::Text(text) if is_over(text, &self.config))
            && may_go_fresh(known.view.raw, known.block, &self.config)
    }
}

/// Of each block, whether the cache can be read up to it: an earlier request ended there, no further back than the provider looks.
fn entries(cache: &Cache, lookback: Option<usize>, known: &[Known]) -> Vec<bool> {
    let Some(lookback) = lookback else { return vec![true; known.len()] };
    let mut entries = vec![false; known.len()];
    let ends = cache.own.iter().map(|&call| known.partition_point(|known| known.message < call));
    let is_reached = |end: &usize| *end < known.len() && end + lookback >= known.len();
    ends.filter(is_reached).for_each(|end| entries[end] = true);
    entries
}

/// What the session has saved so far. A call without a time, and all before it, count for nothing.
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
    let fresh = admitted.map(|&(at, freed)| Change { calls: since(at), freed, rebilled: 0, is_fresh: true });
    let epochs = ledger.epochs.iter().map(|(at, epoch)| {
        let is_cold = Cold::is_reason(&epoch.reason);
        let rebilled = if is_cold { 0 } else { epoch.tokens_rebilled };
        Change { calls: since(*at), freed: epoch.tokens_freed, rebilled, is_fresh: is_cold }
    });
    balance(fresh.chain(epochs), prices)
}

/// Whether a block is never folded, though it may go: an output that is a placeholder already, whichever session it was printed for;
/// and a call on which a caller has put a cache breakpoint, for of its arguments a part always stays, and such a block leaves whole or
/// not at all.
fn stays(known: &Known) -> bool {
    match known.block.kind {
        Kind::Text(text) => is_output(known.block) && is_reference(text),
        Kind::Call(_) => is_cache_point(known.view.raw, &known.block.path),
        _ => false,
    }
}
