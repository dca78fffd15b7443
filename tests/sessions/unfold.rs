//! Tests of unfolding messages: the result contains only what the host gave.

use concertina::assemble::{AssembleOptions, Engine, Fetch, FetchedBlock};
use concertina::config::{Config, Schedule, Secrets};
use concertina::reference::{Marker, Original};
use concertina::store::{Batch, Scope};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::corpus;
use crate::engines::{self, scope};

fn open(dir: &TempDir, config: Config) -> Engine {
    engines::open(dir, Config { secrets: Secrets::Store, ..config })
}

fn unfolded(engine: &Engine, scope: Option<&Scope>, messages: &[Value]) -> Vec<Value> {
    let done = engine.unfold(scope, "main", messages, 9).unwrap();
    assert_eq!(done.missing, []);
    done.rewrite.apply(messages)
}

/// Returns the messages as they are sent to a model, after every result was admitted.
fn folded(engine: &Engine, messages: &[Value]) -> Vec<Value> {
    let mut born = messages.to_vec();
    for at in 1..messages.len() {
        let reply = engine.admit(&scope(), Some(&messages[at - 1]), &messages[at], 1);
        assert_eq!(reply.report.warning, None);
        born[at] = reply.rewrite.apply(&messages[at..=at]).remove(0);
    }
    let reply = engine.assemble(&scope(), &born, &AssembleOptions::default(), 2);
    assert_eq!(reply.report.warning, None);
    reply.rewrite.apply(&born)
}

fn recorded() -> impl Iterator<Item = (String, Vec<Value>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/demo/taking-over.messages.json.gz");
    let unpacked = std::process::Command::new("gzip").args(["-dc", path]).output().unwrap();
    assert!(unpacked.status.success());
    let demo = serde_json::from_slice(&unpacked.stdout).unwrap();
    std::iter::once(("demo".to_owned(), demo)).chain(corpus::sessions())
}

#[test]
fn a_recorded_session_comes_back_as_it_was() {
    let limit = std::env::var("CONCERTINA_SESSIONS").map_or(3, |limit| limit.parse().unwrap());
    let (mut sessions, mut folds) = (0, 0);
    for (name, messages) in recorded().take(limit) {
        sessions += 1;
        for schedule in [Schedule::EveryTurn, Schedule::CacheAware] {
            let dir = TempDir::new().unwrap();
            let engine = open(&dir, Config { schedule, ..Config::default() });
            let shown = folded(&engine, &messages);
            folds += usize::from(shown != messages);
            for by in [Some(scope()), None] {
                let back = unfolded(&engine, by.as_ref(), &shown);
                for (at, (back, was)) in back.iter().zip(&messages).enumerate() {
                    // Without a session, a fold that the session quoted cannot be distinguished from ours.
                    let is_quoted = by.is_none() && was.to_string().contains("[[FOLD:");
                    assert!(back == was || is_quoted, "{name} message {at} by {by:?}:\n{back}\n{was}");
                }
                assert_eq!(back.len(), messages.len());
            }
            let again = unfolded(&engine, Some(&scope()), &messages);
            assert_eq!(again, messages, "{name}: what is unfolded stays");
        }
    }
    // A short session may contain nothing to fold.
    assert!(folds >= sessions, "of {sessions} sessions something was folded {folds} times");
}

