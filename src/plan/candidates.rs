//! What may leave the context of a session with a store, and for how many model calls it could have left already.
//!
//! The count of calls is derived from the history alone, so that a plan needs no memory of its own: two processes that read the
//! same history plan the same.

use std::collections::{HashMap, HashSet};

use super::stale::{Part, Reason, may_touch, part};
use super::superseded::superseded;
use crate::config::Config;
use crate::transcript::{Role, Transcript};

/// That a block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayGo {
    /// Why.
    pub reason: Reason,
    /// How many model calls were made since it might have gone.
    pub calls: u64,
    /// How many user turns have begun since it might have gone.
    pub turns: u64,
}

/// How young a block may be that leaves because the context is full, in model calls made since.
const YOUNGEST_CALLS: u64 = 2;

/// The blocks that may go, by message and block index.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// What may go whenever that pays.
    pub ripe: HashMap<(usize, usize), MayGo>,
    /// What is not stale yet, and may go only when the context is full.
    pub young: HashSet<(usize, usize)>,
}

/// Selects the blocks that may go: superseded and repeated ones at once, stale ones by the ages of the options.
///
/// A block that is both counts from the earlier of the two moments.
pub fn candidates(transcript: &Transcript, config: &Config) -> Candidates {
    let superseded = superseded(transcript, config);
    let clock = Clock::of(transcript);
    let mut found = Candidates::default();
    for (message_index, message) in transcript.messages.iter().enumerate() {
        for (block_index, block) in message.blocks.iter().enumerate() {
            let Some(part) = part(message, block) else { continue };
            if !may_touch(block, config) {
                continue;
            }
            let at = (message_index, block_index);
            let is_persons = part == Part::Image && block.result.is_none();
            let stale_turns = if part == Part::Image { config.image_age_turns } else { config.stale_turns };
            let by_turns = clock.calls_since_age(message.turn_age, stale_turns);
            let by_calls = message.calls_after.checked_sub(config.stale_calls + 1).filter(|_| !is_persons);
            let stale = by_turns.max(by_calls).filter(|_| message.turn_age > 0);
            let later = superseded.get(&at).filter(|_| message.turn_age > 0);
            let (reason, calls) = match (later, stale) {
                (Some(later), stale) if stale.is_none_or(|calls| later.calls >= calls) => (later.reason, later.calls),
                (_, Some(calls)) => (Reason::Stale, calls),
                _ => {
                    if !is_persons && message.turn_age > 0 && message.calls_after >= YOUNGEST_CALLS {
                        found.young.insert(at);
                    }
                    continue;
                }
            };
            found.ripe.insert(at, MayGo { reason, calls, turns: clock.turns_since(calls) });
        }
    }
    found
}

/// When each user turn began, in model calls before now.
struct Clock {
    /// Model calls since the start of the turn of age 1, 2, ...
    calls_since_turn: Vec<u64>,
}

impl Clock {
    fn of(transcript: &Transcript) -> Self {
        let starts =
            transcript.messages.iter().rev().filter(|message| message.starts_turn && message.role != Role::Other);
        Self { calls_since_turn: starts.map(|message| message.calls_after).collect() }
    }

    /// Model calls since a block in the turn of age `age` became older than `limit` turns; `None` while it is not.
    fn calls_since_age(&self, age: u64, limit: u64) -> Option<u64> {
        let turn = age.checked_sub(limit).filter(|&turn| turn > 0)?;
        self.calls_since_turn.get(usize::try_from(turn - 1).ok()?).copied()
    }

    /// User turns that began in the last `calls` model calls.
    fn turns_since(&self, calls: u64) -> u64 {
        self.calls_since_turn.iter().take_while(|&&since| since < calls).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(id: &str, name: &str, arguments: &Value) -> Value {
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": id, "name": name, "arguments": arguments }] })
    }

    fn result(id: &str, text: &str) -> Value {
        json!({ "role": "toolResult", "toolCallId": id, "content": [{ "type": "text", "text": text }] })
    }

    fn ripe(messages: &[Value]) -> Vec<(usize, Reason, u64, u64)> {
        let found = candidates(&Transcript::read(messages), &Config::default());
        let mut ripe: Vec<_> =
            found.ripe.into_iter().map(|((at, _), may)| (at, may.reason, may.calls, may.turns)).collect();
        ripe.sort_unstable_by_key(|row| row.0);
        ripe
    }

    fn user(text: &str) -> Value {
        json!({ "role": "user", "content": text })
    }

    #[test]
    fn age_is_counted_from_the_moment_it_was_reached() {
        let mut messages = vec![user("go"), call("a", "exec", &json!({ "command": "ls" })), result("a", "x")];
        for turn in 0..6 {
            messages.extend([user("and"), json!({ "role": "assistant", "content": "hm" })]);
            // The fourth further turn makes it five turns old.
            let expected = (turn >= 3).then(|| u64::try_from(turn - 3).unwrap() + 1);
            let found = ripe(&messages).into_iter().find(|row| row.0 == 2);
            assert_eq!(found, expected.map(|calls| (2, Reason::Stale, calls, calls - 1)), "turn {turn}");
        }
    }

    #[test]
    fn one_long_turn_ages_by_calls() {
        let mut messages = vec![user("go"), call("a", "exec", &json!({ "command": "ls" })), result("a", "x")];
        messages.extend((0..15).map(|_| json!({ "role": "assistant", "content": "hm" })));
        assert_eq!(ripe(&messages)[1], (2, Reason::Stale, 2, 0));
    }

    #[test]
    fn older_reads_and_repeats_may_go_at_once() {
        let long = "a line of some length\n".repeat(20);
        let messages = [
            user("go"),
            call("a", "read", &json!({ "path": "a.rs" })),
            result("a", &long),
            call("b", "read", &json!({ "path": "a.rs", "offset": 3, "limit": 4 })),
            result("b", "short"),
            call("c", "read", &json!({ "path": "a.rs" })),
            result("c", "another text"),
            call("d", "exec", &json!({ "command": "make" })),
            result("d", &long),
            json!({ "role": "assistant", "content": "done" }),
        ];
        assert_eq!(ripe(&messages), [(2, Reason::Superseded, 2, 0), (4, Reason::Superseded, 2, 0)]);
        let repeated = [&messages[..3], &messages[7..]].concat();
        assert_eq!(ripe(&repeated), [(2, Reason::Duplicate, 1, 0)]);
    }

    #[test]
    fn a_write_supersedes_a_read_and_a_failed_one_or_an_edit_does_not() {
        let conversation = |is_error: bool, name: &str| {
            let mut last = result("b", "done");
            last["isError"] = json!(is_error);
            ripe(&[
                user("go"),
                call("a", "read", &json!({ "path": "a.rs" })),
                result("a", "text"),
                call("b", name, &json!({ "path": "a.rs", "oldText": "t" })),
                last,
            ])
        };
        assert_eq!(conversation(false, "write"), [(2, Reason::Superseded, 0, 0)]);
        assert_eq!(conversation(true, "write"), []);
        assert_eq!(conversation(false, "edit"), []);
    }
}
