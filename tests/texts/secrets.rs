//! Tests of the secret scan on real tool outputs: no false positives, and a planted secret is found in any context.

use std::collections::BTreeMap;
use std::time::Instant;

use concertina::secrets::find_secrets;
use concertina::transcript::{BlockKind, Transcript};

use crate::corpus;

const KINDS: [&str; 5] = ["logs", "json", "code", "search", "diffs"];

/// Returns the planted secrets. They are assembled here, so that no scanner reports this file as a leak.
fn planted() -> [String; 2] {
    [format!("AKIA{}", "Q3EGRZ5TXL7M2N4P"), format!("DEPLOY_{}=q8w7e6r5t4y3u2i1o0pA", "TOKEN")]
}

#[test]
fn real_outputs_without_secrets_are_passed_over() {
    for kind in KINDS {
        let inputs = corpus::inputs(kind);
        let mut bytes = 0;
        for input in &inputs {
            let text = input.text().unwrap_or_default();
            bytes += text.len();
            let found: Vec<&str> = find_secrets(text).into_iter().map(|range| &text[range]).collect();
            assert!(found.is_empty(), "{}: {found:?}", input.name);
        }
        println!("{kind}: {} inputs, {bytes} bytes, no hit", inputs.len());
    }
}

#[test]
fn a_secret_is_found_in_the_middle_of_any_real_output() {
    for input in KINDS.into_iter().flat_map(corpus::inputs) {
        let Some(text) = input.text() else { continue };
        for secret in planted() {
            let at = text[..text.floor_char_boundary(text.len() / 2)].rfind('\n').map_or(0, |end| end + 1);
            let leaky = format!("{}{secret}\n{}", &text[..at], &text[at..]);
            let value = secret.rsplit('=').next().unwrap_or(&secret);
            let found: Vec<&str> = find_secrets(&leaky).into_iter().map(|range| &leaky[range]).collect();
            assert_eq!(found, [value], "{}", input.name);
        }
    }
}

/// Returns every block that could be stored: the corpus's files, and the tool results and arguments of its sessions, by
/// class.
fn blocks() -> Vec<(&'static str, String, String)> {
    const FILES: [&str; 9] = ["logs", "json", "code", "search", "diffs", "tables", "html", "prose", "rules"];
    let mut blocks = Vec::new();
    for kind in FILES {
        for input in corpus::inputs(kind) {
            blocks.extend(input.text().map(|text| (kind, input.name.clone(), text.to_owned())));
        }
    }
    for (session, messages) in corpus::sessions() {
        for (index, block) in Transcript::read(&messages).blocks() {
            let name = format!("{session} message {index}");
            match (block.kind, &block.result) {
                (BlockKind::Text(text), Some(_)) => blocks.push(("results", name, text.to_owned())),
                (BlockKind::Call(call), _) => blocks.push(("arguments", name, call.arguments.to_json())),
                _ => {}
            }
        }
    }
    blocks
}

#[test]
#[ignore = "prints what is held back and how fast; asserts nothing that the others do not"]
fn the_share_and_speed_of_the_secret_scan() {
    let blocks = blocks();
    let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (class, name, text) in &blocks {
        let found = find_secrets(text);
        let (all, held) = classes.entry(class).or_default();
        *all += 1;
        *held += usize::from(!found.is_empty());
        for range in found {
            let line = text[..range.start].rfind('\n').map_or(0, |end| end + 1).max(range.start.saturating_sub(90));
            let line = text.ceil_char_boundary(line);
            let end = text.floor_char_boundary((range.end + 20).min(text.len()));
            println!("{name}: {:?} in {:?}", &text[range.clone()], &text[line..end]);
        }
    }
    println!("{classes:?}");
    let held: usize = classes.values().map(|(_, held)| held).sum();
    println!("{held} of {} blocks held back", blocks.len());
    for class in ["logs", "json", "code"] {
        let mut text: String =
            blocks.iter().filter(|(kind, ..)| *kind == class).map(|(.., text)| text.as_str()).collect();
        text.truncate(text.floor_char_boundary(1 << 20));
        let fastest = (0..7)
            .map(|_| {
                let start = Instant::now();
                assert!(find_secrets(&text).len() < text.len());
                start.elapsed()
            })
            .min()
            .expect("seven runs");
        println!("{class}: {:.0} MB/s", text.len() as f64 / 1e6 / fastest.as_secs_f64());
    }
}
