//! Per-session records of assemblies, kept in memory until the turn is committed.
//!
//! One host assembles once per turn, another before each model call. The number of the turn's answers that an assembly
//! has seen is found by overlap: the last answers of its history are the first ones of the turn. Timestamps and ids
//! help the comparison but are optional.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::Xxh3;

use super::blocks::KeyedBlock;
use super::report::Report;
use crate::config::{Config, Schedule};
use crate::history::Fate;
use crate::plan::host_compaction::{self, CompactionCut};
use crate::reference::{ContentHash, FETCH_TOOL};
use crate::store::{Ledger, Millis, Scope};
use crate::transcript::{BlockKind, Message, Transcript, Usage};

/// The maximum number of sessions remembered at once: far above what a gateway serves. Chosen by judgement.
const MAX_SESSIONS: usize = 1000;

/// The number of assemblies remembered per turn before every second one is dropped. Chosen by judgement.
const MAX_RECORDS: usize = 256;

/// The measurements of one assembly.
#[derive(Debug, Clone, Default)]
pub(super) struct AssemblyRecord {
    pub(super) at: Millis,
    /// Tokens of the assembled history.
    pub(super) tokens: u64,
    /// Tokens that the plugin removed from the history.
    pub(super) freed: u64,
    /// Tokens of content that is there because it was fetched.
    pub(super) fetched: u64,
    /// Tokens of content that could have been folded and stayed because it is protected.
    pub(super) protected: u64,
    /// Tokens of the previous request that this assembly's epoch freed or moved; `None` if the cache was cold or there
    /// was no epoch.
    pub(super) rewritten: Option<u64>,
    /// True if the fetch tool is sent with the request.
    pub(super) has_fetch_tool: bool,
    /// The size of the tool results without the plugin.
    pub(super) results: TextSize,
    /// The part that the host alone would keep if it compacted the history now.
    pub(super) compaction: CompactionCut,
    /// When the host last compacted the history.
    pub(super) compacted_at: Option<Millis>,
    /// The token budget for the history, if the host states it.
    pub(super) budget: Option<u64>,
    /// Fingerprints of its messages after the last answer.
    since_answer: Vec<MessageFingerprint>,
}

impl AssemblyRecord {
    /// Adds what the host states: the token budget, and the time of the last compaction.
    pub(super) fn with_host_state(mut self, transcript: &Transcript, budget: Option<u64>) -> Self {
        self.budget = budget;
        let summaries = transcript.messages.iter().filter(|message| message.is_summary());
        self.compacted_at = summaries.filter_map(|message| message.timestamp).max();
        self
    }

    /// Builds the record of an assembly from its blocks and its report.
    pub(super) fn of(
        blocks: &[KeyedBlock],
        report: &Report,
        ledger: &Ledger,
        config: &Config,
        is_warm: bool,
        at: Millis,
    ) -> Self {
        let min_tokens = match config.schedule {
            Schedule::EveryTurn => config.min_tokens_to_squeeze,
            Schedule::CacheAware => config.min_tokens_to_fold,
        };
        let shown: HashMap<(usize, usize), u64> =
            report.actions.iter().map(|action| ((action.message, action.block), action.tokens_after)).collect();
        let saved: HashMap<ContentHash, u64> =
            ledger.printed.iter().filter(|row| row.saved > 0).map(|row| (row.text, row.saved)).collect();
        let mut record = Self { has_fetch_tool: true, at, tokens: report.tokens_after, ..Self::default() };
        for (index, block) in blocks.iter().enumerate().rev() {
            let after = shown.get(&(block.message_index, block.block_index)).copied().unwrap_or(block.tokens);
            let could_go = match block.fate {
                Fate::Protected { is_due } => is_due || block.is_oversize_output(config),
                _ => false,
            };
            if could_go && block.tokens >= min_tokens {
                record.protected += after;
            }
            if belongs_to_fetch_tool(block) {
                record.fetched += after;
            } else {
                let before = block.tokens + saved.get(&block.key.hash).copied().unwrap_or(0);
                record.freed += before.saturating_sub(after);
                let chars = match block.block.kind {
                    // Scaled by the block's present ratio of characters to tokens.
                    BlockKind::Text(text) => text.len() as u64 * before / block.tokens.max(1),
                    BlockKind::Image(_) => host_compaction::IMAGE_TOKENS * host_compaction::CHARS_PER_TOKEN,
                    _ => before * host_compaction::CHARS_PER_TOKEN,
                };
                let is_result = block.block.result.is_some();
                if is_result && matches!(block.block.kind, BlockKind::Text(_)) {
                    record.results.chars += chars;
                    record.results.tokens += before;
                }
                record.compaction.add(chars, before, is_result);
            }
            if index == 0 || blocks[index - 1].message_index != block.message_index {
                record.compaction.end_message(block.block.result.is_none());
            }
        }
        record.rewritten =
            report.epoch.as_ref().filter(|_| is_warm).map(|epoch| epoch.tokens_freed + epoch.tokens_rebilled);
        record
    }

