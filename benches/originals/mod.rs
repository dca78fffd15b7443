//! Originals to store, for the benchmarks of both backends.

use concertina::reference::Original;
use concertina::store::{Batch, Store};

/// About 8 KB that look like tool output and differ each time.
pub(crate) fn text(seed: usize) -> String {
    (0..160)
        .map(|line| format!("{line:05} unit_{:x} took {} ms\n", (seed * 7919 + line) * 2_654_435_761, seed % 977))
        .collect()
}

/// A batch of so many that were not stored before; `seed` is that of the last one.
pub(crate) fn batch(store: &dyn Store, count: usize, seed: &mut usize) -> Batch {
    let originals: Vec<Original> = (0..count)
        .map(|_| {
            *seed += 1;
            Original::text(&text(*seed), "bench")
        })
        .collect();
    let hashes: Vec<_> = originals.iter().map(|original| original.hash).collect();
    let ids = store.ref_ids(&hashes).expect("ids");
    Batch { originals: ids.into_iter().zip(originals).collect(), ..Batch::default() }
}
