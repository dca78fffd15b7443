//! Tests of logs in the whole pipeline: the savings, that every byte can be restored, and which facts stay visible.
//! `--nocapture` prints the table.

use concertina::config::Preset;
use concertina::content::{ContentType, Segment};
use concertina::pipeline::{CompressOptions, Compressed, Edit, FusionContext, FusionEngine, Stage, fold, restore};
use regex::Regex;

use crate::corpus;
use crate::stages::stage;

fn log_crunch() -> &'static dyn Stage {
    stage("logCrunch")
}

/// Returns the edits of the stage alone.
fn edits(text: &str, preset: Preset, max_tokens: Option<usize>) -> Vec<Edit> {
    let segments = [Segment::whole(text, ContentType::Log, None)];
    let context = FusionContext { preset, max_tokens, ..FusionContext::of(text, &segments) };
    if log_crunch().should_apply(&context) { log_crunch().apply(&context) } else { Vec::new() }
}

fn compress(text: &str, preset: Preset, max_tokens: Option<usize>) -> Compressed {
    let options = CompressOptions { preset, max_tokens, ..CompressOptions::default() };
    let done = FusionEngine::default().compress(text, &options, &|| 0.0);
    assert_eq!(restore(&done.text, &done.originals), text);
    done
}

/// Returns lines that report an error, trimmed at the end, found without the stage's own patterns.
fn errors(text: &str) -> Vec<&str> {
    let error = Regex::new(
        r"\b(ERROR|WARN|WARNING|FATAL|CRITICAL|SEVERE|Traceback)\b|\[(error|warn)\]|\b[A-Z]\w*[a-z](Exception|Error)\b",
    )
    .unwrap();
    let calm = Regex::new(r"\b(INFO|DEBUG|NOTICE)\b").unwrap();
    text.lines().filter(|line| error.is_match(line) && !calm.is_match(line)).map(str::trim_end).collect()
}

#[test]
fn real_logs_shrink_by_well_over_half_and_keep_every_error_in_sight() {
    let mut all = [0; 3];
    println!("{:52} {:>7} {:>7} {:>6} {:>6}  errors", "file", "tokens", "folded", "saved", "max");
    let peer = corpus::peer("tc3_build.log");
    let peer = peer.map(|text| corpus::Input { name: "tc3_build.log".into(), bytes: text.into_bytes() });
    for file in corpus::inputs("logs").into_iter().chain(peer) {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let (folded, max) = (compress(&text, Preset::Balanced, None), compress(&text, Preset::Max, None));
        let counts = [folded.tokens_before, folded.tokens_after, max.tokens_after];
        let saved = |after: usize| 100.0 - 100.0 * after as f64 / counts[0] as f64;
        // Without the original, only folds are restored.
        let in_sight = restore(&folded.text, &[]);
        let errors = errors(&text);
        for line in &errors {
            assert!(in_sight.contains(line), "{}: {line}", file.name);
        }
        let (name, [before, after, most]) = (&file.name, counts);
        println!("{name:52} {before:7} {after:7} {:5.1}% {:5.1}%  {:6}", saved(after), saved(most), errors.len());
        assert!(counts[1] <= counts[0] && counts[2] <= counts[0]);
        if file.name == "tc3_build.log" {
            assert!(saved(counts[1]) >= 85.0);
        }
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let saved = |after: usize| 100.0 - 100.0 * after as f64 / all[0] as f64;
    println!("all {} -> {} ({:.1} %), max {} ({:.1} %)", all[0], all[1], saved(all[1]), all[2], saved(all[2]));
    if corpus::root().is_some() {
        assert!(saved(all[1]) >= 69.0 && saved(all[2]) >= 69.0);
    }
}

/// Restores every fold of the stage alone, and checks that its output contains the alarms.
fn check(text: &str, preset: Preset) {
    for edit in edits(text, preset, None) {
        let old = &text[edit.range.clone()];
        assert!(edit.lossless || preset != Preset::Lossless, "left out: {old:.200}");
        if let Some((fold, len)) = fold::parse(&edit.text).filter(|_| edit.lossless) {
            assert_eq!(len, edit.text.len());
            assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(old));
            for line in errors(old) {
                assert!(edit.text.contains(line), "{line}");
            }
        }
    }
}

#[test]
fn any_real_text_comes_back_byte_for_byte_from_the_stage_alone() {
    for kind in ["logs", "search", "prose", "tables", "diffs"] {
        for file in corpus::inputs(kind) {
            let text = String::from_utf8_lossy(&file.bytes);
            check(&text, Preset::Lossless);
            check(&text.replace('\n', "\r\n"), Preset::Max);
        }
    }
    for (_, messages) in corpus::sessions() {
        let texts = messages.iter().flat_map(corpus::strings).filter(|text| (400..40_000).contains(&text.len()));
        for text in texts.step_by(3) {
            check(text, Preset::Lossless);
        }
    }
}

#[test]
fn a_limit_is_met_by_leaving_out_floods_and_saying_so() {
    for file in corpus::inputs("logs").into_iter().filter(|file| file.bytes.len() > 50_000) {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let folded = compress(&text, Preset::Balanced, None).tokens_after;
        let out = compress(&text, Preset::Balanced, Some(folded * 7 / 10));
        println!("{:40} {folded:6} -> {:6} (limit {})", file.name, out.tokens_after, folded * 7 / 10);
        // The notes may be folded too.
        let in_sight = restore(&out.text, &[]);
        assert!(out.tokens_after <= folded && (in_sight.contains("lines ") || out.tokens_after == folded));
        for line in errors(&text) {
            assert!(in_sight.contains(line), "{}: {line}", file.name);
        }
    }
}
