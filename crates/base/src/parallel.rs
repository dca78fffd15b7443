//! Parallel work on many blocks.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread;

/// The maximum number of threads for one call. The host has other work.
const MAX_THREADS: usize = 4;

/// The number of threads for one call. On Linux, finding it reads several files.
static THREADS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS));

/// The minimum number of items for which threads are started. A thread costs some 10 microseconds; the summary of a
/// block costs hundreds.
const MIN_PARALLEL_ITEMS: usize = 8;

/// Returns the results of `work` for all items, in their order. Each thread has its own tools. A panic is propagated to
/// the caller.
pub fn map<T: Sync, U: Send, Tools: Default>(items: &[T], work: impl Fn(&mut Tools, &T) -> U + Sync) -> Vec<U> {
    let threads = if items.len() < MIN_PARALLEL_ITEMS { 1 } else { *THREADS };
    // Items are dealt out in turn, because neighbours have similar costs.
    let run_share = |first: usize| {
        let mut tools = Tools::default();
        items.iter().skip(first).step_by(threads).map(|item| work(&mut tools, item)).collect::<Vec<_>>()
    };
    if threads == 1 {
        return run_share(0);
    }
    let mut shares: Vec<_> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || run_share(first))).collect();
        let own = run_share(0);
        let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(others).map(Vec::into_iter).collect()
    });
    (0..items.len()).filter_map(|at| shares[at % threads].next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_worked_on_once_and_the_order_stays() {
        for count in [0, 1, MIN_PARALLEL_ITEMS - 1, MIN_PARALLEL_ITEMS, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let worked = map(&items, |count: &mut usize, item| {
                *count += 1;
                (item * 2, *count)
            });
            let (doubled, counts): (Vec<usize>, Vec<usize>) = worked.into_iter().unzip();
            assert_eq!(doubled, (0..count).map(|item| item * 2).collect::<Vec<_>>());
            assert!(counts.iter().zip(1..).all(|(count, most)| (1..=most).contains(count)));
        }
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_goes_on_in_the_caller() {
        let items: Vec<usize> = (0..100).collect();
        map(&items, |(): &mut (), item| if *item == 57 { panic!("on purpose") } else { *item });
    }
}
