//! Writes the value of each entry of the prose lexicon, in real tokens: `cargo run --example lexicon_worth`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/prose/src/lexicon/worth.txt");
    std::fs::write(file, concertina::prose::worth_table())
}
