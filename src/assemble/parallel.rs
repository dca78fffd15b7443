//! Work on many blocks, on all cores.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Threads for one call, at most: a host has other work.
const THREADS_MAX: usize = 4;

/// Fewer items are worked on where they are: a thread costs some ten microseconds, the summary of a block hundreds.
const LEAST: usize = 8;

/// What some work makes of each item, in their order. A panic goes on in the caller.
pub(super) fn filter_map<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> Option<U> + Sync) -> Vec<U> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    if threads == 1 || items.len() < LEAST {
        return items.iter().filter_map(work).collect();
    }
    // By turns: neighbours are alike, and so are their costs.
    let share = |first: usize| items.iter().skip(first).step_by(threads).map(&work).collect::<Vec<_>>();
    let mut shares: Vec<_> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || share(first))).collect();
        let own = share(0);
        let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(others).map(Vec::into_iter).collect()
    });
    (0..items.len()).filter_map(|at| shares[at % threads].next().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_worked_on_once_and_the_order_stays() {
        for count in [0, 1, LEAST - 1, LEAST, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let kept = filter_map(&items, |item| (item % 3 != 0).then_some(item * 2));
            let expected: Vec<usize> = (0..count).filter(|item| item % 3 != 0).map(|item| item * 2).collect();
            assert_eq!(kept, expected);
        }
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_goes_on_in_the_caller() {
        let items: Vec<usize> = (0..100).collect();
        filter_map(&items, |item| if *item == 57 { panic!("on purpose") } else { Some(*item) });
    }
}
