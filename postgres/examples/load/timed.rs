//! A store that measures its calls by thread, so that a job's time can be divided between the store and the engine.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use concertina::error::Result;
use concertina::reference::{ContentHash, Original, RefId};
use concertina::store::figures::{Figures, FiguresQuery, KnownSession, Recent, Turn};
use concertina::store::tables::RowSink;
use concertina::store::{
    Batch, Ledger, Millis, Probes, Projection, Removed, Scope, Searched, Signature, Stats, Store, TurnStatus,
};

/// The times of the store's calls on this thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) time: Duration,
    pub(crate) cpu: Duration,
    pub(crate) calls: u64,
}

thread_local! {
    static SPENT: Cell<Spent> = const { Cell::new(Spent { time: Duration::ZERO, cpu: Duration::ZERO, calls: 0 }) };
}

/// Returns and resets the times of this thread.
pub(crate) fn take_spent() -> Spent {
    SPENT.take()
}

/// Returns the processor time of this thread.
#[cfg(unix)]
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns zero: the processor time is unknown on this platform.
#[cfg(not(unix))]
pub(crate) fn cpu() -> Duration {
    Duration::ZERO
}

/// Any store, with its calls timed.
pub(crate) struct TimedStore(pub(crate) Arc<dyn Store>);

impl TimedStore {
    fn note<T>(&self, call: impl FnOnce(&dyn Store) -> T) -> T {
        let (began, cpu_before) = (Instant::now(), cpu());
        let answer = call(&*self.0);
        let mut spent = SPENT.get();
        spent.time += began.elapsed();
        spent.cpu += cpu().saturating_sub(cpu_before);
        spent.calls += 1;
        SPENT.set(spent);
        answer
    }
}

macro_rules! timed {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $answer:ty;)+) => {
        impl Store for TimedStore {
            $(fn $name(&self $(, $argument: $type)*) -> $answer {
                self.note(|store| store.$name($($argument),*))
            })+
        }
    };
}

timed! {
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>>;
    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<Vec<Projection>>;
    fn get(&self, id: &RefId, agent_id: &str, now: Millis) -> Result<Option<(RefId, Original)>>;
    fn search(&self, scope: &Scope, probes: &Probes, now: Millis) -> Result<Searched>;
    fn sign(&self, scope: &Scope, signatures: &[(ContentHash, Signature)]) -> Result<()>;
    fn ledger(&self, scope: &Scope) -> Result<Ledger>;
    fn commit_turn(&self, scope: &Scope, turn: &Turn, now: Millis) -> Result<TurnStatus>;
    fn recent(&self, scope: &Scope, since: Millis) -> Result<Recent>;
    fn figures(&self, query: &FiguresQuery) -> Result<Figures>;
    fn sessions(&self) -> Result<Vec<KnownSession>>;
    fn switch(&self, scope: &Scope, is_off: bool, now: Millis) -> Result<()>;
    fn is_off(&self, scope: &Scope) -> Result<bool>;
    fn inherit(&self, parent: &Scope, child: &Scope, named: Option<&[RefId]>, now: Millis) -> Result<()>;
    fn end_session(&self, scope: &Scope, now: Millis) -> Result<()>;
    fn settle(&self, alive: &BTreeSet<String>, now: Millis) -> Result<u64>;
    fn stats(&self, session: Option<&Scope>) -> Result<Stats>;
    fn sweep(&self, now: Millis) -> Result<Removed>;
    fn purge(&self, scope: &Scope) -> Result<Removed>;
    fn purgeable(&self, scope: &Scope) -> Result<Removed>;
    fn export(&self, take: &mut RowSink<'_>) -> Result<()>;
    fn import(&self, fill: &mut dyn FnMut(&mut RowSink<'_>) -> Result<()>) -> Result<()>;
    fn location(&self) -> String;
    fn notices(&self) -> Vec<String>;
}
