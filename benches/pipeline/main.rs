//! Prints the processor time of compression for each type and size, as ratios to two lower bounds measured in the same
//! run: the SHA-256 and one exact token count of the same bytes.
//!
//! `cargo bench --bench pipeline -- [FILE...]` adds a row for each file. Each generated text is used only once, because
//! counts are cached. For the same reason each run on a file is a separate process.

#[path = "../clock/mod.rs"]
mod clock;
mod growth;
mod shapes;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use clock::now;
use concertina::config::Encoding;
use concertina::pipeline::{CompressOptions, FusionEngine};
use concertina::tokens;
use sha2::{Digest, Sha256};

const SIZES: [(usize, &str); 4] = [(10_000, "10 KB"), (100_000, "100 KB"), (1_000_000, "1 MB"), (10_000_000, "10 MB")];

const FILE_ROUNDS: usize = 9;

/// Random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.roll(WORDS.len())]
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let words = "the session reads a value from store when request is not valid it returns an error and logs user \
                 token of each block that was written before cache index with path to file in order for later calls \
                 however therefore";
    words.split_whitespace().collect()
});

/// A generator of pieces of a text of some type, from the number of the piece and random numbers.
type Piece = fn(usize, &mut Dice) -> String;

const TYPES: [(&str, Piece); 9] = [
    ("log", |n, dice| {
        let (level, id) = (["INFO", "INFO", "INFO", "DEBUG", "WARN"][dice.roll(5)], dice.roll(9_999_999));
        let text = match dice.roll(4) {
            0 => format!("request {id:x} served in {} ms", dice.roll(900)),
            1 => format!("connection from 10.0.{}.{} accepted", dice.roll(20), dice.roll(255)),
            2 => format!("cache {} for key user:{id}", ["hit", "miss"][dice.roll(2)]),
            _ => format!("worker-{} {}", dice.roll(8), dice.words(5)),
        };
        format!(
            "2026-11-21T10:{:02}:{:02}.{:03}Z {level} [server.{}] {text}\n",
            n / 600 % 60,
            n / 10 % 60,
            n * 97 % 1000,
            dice.word()
        )
    }),
    ("json", |n, dice| {
        let open = if n == 0 { "[\n" } else { ",\n" };
        let (id, word) = (dice.roll(9_999_999), dice.word());
        format!(
            "{open}  {{\"id\": {n}, \"name\": \"{word}-{id}\", \"active\": {}, \"score\": {}.{}, \"tags\": [\"{}\", \"{}\"], \"url\": \"https://api.example.com/items/{n}\"}}",
            id % 3 > 0,
            id % 100,
            id % 10,
            dice.word(),
            dice.word()
        )
    }),
    ("table", |n, dice| {
        let head = if n == 0 { "id,date,city,price,count\n" } else { "" };
        format!(
            "{head}{n},2026-{:02}-{:02},{},{}.{:02},{}\n",
            dice.roll(12) + 1,
            dice.roll(28) + 1,
            dice.word(),
            dice.roll(900),
            dice.roll(100),
            dice.roll(50)
        )
    }),
    ("search", |n, dice| {
        let file = format!("src/{}/{}_{}.rs", dice.word(), dice.word(), n / 20);
        (1..4 + dice.roll(5))
            .map(|hit| format!("{file}:{}:    let {} = {}({});\n", hit * 17, dice.word(), dice.word(), dice.word()))
            .collect()
    }),
    ("diff", |n, dice| {
        let head = match n % 5 {
            0 => format!(
                "diff --git a/src/f{n}.rs b/src/f{n}.rs\nindex 1234567..89abcde 100644\n--- a/src/f{n}.rs\n+++ b/src/f{n}.rs\n"
            ),
            _ => String::new(),
        };
        let at = n % 5 * 40 + 1;
        let mut line = |sign: &str| format!("{sign}    {}\n", dice.words(6));
        let lines: String =
            [" ", " ", " ", " ", "-", "+", "+", " ", " ", " ", " "].into_iter().map(&mut line).collect();
        format!("{head}@@ -{at},9 +{at},10 @@\n{lines}")
    }),
    ("code", |n, dice| {
        let (name, a, b) = (dice.word(), dice.word(), dice.word());
        format!(
            "def {name}_{n}(value, {a}_{n}=None):\n    \"\"\"{}.\"\"\"\n    # {}\n    result = {b}_{n}(value) + {}\n    if result > {}:\n        return [result, {a}_{n}]\n    return result\n\n\n",
            dice.words(8),
            dice.words(7),
            dice.roll(100),
            dice.roll(1000)
        )
    }),
    ("html", |n, dice| {
        let head = if n == 0 { "<!DOCTYPE html>\n<html><head><title>Page</title></head><body>\n" } else { "" };
        format!(
            "{head}<div class=\"row\" id=\"r{n}\"><h2>{}</h2><p>{} <a href=\"/items/{n}\">{}</a></p><ul><li>{}</li></ul></div>\n",
            dice.words(3),
            dice.words(20),
            dice.words(2),
            dice.words(5)
        )
    }),
    ("prose", |n, dice| {
        let head = if n % 9 == 0 { format!("## {} {n}\n\n", dice.words(3)) } else { String::new() };
        let sentences: String = (0..4).map(|_| format!("The {} {}. ", dice.words(9), dice.roll(100))).collect();
        format!("{head}{}\n\n", sentences.trim_end())
    }),
    ("one line", |_, dice| format!("{} ", dice.words(12))),
];

