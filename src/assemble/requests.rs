//! A finished turn -> its requests, with us and without.
//!
//! What left a request is known from the assembly before it and, for what was born or fetched since, from the times: a call holds what
//! came before it. The last assembly of a session is remembered in memory only; where it is forgotten the request before stands in.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::identity::Known;
use super::{Engine, FETCH_TOOL, Report};
use crate::error::Result;
use crate::history::measure::message_tokens;
use crate::plan::bill::{Before, Call, bill};
use crate::plan::prices::{Family, Prices};
use crate::reference::ContentHash;
use crate::store::figures::{FoldedKind, Recent, Request, Turn};
use crate::store::{Ledger, Millis, Scope, TurnStatus};
use crate::transcript::{Kind, Transcript, Usage};

/// Sessions remembered.
const MOST: usize = 1000;

/// What the last assembly of a session handed over.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    at: Millis,
    /// Tokens of it.
    tokens: u64,
    /// How many it has fewer than without us.
    freed: u64,
    /// How many of it are there because they were fetched.
    fetched: u64,
    /// How much of the request before its epoch changed or moved, where the cache was warm.
    broken: Option<u64>,
    /// Whether the fetch tool comes with it.
    has_tool: bool,
    /// Calls of turns that never finished: their answers stand in the history, and nobody has recorded them.
    missed: Vec<Answer>,
}

/// A model call as its answer tells of it.
#[derive(Debug, Clone)]
struct Answer {
    /// Index of its message.
    index: usize,
    at: Option<Millis>,
    usage: Option<Usage>,
    model: Option<String>,
    /// Whether the answer before it asked for originals and nothing else.
    is_for_fetch: bool,
}

/// The model calls behind the answers of a transcript.
fn answers(transcript: &Transcript) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut is_for_fetch = false;
    for (index, message) in transcript.messages.iter().enumerate() {
        if !message.is_call() {
            continue;
        }
        let usage = message.usage();
        let model = message.raw["model"].as_str().map(str::to_owned);
        answers.push(Answer { index, at: message.timestamp, usage, model, is_for_fetch });
        let mut calls = message.blocks.iter().filter_map(|block| match block.kind {
            Kind::Call(call) => Some(call.name == FETCH_TOOL),
            _ => None,
        });
        is_for_fetch = calls.next().is_some_and(|first| first && calls.all(|is_fetch| is_fetch));
    }
    answers
}

/// The last assemblies.
#[derive(Default)]
pub(super) struct Views(Mutex<HashMap<Scope, View>>);

impl Views {
    pub(super) fn keep(&self, scope: &Scope, view: View) {
        let mut views = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() >= MOST && !views.contains_key(scope) {
            let oldest = views.iter().min_by_key(|(_, view)| view.at).map(|(scope, _)| scope.clone());
            oldest.and_then(|oldest| views.remove(&oldest));
        }
        views.insert(scope.clone(), view);
    }

    fn take(&self, scope: &Scope) -> Option<View> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(scope)
    }
}

/// A finished turn as the host tells it.
#[derive(Debug, Default)]
pub struct FinishedTurn<'a> {
    /// What the host knows it by: the same key again is a duplicate.
    pub advancement_key: &'a str,
    /// What the host calls the conversation.
    pub session_key: Option<&'a str>,
    /// The turn's messages, from its user's on. Where every answer reports its usage nothing else of them is needed than the names
    /// of the tools that were called.
    pub messages: &'a [Value],
    /// What tokens cost; by the model's family where nobody says.
    pub prices: Option<Prices>,
    /// What an input token costs in dollars.
    pub usd: Option<f64>,
    /// The definition of the fetch tool, as the model is sent it.
    pub tool: &'a str,
}

impl View {
    /// A history of so many tokens that stayed as it was.
    pub(super) fn untouched(tokens: u64, at: Millis) -> Self {
        Self { at, tokens, ..Self::default() }
    }

    /// What an assembly handed over.
    pub(super) fn of(
        transcript: &Transcript,
        known: &[Known],
        report: &Report,
        ledger: &Ledger,
        is_warm: bool,
        at: Millis,
    ) -> Self {
        let shown: HashMap<(usize, usize), u64> =
            report.actions.iter().map(|action| ((action.message, action.block), action.tokens_after)).collect();
        let saved: HashMap<ContentHash, u64> =
            ledger.printed.iter().filter(|row| row.saved > 0).map(|row| (row.text, row.saved)).collect();
        let mut view = Self { has_tool: true, ..Self::untouched(report.tokens_after, at) };
        for known in known {
            let after = shown.get(&(known.message, known.index)).copied().unwrap_or(known.tokens);
            if is_of_fetch(known) {
                view.fetched += after;
            } else {
                let before = known.tokens + saved.get(&known.key.hash).copied().unwrap_or(0);
                view.freed += before.saturating_sub(after);
            }
        }
        view.broken = report.epoch.as_ref().filter(|_| is_warm).map(|epoch| epoch.tokens_freed + epoch.tokens_rebilled);
        // Before the first record of a session nobody knows which of its calls were made through us.
        if let Some(last) = ledger.last_request {
            let is_new = |answer: &Answer| answer.usage.is_some() && answer.at.is_some_and(|at| at > last);
            view.missed = answers(transcript).into_iter().filter(is_new).collect();
        }
        view
    }
}

