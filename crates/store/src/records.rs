//! The input and output of a store, as plain data.
//!
//! It is decided only once how a block is shown: of two writers, the first one wins, and the other one shows what the
//! first one wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::time::Millis;
use concertina_base::reference::{ContentHash, Original, RefId};

/// The owner of content. An id resolves only for the agent whose session issued or inherited it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The agent.
    pub agent_id: String,
    /// The session, which changes with every new conversation.
    pub session_id: String,
}

/// The key of a block: its content, and its position in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey {
    /// The hash of the block's content as the host holds it.
    pub hash: ContentHash,
    /// The message's timestamp in milliseconds; for message shapes without one, a hash of everything before the block.
    pub place: i64,
}

/// The replacement of one block, decided once and replayed byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The block.
    pub block: BlockKey,
    /// The JSON value that replaces the block.
    pub replacement: String,
    /// The original that the replacement refers to.
    pub original: ContentHash,
    /// The reason for the fold: `stale`, `superseded`, `duplicate`, `large`, `limit`, ...
    pub reason: String,
}

/// The kind of a text that Concertina itself printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrintedKind {
    /// A placeholder. It is never folded again.
    Placeholder,
    /// An original, fetched whole or in part, or shortened by the pipeline. When it becomes stale, its placeholder
    /// names the original, which is already stored.
    Copy,
}

/// A record that this session was shown a text that Concertina printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedText {
    /// The hash of the text as shown.
    pub text: ContentHash,
    /// The kind of the text.
    pub kind: PrintedKind,
    /// The original that the text stands for.
    pub original: ContentHash,
    /// The tokens that the text saves, compared with what the host would show without the plugin.
    pub saved: u64,
}

/// A mark that a person or the agent puts on content in a session, or on the session itself. Content is named by its
/// hash: that of a block's content, that of a block's key (for reruns), or that of an original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MarkKind {
    /// A person wants this content to stay in sight.
    Pinned,
    /// The agent no longer needs its copies of this original.
    Released,
    /// This result repeats one that had been folded. Its tokens are in sight because of that fold.
    Rerun,
    /// A person wants the last result before the time of the mark to stay in sight. Of the session.
    PinLast,
    /// A person wants everything foldable to be folded at the next assembly. Of the session.
    FoldAll,
    /// A person wants the results of the present turn to stay in sight. Of the session.
    KeepTurn,
    /// The session is left untouched, to be compared with others. Of the session.
    HeldOut,
}

impl MarkKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Pinned, Self::Released, Self::Rerun, Self::PinLast, Self::FoldAll, Self::KeepTurn, Self::HeldOut];

    /// Returns the word for the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Released => "released",
            Self::Rerun => "rerun",
            Self::PinLast => "pin last",
            Self::FoldAll => "fold all",
            Self::KeepTurn => "keep turn",
            Self::HeldOut => "held out",
        }
    }
}

/// A mark. There is at most one of each kind on each content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    /// The kind.
    pub kind: MarkKind,
    /// The marked content; the hash of nothing for the session itself.
    pub content: ContentHash,
}

impl Mark {
    /// Returns a mark on content.
    pub fn on(kind: MarkKind, content: ContentHash) -> Self {
        Self { kind, content }
    }

    /// Returns a mark on the session itself.
    pub fn on_session(kind: MarkKind) -> Self {
        Self { kind, content: ContentHash::of(b"") }
    }
}

/// An original that stands in a session's context in a shorter form.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldedOriginal {
    /// Its id, as its marker prints it.
    pub ref_id: String,
    /// The tool or the kind of content that it came from.
    pub label: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The time at which the session first folded it.
    pub at: Millis,
    /// The reason: that of its projection, or `large`, `shortened` or `shrunk` at birth.
    pub reason: String,
}

/// Content that a session asked for again after it was folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedAgain {
    /// The id of the original.
    pub ref_id: String,
    /// The tool that the original came from.
    pub tool: String,
    /// The tokens of the answer.
    pub tokens: u64,
    /// True if the tool was called again; false if the original was fetched.
    pub is_rerun: bool,
}

/// The kind of the receipt of a tool call that failed. It saves nothing.
pub const FAILED: &str = "failed";

/// The reason of a projection that shows an original in full again.
pub const RESTORED: &str = "restored";

/// The savings of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The operation: `admit`, `assemble`, `rules`, or [`FAILED`].
    pub kind: String,
    /// The tokens before.
    pub tokens_before: u64,
    /// The tokens after.
    pub tokens_after: u64,
    /// Free-form JSON: reasons, stages, counts.
    pub detail: String,
}

/// An epoch: a logged change of bytes that were already sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// The reason: `stale`, `cold`, `limit`, ...
    pub reason: String,
    /// The tokens that left the context.
    pub tokens_freed: u64,
    /// The tokens after the first changed byte, which are billed again.
    pub tokens_rebilled: u64,
    /// The number of blocks that changed.
    pub blocks: u64,
}

/// The kind of a folded block.
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
    /// Returns the name of the kind.
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