    /// Returns how many of a turn's messages this history holds, given how many of the turn's answers it has seen. The
    /// messages after the last answer were waiting for the next one.
    fn messages_of(&self, transcript: &Transcript, turn: &[ModelAnswer], answers: isize) -> usize {
        match usize::try_from(answers) {
            Err(_) => 0,
            Ok(0) => {
                let first = turn.first().map_or(0, |first| first.index);
                let before_answer = fingerprints(&transcript.messages[..first]);
                overlap(&self.since_answer, &before_answer)
            }
            Ok(answers) => turn[answers - 1].end + self.since_answer.len(),
        }
    }
}

/// The length of some texts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextSize {
    pub(super) chars: u64,
    pub(super) tokens: u64,
}

impl TextSize {
    /// Returns the tokens beyond the given number of characters.
    pub(super) fn beyond(&self, chars: u64) -> u64 {
        self.chars.saturating_sub(chars) * self.tokens / self.chars.max(1)
    }
}

fn belongs_to_fetch_tool(block: &KeyedBlock) -> bool {
    block.is_fetched || matches!(block.block.kind, BlockKind::Call(call) if call.name == FETCH_TOOL)
}

/// A model call as described by its answer.
#[derive(Debug, Clone)]
pub(super) struct ModelAnswer {
    /// Index of the answer's message, or of the first of its items.
    pub(super) index: usize,
    /// Index after the last item.
    end: usize,
    pub(super) at: Option<Millis>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
    /// True if the previous answer called the fetch tool and nothing else.
    pub(super) is_for_fetch: bool,
    fingerprint: MessageFingerprint,
}

/// Returns the model calls behind the answers of a transcript.
pub(super) fn answers(transcript: &Transcript) -> Vec<ModelAnswer> {
    let mut answers = Vec::new();
    let mut is_for_fetch = false;
    for (index, message) in transcript.messages.iter().enumerate() {
        if !message.is_call {
            continue;
        }
        let usage = message.usage;
        let model = message.raw["model"].as_str().map(str::to_owned);
        let items = transcript.answer_at(index);
        let (fingerprint, end) = (MessageFingerprint::of(items), index + items.len());
        answers.push(ModelAnswer { index, end, at: message.timestamp, usage, model, is_for_fetch, fingerprint });
        let blocks = items.iter().flat_map(|item| &item.blocks);
        let mut calls = blocks.filter_map(|block| match block.kind {
            BlockKind::Call(call) => Some(call.name == FETCH_TOOL),
            _ => None,
        });
        is_for_fetch = calls.next().is_some_and(|first| first && calls.all(|is_fetch| is_fetch));
    }
    answers
}

/// The identity of a message, or of all items of an answer: its time and its calls, or its text if there are no calls.
/// A finished turn may come without the rest.
#[derive(Debug, Clone, Copy)]
struct MessageFingerprint {
    at: Option<Millis>,
    content_hash: u64,
}

