//! Tests of texts with several outputs, and of outputs with prefixes, from real commands.

use std::path::Path;

use concertina::config::Preset;
use concertina::content::ContentType::{self, Code, Log, Table, Text};
use concertina::content::{Detection, Hints, detect};
use concertina::pipeline::{CompressOptions, FusionEngine, restore};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

fn detected(text: &str) -> Detection {
    detect(text, &Hints::default())
}

/// Returns the types of the segments, each with the start of its first line.
fn parts(text: &str) -> Vec<(ContentType, &str)> {
    let first = |at: usize| text[at..].trim_start().lines().next().unwrap_or_default();
    detected(text).segments.iter().map(|part| (part.content_type, first(part.range.start))).collect()
}

#[test]
fn one_output_with_rulers_in_it_stays_one() {
    for (name, content_type) in
        [("one-go-test", Log), ("one-unittest", Log), ("one-log-with-rulers", Log), ("one-script", Code)]
    {
        let text = fixture(&format!("sections/{name}.txt"));
        let found = detected(&text);
        let is_kept = |part: &&concertina::content::Segment| part.content_type == content_type;
        let kept: usize = found.segments.iter().filter(is_kept).map(|part| part.range.len()).sum();
        assert_eq!(found.content_type, content_type, "{name}");
        assert!(kept * 10 >= text.len() * 8, "{name}: {:#?}", parts(&text));
    }
    let manual = include_str!("../../CONTRIBUTING.md");
    let found = detected(manual);
    assert_eq!(found.content_type, Text);
    assert!(found.segments.iter().all(|part| matches!(part.content_type, Text | Table | Code)), "{:#?}", parts(manual));
}

#[test]
fn texts_of_several_outputs_settle_and_come_back() {
    let engine = FusionEngine::default();
    let dirs = ["sections", "prefixes"].map(|dir| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(dir));
    let files = dirs.iter().flat_map(|dir| std::fs::read_dir(dir).expect("fixtures"));
    let mut count = 0;
    for file in files.map(|file| file.expect("a fixture").path()) {
        let text = std::fs::read_to_string(&file).expect("a text").repeat(3);
        for preset in [Preset::Lossless, Preset::Balanced, Preset::Max] {
            let options = CompressOptions { preset, ..CompressOptions::default() };
            let once = engine.compress(&text, &options, &|| 0.0);
            assert_eq!(restore(&once.text, &once.originals), text, "{} {preset:?}", file.display());
            let twice = engine.compress(&once.text, &options, &|| 0.0);
            assert_eq!(twice.text, once.text, "{} {preset:?}", file.display());
        }
        count += 1;
    }
    assert!(count >= 20, "{count}");
}
