//! Prints the savings of the pipeline on each given file, in real tokens:
//! `cargo run --example saved -- [--preset P] [--print] FILE...` With `--print` it also prints the compressed form of
//! each file. Files named `*.messages.json` are arrays of messages.

use std::io::{self, ErrorKind, Write};
use std::process::exit;

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine, MessagesOptions, compress_messages, restore};
use concertina::tokens;
use serde_json::Value;

/// The parsed arguments.
struct Task {
    engine: FusionEngine,
    options: CompressOptions,
    prints: bool,
}

impl Task {
    /// Prints a row for a text. Returns its tokens before and after.
    fn text(&self, file: &str, text: &str, out: &mut impl Write) -> io::Result<(usize, usize)> {
        let done = self.engine.compress(text, &self.options, &|| 0.0);
        assert_eq!(restore(&done.text, &done.originals), text, "{file} does not come back");
        let fired: Vec<&str> = done.stages.iter().filter(|row| row.fired).map(|row| row.name.as_str()).collect();
        let kind = if done.lossless { "lossless  " } else { "reversible" };
        let words = format!("{:8} {kind}  {}", done.content_type.as_str(), fired.join("+"));
        row(done.tokens_before, done.tokens_after, &format!("{words}  {}", name(file)), out)?;
        if self.prints {
            writeln!(out, "{}", done.text)?;
        }
        Ok((done.tokens_before, done.tokens_after))
    }

    /// Prints a row for messages. Returns their tokens before and after.
    fn messages(&self, file: &str, messages: &[Value], out: &mut impl Write) -> io::Result<(usize, usize)> {
        let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
        let count = |messages: &[Value]| -> usize {
            messages.iter().map(|message| tokens::count(&text(message), self.options.encoding)).sum()
        };
        let options = MessagesOptions { compress: self.options.clone(), ..MessagesOptions::default() };
        let done = compress_messages(&self.engine, messages, &options, &|| 0.0).rewrite.apply(messages);
        let (before, after) = (count(messages), count(&done));
        row(before, after, &format!("messages  {}", name(file)), out)?;
        if self.prints {
            done.iter().try_for_each(|message| writeln!(out, "{}\n", text(message)))?;
        }
        Ok((before, after))
    }
}

fn row(before: usize, after: usize, words: &str, out: &mut impl Write) -> io::Result<()> {
    let saved = 100.0 * (1.0 - after as f64 / before.max(1) as f64);
    writeln!(out, "{saved:5.1} %  {before:7} -> {after:7}  {words}")
}

fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn run(task: &Task, files: &[String], out: &mut impl Write) -> io::Result<()> {
    let (mut before, mut after) = (0, 0);
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| fail(&format!("{file}: {error}")));
        let (from, to) = if file.ends_with(".messages.json") {
            let messages: Vec<Value> = serde_json::from_str(&text)
                .unwrap_or_else(|error| fail(&format!("{file} is not an array of messages: {error}")));
            task.messages(file, &messages, out)?
        } else {
            task.text(file, &text, out)?
        };
        (before, after) = (before + from, after + to);
    }
    row(before, after, "all", out)?;
    out.flush()
}

fn fail(words: &str) -> ! {
    eprintln!("{words}");
    exit(2)
}

fn main() {
    let mut task = Task { engine: FusionEngine::default(), options: CompressOptions::default(), prints: false };
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--print" => task.prints = true,
            "--preset" => {
                let preset = words.next().as_deref().and_then(Preset::parse);
                task.options.preset = preset.unwrap_or_else(|| fail("--preset takes lossless, balanced or max"));
            }
            option if option.starts_with("--") => fail(&format!("there is no option {option}")),
            _ => files.push(word),
        }
    }
    if files.is_empty() {
        fail("usage: saved [--preset lossless|balanced|max] [--print] FILE...");
    }
    match run(&task, &files, &mut io::stdout().lock()) {
        // The reader has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        result => result.unwrap_or_else(|error| fail(&format!("standard output: {error}"))),
    }
}
