//! Prints how much of recorded sessions is words of the user or the model, and what shortening those would save:
//! `cargo run --example prose_share -- SESSION.json...`

use concertina::config::Encoding;
use concertina::history::message_tokens;
use concertina::prose::{Intensity, Objective, compress_prose};
use concertina::transcript::{Kind, Transcript};
use serde_json::Value;

fn main() {
    let (mut sessions, mut all, mut words, mut saved) = (0, 0.0, 0.0, 0.0);
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let Ok(Value::Array(messages)) = serde_json::from_str(&text) else {
            eprintln!("{file} is no JSON array of messages: left out");
            continue;
        };
        sessions += 1;
        all += message_tokens(&messages, None, Encoding::O200kBase) as f64;
        for (_, block) in Transcript::read(&messages).blocks() {
            let (Kind::Text(text), None) = (block.kind, &block.result) else { continue };
            let (_, receipt) = compress_prose(text, Intensity::Full, Objective::Tokens);
            words += receipt.tokens_before as f64;
            saved += receipt.saved_tokens as f64;
        }
    }
    println!("{sessions} sessions, {all} tokens");
    println!("words of users and of the model: {:.1} %", 100.0 * words / all);
    println!("saved by shortening all of them at full: {:.2} % of all tokens", 100.0 * saved / all);
}
