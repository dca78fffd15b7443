//! Originals for the benchmarks of both backends.

use std::sync::Arc;
use std::time::Instant;

use concertina::assemble::{Engine, SEARCH_CHARS};
use concertina::config::Config;
use concertina::reference::Original;
use concertina::store::{Batch, Scope, Store};

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
    batch_of(store, originals)
}

fn batch_of(store: &dyn Store, originals: Vec<Original>) -> Batch {
    let hashes: Vec<_> = originals.iter().map(|original| original.hash).collect();
    let ids = store.ref_ids(&hashes).expect("ids");
    Batch { originals: ids.into_iter().zip(originals).collect(), ..Batch::default() }
}

/// Prints the time of searches in a session of 100,000 originals of 2 KB, one of which has a certain line.
pub(crate) fn print_search(store: &Arc<dyn Store>) {
    const COUNT: usize = 100_000;
    let scope = Scope { agent_id: "main".into(), session_id: "searched".into() };
    let engine = Engine::new(Arc::clone(store), Config::default()).expect("the options are good");
    let short = |seed: usize| text(seed).lines().take(40).collect::<Vec<_>>().join("\n");
    for first in (0..COUNT).step_by(1_000) {
        let text = |seed| if seed == COUNT / 3 { format!("{}\nthe planted line", short(seed)) } else { short(seed) };
        let originals = (first..first + 1_000).map(|seed| Original::text(&text(seed), "bench")).collect();
        store.commit(&scope, &batch_of(&**store, originals), 1).expect("a put");
    }
    let search = |query: &str| {
        let start = Instant::now();
        let found = engine.search(Some(&scope), query, SEARCH_CHARS, 1).expect("a search");
        (start.elapsed().as_secs_f64() * 1e3, found)
    };
    let (first, _) = search("planted");
    let mut times: Vec<f64> = (0..21)
        .map(|_| {
            let (time, found) = search("Planted line");
            assert_eq!((found.matching, found.note.as_str()), (1, ""));
            time
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (common, found) = search("unit took");
    println!(
        "search among {COUNT} originals: first {first:.0} ms, then {:.1} ms (at most {:.1})",
        times[10], times[20]
    );
    println!("search for what all contain: {common:.0} ms, of which {} were read", found.matching);
}
