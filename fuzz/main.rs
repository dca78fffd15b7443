//! Searches for texts that break a property: `npm run fuzz -- [TARGET|all] [SECONDS] [SEED]`.
//!
//! Targets are the properties of `tests/properties`, by name, and `no_panic`. Texts are built of pieces of real inputs,
//! of compressed results, and of raw bytes, and then mutated. The same seed gives the same texts. A text that breaks a
//! target is minimized and written to `fuzz/failures/`. With its fix it moves to `fixtures/fuzz/`, where tests replay
//! it.

#[path = "../tests/corpus/mod.rs"]
mod corpus;
#[path = "../tests/properties/mod.rs"]
mod properties;

mod setup;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::process::exit;
use std::time::{Duration, Instant};

use concertina::pipeline::FusionEngine;
use properties::engines;
use setup::setup;
use texts::{Dice, Texts};

const TARGETS: [&str; 5] = ["restores", "never_longer", "idempotent", "marker_opaque", "no_panic"];

/// The time limit for minimizing a failing text.
const CUTTING: Duration = Duration::from_secs(60);

/// Minimizes a failing text: removes pieces, first of lines and then of characters, while it still fails.
fn cut_down(text: &str, breaks: &dyn Fn(&str) -> bool) -> String {
    let started = Instant::now();
    let mut pieces: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..2 {
        let mut size = pieces.len().div_ceil(2);
        while size > 0 && started.elapsed() < CUTTING {
            let mut at = 0;
            while at < pieces.len() && started.elapsed() < CUTTING {
                let end = (at + size).min(pieces.len());
                let rest = [&pieces[..at], &pieces[end..]].concat();
                if breaks(&rest.concat()) {
                    pieces = rest;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        pieces = pieces.concat().chars().map(String::from).collect();
    }
    pieces.concat()
}

/// Runs one target for some time. Returns true if no text broke it.
fn run(target: &str, time: Duration, seed: u64, engines: &[(String, FusionEngine)], texts: &mut Texts) -> bool {
    let mut dice = Dice::new(seed, target);
    texts.forget();
    let (started, mut count, mut bytes) = (Instant::now(), 0_usize, 0);
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    while started.elapsed() < time {
        let setup = setup(engines, &mut dice);
        let text = texts.next(&mut dice);
        (count, bytes) = (count + 1, bytes + text.len());
        let compressed = catch_unwind(AssertUnwindSafe(|| {
            setup.check(target, &text);
            setup.engine.compress(&text, &setup.options, &|| 0.0).text
        }));
        if let Ok(compressed) = compressed {
            texts.keep(compressed, &mut dice);
            continue;
        }
        let breaks = |text: &str| catch_unwind(AssertUnwindSafe(|| setup.check(target, text))).is_err();
        let small = cut_down(&text, &breaks);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/failures/{target}-{seed}-{count}.txt"));
        std::fs::create_dir_all(file.parent().expect("a file in a directory")).expect("a writable directory");
        std::fs::write(&file, &small).expect("a writable file");
        set_hook(hook);
        println!("{target}: broken by text {count} of seed {seed} ({}), now {}", setup.name, file.display());
        let _ = catch_unwind(AssertUnwindSafe(|| setup.check(target, &small)));
        return false;
    }
    set_hook(hook);
    println!("{target}: {count} texts, {:.1} MB, in {} s, seed {seed}: held", bytes as f64 / 1e6, time.as_secs());
    true
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |index: usize| words.get(index).map(String::as_str);
    let number = |index: usize, usual: u64| word(index).map_or(usual, |word| word.parse().expect("a number"));
    let asked = word(0).unwrap_or("all");
    let targets: Vec<&str> = TARGETS.into_iter().filter(|target| asked == "all" || asked == *target).collect();
    if targets.is_empty() {
        eprintln!("{asked} is not a target; it must be all, {}", TARGETS.join(", "));
        exit(2);
    }
    let engines = engines();
    let mut texts = Texts::load();
    let time = Duration::from_secs(number(1, 60));
    let held: Vec<bool> = targets.iter().map(|target| run(target, time, number(2, 1), &engines, &mut texts)).collect();
    exit(i32::from(held.contains(&false)));
}
