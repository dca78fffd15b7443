//! A fair semaphore for threads, which corresponds to the addon's semaphore (`node/src/work.rs`).

use std::sync::{Condvar, Mutex, PoisonError};

/// A limit of concurrent jobs.
pub(crate) struct Turns {
    state: Mutex<State>,
    moved: Condvar,
}

struct State {
    /// The ticket of the next waiter.
    next: u64,
    /// Tickets below this one may work.
    served: u64,
}

/// A permit, which is returned when it is dropped.
pub(crate) struct Turn<'t>(&'t Turns);

impl Turns {
    pub(crate) fn new(places: usize) -> Self {
        Self { state: Mutex::new(State { next: 0, served: places as u64 }), moved: Condvar::new() }
    }

    /// Waits for a permit.
    pub(crate) fn take(&self) -> Turn<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = state.next;
        state.next += 1;
        let waits = |state: &mut State| ticket >= state.served;
        drop(self.moved.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner));
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).served += 1;
        self.0.moved.notify_all();
    }
}
