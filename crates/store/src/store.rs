//! The contract of every backend.

use std::collections::BTreeSet;

use concertina_base::error::Result;
use concertina_base::reference::{ContentHash, Original, RefId};

use super::figures::{Figures, FiguresQuery, KnownSession, Recent, Turn};
use super::records::{Batch, Ledger, Projection, Removed, Scope, Searched, Stats, TurnStatus};
use super::signature::{Probes, Signature};
use super::tables::RowSink;
use super::time::Millis;

/// A durable store. All methods block; callers choose the thread.
///
/// If the file was deleted or replaced while it is open, the call works on the new file and reports this once in
/// [`Store::notices`]. If a newer program has migrated the store meanwhile, a call that this program can no longer
/// perform returns [`concertina_base::error::Error::StoreNewer`] and changes nothing.
pub trait Store: Send + Sync {
    /// Returns the ids that markers of these contents print: 16 digits, more if another original has the same prefix,
    /// and the issued id for content that is already stored.
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>>;

    /// Commits a batch in one transaction. Returns the projections that the caller did not know: all projections of the
    /// session that are newer than `batch.since`, and those that `batch` wanted to decide and another writer had
    /// decided before, in the order in which they were written. Only these may be shown: if a block already has a row,
    /// the first row stays.
    ///
    /// An original that is already stored is kept and only granted to the session. An original that a projection, a
    /// printed text or `in_context` names and that another session of the agent has is granted to this one; naming
    /// never grants another agent's original. A text is recorded as printed once. Receipts and the epoch are written
    /// unless everything that the batch decides was decided before. A batch that adds nothing to the ledger from which
    /// it was made is skipped without a query if the session was touched recently ([`Batch::is_idle`]).
    ///
    /// # Errors
    /// [`concertina_base::error::Error::BadArgument`], with nothing written, for an original that does not match its
    /// hash or id, an id that another original took since [`Store::ref_ids`], and a projection or printed text whose
    /// original is neither in the batch nor stored for the agent. [`concertina_base::error::Error::StoreReplaced`] if
    /// the file is no longer the one from which the batch was made, or was replaced while the batch was written: make
    /// the batch again, from a new ledger.
    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<Vec<Projection>>;

    /// Returns the original behind an id, with the id that its markers print; `None` if it is unknown, expired, or
    /// another agent's.
    ///
    /// The issued id, all 64 digits and anything between resolve, for the agents whose sessions were granted it and for
    /// the agents for which these sessions work ([`Store::inherit`]). Reading does not extend a lifetime.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::OriginalDamaged`] if the bytes on disk do not have the hash that the id names.
    fn get(&self, id: &RefId, agent_id: &str, now: Millis) -> Result<Option<(RefId, Original)>>;

    /// Does the same as [`Store::get`] for several ids, in order. All originals are in memory at the same time.
    ///
    /// # Errors
    /// The first error of [`Store::get`].
    fn get_all(&self, ids: &[RefId], agent_id: &str, now: Millis) -> Result<Vec<Option<(RefId, Original)>>> {
        ids.iter().map(|id| self.get(id, agent_id, now)).collect()
    }

    /// Returns the originals that this session was granted, and no other's, that may contain some words, and those that
    /// [`Store::sign`] has to sign first. Empty for an unknown session.
    fn search(&self, scope: &Scope, probes: &Probes, now: Millis) -> Result<Searched>;

    /// Stores the signatures of originals of a session for its searches. They go with the session's grants. Originals
    /// that the session may not see are skipped.
    fn sign(&self, scope: &Scope, signatures: &[(ContentHash, Signature)]) -> Result<()>;

    /// Returns the ledger of a session; empty for a new one.
    fn ledger(&self, scope: &Scope) -> Result<Ledger>;

    /// Records a finished turn with its requests exactly once.
    fn commit_turn(&self, scope: &Scope, turn: &Turn, now: Millis) -> Result<TurnStatus>;

    /// Returns the requests of a session since a moment, and its state before it.
    fn recent(&self, scope: &Scope, since: Millis) -> Result<Recent>;

    /// Returns the figures of requests, of one session or of all.
    fn figures(&self, query: &FiguresQuery) -> Result<Figures>;

    /// Returns every session that the store knows, the last seen first.
    fn sessions(&self) -> Result<Vec<KnownSession>>;

    /// Switches folding in a session off or on. What is already folded stays folded and can be fetched.
    fn switch(&self, scope: &Scope, is_off: bool, now: Millis) -> Result<()>;

    /// Returns true if folding is switched off in a session.
    fn is_off(&self, scope: &Scope) -> Result<bool>;

    /// Grants a sub-agent's session what its parent's session may see, with its projections: everything, or only the
    /// originals with the named ids. What is pinned in the parent's session is pinned in this one, too. From then on,
    /// the parent's agent may fetch what this session is granted. The reverse is not true, and grants of the
    /// sub-agent's own sub-agents are not included.
    fn inherit(&self, parent: &Scope, child: &Scope, named: Option<&[RefId]>, now: Millis) -> Result<()>;

    /// Records that the host has ended a session. The lifetime of what it held begins, unless another host has it. The
    /// first end counts, until a later commit of the session takes it back.
    fn end_session(&self, scope: &Scope, now: Millis) -> Result<()>;

    /// Ends every held session that the host no longer lists, unless another host has it, and takes back the end of
    /// those that it lists. Returns the number of sessions ended. A session that was seen in the last ten minutes is
    /// not ended, because the host may not list it yet.
    fn settle(&self, alive: &BTreeSet<String>, now: Millis) -> Result<u64>;

    /// Returns the totals of one session or of all.
    fn stats(&self, session: Option<&Scope>) -> Result<Stats>;

    /// Removes what expired. Above the size limit, first removes what ended sessions held, in the order of their ends,
    /// then what was least recently referred to. Never removes what a live session shows or a held one may show.
    fn sweep(&self, now: Millis) -> Result<Removed>;

    /// Forgets a session and every original that no other session shares. Another agent's session with the same name
    /// stays.
    fn purge(&self, scope: &Scope) -> Result<Removed>;

    /// Returns what [`Store::purge`] would remove.
    fn purgeable(&self, scope: &Scope) -> Result<Removed>;

    /// Reads every row of every table, table by table, while nobody else writes. An error of `take` ends it.
    fn export(&self, take: &mut RowSink<'_>) -> Result<()>;

    /// Fills an empty store with the rows that `fill` puts, in one transaction. `fill` may be called again from the
    /// start.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::BadArgument`] for a store that is not empty.
    fn import(&self, fill: &mut dyn FnMut(&mut RowSink<'_>) -> Result<()>) -> Result<()>;

    /// Reads the whole file of the store. If `today` is given, a date such as `2026-01-31`, a damaged file is renamed
    /// with that date in its name and a new one is created, as a line of [`Store::notices`] reports. Returns true if
    /// this happened. A server checks its own files.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::StoreDamaged`] for a damaged file that was not renamed.
    fn check(&self, today: Option<&str>) -> Result<bool> {
        let _ = today;
        Ok(false)
    }

    /// Returns the location of the store for error messages.
    fn location(&self) -> String;

    /// Returns the notices for the operator that were not returned before, one line each: a replaced file, restricted
    /// permissions.
    fn notices(&self) -> Vec<String>;
}