fn text(piece: Piece, size: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::with_capacity(size + 1000);
    for number in 0.. {
        text.push_str(&piece(number, &mut dice));
        if text.len() >= size {
            break;
        }
    }
    if text.starts_with('[') {
        text.push_str("\n]\n");
    }
    text
}

fn millis<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = now();
    let result = black_box(work());
    (now() - start, result)
}

/// The result of compressing a text once.
struct Run {
    time: f64,
    /// The savings and the slowest stages, in words.
    words: String,
}

fn compress(engine: &FusionEngine, text: &str) -> Run {
    let (time, result) = millis(|| engine.compress(text, &CompressOptions::default(), &now));
    let mut stages: Vec<(f64, &str)> =
        result.stages.iter().map(|stage| (stage.gate_ms + stage.work_ms, stage.name.as_str())).collect();
    stages.sort_by(|a, b| b.0.total_cmp(&a.0));
    let slowest: Vec<String> =
        stages.iter().take(3).filter(|(ms, _)| *ms > time / 50.0).map(|(ms, name)| format!("{name} {ms:.2}")).collect();
    let saved = 100.0 * (1.0 - result.tokens_after as f64 / result.tokens_before.max(1) as f64);
    Run { time, words: format!("saved {saved:4.1} %  {}", slowest.join(", ")) }
}

fn count(text: &str) -> f64 {
    millis(|| tokens::count(text, Encoding::O200kBase)).0
}

fn hash(text: &str) -> f64 {
    millis(|| Sha256::digest(text.as_bytes())).0
}

fn print(name: &str, size: &str, hash: f64, count: f64, Run { time, words }: &Run) {
    println!(
        "{name:9} {size:>7} {time:10.2} ms {:7.1} x SHA-256 {:6.2} x one count ({count:8.2} ms)  {words}",
        time / hash,
        time / count
    );
}

/// Returns the minimum.
fn least(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::MAX, f64::min)
}

/// Prints the minimum of some runs, each on a different text. Large texts run once.
fn row(name: &str, size: &str, rounds: u64, make: &dyn Fn(u64) -> String) -> f64 {
    let engine = FusionEngine::default();
    let runs = (0..rounds).map(|round| compress(&engine, &make(3 * round + 2)));
    let best = runs.min_by(|a, b| a.time.total_cmp(&b.time)).expect("at least one round");
    let hash = least((0..rounds).map(|round| hash(&make(3 * round))));
    let count = least((0..rounds).map(|round| count(&make(3 * round + 1))));
    print(name, size, hash, count, &best);
    best.time
}

