//! Threads for foreign code. They have stacks for deep nesting, and are abandoned if a call does not return.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::TimedOut;

/// The stack size. Parsers recurse as deeply as ambiguous code is nested. Stack memory is not committed before it is
/// used.
const STACK_BYTES: usize = 64 << 20;

/// Runs work on another thread, which is abandoned if the work takes longer than `time_limit`. Returns `None` if no
/// thread can be started or the work panicked.
///
/// # Errors
/// [`TimedOut`] if the work took longer.
pub fn run_with_timeout<T: Send + 'static>(
    time_limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, TimedOut> {
    let (done, outcome) = mpsc::channel();
    let thread = std::thread::Builder::new().name("concertina".into()).stack_size(STACK_BYTES);
    // The receiver may have stopped waiting.
    if thread.spawn(move || drop(done.send(work()))).is_err() {
        return Ok(None);
    }
    match outcome.recv_timeout(time_limit) {
        Ok(value) => Ok(Some(value)),
        Err(RecvTimeoutError::Timeout) => Err(TimedOut),
        Err(RecvTimeoutError::Disconnected) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn work_is_done_and_a_panic_is_no_answer() {
        assert_eq!(run_with_timeout(LONG, || 1 + 1).unwrap(), Some(2));
        assert_eq!(run_with_timeout(LONG, || -> u32 { panic!("on purpose") }).unwrap(), None);
        assert_eq!(run_with_timeout(LONG, || 3).unwrap(), Some(3));
    }

    #[test]
    fn what_does_not_come_back_is_left() {
        let stuck = run_with_timeout(Duration::from_millis(20), || {
            loop {
                std::thread::park();
            }
        });
        assert!(stuck.is_err());
        assert_eq!(run_with_timeout(LONG, || 4).unwrap(), Some(4));
    }

    #[test]
    fn there_is_room_for_deep_nesting() {
        fn deep(left: u32) -> u64 {
            let room = std::hint::black_box([u64::from(left); 64]);
            if left == 0 { 0 } else { room[0] + deep(left - 1) }
        }
        assert!(run_with_timeout(LONG, || deep(50_000)).unwrap().is_some());
    }
}
