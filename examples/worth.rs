//! Prints what each stage is worth next to its size: `cargo run --release --example worth -- [--every N] [CORPUS]`
//!
//! For each stage it compresses three sets with and without the stage: files and tool results of a corpus folder, and
//! the fixtures of this repository. The difference in saved tokens, in points of a set, is what the stage earns. It
//! ends with an error when a set has fewer tokens without a stage that is on by default. Without a folder only the
//! fixtures are measured.
//!
//! Prose stages fire at `max` only, so they are measured there; all others are measured at `balanced`, the default.
//! QuantumLock is left out: it saves money in the provider's cache, and no tokens.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use concertina::config::Preset;
use concertina::content::Hints;
use concertina::pipeline::{
    CompressOptions, Compressed, FusionEngine, FusionPipeline, StageOption, StageOptions, StageReport, restore,
};
use concertina::transcript::{BlockKind, Transcript};
use serde_json::Value;

/// Larger files are left out, so that a run takes minutes. Outputs of tools have a median of some kilobytes.
const MAX_FILE_BYTES: usize = 300_000;

/// A smaller text has nothing to fold: no marker line would pay.
const MIN_TEXT_BYTES: usize = 400;

/// A stage that earns fewer points per 100 lines of code than this, in its best set, is marked.
const POINTS_PER_100_LINES: f64 = 0.02;

/// A stage, the preset that it is measured at, and its sources below `src/pipeline`.
struct Candidate {
    name: &'static str,
    preset: Preset,
    sources: &'static [&'static str],
}