/// Does the same for a file. Each run is a process, because counts of the same text are cached.
fn file_row(file: &str) -> Option<()> {
    let text = std::fs::read_to_string(file).ok()?;
    let apart = |what: &str| {
        let output = Command::new(std::env::current_exe().ok()?).args([what, file]).output().ok()?;
        String::from_utf8(output.stdout).ok()
    };
    let runs = (0..FILE_ROUNDS).filter_map(|_| {
        let output = apart("--compress")?;
        let (time, words) = output.split_once(' ')?;
        Some(Run { time: time.parse().ok()?, words: words.trim_end().to_owned() })
    });
    let best = runs.min_by(|a, b| a.time.total_cmp(&b.time))?;
    let count = least((0..FILE_ROUNDS).filter_map(|_| apart("--count")?.trim_end().parse().ok()));
    let hash = least((0..FILE_ROUNDS).map(|_| hash(&text)));
    print(file.rsplit('/').next()?, &format!("{} B", text.len()), hash, count, &best);
    Some(())
}

/// Runs one of the processes of [`file_row`]. Similar texts are compressed first, so that nothing is built or loaded
/// during the measurement.
fn run_once(what: &str, file: &str) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let engine = FusionEngine::default();
    for turn in 1..6 {
        let like = text.chars().map(|c| if ('1'..='8').contains(&c) { turned(c, turn) } else { c }).collect::<String>();
        drop(compress(&engine, &like));
    }
    if what == "--count" {
        println!("{}", count(&text));
    } else {
        let Run { time, words } = compress(&engine, &text);
        println!("{time} {words}");
    }
}

/// Compresses generated texts of a type, or outputs of commands, once, and prints the number of bytes. Only the
/// instructions of the process are measured (`bench/instructions.mjs`). Valgrind lacks the clock that is used
/// elsewhere.
fn run_counted(name: &str) {
    let generated = TYPES.iter().find(|(known, _)| *known == name).map(|&(_, piece)| text(piece, COUNTED_BYTES, 1));
    let texts = if name == "everyday" { printed() } else { generated.into_iter().collect() };
    let engine = FusionEngine::default();
    for text in &texts {
        black_box(engine.compress(text, &CompressOptions::default(), &|| 0.0));
    }
    println!("{}", texts.iter().map(String::len).sum::<usize>());
}

const COUNTED_BYTES: usize = 1_000_000;

/// Returns the outputs of commands among the fixtures, sorted by name.
fn printed() -> Vec<String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = ["reports", "sections", "terminal"].map(|folder| fixtures.join(folder));
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder of fixtures"))
        .map(|file| file.expect("a file of fixtures").path())
        .collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).expect("a text")).collect()
}

/// Returns another digit, neither 0 nor 9, so that a number stays one.
fn turned(digit: char, by: u8) -> char {
    char::from(b'1' + (digit as u8 - b'1' + by) % 8)
}

fn main() {
    tokens::count("The vocabulary is loaded once.", Encoding::O200kBase);
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [what, name] = args.as_slice()
        && what == "--counted"
    {
        return run_counted(name);
    }
    if let [what, bytes, part, parts, only @ ..] = args.as_slice()
        && what == "--growth"
    {
        let [bytes, part, parts] = [bytes, part, parts].map(|word| word.parse().expect("a number"));
        return growth::run(bytes, (part, parts), only);
    }
    if let [what, file] = args.as_slice()
        && ["--compress", "--count"].contains(&what.as_str())
    {
        return run_once(what, file);
    }
    for (name, piece) in TYPES {
        let mut times = Vec::new();
        for (size, words) in SIZES {
            let rounds = if size < 1_000_000 {
                5
            } else if size < 10_000_000 {
                3
            } else {
                1
            };
            times.push(row(name, words, rounds, &|seed| text(piece, size, seed + 1)));
        }
        println!(
            "{name:9} ten times as much takes {:.1}, {:.1}, {:.1} times as long\n",
            times[1] / times[0],
            times[2] / times[1],
            times[3] / times[2]
        );
    }
    for file in args.iter().filter(|word| !word.starts_with("--")) {
        if file_row(file).is_none() {
            eprintln!("{file} cannot be read");
        }
    }
}