/// A batch: everything that is committed in one transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Originals with the ids that their markers print (from [`super::store::Store::ref_ids`]).
    pub originals: Vec<(RefId, Original)>,
    /// Blocks that are shown in full again. Their rows are removed before new ones are added, except rows that another
    /// caller has added since.
    pub withdrawn: Vec<BlockKey>,
    /// New projections of the session. If a block already has one, that one stays.
    pub projections: Vec<Projection>,
    /// Texts of Concertina that this session is about to be shown.
    pub printed: Vec<PrintedText>,
    /// Marks that are taken back, before new ones are added.
    pub unmarked: Vec<Mark>,
    /// New marks. One that the session already has gets the present time.
    pub marked: Vec<Mark>,
    /// The savings of operations.
    pub receipts: Vec<Receipt>,
    /// The epoch that this batch opens.
    pub epoch: Option<Epoch>,
    /// The folded tokens by kind, before and after. They are written like receipts.
    pub folded: Vec<(FoldedKind, u64, u64)>,
    /// The content that was asked for again.
    pub asked_again: Vec<AskedAgain>,
    /// All originals to which the assembled context refers. Their lifetimes restart, and those of originals no longer
    /// named begin to run. `None` leaves lifetimes unchanged (at birth).
    pub in_context: Option<BTreeSet<ContentHash>>,
    /// A hash of the session's current tools; `None` leaves the recorded one unchanged.
    pub tools: Option<ContentHash>,
    /// The [`Ledger::version`] from which the batch was made. The commit returns what others added since.
    pub since: i64,
    /// The [`Ledger::generation`] from which the batch was made; 0 for a batch without a ledger.
    pub generation: u64,
    /// The [`Ledger::state`] from which the batch was made.
    pub state: Option<SessionState>,
}

impl Batch {
    /// Creates an empty batch from a ledger.
    pub fn after(ledger: &Ledger) -> Self {
        let state = ledger.state.clone();
        Self { since: ledger.version, generation: ledger.generation, state, ..Self::default() }
    }

    /// Returns true if the batch changes nothing and the session was last seen less than `touch_interval` before its
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
            && self.unmarked.is_empty()
            && self.marked.is_empty()
            && self.receipts.is_empty()
            && self.epoch.is_none()
            && self.asked_again.is_empty()
            && self.tools.is_none()
            && self.state.as_ref().is_some_and(is_unchanged)
    }
}

/// The ledger of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The projections of the session.
    pub projections: Arc<Vec<Projection>>,
    /// The texts of Concertina that the session was shown.
    pub printed: Vec<PrintedText>,
    /// The marks of the session, with their times.
    pub marks: Vec<(Mark, Millis)>,
    /// The times at which results were shortened before they were first sent, and the tokens saved; oldest first.
    pub admitted: Vec<(Millis, u64)>,
    /// The logged epochs, oldest first.
    pub epochs: Vec<(Millis, Epoch)>,
    /// The number of times that folded content was asked for again, by the tool that it came from.
    pub asked_again: BTreeMap<String, u64>,
    /// A hash of the tools that the session had at its last assembly.
    pub tools: Option<ContentHash>,
    /// True if folding is switched off.
    pub is_off: bool,
    /// The time of the last recorded request.
    pub last_request: Option<Millis>,
    /// The row id of the session's newest projection; 0 if there is none. Ids only increase.
    pub version: i64,
    /// The generation of the file from which this was read. It changes when the file is replaced while it is open.
    /// Never 0.
    pub generation: u64,
    /// The session's state; `None` if the session has ended, is unknown, or is not held by an opener that holds
    /// sessions.
    pub state: Option<SessionState>,
}

impl Ledger {
    /// Returns the contents with marks of a kind.
    pub fn marked(&self, kind: MarkKind) -> impl Iterator<Item = ContentHash> {
        self.marks.iter().filter(move |(mark, _)| mark.kind == kind).map(|(mark, _)| mark.content)
    }

    /// Returns the time of the session's own mark of a kind, if it has one.
    pub fn marked_at(&self, kind: MarkKind) -> Option<Millis> {
        self.marks.iter().find(|(mark, _)| *mark == Mark::on_session(kind)).map(|(_, at)| *at)
    }
}

/// The state of a session. A batch that changes nothing of it need not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionState {
    /// The originals in the session's context.
    pub in_context: BTreeSet<ContentHash>,
    /// The time at which the session was last seen.
    pub last_seen: Millis,
    /// The time of the read, if the store has a clock.
    pub read_at: Option<Millis>,
}

/// The status of a turn after its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStatus {
    /// The turn was committed.
    Committed,
    /// A turn with this key was committed before.
    Duplicate,
}

/// Totals of a session, or of the whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of originals on disk.
    pub originals: u64,
    /// The size of the originals, in bytes.
    pub original_bytes: u64,
    /// The size of the originals as stored, in bytes.
    pub stored_bytes: u64,
    /// The number of turns committed.
    pub turns: u64,
    /// The receipts, newest first, at most 100.
    pub receipts: Vec<(Millis, Receipt)>,
    /// The tokens before, summed over all receipts.
    pub tokens_before: u64,
    /// The tokens after, summed over all receipts.
    pub tokens_after: u64,
    /// The epochs, newest first, at most 100.
    pub epochs: Vec<(Millis, Epoch)>,
}

/// The rows and bytes that a sweep or purge removed or would remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of originals.
    pub originals: u64,
    /// The bytes freed in the file; for a preview, the size as stored.
    pub bytes: u64,
    /// The number of sessions forgotten.
    pub sessions: u64,
}

/// The maximum number of originals in [`Searched::likely`].
pub const MAX_CANDIDATES: usize = 1 << 11;

/// The maximum number of originals in [`Searched::unsigned`].
pub const MAX_UNSIGNED: usize = 1 << 14;

/// The originals of a session that a search has to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searched {
    /// Those whose signatures do not rule out the words.
    pub likely: Candidates,
    /// Those that have no signature yet.
    pub unsigned: Candidates,
}

/// Some originals of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The newest ones, newest first, with their sizes in bytes.
    pub newest: Vec<(ContentHash, u64)>,
    /// The number of older ones, some of which may have expired.
    pub older: u64,
}
