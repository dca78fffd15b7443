//! What goes into a store and what comes out, as plain data.
//!
//! How a block is shown is decided once: of two writers the first wins, and the other one shows what the first one
//! wrote.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::time::Millis;
use concertina_base::reference::{ContentHash, Original, RefId};

/// Whose content it is. An id resolves only for the agent whose session issued or inherited it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The agent.
    pub agent_id: String,
    /// The session: changes with every new conversation.
    pub session_id: String,
}

/// What a block is known by: its content, and its place in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey {
    /// Hash of the block's content as the host holds it.
    pub hash: ContentHash,
    /// The message's timestamp in milliseconds, or, for shapes without one, a hash of all that stands before the block.
    pub place: i64,
}

/// How one block is shown, decided once and replayed byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The block.
    pub block: BlockKey,
    /// The JSON value that stands in its place.
    pub replacement: String,
    /// The original that the replacement refers to.
    pub original: ContentHash,
    /// Why it was folded: `stale`, `superseded`, `duplicate`, `large`, `limit`, ...
    pub reason: String,
}

/// What a text that Concertina itself printed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Printed {
    /// A placeholder: it is left alone wherever it turns up again.
    Placeholder,
    /// An original as it was fetched, whole or in part, or as the pipeline shortened it: when stale it goes, and its
    /// placeholder names the original, which is already stored.
    Copy,
}

/// A record that this session was shown a text of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedText {
    /// Hash of the text as shown.
    pub text: ContentHash,
    /// What it is.
    pub printed: Printed,
    /// The original it stands for.
    pub original: ContentHash,
    /// How many tokens fewer it has than what would stand there without us.
    pub saved: u64,
}

/// What one piece of work saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// `admit`, `assemble` or `rules`.
    pub kind: String,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after.
    pub tokens_after: u64,
    /// Free-form JSON: reasons, stages, counts.
    pub detail: String,
}

/// A logged change of already-sent bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Why: `stale`, `cold`, `limit`, ...
    pub reason: String,
    /// Tokens that left the context.
    pub tokens_freed: u64,
    /// Tokens after the first changed byte, billed anew.
    pub tokens_rebilled: u64,
    /// How many blocks changed.
    pub blocks: u64,
}

/// What was folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoldedKind {
    /// Texts of tool results.
    Results,
    /// Arguments of tool calls.
    Arguments,
    /// A model's thinking.
    Thinking,
    /// Images.
    Images,
    /// Anything else.
    Other,
}

impl FoldedKind {
    /// Returns the words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Results => "tool results",
            Self::Arguments => "tool arguments",
            Self::Thinking => "thinking",
            Self::Images => "images",
            Self::Other => "other",
        }
    }
}

/// Everything that becomes durable together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Originals with the ids that their markers print (from [`super::store::Store::ref_ids`]).
    pub originals: Vec<(RefId, Original)>,
    /// Blocks that are shown in full again: their rows go before the new ones come.
    pub withdrawn: Vec<BlockKey>,
    /// New rows of the session's projection. For a block that has a row already, that row stays.
    pub projections: Vec<Projection>,
    /// Texts of ours that this session is about to see.
    pub printed: Vec<PrintedText>,
    /// What was saved.
    pub receipts: Vec<Receipt>,
    /// The epoch that this batch opens.
    pub epoch: Option<Epoch>,
    /// What is folded, by kind: tokens before and after. Written as receipts are.
    pub folded: Vec<(FoldedKind, u64, u64)>,
    /// Ids that were fetched, and the tokens of the answers.
    pub fetched: Vec<(String, u64)>,
    /// All originals that the assembled context refers to. Restarts their time to live and ends that of those no longer
    /// named. `None` leaves lifetimes alone (at birth).
    pub in_context: Option<BTreeSet<ContentHash>>,
    /// A hash of the tools that the session has now; `None` leaves what was recorded.
    pub tools: Option<ContentHash>,
    /// The [`Ledger::version`] that the batch was made from: what others added since comes back from the commit.
    pub since: i64,
    /// The [`Ledger::generation`] that the batch was made from; 0 for a batch that was made from none.
    pub generation: u64,
    /// The [`Ledger::state`] that the batch was made from.
    pub state: Option<SessionState>,
}

impl Batch {
    /// Returns an empty batch that was made from a ledger.
    pub fn after(ledger: &Ledger) -> Self {
        let state = ledger.state.clone();
        Self { since: ledger.version, generation: ledger.generation, state, ..Self::default() }
    }

    /// Returns true if the batch changes nothing, and the session was last seen less than `touch_interval` before its
    /// ledger was read. Such a batch counts as written at that moment, and nothing is written.
    pub fn is_idle(&self, now: Millis, touch_interval: Millis) -> bool {
        let is_unchanged = |state: &SessionState| {
            let now = state.read_at.unwrap_or(now);
            self.in_context.as_ref() == Some(&state.in_context) && now.saturating_sub(state.last_seen) < touch_interval
        };
        self.originals.is_empty()
            && self.withdrawn.is_empty()
            && self.projections.is_empty()
            && self.printed.is_empty()
            && self.receipts.is_empty()
            && self.epoch.is_none()
            && self.fetched.is_empty()
            && self.tools.is_none()
            && self.state.as_ref().is_some_and(is_unchanged)
    }
}

/// What a session knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// How blocks are shown.
    pub projections: Arc<Vec<Projection>>,
    /// Texts of ours.
    pub printed: Vec<PrintedText>,
    /// When results were made smaller before they were first sent, and by how many tokens; oldest first.
    pub admitted: Vec<(Millis, u64)>,
    /// The logged epochs, oldest first.
    pub epochs: Vec<(Millis, Epoch)>,
    /// A hash of the tools that the session had when it was last assembled.
    pub tools: Option<ContentHash>,
    /// True if nothing more is to be folded.
    pub is_off: bool,
    /// When its last recorded request was made.
    pub last_request: Option<Millis>,
    /// Row id of the session's newest projection; 0 where there is none. Ids only grow.
    pub version: i64,
    /// Which file this was read from: another number after the file was replaced under the store. Never 0.
    pub generation: u64,
    /// The session's state; `None` where it has ended, is unknown, or is not held by an opener that holds sessions.
    pub state: Option<SessionState>,
}

/// The state of a session: a batch that says no more need not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionState {
    /// The originals in its context.
    pub in_context: BTreeSet<ContentHash>,
    /// When it was last seen.
    pub last_seen: Millis,
    /// The time at which this was read, where the store has a clock of its own.
    pub read_at: Option<Millis>,
}

/// True if a turn was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStatus {
    /// First time.
    Committed,
    /// This key was committed before.
    Duplicate,
}

/// Totals of a session, or of the whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sessions known.
    pub sessions: u64,
    /// Originals on disk.
    pub originals: u64,
    /// Their size as they were, in bytes.
    pub original_bytes: u64,
    /// Their size as stored, in bytes.
    pub stored_bytes: u64,
    /// Turns committed.
    pub turns: u64,
    /// Receipts, newest first, at most 100.
    pub receipts: Vec<(Millis, Receipt)>,
    /// Sum of tokens before, over all receipts.
    pub tokens_before: u64,
    /// Sum of tokens after, over all receipts.
    pub tokens_after: u64,
    /// Epochs, newest first, at most 100.
    pub epochs: Vec<(Millis, Epoch)>,
}

/// What a sweep or purge removed, or would remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Originals.
    pub originals: u64,
    /// Bytes freed in the file; of what would be removed, the size as stored.
    pub bytes: u64,
    /// Sessions forgotten.
    pub sessions: u64,
}
