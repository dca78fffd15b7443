//! What every backend promises.

use std::collections::BTreeSet;

use concertina_base::error::Result;
use concertina_base::reference::{ContentHash, Original, RefId};

use super::figures::{Figures, FiguresQuery, KnownSession, Recent, Turn};
use super::records::{Batch, Ledger, Projection, Removed, Scope, Stats, TurnStatus};
use super::tables::Sink;
use super::time::Millis;

/// A durable store. All methods block; callers choose the thread.
///
/// A call that finds that the file was deleted or replaced under it works on what is there now, and says so once in
/// [`Store::notices`]. Where a newer program has migrated the store meanwhile, what this one can no longer do there is
/// [`concertina_base::error::Error::StoreNewer`]; nothing is changed then.
pub trait Store: Send + Sync {
    /// Returns the ids that markers of these contents print: 16 digits, longer where another original has the same
    /// prefix, and the same as before for what is already stored.
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>>;

    /// Makes a batch durable in one transaction, and says how blocks are shown that the caller did not know of: all
    /// projections of the session that are newer than `batch.since`, and those that `batch` wanted to decide and
    /// another writer had decided before, in the order in which they were written. Only these may be shown: for a block
    /// that has a row, the first one stays.
    ///
    /// An original that is already stored is kept and only newly shared with the session. What a projection, a printed
    /// text or `in_context` names and another session of the agent has is shared with this one; naming never opens
    /// another agent's. A text is recorded as printed once. Receipts and the epoch are written unless all that the
    /// batch decides was decided before. A batch that says no more than the ledger that it was made from is not written
    /// while the session's time is recent ([`Batch::is_idle`]), nor is anything asked.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::BadArgument`], with nothing written, for an original that does not hash to its
    /// hash or id, an id that another original took since [`Store::ref_ids`], and a projection or printed text whose
    /// original is neither in the batch nor stored for the agent. [`concertina_base::error::Error::StoreReplaced`] when
    /// the file is no longer the one that the batch was made from, or stopped being the store's while the batch was
    /// written: make the batch again, from a new ledger.
    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<Vec<Projection>>;

    /// Returns the original behind an id, with the id its markers print; `None` when it is unknown, expired, or another
    /// agent's.
    ///
    /// The issued id, all 64 digits and anything between resolve, for the agents whose sessions were granted it and for
    /// the agents that these sessions work for ([`Store::inherit`]). Reading does not prolong a life.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::OriginalDamaged`] when the bytes on disk are no longer those that the id names.
    fn get(&self, id: &RefId, agent_id: &str, now: Millis) -> Result<Option<(RefId, Original)>>;

    /// [`Store::get`] of several ids, in order, all of which are in memory then.
    ///
    /// # Errors
    /// That of the first which fails.
    fn get_all(&self, ids: &[RefId], agent_id: &str, now: Millis) -> Result<Vec<Option<(RefId, Original)>>> {
        ids.iter().map(|id| self.get(id, agent_id, now)).collect()
    }

    /// What a session knows; empty for a new one.
    fn ledger(&self, scope: &Scope) -> Result<Ledger>;

    /// Records a finished turn with its requests exactly once.
    fn commit_turn(&self, scope: &Scope, turn: &Turn, now: Millis) -> Result<TurnStatus>;

    /// What a session did since a moment, and how it stood before.
    fn recent(&self, scope: &Scope, since: Millis) -> Result<Recent>;

    /// Returns the figures of requests, of one session or of all.
    fn figures(&self, query: &FiguresQuery) -> Result<Figures>;

    /// Every session that the store knows, the last seen first.
    fn sessions(&self) -> Result<Vec<KnownSession>>;

    /// Keeps a line that the operator was warned with, for a week.
    fn warn(&self, text: &str, now: Millis) -> Result<()>;

    /// What the operator was warned of since a moment, newest first, at most 100 lines.
    fn warnings(&self, since: Millis) -> Result<Vec<(Millis, String)>>;

    /// Stops folding anything more in a session, or takes that back. What is folded stays so, and can be fetched.
    fn switch(&self, scope: &Scope, is_off: bool, now: Millis) -> Result<()>;

    /// Returns true if nothing more is to be folded in a session.
    fn is_off(&self, scope: &Scope) -> Result<bool>;

    /// Gives a sub-agent's session what its parent's session may see and how it is shown: everything, or only the
    /// originals with the named ids. From then on the parent's agent may fetch what this session is granted; not the
    /// other way round, and not what the sub-agent's own sub-agents are granted.
    fn inherit(&self, parent: &Scope, child: &Scope, named: Option<&[RefId]>, now: Millis) -> Result<()>;

    /// Returns the host has ended a session: the time to live of what it held begins, unless another host has it, too.
    /// The first end counts, until a further commit of the session takes it back.
    fn end_session(&self, scope: &Scope, now: Millis) -> Result<()>;

    /// Ends every held session that is not among those that the host still knows, unless another host has it, and takes
    /// back the end of those that are. Returns how many it ended. A session that was seen in the last ten minutes is
    /// left alone: the host may not list it yet.
    fn settle(&self, alive: &BTreeSet<String>, now: Millis) -> Result<u64>;

    /// Totals of one session or of all.
    fn stats(&self, session: Option<&Scope>) -> Result<Stats>;

    /// Removes what expired and, above the size limit, first what ended sessions held, oldest end first, then what was
    /// least recently referred to; never what a live session shows or a held one may show.
    fn sweep(&self, now: Millis) -> Result<Removed>;

    /// Forgets a session and every original that no other session shares. One of the same name that another agent has
    /// stays.
    fn purge(&self, scope: &Scope) -> Result<Removed>;

    /// What [`Store::purge`] would remove.
    fn purgeable(&self, scope: &Scope) -> Result<Removed>;

    /// Reads every row of every table, table by table, while nobody else writes. What `take` returns ends it.
    fn export(&self, take: &mut Sink<'_>) -> Result<()>;

    /// Fills an empty store with what `fill` puts, in one transaction. `fill` may be called again, from the start.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::BadArgument`] for a store that is not empty.
    fn import(&self, fill: &mut dyn FnMut(&mut Sink<'_>) -> Result<()>) -> Result<()>;

    /// Reads through all that the store's file consists of. With `today`, a date such as `2026-01-31`, a damaged file
    /// gets another name with that date in it, and a new one takes its place, as a line of [`Store::notices`] says;
    /// returns whether that was so. A server looks after its own files.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::StoreDamaged`] for a damaged file that was not set aside.
    fn check(&self, today: Option<&str>) -> Result<bool> {
        let _ = today;
        Ok(false)
    }

    /// Where the store is, as errors name it.
    fn location(&self) -> String;

    /// What an operator should know and has not been told yet, one line each: a file that was replaced, rights that
    /// were narrowed.
    fn notices(&self) -> Vec<String>;
}
