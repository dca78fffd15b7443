//! Tests of RLE on real texts: the savings, and that every byte can be restored. `--nocapture` prints the table.

use concertina::config::{Encoding, Preset};
use concertina::content::{ContentType, Segment};
use concertina::pipeline::{Edit, FusionContext, Stage, fold};
use concertina::tokens::count;

use crate::corpus;
use crate::stages::{edited, stage};

fn rle() -> &'static dyn Stage {
    stage("rle")
}

fn tokens(text: &str) -> usize {
    count(text, Encoding::O200kBase)
}

fn edits(text: &str, content_type: ContentType) -> Vec<Edit> {
    let segments = [Segment::whole(text, content_type, None)];
    let context = FusionContext { preset: Preset::Lossless, ..FusionContext::of(text, &segments) };
    if rle().should_apply(&context) { rle().apply(&context) } else { Vec::new() }
}

fn run(text: &str, content_type: ContentType) -> String {
    let edits = edits(text, content_type);
    for edit in &edits {
        let old = &text[edit.range.clone()];
        let (fold, len) = fold::parse(&edit.text).expect("a fold");
        assert!(edit.lossless && len == edit.text.len());
        assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(old));
        assert!(tokens(&edit.text) < tokens(old));
    }
    edited(text, &edits)
}

#[test]
fn real_texts_come_back_and_never_grow() {
    for kind in ["logs", "search", "prose", "tables", "diffs", "sessions", "rules"] {
        for file in corpus::inputs(kind) {
            let text = String::from_utf8_lossy(&file.bytes).replace("\\n", "\n");
            let out = run(&text, ContentType::Text);
            let (before, after) = (tokens(&text), tokens(&out));
            if after < before {
                println!(
                    "{:60} {before:7} {after:7} {:5.1} %",
                    file.name,
                    100.0 - 100.0 * after as f64 / before as f64
                );
            }
        }
    }
}

#[test]
fn counters_shrink_by_half() {
    let texts: [(&str, ContentType, String); 2] = [
        ("items", ContentType::Text, (1..2000).map(|n| format!("item {n} is done\n")).collect()),
        ("progress", ContentType::Unknown, (0..=100).map(|n| format!("Downloading part {n:03} of 100\n")).collect()),
    ];
    for (name, content_type, text) in texts {
        let out = run(&text, content_type);
        println!("{name:40} {:7} {:7}", tokens(&text), tokens(&out));
        assert!(tokens(&out) * 2 <= tokens(&text), "{name}: {out:.400}");
    }
}
