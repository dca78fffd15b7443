//! Prints what the pipeline saves on each file given, in real tokens: `cargo run --example saved -- [--preset P] [--print] FILE...`
//! With `--print` it prints what becomes of each file, too.

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine, MessagesOptions, compress_messages, restore};
use concertina::tokens;
use serde_json::Value;

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let mut preset = Preset::Balanced;
    let mut prints = false;
    while let Some(option) = files.first().filter(|word| word.starts_with("--")) {
        if option == "--print" {
            prints = true;
            files.remove(0);
        } else {
            preset = files.get(1).and_then(|word| Preset::parse(word)).expect("a preset: lossless, balanced or max");
            files.drain(..2);
        }
    }
    let engine = FusionEngine::default();
    let options = CompressOptions { preset, ..CompressOptions::default() };
    let (mut before, mut after) = (0, 0);
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if file.ends_with(".messages.json") {
            let messages: Vec<Value> = serde_json::from_str(&text).expect("an array of messages");
            let options = MessagesOptions { compress: options.clone(), ..MessagesOptions::default() };
            let done = compress_messages(&engine, &messages, &options, &|| 0.0);
            let count = |messages: &[Value]| -> usize {
                let texts = messages.iter().map(|message| message["content"].as_str().unwrap_or_default());
                texts.map(|text| tokens::count(text, options.compress.encoding)).sum()
            };
            let after = done.rewrite.apply(&messages);
            if prints {
                after.iter().for_each(|message| println!("{}\n", message["content"].as_str().unwrap_or_default()));
            }
            let (from, to) = (count(&messages), count(&after));
            println!("{:5.1} %  {from:7} -> {to:7}  messages {file}", 100.0 * (1.0 - to as f64 / from as f64));
            continue;
        }
        let done = engine.compress(&text, &options, &|| 0.0);
        assert_eq!(restore(&done.text, &done.originals), text, "{file} does not come back");
        let fired: Vec<&str> = done.stages.iter().filter(|row| row.fired).map(|row| row.name.as_str()).collect();
        println!(
            "{:5.1} %  {:7} -> {:7}  {:8} {}  {}  {}",
            100.0 * (1.0 - done.tokens_after as f64 / done.tokens_before.max(1) as f64),
            done.tokens_before,
            done.tokens_after,
            done.content_type.as_str(),
            if done.lossless { "lossless  " } else { "reversible" },
            fired.join("+"),
            file.rsplit('/').next().unwrap_or_default(),
        );
        if prints {
            println!("{}", done.text);
        }
        before += done.tokens_before;
        after += done.tokens_after;
    }
    println!("{:5.1} %  {before:7} -> {after:7}  all", 100.0 * (1.0 - after as f64 / before.max(1) as f64));
}
