//! Originals for the benchmarks of both backends.

use concertina::reference::Original;
use concertina::store::{Batch, Store};

/// Returns about 8 KB of text similar to tool output, different for each seed.
pub(crate) fn text(seed: usize) -> String {
    (0..160)
        .map(|line| format!("{line:05} unit_{:x} took {} ms\n", (seed * 7919 + line) * 2_654_435_761, seed % 977))
        .collect()
}

/// Returns a batch of `count` new originals. `seed` is that of the last one.
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
