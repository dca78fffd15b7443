//! Threads for foreign code: with room for any nesting, used again, and given up when one does not come back.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Lost;

/// Parsers recurse as deep as code is nested where it is ambiguous. A stack is not touched before it is used.
const STACK_BYTES: usize = 64 << 20;

/// A thread with nothing to do for so long ends.
const REST: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for a job.
static RESTING: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

fn resting() -> std::sync::MutexGuard<'static, Vec<Sender<Job>>> {
    RESTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a job to a thread that rests, or to a new one; returns where its next job goes.
fn hand_over(mut job: Job) -> Option<Sender<Job>> {
    while let Some(thread) = { resting().pop() } {
        match thread.send(job) {
            Ok(()) => return Some(thread),
            Err(ended) => job = ended.0,
        }
    }
    let (jobs, inbox) = mpsc::channel::<Job>();
    jobs.send(job).ok()?;
    let work = move || {
        while let Ok(job) = inbox.recv_timeout(REST) {
            job();
        }
    };
    std::thread::Builder::new().name("concertina".into()).stack_size(STACK_BYTES).spawn(work).ok()?;
    Some(jobs)
}

/// Does work on another thread, which is left to itself when it takes longer than `patience`. `None` where there is no thread to be had, or where the work
/// panicked.
///
/// # Errors
/// [`Lost`] where the work took longer. Its thread is not used again.
pub fn apart<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, Lost> {
    let (done, outcome) = mpsc::channel();
    // Nobody may be waiting any more.
    let Some(thread) = hand_over(Box::new(move || drop(done.send(work())))) else { return Ok(None) };
    match outcome.recv_timeout(patience) {
        Ok(value) => {
            resting().push(thread);
            Ok(Some(value))
        }
        Err(RecvTimeoutError::Timeout) => Err(Lost),
        Err(RecvTimeoutError::Disconnected) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn work_is_done_and_a_panic_is_no_answer() {
        assert_eq!(apart(LONG, || 1 + 1).unwrap(), Some(2));
        assert_eq!(apart(LONG, || -> u32 { panic!("on purpose") }).unwrap(), None);
        assert_eq!(apart(LONG, || 3).unwrap(), Some(3));
    }

    #[test]
    fn what_does_not_come_back_is_left() {
        let stuck = apart(Duration::from_millis(20), || {
            loop {
                std::thread::park();
            }
        });
        assert!(stuck.is_err());
        assert_eq!(apart(LONG, || 4).unwrap(), Some(4));
    }

    #[test]
    fn there_is_room_for_deep_nesting() {
        fn deep(left: u32) -> u64 {
            let room = std::hint::black_box([u64::from(left); 64]);
            if left == 0 { 0 } else { room[0] + deep(left - 1) }
        }
        assert!(apart(LONG, || deep(50_000)).unwrap().is_some());
    }
}