const fn at(preset: Preset, name: &'static str, sources: &'static [&'static str]) -> Candidate {
    Candidate { name, preset, sources }
}

const CANDIDATES: &[Candidate] = &[
    at(Preset::Balanced, "photon", &["stages/drop_unreadable"]),
    at(Preset::Balanced, "rle", &["stages/rle.rs"]),
    at(Preset::Balanced, "semanticDedup", &["stages/semantic_dedup", "repeats.rs"]),
    at(Preset::Balanced, "ionizer", &["stages/ionizer"]),
    at(Preset::Balanced, "logCrunch", &["stages/fold_logs"]),
    at(Preset::Balanced, "searchCrunch", &["stages/fold_search_results"]),
    at(Preset::Balanced, "diffCrunch", &["stages/fold_diffs"]),
    at(Preset::Balanced, "structuralCollapse", &["stages/structural_collapse", "lines", "columns"]),
    at(Preset::Balanced, "neurosyntax", &["stages/drop_comments", "syntax"]),
    at(Preset::Balanced, "tokenOpt", &["stages/token_opt"]),
    at(Preset::Max, "nexus", &["stages/shorten_prose.rs"]),
    at(Preset::Max, "abbrev", &["stages/shorten_prose.rs"]),
];

/// A text with what a host knows about it.
struct Sample {
    text: String,
    hints: Hints,
}

/// A set of samples with its name.
type Set = (&'static str, Vec<Sample>);

/// Tokens of one set: all of them, and what each stage saves of them.
#[derive(Default)]
struct Tokens {
    all: usize,
    shown: usize,
    saved: BTreeMap<&'static str, i64>,
}

fn main() -> ExitCode {
    let (mut every, mut corpus) = (1, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--every" {
            every = words.next().and_then(|count| count.parse().ok()).unwrap_or(1).max(1);
        } else {
            corpus = Some(PathBuf::from(word));
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut fixtures, recorded) = read(&root.join("fixtures"));
    fixtures.extend(recorded);
    let mut sets: Vec<Set> = vec![("fixtures", fixtures)];
    if let Some(corpus) = corpus {
        let (files, results) = read(&corpus);
        sets.insert(0, ("files", files));
        sets.insert(1, ("results", results));
    }
    let measured: Vec<(&str, Tokens)> = sets.into_iter().map(|(name, set)| (name, measure(set, every))).collect();
    print(&root.join("src/pipeline"), &measured)
}

/// Prints the table; fails where a set would be smaller without a stage.
fn print(sources: &Path, sets: &[(&str, Tokens)]) -> ExitCode {
    for (name, tokens) in sets {
        let saved = 100.0 * (1.0 - tokens.shown as f64 / tokens.all as f64);
        println!("{name}: {} tokens, of which all stages save {saved:.2} % at balanced", tokens.all);
    }
    let names: String = sets.iter().map(|(name, _)| format!("{name:>10}")).collect();
    println!("\n{:20}{:>7}{names}", "stage off", "lines");
    let mut costs = Vec::new();
    for candidate in CANDIDATES {
        let lines: usize = candidate.sources.iter().map(|source| code_lines(&sources.join(source))).sum();
        let points = |tokens: &Tokens| 100.0 * tokens.saved[candidate.name] as f64 / tokens.all as f64;
        let row: String = sets.iter().map(|(_, tokens)| format!("{:10.3}", points(tokens))).collect();
        let best = sets.iter().map(|(_, tokens)| points(tokens)).fold(f64::MIN, f64::max);
        let earns = best * 100.0 >= POINTS_PER_100_LINES * lines as f64;
        println!("{:20}{lines:7}{row}{}", candidate.name, if earns { "" } else { "  too little for its lines" });
        let losing = sets.iter().filter(|(_, tokens)| tokens.saved[candidate.name] < 0);
        costs.extend(losing.map(|(set, tokens)| (candidate.name, *set, -tokens.saved[candidate.name])));
    }
    for (stage, set, tokens) in &costs {
        println!("{stage} costs {tokens} tokens on the {set}");
    }
    if costs.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compresses every `every`th sample with all stages, and without each that proposed something.
fn measure(set: Vec<Sample>, every: usize) -> Tokens {
    let all = engine(None);
    let without: Vec<FusionEngine> = CANDIDATES.iter().map(|candidate| engine(Some(candidate.name))).collect();
    let mut tokens = Tokens::default();
    tokens.saved.extend(CANDIDATES.iter().map(|candidate| (candidate.name, 0)));
    for Sample { text, hints } in set.into_iter().step_by(every) {
        for preset in [Preset::Balanced, Preset::Max] {
            let options = CompressOptions { preset, hints: hints.clone(), ..CompressOptions::default() };
            let compress = |engine: &FusionEngine| -> Compressed { engine.compress(&text, &options, &|| 0.0) };
            let done = compress(&all);
            assert_eq!(restore(&done.text, &done.originals), text, "{:?} does not come back", hints.path);
            if preset == Preset::Balanced {
                tokens.all += done.tokens_before;
                tokens.shown += done.tokens_after;
            }
            for (candidate, engine) in CANDIDATES.iter().zip(&without) {
                let proposed = |row: &StageReport| row.fired || row.offered > 0;
                let row = done.stages.iter().find(|row| row.name == candidate.name);
                if candidate.preset == preset && row.is_some_and(proposed) {
                    let saved = compress(engine).tokens_after as i64 - done.tokens_after as i64;
                    *tokens.saved.entry(candidate.name).or_default() += saved;
                }
            }
        }
    }
    tokens
}

/// An engine of all stages but one.
fn engine(off: Option<&str>) -> FusionEngine {
    let off = off.map(|name| (name.to_owned(), StageOption { enabled: false, ..StageOption::default() }));
    let options = StageOptions { stages: off.into_iter().collect(), custom: Vec::new() };
    FusionEngine::new(FusionPipeline::build(&options).expect("the candidates are built-in stages"))
}

/// The files below a folder, and the tool results of the sessions among them.
fn read(folder: &Path) -> (Vec<Sample>, Vec<Sample>) {
    let (mut files, mut results) = (Vec::new(), BTreeMap::new());
    for path in paths(folder) {
        let Some(text) = fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else { continue };
        if path.to_string_lossy().ends_with(".messages.json") {
            let messages: Vec<Value> = serde_json::from_str(&text).expect("a session is an array of messages");
            for (_, block) in Transcript::read(&messages).blocks() {
                if let (Some(result), BlockKind::Text(text)) = (&block.result, &block.kind) {
                    results.entry((*text).to_owned()).or_insert_with(|| Hints::from(result));
                }
            }
        } else if text.len() <= MAX_FILE_BYTES {
            // Printed texts have no path. The suffix distinguishes them, because a corpus contains both kinds.
            let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
            let is_printed = ["", "txt", "log", "out", "diff"].contains(&suffix);
            let hints = Hints { path: (!is_printed).then(|| path.display().to_string()), ..Hints::default() };
            files.push(Sample { text, hints });
        }
    }
    let mut results: Vec<Sample> = results.into_iter().map(|(text, hints)| Sample { text, hints }).collect();
    // A text with folds of its own is unfolded, which no stage does.
    let counts = |sample: &Sample| sample.text.len() >= MIN_TEXT_BYTES && !sample.text.contains("[[FOLD:");
    files.retain(counts);
    results.retain(counts);
    (files, results)
}

/// The lines of Rust below a path that are code, without tests.
fn code_lines(path: &Path) -> usize {
    let sources = if path.is_dir() { paths(path) } else { vec![path.to_owned()] };
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs");
    let count = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        code.lines().filter(is_code).count()
    };
    sources.iter().filter(is_source).map(count).sum()
}

/// The files below a folder, sorted, so that every run takes the same ones.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { paths(&path) } else { vec![path] }).collect()
}
