//! Places for connections: how many there may be, and the connections that lie idle.
//!
//! Whoever has a place without a connection connects, so that an error comes at once and with its reason, and a connection that is lost
//! is replaced where it was.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::link::Link;

/// A connection, with how many had fallen silent when it was last used.
pub(crate) type Known = (u64, Link);

/// All places.
pub(crate) struct Places {
    pub(crate) size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    taken: usize,
    idle: Vec<Known>,
}

/// One place. Dropping it gives it back, with its connection where there is one.
pub(crate) struct Place<'a> {
    places: &'a Places,
    pub(crate) link: Option<Known>,
}

impl Places {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, state: Mutex::default(), changed: Condvar::new() }
    }

    /// A place, with an idle connection where there is one; `None` where all are taken for so long.
    pub(crate) fn take(&self, patience: Duration) -> Option<Place<'_>> {
        let until = Instant::now() + patience;
        let mut state = self.state();
        while state.taken >= self.size {
            let left = until.checked_duration_since(Instant::now())?;
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.taken += 1;
        Some(Place { places: self, link: state.idle.pop() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// A connection that another place gives back within this time, where this one can have none of its own.
    pub(crate) fn borrow(&self, patience: Duration) -> Option<Known> {
        let mut state = self.places.state();
        if state.idle.is_empty() {
            state = self.places.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.idle.pop()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.taken -= 1;
        state.idle.extend(self.link.take());
        drop(state);
        self.places.changed.notify_all();
    }
}
