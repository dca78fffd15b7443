//! Prints the throughput of segmenting and shortening prose on one core, in MB/s and as a ratio to the lower bound:
//! validating the same bytes as UTF-8.

mod clock;

use std::hint::black_box;
use std::path::Path;

use clock::now;
use concertina::prose::{Intensity, Objective, compress_prose, expand, shortened, tokenize};
use concertina::rules::{RulesOptions, preprocess, protected_spans};

const ROUNDS: usize = 9;

/// The approximate amount of prose, in bytes: the fixtures, repeated.
const BYTES: usize = 2_000_000;

fn main() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut part = String::new();
    for kind in ["prose", "prose_filler", "system"] {
        let mut files: Vec<_> = std::fs::read_dir(dir.join(kind))
            .expect("the fixtures are there")
            .map(|file| file.expect("a file").path())
            .collect();
        files.sort();
        for file in files {
            part.push_str(&std::fs::read_to_string(file).expect("the fixtures are text"));
            part.push('\n');
        }
    }
    let text = part.repeat(BYTES / part.len() + 1);
    let speed = |mut round: Box<dyn FnMut() + '_>| {
        let mut times: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let start = now();
                round();
                now() - start
            })
            .collect();
        times.sort_by(f64::total_cmp);
        text.len() as f64 / 1e3 / times[ROUNDS / 2]
    };
    let floor = speed(Box::new(|| assert!(std::str::from_utf8(black_box(text.as_bytes())).is_ok())));
    println!("floor: validate UTF-8             {floor:9.1} MB/s");
    let row = |name: &str, speed: f64| println!("{name:33} {speed:9.1} MB/s  {:7.1} x the floor's time", floor / speed);
    row("tell apart (tokenize)", speed(Box::new(|| drop(black_box(tokenize(&text))))));
    for intensity in Intensity::ALL {
        let name = format!("shorten, {}", intensity.as_str());
        row(&name, speed(Box::new(|| assert!(shortened(&text, intensity, Objective::Tokens).len() < text.len()))));
    }
    row("expand", speed(Box::new(|| drop(black_box(expand(&text))))));
    row("protected spans of rules", speed(Box::new(|| drop(black_box(protected_spans(&text))))));
    let mut seed = 0;
    let receipt = speed(Box::new(|| {
        // Counts are cached by content, so each round uses a new text.
        seed += 1;
        drop(black_box(compress_prose(&format!("{text}{seed}"), Intensity::Full, Objective::Tokens)));
    }));
    row("shorten with a receipt, full", receipt);
    let rules = &text[..text.floor_char_boundary(100_000)];
    let start = now();
    black_box(preprocess(rules, &RulesOptions::default()));
    let rate = rules.len() as f64 / 1e3 / (now() - start);
    row("rules, standard (100 kB)", rate);
}
