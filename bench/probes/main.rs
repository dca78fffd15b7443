//! Checks for every file if each of its facts is preserved: `npm run bench:probes -- [--preset P] [--json] DIR...`
//!
//! Facts are extracted from the file by code that shares nothing with the engine (`sets`). Each fact is in sight as it
//! was, in sight in another form (restored from the output alone), addressable (fetched from a real store by the
//! output's own marker and compared byte for byte), or lost. `false` counts claims of the output that are not in the
//! file (`claims`).
//!
//! `--by-file DIR` prints a line for each file instead (`by_command`). `--reading DIR...` prints the share of cells
//! that a naive reader reads right, and the folds that are hardest to read (`reading`).

#[path = "../../tests/sight/mod.rs"]
mod sight;

mod by_command;
mod claims;
mod reading;
mod sets;
mod shell;

use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::exit;

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine, restore};
use serde_json::{Value, json};
use sight::{Outcome, Shelf};

/// The total results of all files of a class.
#[derive(Default)]
struct Sum {
    files: usize,
    before: usize,
    after: usize,
    /// The numbers of facts that are in sight, reformatted, addressable and lost.
    outcomes: [usize; 4],
    false_claims: usize,
    /// The lowest share of facts in sight, and the name of its file.
    worst: Option<(f64, String)>,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.before += other.before;
        self.after += other.after;
        self.false_claims += other.false_claims;
        self.outcomes.iter_mut().zip(other.outcomes).for_each(|(sum, more)| *sum += more);
        if let Some(worst) = &other.worst
            && self.worst.as_ref().is_none_or(|known| worst.0 < known.0)
        {
            self.worst = Some(worst.clone());
        }
    }

    fn probes(&self) -> usize {
        self.outcomes.iter().sum()
    }

    fn saved(&self) -> f64 {
        100.0 * (1.0 - self.after as f64 / self.before.max(1) as f64)
    }

    fn in_sight(&self) -> f64 {
        100.0 * (self.outcomes[0] + self.outcomes[1]) as f64 / self.probes().max(1) as f64
    }

    fn to_json(&self, class: &str) -> Value {
        let [plain, reformatted, addressable, lost] = self.outcomes;
        json!({
            "class": class, "files": self.files, "tokensBefore": self.before, "tokensAfter": self.after,
            "savedPercent": self.saved(), "probes": self.probes(), "inSightPercent": self.in_sight(), "asItStood": plain,
            "reformatted": reformatted, "addressable": addressable, "lost": lost, "false": self.false_claims,
            "worst": self.worst.as_ref().map(|(share, name)| json!({ "file": name, "inSightPercent": share })),
        })
    }

    fn print(&self, class: &str) {
        let [plain, reformatted, addressable, lost] = self.outcomes;
        let worst = self.worst.as_ref().map_or(String::new(), |(share, name)| format!("{name} ({share:.0} %)"));
        println!(
            "{class:8} {:5} {:6.1} % {:7} {:6.1} % {plain:7} {reformatted:7} {addressable:7} {lost:5} {:5}  {worst}",
            self.files,
            self.saved(),
            self.probes(),
            self.in_sight(),
            self.false_claims
        );
    }
}

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| files(path, found));
    } else {
        found.push(path.to_owned());
    }
}

