//! Checks the universal properties on every real input, for each stage alone and for all together.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine, MessagesOptions, Role, compress_messages};
use concertina::transcript::{BlockKind, Transcript};

use crate::corpus;
use crate::properties::{Case, check, check_but, engines};

const KINDS: [&str; 9] = ["code", "diffs", "html", "json", "logs", "prose", "rules", "search", "tables"];

/// Every text of the corpus: files, and tool results of sessions.
static TEXTS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let files = KINDS.iter().flat_map(|kind| corpus::inputs(kind));
    let mut texts: Vec<(String, String)> =
        files.filter_map(|input| Some((input.name.clone(), input.text()?.to_owned()))).collect();
    for (session, messages) in corpus::sessions() {
        for (index, block) in Transcript::read(&messages).blocks() {
            if let (BlockKind::Text(text), Some(_)) = (block.kind, block.result) {
                texts.push((format!("{session} message {index}"), text.to_owned()));
            }
        }
    }
    texts
});

/// Checks the properties for texts, each with its preset.
fn hold<'a>(
    engines: &[(String, FusionEngine)],
    texts: &(impl Iterator<Item = (&'a (String, String), Preset)> + Clone),
    left_out: &str,
) {
    assert!(texts.clone().next().is_some(), "no input at all");
    let mut broken = Vec::new();
    for (name, engine) in engines {
        let (mut before, mut after, mut lossless, mut changed) = (0, 0, 0, 0);
        let mut unsettled: BTreeMap<String, usize> = BTreeMap::new();
        for ((input, text), preset) in texts.clone() {
            let options = CompressOptions { preset, ..CompressOptions::default() };
            let case_name = format!("{input} ({name}, {})", preset.as_str());
            let case = Case { name: &case_name, engine, options: &options, text };
            let Ok(compressed) = catch_unwind(AssertUnwindSafe(|| check_but(&case, left_out))) else {
                broken.push(case_name);
                continue;
            };
            before += compressed.tokens_before;
            after += compressed.tokens_after;
            changed += usize::from(compressed.text != *text);
            lossless += usize::from(compressed.text != *text && compressed.lossless);
            for row in compressed.stages {
                if row.notes.iter().any(|(note, _)| note == "unsettled") {
                    *unsettled.entry(row.name).or_default() += 1;
                }
            }
        }
        println!(
            "{name}: {changed} texts changed ({lossless} lossless), {before} -> {after} tokens, unsettled {unsettled:?}"
        );
    }
    assert!(
        broken.is_empty(),
        "{} cases, each with its message above: {:#?}",
        broken.len(),
        &broken[..broken.len().min(50)]
    );
}

fn hold_together(preset: Preset) {
    hold(&engines()[..1], &TEXTS.iter().map(|text| (text, preset)), "");
}

#[test]
fn the_properties_hold_for_real_texts_lossless() {
    hold_together(Preset::Lossless);
}

#[test]
fn the_properties_hold_for_real_texts_balanced() {
    hold_together(Preset::Balanced);
}

#[test]
fn the_properties_hold_for_real_texts_max() {
    hold_together(Preset::Max);
}

/// The edits of each stage are also checked in the test of all stages together.
#[test]
fn the_properties_hold_for_each_stage_alone_and_the_presets_by_turns() {
    let presets = [Preset::Lossless, Preset::Balanced, Preset::Max].into_iter().cycle();
    hold(&engines()[1..], &TEXTS.iter().zip(presets), "edits_valid");
}

#[test]
fn system_prompts_keep_every_line() {
    let (_, engine) = engines().remove(0);
    let options = CompressOptions { role: Role::System, ..CompressOptions::default() };
    let mut locked = 0;
    for input in corpus::inputs("rules").into_iter().chain(corpus::inputs("system")) {
        let Some(text) = input.text() else { continue };
        let compressed = check(&Case { name: &input.name, engine: &engine, options: &options, text });
        for line in text.lines() {
            assert!(compressed.text.contains(line), "{}: {line}", input.name);
        }
        locked += usize::from(compressed.text != text);
    }
    assert!(locked > 0, "the fixture has lines that change");
}

#[test]
fn sessions_keep_every_word_of_users_and_every_field() {
    let (_, engine) = engines().remove(0);
    let options = MessagesOptions::default();
    let (mut tokens_before, mut tokens_after) = (0, 0);
    let mut actions: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut unstable = Vec::new();
    for (session, messages) in corpus::sessions() {
        let done = compress_messages(&engine, &messages, &options, &|| 0.0);
        assert!(done.tokens_after <= done.tokens_before, "{session}");
        let after = done.rewrite.apply(&messages);
        let (before, shown) = (Transcript::read(&messages), Transcript::read(&after));
        // The note about a smaller image follows the blocks of its message.
        let pairs = before.messages.iter().zip(&shown.messages).enumerate();
        let pairs =
            pairs.flat_map(|(index, (old, new))| old.blocks.iter().zip(&new.blocks).map(move |pair| (index, pair)));
        for (index, (old, new)) in pairs {
            let place = format!("{session} message {index}");
            match (old.kind, new.kind) {
                (BlockKind::Text(old_text), BlockKind::Text(new_text)) if old_text != new_text => {
                    assert!(old.result.is_some(), "{place}: only tool results change");
                    let stored = done.originals.iter().any(|original| original.bytes == old_text.as_bytes());
                    assert!(stored || engine.restore(new_text, &[]) == old_text, "{place}: not recoverable");
                }
                (BlockKind::Image(old_image), BlockKind::Image(new_image)) if old_image.base64 != new_image.base64 => {
                    assert!(old.result.is_some(), "{place}: only images of tool results change");
                    let bytes = base64_simd::STANDARD.decode_to_vec(old_image.base64.expect("inline")).expect("base64");
                    assert!(done.originals.iter().any(|original| original.bytes == bytes), "{place}: not recoverable");
                }
                _ => assert_eq!(old.path.follow(&messages[index]), new.path.follow(&after[index]), "{place}"),
            }
        }
        let again = compress_messages(&engine, &after, &options, &|| 0.0);
        if !again.rewrite.is_empty() {
            unstable.push((session, again.blocks.into_iter().next()));
        }
        tokens_before += done.tokens_before;
        tokens_after += done.tokens_after;
        for block in done.blocks {
            let action = actions.entry(format!("{:?}", block.action)).or_default();
            *action = (action.0 + 1, action.1 + block.tokens_before - block.tokens_after);
        }
    }
    println!(
        "sessions: {tokens_before} -> {tokens_after} tokens of tool results; blocks and tokens saved: {actions:?}"
    );
    for action in ["Repeat", "Delta", "Runs"] {
        assert!(actions.contains_key(action), "the fixture has a {action}");
    }
    assert!(unstable.is_empty(), "a second pass changed {}: {:?}", unstable.len(), unstable.first());
}
