//! A finished turn -> its requests, with and without the plugin.
//!
//! The tokens removed from a request are known from the assembly before it and, for content that was born or fetched
//! since, from timestamps: a call contains everything before it. Assemblies are kept in memory only (`assembly_log`). A
//! call without a known assembly, because another engine was in use or the process restarted, saved nothing: it would
//! have been the same without the plugin.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::assembly_log::{ModelAnswer, SessionAssemblies, answers};
use super::engine::Engine;
use crate::config::Encoding;
use crate::error::Result;
use crate::history::measure::message_tokens;
use crate::plan::bill::{BilledCall, bill};
use crate::plan::host_compaction::{HostCompaction, TokenScale, add_growth};
use crate::plan::prices::{StatedPrices, Tariff};
use crate::store::figures::{Recent, Request, Turn};
use crate::store::{Batch, FAILED, Mark, MarkKind, Millis, Receipt, Scope, TurnStatus};
use crate::transcript::Transcript;

/// A finished turn as the host describes it.
#[derive(Debug, Default)]
pub struct FinishedTurn<'a> {
    /// The host's key of the turn; a second turn with the same key is a duplicate.
    pub advancement_key: &'a str,
    /// The host's name of the conversation.
    pub session_key: Option<&'a str>,
    /// The turn's messages, starting with the user's. If every answer reports its usage, only the names of the called
    /// tools are needed beside it.
    pub messages: &'a [Value],
    /// Prices of the model's tokens, as far as the caller states them.
    pub prices: Option<StatedPrices>,
    /// The model's window in tokens. If set, figures without the plugin assume a host that compacts at it.
    pub window: Option<u64>,
    /// The definition of the fetch tool, as sent to the model.
    pub tool: &'a str,
    /// The tools of the results that reported a failure, one for each result.
    pub failed: &'a [String],
    /// True if the session is left untouched, to be compared with others.
    pub is_held_out: bool,
}

impl Engine {
    /// Records a finished turn with its requests, atomically. A second turn with the same key is a duplicate.
    pub fn commit_turn(&self, scope: &Scope, turn: &FinishedTurn, now: Millis) -> Result<TurnStatus> {
        let assemblies = self.assemblies.take(scope);
        // Without the assembly it is unknown which part of the turn is new.
        let recent = self.store.recent(scope, assemblies.since().unwrap_or(Millis::MAX))?;
        let requests = self.requests(turn, &assemblies, &recent, now);
        let recorded = Turn {
            advancement_key: turn.advancement_key.to_owned(),
            session_key: turn.session_key.map(str::to_owned),
            requests,
        };
        if turn.is_held_out {
            let marked = vec![Mark::on_session(MarkKind::HeldOut)];
            self.put(scope, Batch { marked, ..Batch::default() }, now)?;
        }
        let status = self.store.commit_turn(scope, &recorded, now)?;
        if status == TurnStatus::Committed && !turn.failed.is_empty() {
            let failed = |tool: &String| Receipt {
                kind: FAILED.to_owned(),
                tokens_before: 0,
                tokens_after: 0,
                detail: json!({ "tool": tool }).to_string(),
            };
            let receipts = turn.failed.iter().map(failed).collect();
            self.put(scope, Batch { receipts, ..Batch::default() }, now)?;
        }
        Ok(status)
    }