/// Compresses a text and checks the facts of all these classes. Also returns true if it can be restored from its output
/// alone. The assumed class decides which words of an output are claims.
fn ask(
    shelf: &Shelf,
    engine: &FusionEngine,
    options: &CompressOptions,
    name: &str,
    text: &str,
    classes: &[&str],
    taken_for: &str,
) -> (bool, Sum) {
    let shown = shelf.show(engine, text, options);
    let mut outcomes = [0; 4];
    for &class in classes {
        for fact in sets::facts(class, text) {
            let outcome = match class {
                "html" => shown.find(|text| fact.is_in(&sets::unmarked(text)) || fact.is_in(&sets::visible(text))),
                "shell" | "logs" => shown.find(|text| fact.is_in(&shell::on_screen(text))),
                _ => shown.find(|text| fact.is_in(text)),
            };
            outcomes[outcome as usize] += 1;
            if outcome == Outcome::Lost {
                eprintln!("lost in {name}: {fact:?}");
            }
        }
    }
    let false_claims = claims::false_claims(taken_for, &restore(text, &[]), &shown.unfolded);
    false_claims.iter().take(5).for_each(|claim| eprintln!("false in {name}: {claim}"));
    let (before, after) = (shown.compressed.tokens_before, shown.compressed.tokens_after);
    let mut sum = Sum { files: 1, before, after, outcomes, false_claims: false_claims.len(), worst: None };
    sum.worst = (sum.probes() > 0).then(|| (sum.in_sight(), name.to_owned()));
    (shown.compressed.lossless, sum)
}

fn progress(done: usize, all: usize) {
    if stderr().is_terminal() {
        eprint!("\r{done} of {all} files");
    }
}

fn progress_ends() {
    if stderr().is_terminal() {
        eprintln!();
    }
}

/// Removes an option with its value from the arguments.
fn take(words: &mut Vec<String>, option: &str) -> Option<String> {
    let at = words.iter().position(|word| word == option)?;
    let value = words.get(at + 1).cloned();
    words.drain(at..(at + 2).min(words.len()));
    value
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut options = CompressOptions::default();
    if words.iter().any(|word| word == "--preset") {
        options.preset =
            take(&mut words, "--preset").as_deref().and_then(Preset::parse).expect("lossless, balanced or max");
    }
    let prints_json = words.iter().any(|word| word == "--json");
    words.retain(|word| word != "--json");
    if let Some(dir) = take(&mut words, "--by-file") {
        let half = take(&mut words, "--half");
        match by_command::print(Path::new(&dir), half.as_deref(), &options, prints_json) {
            Ok(wrong) => exit(i32::from(wrong > 0)),
            Err(error) => {
                eprintln!("{error}");
                exit(2);
            }
        }
    }
    if words.first().is_some_and(|word| word == "--reading") {
        exit(i32::from(reading::print(&words[1..], &options) > 0));
    }
    if words.is_empty() {
        eprintln!(
            "usage: probes [--preset lossless|balanced|max] [--json] DIR... | --by-file DIR [--half tuning|held-out] | \
             --reading DIR..."
        );
        exit(2);
    }
    let mut paths = Vec::new();
    words.iter().for_each(|word| files(Path::new(word), &mut paths));
    let (shelf, engine) = (Shelf::new(), FusionEngine::default());
    let mut classes: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut all = Sum::default();
    let mut binary = 0;
    for (index, path) in paths.iter().enumerate() {
        let name = path.display().to_string();
        progress(index + 1, paths.len());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                binary += 1;
                continue;
            }
            Err(error) => {
                eprintln!("{name}: {error}");
                exit(2);
            }
        };
        let class = sets::class_of(&name, &text);
        let (_, sum) = ask(&shelf, &engine, &options, &name, &text, &[class], class);
        all.add(&sum);
        classes.entry(class).or_default().add(&sum);
    }
    progress_ends();
    if binary > 0 {
        eprintln!("{binary} files are no text and were left out");
    }
    let rows = classes.iter().map(|(class, sum)| (*class, sum)).chain([("all", &all)]);
    if prints_json {
        let rows: Vec<Value> = rows.map(|(class, sum)| sum.to_json(class)).collect();
        println!("{}", json!({ "preset": options.preset.as_str(), "rows": rows }));
    } else {
        println!("class    files    saved  probes in sight   plain  reform  addres  lost false  least in sight");
        rows.for_each(|(class, sum)| sum.print(class));
    }
    exit(i32::from(all.outcomes[3] + all.false_claims > 0));
}
