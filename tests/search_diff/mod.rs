//! Runs a stage on a text as the engine would, and proves its folds on the way.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use concertina::config::{Encoding, Preset};
use concertina::content::{Hints, Segment};
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{Edit, FusionContext, Role, Stage, fold};
use concertina::tokens::count;

pub fn stage(name: &str) -> &'static dyn Stage {
    STAGES.iter().copied().find(|stage| stage.name() == name).expect("a registered stage")
}

pub fn edits(stage: &dyn Stage, text: &str, preset: Preset) -> Vec<Edit> {
    let content_type = stage.content_types()[0];
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
    stage.apply(&context)
}

pub fn replaced(text: &str, edits: &[Edit]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        assert!(at <= edit.range.start, "edits are sorted and apart");
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out + &text[at..]
}

pub fn tokens(text: &str) -> usize {
    count(text, Encoding::O200kBase)
}

/// The text with its folds, where they save tokens; each is undone, byte for byte, and folds again to itself.
pub fn folded(stage: &dyn Stage, text: &str) -> String {
    let all = edits(stage, text, Preset::Lossless);
    let mut kept = Vec::new();
    for edit in all {
        assert!(edit.lossless && edit.sealed);
        let replaced = &text[edit.range.clone()];
        let (fold, len) = fold::parse(&edit.text).expect("a fold");
        assert_eq!(len, edit.text.len());
        let unfolded = stage.unfold(&fold).expect("a fold of the stage");
        assert!(unfolded == replaced, "unfolds to something else");
        assert_eq!(edits(stage, &unfolded, Preset::Lossless), [Edit::fold(0..unfolded.len(), &fold)]);
        if tokens(&edit.text) < tokens(replaced) {
            kept.push(edit);
        }
    }
    replaced(text, &kept)
}

/// What the engine makes of a text with this stage alone: reversible edits with their marker where they pay, then folds.
pub fn crunched(stage: &dyn Stage, text: &str, preset: Preset) -> String {
    let lossless = folded(stage, text);
    if preset == Preset::Lossless {
        return lossless;
    }
    let worth_it = |edit: &Edit| !edit.lossless && tokens(&edit.text) < tokens(&text[edit.range.clone()]);
    let changes: Vec<Edit> = edits(stage, text, preset).into_iter().filter(worth_it).collect();
    if changes.is_empty() {
        return lossless;
    }
    let shortened = replaced(text, &changes);
    let worth_more = |edit: &Edit| !edit.lossless && tokens(&edit.text) < tokens(&shortened[edit.range.clone()]);
    let again: Vec<Edit> = edits(stage, &shortened, preset).into_iter().filter(worth_more).collect();
    assert_eq!(again, [], "the stage finds more to do in its own output");
    if tokens(text) < tokens(&shortened) + 32 {
        return lossless;
    }
    let marker = format!("[[REWIND:sha256:0123456789abcdef]] original: {} lines", text.lines().count());
    let joint = if shortened.ends_with('\n') { "" } else { "\n" };
    folded(stage, &format!("{shortened}{joint}{marker}"))
}
