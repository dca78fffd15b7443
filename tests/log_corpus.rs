//! LogCrunch on real logs: what it saves, that nothing is lost, and what stays in sight.

mod corpus;

use concertina::config::{Encoding, Preset};
use concertina::content::{ContentType, Hints, Segment};
use concertina::pipeline::fold;
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{FusionContext, Role, Stage};

fn stage(name: &str) -> &'static dyn Stage {
    *STAGES.iter().find(|stage| stage.name() == name).expect("a registered stage")
}

fn tokens(text: &str) -> usize {
    tiktoken::get_encoding("o200k_base").expect("built in").count(text)
}

fn run(stage: &dyn Stage, text: &str, content_type: ContentType, preset: Preset) -> String {
    let segments = [Segment { range: 0..text.len(), content_type, language: None }];
    let context = FusionContext {
        text,
        content_type,
        language: None,
        segments: if text.is_empty() { &[] } else { &segments },
        sealed: &[],
        role: Role::Tool,
        hints: &Hints::default(),
        original_len: text.len(),
        preset,
        encoding: Encoding::O200kBase,
        max_tokens: None,
    };
    if !stage.should_apply(&context) {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut end = 0;
    for edit in stage.apply(&context) {
        out += &text[end..edit.range.start];
        let old = &text[edit.range.clone()];
        if edit.lossless {
            let (fold, len) = fold::parse(&edit.text).expect("a fold");
            assert_eq!(len, edit.text.len());
            assert_eq!(stage.unfold(&fold).as_deref(), Some(old));
        }
        if tokens(&edit.text) >= tokens(old) && std::env::var("FORCE").is_ok() {
            println!("{} vs {}\n{}", tokens(&edit.text), tokens(old), edit.text);
        }
        out += if tokens(&edit.text) < tokens(old) { &edit.text } else { old };
        end = edit.range.end;
    }
    out + &text[end..]
}

#[test]
fn table() {
    let log_crunch = stage("logCrunch");
    let (mut all_before, mut all_after) = (0, 0);
    let mut files = corpus::inputs("logs");
    if let Some(root) = corpus::root() {
        let path = root.join("../peers/inputs/tc3_build.log");
        files.push(corpus::Input { name: "tc3_build.log".into(), bytes: std::fs::read(path).unwrap() });
    }
    for file in files {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let out = run(
            log_crunch,
            &text,
            ContentType::Log,
            if std::env::var("MAX").is_ok() { Preset::Max } else { Preset::Lossless },
        );
        if let Ok(dir) = std::env::var("DUMP") {
            std::fs::write(format!("{dir}/{}", file.name.replace('/', "_")), &out).unwrap();
        }
        let (before, after) = (tokens(&text), tokens(&out));
        println!("{:60} {before:7} {after:7} {:5.1} %", file.name, 100.0 - 100.0 * after as f64 / before as f64);
        all_before += before;
        all_after += after;
    }
    println!(
        "{:60} {all_before:7} {all_after:7} {:5.1} %",
        "all",
        100.0 - 100.0 * all_after as f64 / all_before as f64
    );
}
