//! The durable store: originals by content hash, and per session the ledger of how each block is shown.
//!
//! The promise: when [`Store::commit`] returns, everything in the batch is on disk, and a batch is one transaction, so a marker
//! never exists without its original. Power loss is covered as far as the operating system's fsync is (SQLite, WAL,
//! `synchronous=FULL`). Every read is checked against its hash.
//!
//! Several processes may have one store open at once: the host's gateway, its command line, ours.
//!
//! The store has no clock: the present is the latest `now` that a caller gave to this instance, and until then nothing is
//! expired.

pub mod secrets;
pub mod sqlite;

use std::collections::BTreeSet;

use crate::config::Config;
use crate::error::Result;
use crate::reference::{ContentHash, Original, RefId};

pub use sqlite::SqliteStore;

/// Milliseconds since 1970.
pub type Millis = i64;

/// How long and how much a store keeps, and how long it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// How many seconds an original lives after the last time a context referred to it. One in a context may live one
    /// percent longer, because the time of a session is written no more often than that.
    pub ttl_seconds: u64,
    /// Largest size of the content on disk, in bytes. A commit at the limit first removes what no live session shows, and
    /// fails when that is not enough.
    pub max_bytes: u64,
    /// How many originals are held in memory after reading, within 64 MB; the disk holds more.
    pub max_entries: u64,
    /// How many milliseconds to wait for another process's write lock.
    pub busy_timeout_ms: u64,
}

impl From<&Config> for StoreOptions {
    fn from(config: &Config) -> Self {
        Self {
            ttl_seconds: config.sccs_storage_ttl_seconds,
            max_bytes: config.store_max_bytes,
            max_entries: config.sccs_max_entries,
            busy_timeout_ms: 2000,
        }
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::from(&Config::default())
    }
}

impl StoreOptions {
    /// How old the recorded time of a session may be before an assembly that changes nothing writes it again.
    fn touch_interval_ms(&self) -> Millis {
        self.ttl_ms() / 100
    }

    /// What was last referred to before this time is expired.
    fn expired_before(&self, now: Millis) -> Millis {
        now.saturating_sub(self.ttl_ms()).saturating_sub(self.touch_interval_ms())
    }

    fn ttl_ms(&self) -> Millis {
        Millis::try_from(self.ttl_seconds).unwrap_or(Millis::MAX).saturating_mul(1000)
    }
}

/// Whose content it is. An id resolves only for the agent whose session issued or inherited it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The agent.
    pub agent_id: String,
    /// The session: changes with every new conversation.
    pub session_id: String,
}

/// What a block is known by: its content, and which of several equal blocks it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey {
    /// Hash of the block's content as the host holds it.
    pub hash: ContentHash,
    /// The message's timestamp, or, for shapes without one, how many equal blocks stand before it.
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

/// Everything that becomes durable together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Originals with the ids that their markers print (from [`Store::ref_ids`]).
    pub originals: Vec<(RefId, Original)>,
    /// New rows of the session's projection.
    pub projections: Vec<Projection>,
    /// Texts of ours that this session is about to see.
    pub printed: Vec<PrintedText>,
    /// What was saved.
    pub receipts: Vec<Receipt>,
    /// The epoch that this batch opens.
    pub epoch: Option<Epoch>,
    /// All originals that the assembled context refers to. Restarts their time to live and ends that of those no longer named.
    /// `None` leaves lifetimes alone (at birth).
    pub in_context: Option<BTreeSet<ContentHash>>,
    /// A hash of the tools that the session has now; `None` leaves what was recorded.
    pub tools: Option<ContentHash>,
}

/// What a session knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// How blocks are shown.
    pub projections: Vec<Projection>,
    /// Texts of ours.
    pub printed: Vec<PrintedText>,
    /// When results were made smaller before they were first sent, and by how many tokens; oldest first.
    pub admitted: Vec<(Millis, u64)>,
    /// The logged epochs, oldest first.
    pub epochs: Vec<(Millis, Epoch)>,
    /// A hash of the tools that the session had when it was last assembled.
    pub tools: Option<ContentHash>,
}

/// Whether a turn was new.
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

/// What a sweep or purge removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Originals.
    pub originals: u64,
    /// Bytes freed in the file.
    pub bytes: u64,
    /// Sessions forgotten.
    pub sessions: u64,
}

/// A durable store. All methods block; callers choose the thread.
pub trait Store: Send + Sync {
    /// The ids that markers of these contents print: 16 digits, longer where another original has the same prefix, and the
    /// same as before for what is already stored.
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>>;

    /// Makes a batch durable in one transaction. An original that is already stored is kept and only newly shared with the
    /// session.
    ///
    /// What a projection, a printed text or `in_context` names and another session of the agent has is shared with this one;
    /// naming never opens another agent's. A batch that would change nothing but a session's time is not written while that
    /// time is recent.
    ///
    /// # Errors
    /// [`crate::error::Error::BadArgument`], with nothing written, for an original that does not hash to its hash or id, an id
    /// that another original took since [`Store::ref_ids`], and a projection or printed text whose original is neither in the
    /// batch nor stored for the agent.
    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<()>;

    /// The original behind an id, with the id its markers print; `None` when it is unknown, expired, or another agent's.
    ///
    /// The issued id, all 64 digits and anything between resolve. Reading does not prolong a life.
    ///
    /// # Errors
    /// [`crate::error::Error::OriginalDamaged`] when the bytes on disk are no longer those that the id names.
    fn get(&self, id: &RefId, agent_id: &str) -> Result<Option<(RefId, Original)>>;

    /// What a session knows; empty for a new one.
    fn ledger(&self, scope: &Scope) -> Result<Ledger>;

    /// Records a finished turn exactly once.
    fn commit_turn(&self, scope: &Scope, advancement_key: &str, now: Millis) -> Result<TurnStatus>;

    /// Gives a sub-agent's session everything that its parent's session may see and how it is shown.
    fn inherit(&self, parent: &Scope, child: &Scope, now: Millis) -> Result<()>;

    /// Totals of one session or of all.
    fn stats(&self, session_id: Option<&str>) -> Result<Stats>;

    /// Removes what expired and, above the size limit, what was least recently referred to; never what a live session shows.
    fn sweep(&self, now: Millis) -> Result<Removed>;

    /// Forgets a session and every original that no other session shares.
    fn purge(&self, session_id: &str) -> Result<Removed>;
}
