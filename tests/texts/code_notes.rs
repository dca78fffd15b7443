//! Snapshots of the code stages on one small file per language: comments are removed, directives and strings are
//! unchanged.

use std::path::Path;

use concertina::config::Preset;
use concertina::content::{ContentType, Language, Segment};
use concertina::pipeline::FusionContext;

use crate::stages::{edited, stage};

fn without_comments(text: &str, language: Language, preset: Preset) -> String {
    let segments = [Segment::whole(text, ContentType::Code, Some(language))];
    let context = FusionContext { preset, ..FusionContext::of(text, &segments) };
    edited(text, &stage("neurosyntax").apply(&context))
}

#[test]
fn each_language_keeps_its_code_strings_and_directives() {
    for &language in Language::ALL {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/code").join(language.as_str());
        let mut files: Vec<_> = std::fs::read_dir(&dir).expect("a directory for each language").collect();
        assert!(!files.is_empty(), "{language:?}");
        files.sort_by_key(|file| file.as_ref().expect("a readable directory").file_name());
        for file in files {
            let text = std::fs::read_to_string(file.expect("a readable directory").path()).expect("a readable file");
            for preset in [Preset::Balanced, Preset::Max] {
                let rewritten = without_comments(&text, language, preset);
                assert_eq!(without_comments(&rewritten, language, preset), rewritten, "{language:?}: twice is once");
                for kept in text.lines().filter(|line| line.contains("not a comment")) {
                    let string =
                        kept.split(" //").next().and_then(|part| part.split(" /*").next()).expect("a first part");
                    assert!(rewritten.contains(string), "{language:?}: {kept}");
                }
                insta::assert_snapshot!(format!("{}-{}", language.as_str(), preset.as_str()), rewritten);
            }
        }
    }
}
