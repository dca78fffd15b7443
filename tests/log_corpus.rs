//! LogCrunch on real logs: what it saves, that every byte comes back, and which facts stay in sight. `--nocapture` prints the
//! table.

mod corpus;

use std::collections::HashMap;

use concertina::config::Preset;
use concertina::content::{ContentType, Segment};
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{Edit, FusionContext, Stage, fold};
use regex::Regex;
use serde_json::Value;

fn log_crunch() -> &'static dyn Stage {
    *STAGES.iter().find(|stage| stage.name() == "logCrunch").expect("a registered stage")
}

fn tokens(text: &str) -> usize {
    tiktoken::get_encoding("o200k_base").expect("built in").count(text)
}

fn edits(text: &str, preset: Preset, max_tokens: Option<usize>) -> Vec<Edit> {
    let segments = [Segment::whole(text, ContentType::Log, None)];
    let context = FusionContext { preset, max_tokens, ..FusionContext::of(text, &segments) };
    if log_crunch().should_apply(&context) { log_crunch().apply(&context) } else { Vec::new() }
}

/// How many lines the note that a text starts with says that it stands for, the first and the last of them.
fn noted(note: &str) -> [usize; 3] {
    let pattern = Regex::new(r"^\[… (\d+) lines? (\d+)(?:-(\d+))?\]").unwrap();
    let found = pattern.captures(note).unwrap_or_else(|| panic!("neither fold nor note: {note:.200}"));
    let number = |group: usize| found.get(group).map(|digits| digits.as_str().parse::<usize>().unwrap());
    let first = number(2).expect("a line");
    [number(1).expect("a count"), first, number(3).unwrap_or(first)]
}

/// The text after the stage, with every lossless edit undone on the way to prove it, and every note counted.
fn crunched(text: &str, preset: Preset, max_tokens: Option<usize>) -> String {
    let mut out = String::new();
    let mut end = 0;
    for edit in edits(text, preset, max_tokens) {
        let old = &text[edit.range.clone()];
        assert!(edit.lossless || preset != Preset::Lossless, "left out: {old:.200}");
        if let Some((fold, len)) = fold::parse(&edit.text) {
            assert_eq!(len, edit.text.len());
            let restored = log_crunch().unfold(&fold).expect("a fold of this stage");
            assert!(!edit.lossless || restored == old, "not restored: {old:.200}");
        } else {
            let [count, first, last] = noted(&edit.text);
            assert!(!edit.lossless, "a note is not undone: {}", edit.text);
            assert_eq!(first, text[..edit.range.start].matches('\n').count() + 1, "{}", edit.text);
            assert_eq!(old.split('\n').count(), last + 1 - first, "{}", edit.text);
            let kept: Vec<&str> = edit.text.split('\n').skip(1).map(|line| line.trim_end_matches('\r')).collect();
            assert_eq!(count + kept.len(), last + 1 - first, "{}", edit.text);
            assert!(kept.iter().all(|kept| old.lines().any(|line| line == *kept)), "{}", edit.text);
        }
        out += &text[end..edit.range.start];
        out += if tokens(&edit.text) < tokens(old) { &edit.text } else { old };
        end = edit.range.end;
    }
    out + &text[end..]
}

/// Facts of a log, found without the stage's own patterns.
struct Probes {
    errors: Vec<String>,
    rare: Vec<String>,
    last: String,
}

fn probes(text: &str) -> Probes {
    let error = Regex::new(
        r"\b(ERROR|WARN|WARNING|FATAL|CRITICAL|SEVERE|Traceback)\b|\[(error|warn)\]|[a-z](Exception|Error)\b",
    )
    .unwrap();
    let calm = Regex::new(r"\b(INFO|DEBUG|NOTICE)\b").unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let variable = Regex::new(r"[^\s=,\[\]()]*[0-9][^\s=,\[\]()]*").unwrap();
    let mut kinds: HashMap<String, (usize, &str)> = HashMap::new();
    for line in &lines {
        kinds.entry(variable.replace_all(line, "0").into_owned()).or_insert((0, line)).0 += 1;
    }
    let mut rare: Vec<String> =
        kinds.into_values().filter(|(times, _)| *times == 1).map(|(_, line)| line.to_owned()).collect();
    rare.sort();
    Probes {
        errors: lines
            .iter()
            .filter(|line| error.is_match(line) && !calm.is_match(line))
            .map(|&line| line.to_owned())
            .collect(),
        rare,
        last: lines.last().map(|&line| line.to_owned()).unwrap_or_default(),
    }
}

