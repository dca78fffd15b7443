//! Messages in order, with their roles and ages.

use serde_json::Value;

use super::block::Block;
use super::read::asks_for_an_hour;
use super::usage::{Charge, Usage};

/// The role of a message. The spellings of the shapes are normalized: `toolResult`, `tool`, `tool_result`, `function`
/// and the outputs of the Responses API are [`Role::Tool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `system` or `developer`.
    System,
    /// A person, another session, or an Anthropic message that carries tool results.
    User,
    /// The model.
    Assistant,
    /// A message that is a tool result.
    Tool,
    /// Anything else (compaction summaries, custom rows): never touched.
    Other,
}

/// A transcript: messages in order, oldest first.
#[derive(Debug)]
pub struct Transcript<'a> {
    /// The messages, one for each input value and in the same order.
    pub messages: Vec<Message<'a>>,
    /// True if a user turn begins whose message is not among them.
    pub turn_begins: bool,
}

/// One message.
#[derive(Debug)]
pub struct Message<'a> {
    /// The message as it came.
    pub raw: &'a Value,
    /// The role.
    pub role: Role,
    /// The time at which it was made, in milliseconds since 1970, if the shape states it.
    pub timestamp: Option<i64>,
    /// The parts that Concertina understands, in order.
    pub blocks: Vec<Block<'a>>,
    /// True if this message starts a user turn: a user message with words or images and without tool results. A turn
    /// that was given up, because no model call answered it, is part of the next one.
    pub starts_turn: bool,
    /// True if it continues the answer that the message before it begins, as items of the Responses API do.
    pub is_continuation: bool,
    /// True if a model call was made for it. That excludes messages that the host wrote itself, answers that failed
    /// before they were billed, and continuations of an answer.
    pub is_call: bool,
    /// The usage that the provider reported for the request behind an answer, if any.
    pub usage: Option<Usage>,
    /// The age in user turns: 1 from the newest turn start on, or 2 if a turn begins whose message is not here.
    /// Messages before the first turn start are the oldest. 0 if no turn has started or begins: then only calls
    /// determine an age.
    pub turn_age: u64,
    /// The number of model calls made since.
    pub calls_after: u64,
}

impl Message<'_> {
    /// Returns true if it is a summary that a host inserted for compacted messages.
    pub fn is_summary(&self) -> bool {
        matches!(self.raw["role"].as_str(), Some("compactionSummary" | "compaction"))
    }

    /// Returns the prices that the host charged for that request, if any.
    pub fn charge(&self) -> Option<Charge> {
        Charge::read(&self.raw["usage"])
    }

    /// Returns true if the cache entries around the message live for an hour, as the caller asks or the provider
    /// reports; `None` if it is unknown.
    pub fn is_cached_for_an_hour(&self) -> Option<bool> {
        asks_for_an_hour(self.raw).or_else(|| Usage::writes_live_for_an_hour(&self.raw["usage"]))
    }
}

impl<'a> Transcript<'a> {
    /// Returns the model of the last call, if its answer states it.
    pub fn last_model(&self) -> Option<&'a str> {
        self.messages.iter().rfind(|message| message.is_call)?.raw["model"].as_str()
    }

    /// Returns the messages of the answer that begins at this index.
    pub fn answer_at(&self, index: usize) -> &[Message<'a>] {
        let more = self.messages[index + 1..].iter().take_while(|message| message.is_continuation).count();
        &self.messages[index..=index + more]
    }

    /// Forgets messages that are about to be dropped: they have no blocks, start no turn and age nothing.
    pub fn drop_messages(&mut self, indexes: impl IntoIterator<Item = usize>) {
        for index in indexes {
            let message = &mut self.messages[index];
            message.role = Role::Other;
            message.is_call = false;
            message.blocks.clear();
            message.starts_turn = false;
        }
        set_ages(&mut self.messages, self.turn_begins);
    }

    /// Returns all blocks with the index of their message, oldest first.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &Block<'a>)> {
        self.indexed_blocks().map(|(message, _, block)| (message, block))
    }

    /// Returns all blocks with the index of their message and their own index in it, oldest first.
    pub fn indexed_blocks(&self) -> impl Iterator<Item = (usize, usize, &Block<'a>)> {
        let messages = self.messages.iter().enumerate();
        messages
            .flat_map(|(at, message)| message.blocks.iter().enumerate().map(move |(index, block)| (at, index, block)))
    }
}

/// Joins each turn whose answers all failed with the turn after it, so that what the model did not read ages nothing.
/// Turns without an answer of any kind stay as they are: a host may leave answers out.
fn join_failed_turns(messages: &mut [Message], turn_begins: bool) {
    let (mut has_later_turn, mut has_failed) = (turn_begins, false);
    for message in messages.iter_mut().rev() {
        if message.is_call {
            (has_later_turn, has_failed) = (false, false);
        } else if message.role == Role::Assistant && !message.is_continuation {
            has_failed |= has_later_turn;
        } else if message.starts_turn {
            message.starts_turn = !has_failed;
            has_later_turn = true;
        }
    }
}

/// Sets the age of each message in user turns and model calls.
pub(super) fn set_ages(messages: &mut [Message], turn_begins: bool) {
    join_failed_turns(messages, turn_begins);
    let begun = messages.iter().filter(|message| message.starts_turn).count() as u64;
    let turns = begun + u64::from(turn_begins);
    let (mut age, mut calls) = (1 + u64::from(turn_begins), 0);
    for message in messages.iter_mut().rev() {
        message.turn_age = age.min(turns);
        message.calls_after = calls;
        age += u64::from(message.starts_turn);
        calls += u64::from(message.is_call);
    }
}