    fn requests(
        &self,
        turn: &FinishedTurn,
        assemblies: &SessionAssemblies,
        recent: &Recent,
        now: Millis,
    ) -> Vec<Request> {
        let tool_tokens = self.contents.of_text(turn.tool).1;
        let transcript = Transcript::read(turn.messages);
        let mut billing = Billing {
            before: recent.last.map(|last| {
                let Request { without, dropped, .. } = recent.last_without.unwrap_or_default();
                Request { without, dropped, ..last }
            }),
            turn,
            transcript: &transcript,
            tariffs: HashMap::new(),
            requests: Vec::new(),
        };
        let answers = answers(&transcript);
        let positions = assemblies.positions(&transcript, &answers, now);
        let mut tokens =
            TurnTokens { messages: turn.messages, encoding: self.config.encoding, by_model: HashMap::new() };
        for (answer, counted) in assemblies.unrecorded(&answers) {
            billing.add_bypassed(answer, BilledCall { counted, ..call_of(answer, now) });
        }
        let counts = |request: &Request| Some((request.sent.saturating_sub(request.overhead), request.counted?));
        let measured_counts =
            |request: Option<Request>| request.filter(|request| request.is_measured).as_ref().and_then(counts);
        let (mut first_assembled, mut last_assembled) =
            (measured_counts(recent.first_assembled), measured_counts(recent.last_assembled));
        let mut growth = recent.last_assembled.and_then(|last_assembled| last_assembled.growth).unwrap_or_default();
        let mut scale = TokenScale::IDENTITY;
        for (number, answer) in answers.iter().enumerate() {
            let index = number as isize;
            // An assembly that was made for an earlier turn says nothing about this one.
            let position = positions.iter().rfind(|position| (0..=index).contains(&position.answers));
            let Some(position) = position else {
                let counted = tokens.between(0, answer.index, answer.model.as_ref());
                billing.add_bypassed(answer, BilledCall { counted, ..call_of(answer, now) });
                continue;
            };
            let record = position.record;
            let is_next = position.answers == index;
            let overhead = if record.has_fetch_tool { tool_tokens } else { 0 };
            if let Some(usage) = answer.usage.filter(|_| is_next) {
                let latest = (usage.total().saturating_sub(overhead), record.tokens);
                growth = last_assembled.map_or(growth, |last_assembled| add_growth(growth, last_assembled, latest));
                last_assembled = Some(latest);
                scale = TokenScale::fit(growth, *first_assembled.get_or_insert(latest));
            }
            let mut call = call_of(answer, if is_next { record.at } else { position.until });
            let since = |rows: &[(Millis, u64)], until: Millis| -> u64 {
                let is_since = |at: Millis| at > record.at && at <= until;
                rows.iter().filter(|(at, _)| is_since(*at)).map(|(_, tokens)| tokens).sum()
            };
            // If an answer has no timestamp, content that may have come after it does not count as saved.
            let until = |known: Option<Millis>| known.unwrap_or(record.at).min(position.until);
            let window =
                turn.window.or_else(|| Some(HostCompaction::window_for(scale.of(record.budget?), scale.fixed)));
            let clipped = window.map_or(0, |window| record.results.beyond(HostCompaction::result_chars(window)));
            call.freed = scale.of((record.freed + since(&recent.admitted, until(answer.at))).saturating_sub(clipped));
            call.fetched = scale.of(record.fetched + since(&recent.fetched, until(Some(call.at))));
            call.protected = scale.of(record.protected);
            call.overhead = overhead;
            call.rewritten = positions
                .iter()
                .filter(|position| position.answers == index)
                .filter_map(|position| position.record.rewritten)
                .max();
            call.begins_turn = number == 0;
            call.was_compacted = is_next && record.compacted_at > billing.before.map(|before| before.at);
            if answer.usage.is_none() {
                let new = tokens.between(position.messages.min(answer.index), answer.index, answer.model.as_ref());
                call.counted = overhead + record.tokens + new;
            }
            let compaction = window.map(|window| HostCompaction {
                window,
                fixed: scale.fixed,
                kept: scale.of(record.compaction.kept),
                summarized: scale.of(record.compaction.summarized()),
            });
            billing.push(answer, &call, (is_next.then_some(record.tokens), Some(growth)), compaction.as_ref());
        }
        billing.requests
    }
}

/// Tokens of a turn's messages, each counted once per model.
struct TurnTokens<'a> {
    messages: &'a [Value],
    encoding: Encoding,
    /// Running token sums before each message, and the total, by model.
    by_model: HashMap<Option<String>, Vec<u64>>,
}

impl TurnTokens<'_> {
    /// Returns the tokens of the messages from one index to another.
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

/// Returns the call behind an answer, as if it had sent the same without the plugin. `at` is its time if the answer has
/// none.
fn call_of(answer: &ModelAnswer, at: Millis) -> BilledCall {
    BilledCall {
        at: answer.at.unwrap_or(at),
        usage: answer.usage,
        is_for_fetch: answer.is_for_fetch,
        ..BilledCall::default()
    }
}

/// Bills requests, one after the other.
struct Billing<'a> {
    before: Option<Request>,
    turn: &'a FinishedTurn<'a>,
    transcript: &'a Transcript<'a>,
    /// The prices of each model of the turn.
    tariffs: HashMap<Option<String>, Tariff>,
    requests: Vec<Request>,
}

impl Billing<'_> {
    /// Adds a request that was not made from a known assembly.
    fn add_bypassed(&mut self, answer: &ModelAnswer, call: BilledCall) {
        // The host alone produced this request, so the state without the plugin equals the one that was sent.
        if let Some(before) = &mut self.before {
            (before.without, before.dropped) = (before.sent, 0);
        }
        self.push(answer, &BilledCall { is_for_fetch: false, ..call }, (None, None), None);
    }

    /// Adds a request. `counted` is our token count of the messages if an assembly was made just for this request,
    /// `growth` the token growth of the session so far.
    fn push(
        &mut self,
        answer: &ModelAnswer,
        call: &BilledCall,
        (counted, growth): (Option<u64>, Option<(u64, u64)>),
        compaction: Option<&HostCompaction>,
    ) {
        let tariff = |model: &Option<String>| Tariff::of(model.as_deref(), self.turn.prices.as_ref(), self.transcript);
        let Tariff { prices, answer: answer_price, usd } =
            *self.tariffs.entry(answer.model.clone()).or_insert_with_key(tariff);
        let (billed, compacting) = bill(call, self.before.as_ref(), &prices, compaction);
        self.requests.extend(compacting.into_iter().map(|compacting| Request { usd, ..compacting }));
        let without = if call.is_for_fetch { self.before.map_or(0, |before| before.without) } else { billed.without };
        self.before = Some(Request { without, ..billed });
        let answered = call.usage.and_then(|usage| usage.output);
        let answer_price =
            answer_price.map(|price| price * prices.step_of(billed.sent).map_or(1.0, |step| step.output));
        let answer_bill = answered.zip(answer_price).map(|(tokens, price)| tokens as f64 * price);
        self.requests.push(Request { counted, growth, answered, answer_bill, usd, ..billed });
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
