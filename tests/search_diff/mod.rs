//! Runs a stage on a text as the engine does, and checks its folds.
#![allow(clippy::allow_attributes, dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use concertina::config::{Encoding, Preset};
use concertina::content::Segment;
use concertina::pipeline::{Edit, FusionContext, Stage, fold};
use concertina::tokens::count;

use crate::stages::edited;

pub fn edits(stage: &dyn Stage, text: &str, preset: Preset) -> Vec<Edit> {
    let content_type = stage.content_types()[0];
    let segments = [Segment::whole(text, content_type, None)];
    let context = FusionContext {
        content_type,
        preset,
        ..FusionContext::of(text, if text.is_empty() { &[] } else { &segments })
    };
    stage.apply(&context)
}

pub fn tokens(text: &str) -> usize {
    count(text, Encoding::O200kBase)
}

/// Returns the text with the folds that save tokens. Each fold is restored byte for byte and folds again to itself.
pub fn folded(stage: &dyn Stage, text: &str) -> String {
    let all = edits(stage, text, Preset::Lossless);
    let mut kept = Vec::new();
    for edit in all {
        assert!(edit.lossless && edit.sealed);
        let replaced = &text[edit.range.clone()];
        let (fold, len) = fold::parse(&edit.text).expect("a fold");
        assert_eq!(len, edit.text.len());
        let unfolded = concertina_format::unfold(&fold).expect("a fold of the stage");
        assert!(unfolded == replaced, "unfolds to something else");
        assert_eq!(edits(stage, &unfolded, Preset::Lossless), [Edit::fold(0..unfolded.len(), &fold)]);
        if tokens(&edit.text) < tokens(replaced) {
            kept.push(edit);
        }
    }
    edited(text, &kept)
}

/// Returns the result of the engine with this stage alone: reversible edits with their marker if they save tokens, then
/// folds.
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
    let shortened = edited(text, &changes);
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

/// A changed line: file, sign and text, number in its file.
pub type Change = (String, String, u64);

/// Returns the changed lines of a diff, in git's form or in the short form.
pub fn diff_changes(text: &str) -> Vec<Change> {
    let hunk = regex::Regex::new(r"^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))?( @@)?").unwrap();
    let mut changes = Vec::new();
    let mut file = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        for word in ["diff ", "new file ", "deleted file ", "diff --git a/"] {
            if let Some(path) =
                line.strip_prefix(word).filter(|path| !path.starts_with(['-']) && !path.starts_with("mode "))
            {
                file = path.split(" b/").next().unwrap_or(path).to_owned();
            }
        }
        let Some(found) = hunk.captures(line) else { continue };
        let number = |group: usize, none: u64| found.get(group).map_or(none, |text| text.as_str().parse().unwrap());
        // The short form has no counts: the hunk extends as long as its lines have signs.
        let none = if found.get(5).is_some() { 1 } else { u64::MAX };
        let (mut old, mut new) = (number(2, none), number(4, none));
        let (mut old_at, mut new_at) = (number(1, 0), number(3, 0));
        while old > 0 || new > 0 {
            let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with([' ', '+', '-', '\\'])) else {
                break;
            };
            if line.is_empty() && none == u64::MAX {
                break;
            }
            match line.as_bytes().first() {
                Some(b'-') => {
                    changes.push((file.clone(), line.to_owned(), old_at));
                    (old, old_at) = (old.saturating_sub(1), old_at + 1);
                }
                Some(b'+') => {
                    changes.push((file.clone(), line.to_owned(), new_at));
                    (new, new_at) = (new.saturating_sub(1), new_at + 1);
                }
                Some(b'\\') => {}
                _ => {
                    (old, old_at) = (old.saturating_sub(1), old_at + 1);
                    (new, new_at) = (new.saturating_sub(1), new_at + 1);
                }
            }
        }
    }
    changes
}