/// Whether a line is in sight, but perhaps for its stamp.
fn is_in_sight(out: &str, line: &str) -> bool {
    let starts = line.char_indices().filter(|&(at, c)| at < 60 && at * 2 <= line.len() && (at == 0 || c == ' '));
    starts.into_iter().any(|(at, _)| out.contains(&line[at..]))
}

#[test]
fn real_logs_shrink_by_well_over_half_and_keep_every_error_in_sight() {
    let mut all = [0; 3];
    let (mut errors, mut rare, mut rare_in_sight) = (0, 0, 0);
    println!("{:52} {:>7} {:>7} {:>6} {:>6}  errors rare (in sight)", "file", "tokens", "folded", "saved", "max");
    let peer = corpus::root().map(|root| root.join("../peers/inputs/tc3_build.log")).filter(|path| path.exists());
    let peer = peer.map(|path| corpus::Input { name: "tc3_build.log".into(), bytes: std::fs::read(path).unwrap() });
    for file in corpus::inputs("logs").into_iter().chain(peer) {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let (out, max) = (crunched(&text, Preset::Balanced, None), crunched(&text, Preset::Max, None));
        let counts = [tokens(&text), tokens(&out), tokens(&max)];
        let saved = |after: usize| 100.0 - 100.0 * after as f64 / counts[0] as f64;
        let probes = probes(&text);
        assert!(is_in_sight(&out, &probes.last), "{}: {}", file.name, probes.last);
        for line in &probes.errors {
            assert!(out.contains(line.as_str()), "{}: {line}", file.name);
        }
        let seen = probes.rare.iter().filter(|line| is_in_sight(&out, line)).count();
        println!(
            "{:52} {:7} {:7} {:5.1}% {:5.1}%  {:6} {:4} ({seen})",
            file.name,
            counts[0],
            counts[1],
            saved(counts[1]),
            saved(counts[2]),
            probes.errors.len(),
            probes.rare.len(),
        );
        assert!(counts[1] <= counts[0] && counts[2] <= counts[0]);
        if file.name == "tc3_build.log" {
            assert!(saved(counts[1]) >= 85.0);
        }
        errors += probes.errors.len();
        rare += probes.rare.len();
        rare_in_sight += seen;
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let saved = |after: usize| 100.0 - 100.0 * after as f64 / all[0] as f64;
    println!("all {} -> {} ({:.1} %), max {} ({:.1} %)", all[0], all[1], saved(all[1]), all[2], saved(all[2]));
    println!(
        "{errors} of {errors} error lines verbatim; {rare_in_sight} of {rare} lines whose kind is unique verbatim but for the stamp"
    );
    if corpus::root().is_some() {
        assert!(saved(all[1]) >= 63.0 && saved(all[2]) >= 69.0);
    }
}

#[test]
fn any_real_text_comes_back_byte_for_byte() {
    for kind in ["logs", "search", "prose", "tables", "diffs"] {
        for file in corpus::inputs(kind) {
            let text = String::from_utf8_lossy(&file.bytes);
            crunched(&text, Preset::Lossless, None);
            crunched(&text.replace('\n', "\r\n"), Preset::Max, None);
        }
    }
    for file in corpus::inputs("sessions") {
        if let Some(session) = file.text().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            let mut texts = Vec::new();
            collect(&session, &mut texts);
            for text in texts.into_iter().step_by(3) {
                crunched(text, Preset::Lossless, None);
            }
        }
    }
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if (400..40_000).contains(&text.len()) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

#[test]
fn a_limit_is_met_by_leaving_out_floods_and_saying_so() {
    for file in corpus::inputs("logs").into_iter().filter(|file| file.bytes.len() > 50_000) {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let folded = tokens(&crunched(&text, Preset::Balanced, None));
        let out = crunched(&text, Preset::Balanced, Some(folded * 7 / 10));
        println!("{:40} {folded:6} -> {:6} (limit {})", file.name, tokens(&out), folded * 7 / 10);
        for line in probes(&text).errors {
            assert!(out.contains(&line), "{}: {line}", file.name);
        }
        assert!(out.contains("lines ") || tokens(&out) == folded);
    }
}