impl MessageFingerprint {
    fn of(items: &[Message]) -> Self {
        let mut content_hash = Xxh3::new();
        let blocks = || items.iter().flat_map(|item| &item.blocks);
        let calls = blocks().filter_map(|block| match block.kind {
            BlockKind::Call(call) => Some([call.id, call.name]),
            _ => None,
        });
        let mut has_calls = false;
        for part in calls.flatten() {
            has_calls = true;
            content_hash.update(part.as_bytes());
            content_hash.update(b"\0");
        }
        for block in blocks().filter(|_| !has_calls) {
            match block.kind {
                BlockKind::Text(text) => content_hash.update(text.as_bytes()),
                BlockKind::Image(image) => content_hash.update(image.base64.unwrap_or_default().as_bytes()),
                _ => {}
            }
        }
        Self { at: items.first().and_then(|first| first.timestamp), content_hash: content_hash.digest() }
    }

    fn matches(&self, other: &Self) -> bool {
        let is_of_another_time = self.at.is_some() && other.at.is_some() && self.at != other.at;
        self.content_hash == other.content_hash && !is_of_another_time
    }
}

/// Returns the fingerprint of each message.
fn fingerprints(messages: &[Message]) -> Vec<MessageFingerprint> {
    messages.iter().map(|message| MessageFingerprint::of(std::slice::from_ref(message))).collect()
}

/// Returns the length of the longest suffix of `earlier` that is a prefix of `later`.
fn overlap(earlier: &[MessageFingerprint], later: &[MessageFingerprint]) -> usize {
    let is_overlap =
        |count: &usize| earlier[earlier.len() - count..].iter().zip(later).all(|(one, other)| one.matches(other));
    (1..=earlier.len().min(later.len())).rev().find(is_overlap).unwrap_or(0)
}

/// The assemblies of a session since its last turn was committed.
#[derive(Default)]
pub(super) struct SessionAssemblies {
    /// The time of the last assembly and the number of answers in its history; kept when the turn is committed.
    last: Option<(Millis, usize)>,
    /// The records, each with the number of answers given before it.
    records: Vec<(usize, AssemblyRecord)>,
    /// The answers in the last assembly's history.
    answers: Vec<MessageFingerprint>,
    /// Calls among these answers that were never recorded, each with its index and the tokens before its answer. They
    /// belong to turns that never finished or ran without the plugin.
    unrecorded: Vec<(usize, ModelAnswer, u64)>,
}

/// The position of an assembly in a turn.
pub(super) struct TurnPosition<'a> {
    pub(super) record: &'a AssemblyRecord,
    /// The number of the turn's answers that it has seen; negative if it was made for an earlier turn.
    pub(super) answers: isize,
    /// The number of the turn's messages that it holds.
    pub(super) messages: usize,
    /// The time of the next assembly, or of the turn's commit.
    pub(super) until: Millis,
}

impl SessionAssemblies {
    /// Adds an assembly. `last_request` is the time of the last recorded request. Without one, it is unknown which of
    /// the session's calls were made through the plugin.
    fn add(
        &mut self,
        mut record: AssemblyRecord,
        transcript: &Transcript,
        blocks: &[KeyedBlock],
        last_request: Option<Millis>,
    ) {
        let answers = answers(transcript);
        let since_answer = answers.last().map_or(0, |last| last.end);
        record.since_answer = fingerprints(&transcript.messages[since_answer..]);
        let fingerprints: Vec<MessageFingerprint> = answers.iter().map(|answer| answer.fingerprint).collect();
        let answers_before = self.records.last().map_or(0, |(answers_before, _)| *answers_before) + fingerprints.len()
            - overlap(&self.answers, &fingerprints);
        if self.records.len() >= MAX_RECORDS {
            // The calls of dropped records are attributed to the record before them.
            self.records = std::mem::take(&mut self.records).into_iter().step_by(2).collect();
        }
        self.last = Some((record.at, fingerprints.len()));
        self.records.push((answers_before, record));
        self.answers = fingerprints;
        let is_unrecorded =
            |answer: &ModelAnswer| last_request.is_some_and(|last| answer.at.is_some_and(|at| at > last));
        let before = |answer: &ModelAnswer| {
            let count = blocks.partition_point(|block| block.message_index < answer.index);
            blocks[..count].iter().map(|block| block.tokens).sum()
        };
        let unrecorded = answers.into_iter().enumerate().filter(|(_, answer)| is_unrecorded(answer));
        self.unrecorded = unrecorded
            .map(|(number, answer)| {
                let tokens = before(&answer);
                (number, answer, tokens)
            })
            .collect();
    }