fn picture(side: u32) -> String {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_fn(side, side, |x, y| image::Rgb([(x * y) as u8, (x + y) as u8, x as u8]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    base64_simd::STANDARD.encode_to_string(png.into_inner())
}

/// Returns a call with a long argument and its result with a long text, an image that is too large and one that is not,
/// in each shape.
fn shapes() -> Vec<Vec<Value>> {
    let body = "fn main() { println!(\"hello\"); }\n".repeat(100);
    let text: String = (0..400).map(|line| format!("{line} unit took {} ms\n", line * 7919 % 977)).collect();
    let (large, small) = (picture(1800), picture(40));
    let arguments = json!({ "path": "a.rs", "content": body });
    let user = |turn: usize| json!({ "role": "user", "content": format!("turn {turn}") });
    let shapes = vec![
        vec![
            json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": "render", "arguments": arguments }] }),
            json!({ "role": "toolResult", "toolCallId": "c", "toolName": "render", "isError": false, "content": [
                { "type": "text", "text": text }, { "type": "image", "data": large, "mimeType": "image/png" },
                { "type": "image", "data": small, "mimeType": "image/png" }] }),
        ],
        vec![
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "render", "input": arguments }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": [
                { "type": "text", "text": text },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": large } },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": small } }] }] }),
        ],
        vec![
            json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": "c", "type": "function", "function": { "name": "render", "arguments": arguments.to_string() } }] }),
            json!({ "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": text },
                { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{large}") } },
                { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{small}") } }] }),
        ],
    ];
    shapes.into_iter().map(|exchange| [vec![user(0)], exchange, (1..8).map(user).collect()].concat()).collect()
}

#[test]
fn texts_images_and_arguments_come_back_in_the_form_of_their_shape() {
    for messages in shapes() {
        for schedule in [Schedule::EveryTurn, Schedule::CacheAware] {
            let dir = TempDir::new().unwrap();
            let engine = open(&dir, Config { schedule, ..Config::default() });
            let shown = folded(&engine, &messages);
            let written = json!(shown).to_string();
            assert!(written.contains("[REF_ID: ") && written.contains("elided by concertina"), "{written:.400}");
            assert_eq!(unfolded(&engine, Some(&scope()), &shown), messages);
        }
    }
}

#[test]
fn an_image_made_smaller_comes_back_and_its_note_goes() {
    for messages in shapes() {
        let dir = TempDir::new().unwrap();
        let engine = open(&dir, Config::default());
        let born = engine.admit(&scope(), Some(&messages[1]), &messages[2], 1).rewrite.apply(&messages[2..3]);
        assert!(json!(born).to_string().contains("(original image: 1800x1800 PNG"));
        let born = [&messages[..2], &born].concat();
        assert_eq!(unfolded(&engine, Some(&scope()), &born), messages[..3]);
    }
}

#[test]
fn a_quoted_marker_that_leads_to_nothing_stays_and_is_named() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir, Config::default());
    let id = Original::text("never stored", "").hash.to_ref_id(16);
    let marker = Marker::Reference(id.clone());
    let result = |text: String| json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": text });
    let messages = vec![
        json!({ "role": "user", "content": format!("{marker} (Summary: what is this?)") }),
        result(format!("{marker} (Summary: of what?)\n[3 lines, 9 characters folded]")),
        result(format!("a line with {marker} in it")),
    ];
    for by in [None, Some(scope())] {
        let done = engine.unfold(by.as_ref(), "main", &messages, 1).unwrap();
        assert!(done.rewrite.is_empty());
        assert_eq!((done.unfolded, done.missing), (0, vec![id.clone()]));
    }
}

#[test]
fn a_marker_of_another_session_is_not_taken_for_ours() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir, Config::default());
    let original = Original::text("stored by another session of the agent", "test");
    let id = original.hash.to_ref_id(16);
    let other = Scope { session_id: "other".into(), ..scope() };
    let batch = Batch { originals: vec![(id.clone(), original)], ..Batch::default() };
    engine.store().commit(&other, &batch, 1).unwrap();
    let quoted = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "grep", "content": format!("[REF_ID: {id}] (Summary: x)") });
    let done = engine.unfold(Some(&scope()), "main", std::slice::from_ref(&quoted), 1).unwrap();
    assert!(done.rewrite.is_empty() && done.missing.is_empty());
    let done = engine.unfold(None, "other agent", std::slice::from_ref(&quoted), 1).unwrap();
    assert_eq!(done.missing, [id]);
    assert_eq!(unfolded(&engine, None, &[quoted])[0]["content"], "stored by another session of the agent");
}

#[test]
fn partly_fetched_originals_stay() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir, Config::default());
    let text: String = (0..900).map(|line| format!("{line} unit took {} ms\n", line * 7919 % 977)).collect();
    let result = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": text });
    let id = engine.admit(&scope(), None, &result, 1).report.actions[0].ref_id.clone().unwrap();
    for (pattern, max_chars) in [(Some("7 ms".to_owned()), 2_000), (None, 2_000), (None, usize::MAX)] {
        let asked = Fetch { ref_ids: vec![id.clone()], pattern, max_chars, ..Fetch::default() };
        let FetchedBlock::Text(answer) = engine.fetch(&scope(), &asked, 2).unwrap().blocks.remove(0) else { panic!() };
        let fetched =
            json!({ "role": "toolResult", "toolCallId": "f", "toolName": "fetch_original_data", "content": answer });
        for by in [None, Some(scope())] {
            let done = engine.unfold(by.as_ref(), "main", std::slice::from_ref(&fetched), 3).unwrap();
            assert!(done.rewrite.is_empty() && done.missing.is_empty());
        }
    }
}
