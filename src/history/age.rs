//! The age of each block and its fate. Blocks that are held elsewhere come from [`superseded`].
//!
//! Age counts in user turns, the newest being 1, and in model calls made since; either suffices. Without any user
//! message only calls count. A block that is both old and superseded may go from the earlier of the two moments.

use super::protection::{Protection, plan_calls, protection};
use super::superseded::held_elsewhere;
use super::thinking::{finished_until, is_whole_thinking, says_more_than_thinking};
use super::{Fate, FoldPermission, FoldablePart, Reason, Rerun, foldable_part};
use crate::config::{Config, Schedule};
use crate::transcript::{Block, BlockKind, Message, Role, Transcript};

/// The minimum number of model calls after a block before it may leave because the context is full. Chosen by
/// judgement.
const MIN_CALLS_BEFORE_EVICTION: u64 = 2;

/// The number of model calls by which a nearly stale block may be short of stale. Chosen on the development corpus
/// (`npm run bench:replay`).
const NEARLY_STALE_CALLS: u64 = 4;

/// The size in bytes from which on a result is bulky and goes after half as many turns. Chosen on the development
/// corpus (`npm run bench:replay`): if all results go that early, an agent misses more.
const BULKY_BYTES: usize = 16_000;

/// The fates of a history's blocks.
#[derive(Debug, Default)]
pub struct Fates {
    /// The fate of every block, by message and block index.
    pub by_message: Vec<Vec<Fate>>,
    /// The results that repeat an earlier one.
    pub reruns: Vec<Rerun>,
}

/// Decides the fate of every block.
///
/// A tool result or the arguments of a call are stale when they are older than `staleTurns` turns or followed by more
/// than `staleCalls` calls. The body of a whole write that succeeded is stale after half as many, since the file holds
/// it. With the cache-aware schedule a bulky result is stale after half as many turns. Images go after `imageAgeTurns`
/// turns, and those that a tool returned after `staleCalls` calls as well. A block that is at most four calls short of
/// stale is nearly stale. A block that something later holds may go at once. Protected blocks and the last call of a
/// planning tool stay.
pub fn fates(transcript: &Transcript, config: &Config) -> Fates {
    let held_elsewhere_blocks = held_elsewhere(transcript);
    let clock = Clock::of(transcript);
    let finished = finished_until(transcript);
    let plan_calls = plan_calls(transcript);
    let mut by_message = Vec::with_capacity(transcript.messages.len());
    for (message_index, message) in transcript.messages.iter().enumerate() {
        let may_lose_thinking = message_index < finished && says_more_than_thinking(message);
        let of = |(block_index, block): (usize, &Block)| {
            let is_protected = |is_superseded: bool| match protection(block, message.turn_age, config) {
                Protection::None => false,
                Protection::UntilSuperseded => !is_superseded,
                Protection::Always => true,
            };
            if may_lose_thinking && is_whole_thinking(block) {
                return if is_protected(false) { Fate::Finished.protected() } else { Fate::Finished };
            }
            let Some(part) = foldable_part(message, block) else { return Fate::Stays };
            let at = (message_index, block_index);
            if plan_calls.contains(&at) {
                return Fate::Stays;
            }
            let limits = limits(block, part, held_elsewhere_blocks.written.contains(&at), config);
            let old = clock.calls_since_old(message, limits);
            let later = held_elsewhere_blocks.superseded.get(&at);
            let gone = match (later, old) {
                (Some(later), old) if old.is_none_or(|calls| later.calls >= calls) => Some((later.reason, later.calls)),
                (_, old) => old.map(|calls| (Reason::Stale, calls)),
            };
            let fate = match gone {
                Some((reason, calls)) => {
                    let turns = clock.turns_since(calls);
                    Fate::Foldable(FoldPermission { reason, is_old: old.is_some(), calls, turns })
                }
                None if is_for_script(block) => Fate::Stays,
                None if !is_sent_by_user(part, block) && message.calls_after >= MIN_CALLS_BEFORE_EVICTION => {
                    let [_, calls] = limits;
                    Fate::Young { is_nearly_stale: message.calls_after + NEARLY_STALE_CALLS > calls }
                }
                None => Fate::Stays,
            };
            if is_protected(later.is_some()) { fate.protected() } else { fate }
        };
        by_message.push(message.blocks.iter().enumerate().map(of).collect());
    }
    Fates { by_message, reruns: held_elsewhere_blocks.reruns }
}

/// Returns the maximum age of a block, in user turns and in model calls.
fn limits(block: &Block, part: FoldablePart, is_written: bool, config: &Config) -> [u64; 2] {
    match part {
        FoldablePart::Image if is_sent_by_user(part, block) => [config.image_age_turns, u64::MAX],
        FoldablePart::Image => [config.image_age_turns, config.stale_calls],
        FoldablePart::Arguments if is_written => {
            [config.stale_turns, config.stale_calls].map(|limit| limit.div_ceil(2))
        }
        FoldablePart::Result if config.schedule == Schedule::CacheAware && is_bulky(block) => {
            [config.stale_turns.div_ceil(2), config.stale_calls]
        }
        FoldablePart::Arguments | FoldablePart::Result => [config.stale_turns, config.stale_calls],
    }
}

/// Returns true for results that a script parsed. They stay until they are stale, even if the context is full.
fn is_for_script(block: &Block) -> bool {
    block.result.is_some_and(|result| result.is_for_script)
}

fn is_bulky(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Text(text) if text.len() >= BULKY_BYTES)
}

/// An image that a person sent is the task of the turn, however many calls it takes.
fn is_sent_by_user(part: FoldablePart, block: &Block) -> bool {
    part == FoldablePart::Image && block.result.is_none()
}

/// The start of each user turn, in model calls before now.
struct Clock {
    /// Model calls since the start of the turn of age 1, 2, ...
    calls_since_turn: Vec<u64>,
}

impl Clock {
    fn of(transcript: &Transcript) -> Self {
        let starts =
            transcript.messages.iter().rev().filter(|message| message.starts_turn && message.role != Role::Other);
        let begins = transcript.turn_begins.then_some(0);
        Self { calls_since_turn: begins.into_iter().chain(starts.map(|message| message.calls_after)).collect() }
    }

    /// Returns the model calls since a block became old; `None` while it is not.
    fn calls_since_old(&self, message: &Message, [turns, calls]: [u64; 2]) -> Option<u64> {
        let by_calls = message.calls_after.checked_sub(calls.saturating_add(1));
        self.calls_since_age(message.turn_age, turns).max(by_calls)
    }

    /// Returns the model calls since a block in the turn of age `age` became older than `limit` turns; `None` while it
    /// is not.
    fn calls_since_age(&self, age: u64, limit: u64) -> Option<u64> {
        let turn = age.checked_sub(limit).filter(|&turn| turn > 0)?;
        self.calls_since_turn.get(usize::try_from(turn - 1).ok()?).copied()
    }

    /// Returns the number of user turns that began in the last `calls` model calls.
    fn turns_since(&self, calls: u64) -> u64 {
        self.calls_since_turn.iter().take_while(|&&since| since < calls).count() as u64
    }
}