fn is_of_fetch(known: &Known) -> bool {
    let is_call = matches!(known.block.kind, Kind::Call(call) if call.name == FETCH_TOOL);
    is_call || known.block.result.as_ref().is_some_and(|result| result.tool_name == Some(FETCH_TOOL))
}

/// What a block is counted under when it is folded.
pub(super) fn kind_of(known: &Known) -> FoldedKind {
    match (known.block.kind, &known.block.result) {
        (Kind::Text(_), Some(_)) => FoldedKind::Results,
        (Kind::Call(_), _) => FoldedKind::Arguments,
        (Kind::Thinking(_), _) => FoldedKind::Thinking,
        (Kind::Image(_), _) => FoldedKind::Images,
        _ => FoldedKind::Other,
    }
}

impl Engine {
    /// Records a finished turn with its requests: atomic, and a second time the same key is a duplicate.
    pub fn commit_turn(&self, scope: &Scope, turn: &FinishedTurn, now: Millis) -> Result<TurnStatus> {
        let view = self.views.take(scope);
        // Without the assembly nobody knows which part of the turn is new.
        let recent = self.store.recent(scope, view.as_ref().map_or(Millis::MAX, |view| view.at))?;
        let requests = self.requests(turn, view, &recent, now);
        let turn = Turn {
            advancement_key: turn.advancement_key.to_owned(),
            session_key: turn.session_key.map(str::to_owned),
            requests,
        };
        self.store.commit_turn(scope, &turn, now)
    }

    fn requests(&self, turn: &FinishedTurn, view: Option<View>, recent: &Recent, now: Millis) -> Vec<Request> {
        let own = |text: &str| self.memo.of_text(text).1;
        let overhead_before = recent.last.map_or(0, |last| last.overhead);
        let as_before = View::after(recent.last_without);
        let overhead = match &view {
            Some(view) if view.has_tool => own(turn.tool),
            Some(_) => 0,
            None => overhead_before,
        };
        let base = view.unwrap_or_else(|| as_before.clone());
        let mut bills = Bills {
            before: recent.last.map(|last| Before {
                at: last.at,
                sent: last.sent,
                without: recent.last_without.map_or(0, |last| last.without),
            }),
            prices: turn.prices,
            usd: turn.usd,
        };
        let call = |answer: &Answer, view: &View, overhead| Call {
            at: answer.at.unwrap_or(now),
            usage: answer.usage,
            counted: 0,
            freed: view.freed,
            fetched: view.fetched,
            overhead,
            is_for_fetch: answer.is_for_fetch,
            broken: None,
        };
        let mut requests: Vec<Request> =
            base.missed.iter().map(|answer| bills.add(answer, call(answer, &as_before, overhead_before))).collect();
        let mut broken = base.broken;
        for answer in answers(&Transcript::read(turn.messages)) {
            let mut call = call(&answer, &base, overhead);
            let until = |rows: &[(Millis, u64)]| {
                rows.iter().filter(|(at, _)| *at <= call.at).map(|(_, tokens)| tokens).sum::<u64>()
            };
            let (born, fetched) = (until(&recent.admitted), until(&recent.fetched));
            call.freed += born;
            call.fetched += fetched;
            call.broken = broken.take();
            if answer.usage.is_none() {
                let sent = &turn.messages[..answer.index];
                let in_turn = message_tokens(sent, answer.model.as_deref(), self.config.encoding) as u64;
                call.counted = overhead + base.tokens + in_turn;
            }
            requests.push(bills.add(&answer, call));
        }
        requests
    }
}

/// Bills one request after the other.
struct Bills {
    before: Option<Before>,
    prices: Option<Prices>,
    usd: Option<f64>,
}

impl Bills {
    fn add(&mut self, answer: &Answer, call: Call) -> Request {
        let prices = self.prices.unwrap_or_else(|| Family::of(answer.model.as_deref()).prices);
        let billed = bill(&call, self.before.as_ref(), &prices);
        let without = if call.is_for_fetch { self.before.map_or(0, |before| before.without) } else { billed.without };
        self.before = Some(Before { at: call.at, sent: billed.sent, without });
        Request {
            at: call.at,
            is_measured: call.usage.is_some(),
            sent: billed.sent,
            without: billed.without,
            overhead: call.overhead.min(billed.sent),
            fetched: billed.fetched,
            sent_bill: billed.sent_bill,
            without_bill: billed.without_bill,
            usd: self.usd,
        }
    }
}

impl View {
    /// What the next assembly would have handed over, as far as the last request tells.
    fn after(last: Option<Request>) -> Self {
        let freed = |last: Request| (last.without + last.overhead + last.fetched).saturating_sub(last.sent);
        last.map_or_else(Self::default, |last| Self {
            at: last.at,
            tokens: last.sent.saturating_sub(last.overhead),
            freed: freed(last),
            fetched: last.fetched,
            ..Self::default()
        })
    }
}