    /// Returns the time of the first assembly.
    pub(super) fn since(&self) -> Option<Millis> {
        self.records.first().map(|(_, record)| record.at)
    }

    /// Returns how many of a turn's answers the last assembly has seen. The turn's last answer is excluded: it always
    /// comes after the last assembly.
    fn answers_seen(&self, turn: &[ModelAnswer]) -> usize {
        let fingerprints: Vec<MessageFingerprint> = turn.iter().map(|answer| answer.fingerprint).collect();
        overlap(&self.answers, &fingerprints[..fingerprints.len().saturating_sub(1)])
    }

    /// Returns the position of each assembly in a turn that is committed at `now`, oldest first.
    pub(super) fn positions(
        &self,
        transcript: &Transcript,
        turn: &[ModelAnswer],
        now: Millis,
    ) -> Vec<TurnPosition<'_>> {
        let Some((last, _)) = self.records.last() else { return Vec::new() };
        let seen_by_last = self.answers_seen(turn) as isize;
        let end_times = self.records.iter().skip(1).map(|(_, next)| next.at).chain([now]);
        let mut positions = Vec::with_capacity(self.records.len());
        for ((answers_before, record), until) in self.records.iter().zip(end_times) {
            let answers = seen_by_last - (last - answers_before) as isize;
            positions.push(TurnPosition {
                record,
                answers,
                messages: record.messages_of(transcript, turn, answers),
                until,
            });
        }
        positions
    }

    /// Returns the unrecorded calls of the turns before this one.
    pub(super) fn unrecorded(&self, turn: &[ModelAnswer]) -> impl Iterator<Item = (&ModelAnswer, u64)> {
        let before = self.answers.len() - self.answers_seen(turn);
        self.unrecorded.iter().filter(move |(number, ..)| *number < before).map(|(_, answer, tokens)| (answer, *tokens))
    }
}

/// The assemblies of all sessions.
#[derive(Default)]
pub(super) struct AssemblyLog(Mutex<HashMap<Scope, SessionAssemblies>>);

impl AssemblyLog {
    pub(super) fn add(
        &self,
        scope: &Scope,
        record: AssemblyRecord,
        (transcript, blocks): (&Transcript, &[KeyedBlock]),
        last_request: Option<Millis>,
    ) {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if records.len() >= MAX_SESSIONS && !records.contains_key(scope) {
            let oldest = records.iter().min_by_key(|(_, session)| session.last).map(|(scope, _)| scope.clone());
            oldest.and_then(|oldest| records.remove(&oldest));
        }
        records.entry(scope.clone()).or_default().add(record, transcript, blocks, last_request);
    }

    /// Takes the assemblies of a turn that is being committed.
    pub(super) fn take(&self, scope: &Scope) -> SessionAssemblies {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = records.get_mut(scope) else { return SessionAssemblies::default() };
        let kept = SessionAssemblies { last: session.last, ..SessionAssemblies::default() };
        std::mem::replace(session, kept)
    }

    /// Returns the index of the first message that the session's last assembly has not seen. If there was no assembly,
    /// or the host has removed messages since, every message counts as seen.
    pub(super) fn first_unseen(&self, scope: &Scope, transcript: &Transcript) -> usize {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = sessions.get(scope).and_then(|session| session.last);
        let mut calls = transcript.messages.iter().enumerate().filter(|(_, message)| message.is_call);
        last.and_then(|(_, answers)| calls.nth(answers)).map_or(transcript.messages.len(), |(index, _)| index)
    }

