//! Prints the duration of a durable put, as a ratio to the lower bound: writing 4 KB and syncing it, in the same
//! directory and run, and the duration of a search with the size of what it needs.

#[path = "../tests/corpus/mod.rs"]
mod corpus;
mod originals;

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use concertina::reference::Original;
use concertina::store::{Batch, Scope, Signature, SqliteStore, Store, StoreOptions};
use originals::{batch, print_search, text};

const ROUNDS: usize = 41;

/// The sizes of the texts whose signatures are measured. The longer a text, the smaller is the share of its signature.
const TEXT_BYTES: Range<usize> = 4_000..100_000;

/// Returns the median of some rounds, in milliseconds.
fn median(mut round: impl FnMut(usize)) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|index| {
            let start = Instant::now();
            round(index);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

fn main() {
    let dir = tempfile::tempdir().expect("a directory for the benchmark");
    let mut plain =
        OpenOptions::new().create_new(true).write(true).open(dir.path().join("floor")).expect("a plain file");
    let floor = median(|_| {
        plain.seek(SeekFrom::Start(0)).and_then(|_| plain.write_all(&[7; 4096])).expect("a write");
        plain.sync_data().expect("a sync");
    });
    println!("floor: write 4 KB and sync    {floor:8.3} ms");

    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(dir.path(), StoreOptions::default()).expect("a store"));
    let scope = Scope { agent_id: "main".into(), session_id: "bench".into() };
    let mut seed = 0;
    for count in [1, 16, 256] {
        let batches: Vec<Batch> = (0..ROUNDS).map(|_| batch(&*store, count, &mut seed)).collect();
        let time = median(|round| assert!(store.commit(&scope, &batches[round], 1).expect("a put").is_empty()));
        println!("put {count:3} originals of 8 KB     {time:8.3} ms  {:7.1} x the floor", time / floor);
    }
    let id = store.ref_ids(&[Original::text(&text(1), "bench").hash]).expect("an id").remove(0);
    let time = median(|_| assert!(store.get(&id, "main", 1).expect("a get").is_some()));
    println!("get one original              {time:8.3} ms  {:7.3} x the floor", time / floor);
    print_search(&store);
    for kind in ["reports", "logs", "json", "code"] {
        let inputs = corpus::inputs(kind);
        let texts = inputs.iter().filter_map(corpus::Input::text).filter(|text| TEXT_BYTES.contains(&text.len()));
        let (mut text_bytes, mut bytes) = (0, 0);
        for text in texts {
            text_bytes += text.len();
            bytes += Signature::of(text).as_bytes().len();
        }
        if text_bytes > 0 {
            println!("signatures of {kind}: {:.1} % of the text", bytes as f64 * 100.0 / text_bytes as f64);
        }
    }
}
