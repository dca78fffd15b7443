//! Measures how the work of every part grows with the length of its input, for `bench/growth.mjs`.
//!
//! Callgrind counts only within [`counted_part`], for each case, so neither the generation of a text nor one-time
//! loading is counted.

use std::hint::black_box;

use concertina::config::{Config, Preset};
use concertina::content::{ContentType, Hints, Language, Segment, detect};
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{CompressOptions, FusionContext, FusionEngine, Role, Stage, restore};
use concertina::prose::{Intensity, Objective, compress_prose};
use concertina::rules::{RulesLevel, RulesOptions, Transform, apply_alone, preprocess};
use concertina::secrets::find_secrets;
use concertina::squeeze::{repair_tool_pairing, squeeze};
use concertina::summarize::summarize;
use serde_json::{Value, json};

use super::shapes;

/// A unit of work on a text.
type Work = Box<dyn Fn(&str)>;

/// Works with a high cost per byte, which get texts a quarter as long.
const COSTLY: [&str; 8] = [
    "neurosyntax",
    "logCrunch",
    "structuralCollapse",
    "compress and restore",
    "summarize",
    "squeeze messages",
    "rules",
    "rules, each alone",
];

/// A language whose comments are found in a syntax tree, and two whose comments are found without one.
const LANGUAGES: [Language; 3] = [Language::Python, Language::C, Language::Sql];

/// Shapes that a parser can finish. On others it gives up after a number of steps per kilobyte, each of which takes
/// long.
const PARSED: [&str; 5] = ["\"# x\\n\"", "\"/*\"", "indentation", "steps", "code"];

/// Runs every work, or those in `only` (which may name their shapes too), on each `parts`th shape of about `bytes`
/// bytes, beginning with the `part`th. Prints a line before each.
pub(super) fn run(bytes: usize, (part, parts): (usize, usize), only: &[String]) {
    for (name, work) in works() {
        let bytes = if COSTLY.contains(&name) { bytes / 4 } else { bytes };
        let shapes = shapes::all().filter(|(shape, _)| name != "neurosyntax" || PARSED.contains(&&**shape));
        for (shape, make) in shapes.skip(part).step_by(parts) {
            let case = format!("{name}\t{shape}");
            if !only.is_empty() && !only.iter().any(|asked| asked == name || *asked == case) {
                continue;
            }
            let text = make(bytes);
            println!("{case}");
            counted_part(&*work, &text);
            between_parts();
        }
    }
}

/// The name of this function is used in `bench/growth.mjs`.
#[inline(never)]
fn counted_part(work: &dyn Fn(&str), text: &str) {
    work(black_box(text));
    // Without this the last call would be a tail call, and the function would be left before it.
    black_box(());
}

/// The name of this function is used in `bench/growth.mjs` too.
#[inline(never)]
fn between_parts() {
    black_box(());
}

/// Returns every work by name.
fn works() -> Vec<(&'static str, Work)> {
    let stage =
        |stage: &'static dyn Stage| -> (&str, Work) { (stage.name(), Box::new(move |text| alone(stage, text))) };
    let rest: [(&str, Work); 11] = [
        ("cortex", Box::new(|text| drop(black_box(detect(text, &Hints::default()))))),
        ("quantumLock", Box::new(system_prompt)),
        ("compress and restore", Box::new(|text| compressed(&FusionEngine::default(), text))),
        ("restore", Box::new(|text| drop(black_box(restore(text, &[]))))),
        ("summarize", Box::new(summarized)),
        ("find secrets", Box::new(|text| drop(black_box(find_secrets(text))))),
        ("squeeze", Box::new(|text| drop(black_box(squeeze(&stale(text), &eager()))))),
        ("squeeze messages", Box::new(|text| squeezed(&messages(text)))),
        ("prose", Box::new(|text| drop(black_box(compress_prose(text, Intensity::Ultra, Objective::Chars))))),
        ("rules", Box::new(|text| drop(black_box(preprocess(text, &aggressive()))))),
        (
            "rules, each alone",
            Box::new(|text| {
                Transform::ALL.into_iter().for_each(|transform| drop(black_box(apply_alone(text, transform))));
            }),
        ),
    ];
    STAGES.iter().map(|(_, each)| stage(*each)).chain(rest).collect()
}

fn compressed(engine: &FusionEngine, text: &str) {
    let options = CompressOptions { preset: Preset::Max, ..CompressOptions::default() };
    let folded = engine.compress(text, &options, &|| 0.0);
    black_box(engine.restore(&folded.text, &folded.originals));
}

fn system_prompt(text: &str) {
    let options = CompressOptions { role: Role::System, ..CompressOptions::default() };
    black_box(FusionEngine::default().compress(text, &options, &|| 0.0));
}

fn summarized(text: &str) {
    for &content_type in ContentType::ALL {
        let hints = Hints { content_type: Some(content_type), ..Hints::default() };
        black_box(summarize(text, &hints, 300, true));
    }
}

fn squeezed(messages: &[Value]) {
    black_box((squeeze(messages, &eager()), repair_tool_pairing(messages)));
}

fn aggressive() -> RulesOptions {
    RulesOptions { level: RulesLevel::Aggressive, max_chars: Some(0), ..RulesOptions::default() }
}

/// Runs a stage on a text with each of its content types, and restores its folds.
fn alone(stage: &dyn Stage, text: &str) {
    let types = stage.content_types();
    let types = if types == ContentType::ALL { &[ContentType::Unknown] } else { types };
    for &content_type in types {
        let languages: Vec<Option<Language>> =
            if content_type == ContentType::Code { LANGUAGES.map(Some).into() } else { vec![None] };
        for language in languages {
            let segments = [Segment::whole(text, content_type, language)];
            let context = FusionContext { preset: Preset::Max, ..FusionContext::of(text, &segments) };
            black_box(stage.should_apply(&context));
            let (mut folded, mut end) = (String::new(), 0);
            for edit in stage.apply(&context).iter().filter(|edit| edit.lossless) {
                folded.extend([&text[end..edit.range.start], &edit.text]);
                end = edit.range.end;
            }
            folded.push_str(&text[end..]);
            black_box(restore(&folded, &[]));
        }
    }
}

fn eager() -> Config {
    Config { stale_turns: 1, ..Config::default() }
}

/// Returns a conversation in which a call and its result are stale.
fn stale(text: &str) -> [Value; 5] {
    [
        json!({ "role": "user", "content": "go" }),
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": "write", "arguments": { "path": "a", "content": text } }] }),
        json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": text }] }),
        json!({ "role": "user", "content": "1" }),
        json!({ "role": "user", "content": "2" }),
    ]
}

/// Splits the text into many messages, as results of calls that share an id.
fn messages(text: &str) -> Vec<Value> {
    let mut rest = text;
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.ceil_char_boundary(256));
        rest = after;
        messages.extend([
            json!({ "role": "user", "content": "heartbeat" }),
            json!({ "role": "assistant", "content": "HEARTBEAT_OK" }),
            json!({ "role": "assistant", "content": [
                { "type": "toolCall", "id": "same", "name": "read", "arguments": { "path": format!("a{}", messages.len() % 9) } }] }),
            json!({ "role": "toolResult", "toolCallId": "same", "content": part }),
        ]);
    }
    messages
}
