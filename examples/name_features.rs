//! Prints the features of each name that a placeholder might keep: `cargo run --example name_features < TEXTS`.
//!
//! Each input line is JSON: `{"session": true}` resets the state; `{"seen": text}` contains words of users or of the
//! model; `{"written": text}` contains what the model wrote in a call; and `{"text": text, "recent": [texts]}` is
//! answered with one line, the candidates of that text in its order: `[[name, the rule's score, [steps]], …]`.

use std::io::{self, BufRead, Write};

use concertina::summarize::{Around, features_of};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut around = Around::default();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        if line["session"] == true {
            around = Around::default();
        } else if let Some(text) = line["seen"].as_str() {
            around.add(text);
        } else if let Some(text) = line["written"].as_str() {
            around.add_written(text);
        } else if let Some(text) = line["text"].as_str() {
            let mut around = around.clone();
            for recent in line["recent"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                around.add_recent(recent);
            }
            writeln!(out, "{}", json!(features_of(text, &around)))?;
            // The caller waits for the answer.
            out.flush()?;
        } else {
            return Err(format!("no session, seen, written or text: {line}").into());
        }
    }
    Ok(())
}
