//! The slots of the pool, which limit the number of connections, and the idle connections.
//!
//! The owner of a slot without a connection opens one itself, so that an error is returned at once and with its reason.
//! A lost connection is replaced in its slot.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;

/// A connection, with the number of silent connections at the time when it was last used.
pub(crate) type IdleConnection = (u64, Connection);

/// All slots.
pub(crate) struct Slots {
    pub(crate) size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    taken: usize,
    idle: Vec<IdleConnection>,
}

/// One slot. Dropping it returns the slot and its connection.
pub(crate) struct Slot<'a> {
    slots: &'a Slots,
    pub(crate) connection: Option<IdleConnection>,
}

impl Slots {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Takes a slot, with an idle connection if there is one. Returns `None` if all slots stay taken for `time_limit`.
    pub(crate) fn take(&self, time_limit: Duration) -> Option<Slot<'_>> {
        let until = Instant::now() + time_limit;
        let mut state = self.state();
        while state.taken >= self.size {
            let left = until.checked_duration_since(Instant::now())?;
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.taken += 1;
        Some(Slot { slots: self, connection: state.idle.pop() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Waits up to `time_limit` for a connection that another slot returns. For slots that cannot open one.
    pub(crate) fn borrow(&self, time_limit: Duration) -> Option<IdleConnection> {
        let mut state = self.slots.state();
        if state.idle.is_empty() {
            state = self.slots.changed.wait_timeout(state, time_limit).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.idle.pop()
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.taken -= 1;
        state.idle.extend(self.connection.take());
        drop(state);
        self.slots.changed.notify_all();
    }
}