    /// Returns the latest time at which the last call of a history can have been made; used where messages carry no
    /// timestamps, as those of Anthropic and OpenAI. Returns `None` for an unknown session. `touch_interval` is the
    /// maximum age of the ledger's last-seen time.
    ///
    /// The result is deliberately late: a time that is too early would make a warm cache look cold and cost an epoch.
    pub(super) fn last_call(
        &self,
        scope: &Scope,
        transcript: &Transcript,
        ledger: &Ledger,
        touch_interval: Millis,
    ) -> Option<Millis> {
        let last_seen = ledger.state.as_ref().map(|state| state.last_seen);
        let recorded = ledger.last_request;
        let calls = transcript.messages.iter().filter(|message| message.is_call).count();
        // A host may make several calls per assembly; then only a recorded turn tells when.
        let is_followed = |(at, answers): &(Millis, usize)| calls <= answers + 1 || recorded >= Some(*at);
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(scope).and_then(|session| session.last);
        let time_in_memory = last.filter(is_followed).map(|(at, _)| at);
        let latest = time_in_memory.or(last_seen.map(|last_seen| last_seen.saturating_add(touch_interval)));
        latest.max(recorded).max(last_seen)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn called(id: &str) -> Value {
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "exec", "input": {} }] })
    }

    fn said(text: &str) -> Value {
        json!({ "role": "assistant", "content": text })
    }

    fn question(text: &str) -> Value {
        json!({ "role": "user", "content": text })
    }

    /// Returns the number of the turn's answers and messages that each history holds.
    fn positions(histories: &[&[Value]], turn: &[Value]) -> Vec<(isize, usize)> {
        let mut session = SessionAssemblies::default();
        for (at, history) in histories.iter().enumerate() {
            session.add(
                AssemblyRecord { at: at as Millis, ..AssemblyRecord::default() },
                &Transcript::read(history),
                &[],
                None,
            );
        }
        let turn = Transcript::read(turn);
        session.positions(&turn, &answers(&turn), 100).iter().map(|place| (place.answers, place.messages)).collect()
    }

    #[test]
    fn an_assembly_stands_where_its_last_answers_are_the_first_of_the_turn() {
        let past = [question("one"), called(""), question("it ran"), said("done")];
        let turn = [question("two"), called(""), question("it ran"), called(""), question("it ran"), said("done")];
        let until = |end: usize| [&past[..], &turn[..end]].concat();
        assert_eq!(positions(&[&past], &turn), [(0, 0)]);
        assert_eq!(positions(&[&until(1), &until(3), &until(5)], &turn), [(0, 1), (1, 3), (2, 5)]);
        assert_eq!(positions(&[&until(1), &until(5)], &turn), [(0, 1), (2, 5)]);
        assert_eq!(positions(&[&past[..1], &past[..3], &until(1)], &turn), [(-2, 0), (-1, 0), (0, 1)]);
    }

    #[test]
    fn histories_that_were_cut_or_went_back_stand_where_they_stood() {
        let turn = [question("two"), called("a"), question("it ran"), called("b"), question("it ran"), said("done")];
        let whole = [&[question("one"), said("yes")], &turn[..3]].concat();
        let compaction = [&[question("so far: much")], &turn[1..5]].concat();
        assert_eq!(positions(&[&whole, &compaction], &turn), [(1, 3), (2, 5)]);
        let other = [&turn[..1], &[called("x"), question("no")]].concat();
        assert_eq!(positions(&[&turn[..1], &other, &turn[..1], &turn[..3]], &turn)[2..], [(0, 1), (1, 3)]);
    }

    #[test]
    fn of_very_many_assemblies_every_second_one_is_kept() {
        let calls: Vec<Value> = (0..300).map(|call| called(&call.to_string())).collect();
        let histories: Vec<&[Value]> = (0..300).map(|end| &calls[..end]).collect();
        let positions = positions(&histories, &calls);
        assert_eq!(positions.len(), 300 - MAX_RECORDS / 2);
        assert_eq!((positions[0], positions[1], positions[171]), ((0, 0), (2, 2), (299, 299)));
    }
}
