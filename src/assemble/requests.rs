//! A finished turn -> its requests, with us and without.
//!
//! What left a request is known from the assembly before it and, for what was born or fetched since, from the times: a call holds what
//! came before it. Assemblies are remembered in memory only (`views`); where they are forgotten the request before stands in.

use std::collections::HashMap;

use serde_json::Value;

use super::Engine;
use super::identity::Known;
use super::views::{Answer, Place, Seen, View, answers};
use crate::config::Encoding;
use crate::error::Result;
use crate::history::measure::message_tokens;
use crate::plan::bill::{Before, Call, bill};
use crate::plan::prices::{Family, Prices};
use crate::store::figures::{FoldedKind, Recent, Request, Turn};
use crate::store::{Millis, Scope, TurnStatus};
use crate::transcript::{Kind, Transcript};

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
        let seen = self.views.take(scope);
        // Without the assembly nobody knows which part of the turn is new.
        let recent = self.store.recent(scope, seen.since().unwrap_or(Millis::MAX))?;
        let requests = self.requests(turn, &seen, &recent, now);
        let turn = Turn {
            advancement_key: turn.advancement_key.to_owned(),
            session_key: turn.session_key.map(str::to_owned),
            requests,
        };
        self.store.commit_turn(scope, &turn, now)
    }

    fn requests(&self, turn: &FinishedTurn, seen: &Seen, recent: &Recent, now: Millis) -> Vec<Request> {
        let own = self.memo.of_text(turn.tool).1;
        let overhead_before = recent.last.map_or(0, |last| last.overhead);
        let as_before = View::after(recent.last_without);
        let mut bills = Bills {
            before: recent.last.map(|last| Before {
                at: last.at,
                sent: last.sent,
                without: recent.last_without.map_or(0, |last| last.without),
            }),
            prices: turn.prices,
            usd: turn.usd,
        };
        let transcript = Transcript::read(turn.messages);
        let answers = answers(&transcript);
        let places = seen.places(&transcript, &answers, now);
        let mut requests: Vec<Request> = seen
            .missed(&answers)
            .map(|answer| bills.add(answer, call_of(answer, &as_before, overhead_before, now)))
            .collect();
        let mut tokens =
            TurnTokens { messages: turn.messages, encoding: self.config.encoding, by_model: HashMap::new() };
        let unseen = Place { view: &as_before, answers: -1, messages: 0, until: seen.since().unwrap_or(now) };
        for (number, answer) in answers.iter().enumerate() {
            let number = number as isize;
            let place = places.iter().rfind(|place| place.answers <= number);
            let overhead = match place {
                Some(place) if place.view.has_tool => own,
                Some(_) => 0,
                None => overhead_before,
            };
            let place = place.unwrap_or(&unseen);
            let is_next = place.answers == number;
            let mut call = call_of(answer, place.view, overhead, if is_next { place.view.at } else { place.until });
            let since = |rows: &[(Millis, u64)], until: Millis| -> u64 {
                let is_since = |at: Millis| at > place.view.at && at <= until;
                rows.iter().filter(|(at, _)| is_since(*at)).map(|(_, tokens)| tokens).sum()
            };
            // Where an answer has no time, what may have come after it is no saving.
            let until = |known: Option<Millis>| known.unwrap_or(place.view.at).min(place.until);
            call.freed += since(&recent.admitted, until(answer.at));
            call.fetched += since(&recent.fetched, until(Some(call.at)));
            call.broken =
                places.iter().filter(|place| place.answers == number).filter_map(|place| place.view.broken).max();
            if answer.usage.is_none() {
                let new = tokens.between(place.messages.min(answer.index), answer.index, answer.model.as_ref());
                call.counted = overhead + place.view.tokens + new;
            }
            requests.push(bills.add(answer, call));
        }
        requests
    }
}

/// Tokens of a turn's messages, each counted once for each model.
struct TurnTokens<'a> {
    messages: &'a [Value],
    encoding: Encoding,
    /// Of each model, the tokens before each message, and of all.
    by_model: HashMap<Option<String>, Vec<u64>>,
}

impl TurnTokens<'_> {
    /// Tokens of the messages from one index to another.
    fn between(&mut self, from: usize, to: usize, model: Option<&String>) -> u64 {
        let (messages, encoding) = (self.messages, self.encoding);
        let before = self.by_model.entry(model.cloned()).or_insert_with(|| {
            let mut sum = 0;
            let tokens = messages.iter().map(|message| {
                sum += message_tokens(std::slice::from_ref(message), model.map(String::as_str), encoding) as u64;
                sum
            });
            std::iter::once(0).chain(tokens).collect()
        });
        before[to] - before[from]
    }
}

/// The call behind an answer, as if nothing had come between it and the assembly; where it has no time, it was made at `at`.
fn call_of(answer: &Answer, view: &View, overhead: u64, at: Millis) -> Call {
    Call {
        at: answer.at.unwrap_or(at),
        usage: answer.usage,
        counted: 0,
        freed: view.freed,
        fetched: view.fetched,
        overhead,
        is_for_fetch: answer.is_for_fetch,
        broken: None,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_tokens_of_a_part_of_a_turn_are_those_of_its_messages() {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let messages = [
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "exec", "input": { "x": 1 } }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": [image] }] }),
            json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] }),
            json!({ "role": "compactionSummary", "summary": "so far" }),
        ];
        let encoding = Encoding::O200kBase;
        let mut tokens = TurnTokens { messages: &messages, encoding, by_model: HashMap::new() };
        for model in [None, Some("gpt-5.5".to_owned()), Some("claude-opus-4-6".to_owned())] {
            for from in 0..=messages.len() {
                for to in from..=messages.len() {
                    let expected = message_tokens(&messages[from..to], model.as_deref(), encoding) as u64;
                    assert_eq!(tokens.between(from, to, model.as_ref()), expected, "{model:?} {from}..{to}");
                }
            }
        }
    }
}
