//! Messages of the four shapes from any JSON: parses, pairs, squeezes and compresses them.

use concertina::config::{Config, Schedule};
use concertina::pipeline::{BlockReport, ChangedBlock, FusionEngine, compress_messages, restore_messages};
use concertina::squeeze::{repair_tool_pairing, squeeze};
use concertina::transcript::{Transcript, call_links, hides_links, result_links, shape_at};
use serde_json::{Value, json};

use super::corpus;

/// The maximum number of bytes of a part of a session.
const PART_BYTES: usize = 4 << 10;

/// Returns options that fold as much and as early as possible.
pub(super) fn config() -> Config {
    Config {
        min_tokens_to_squeeze: 50,
        min_tokens_to_fold: 50,
        stale_turns: 1,
        sccs_compress_threshold: 2000,
        schedule: Schedule::EveryTurn,
        ..Config::default()
    }
}

pub(super) fn run(data: &[u8]) {
    let Ok(messages) = serde_json::from_slice::<Vec<Value>>(data) else { return };
    for message in &messages {
        let _ = (call_links(message), result_links(message), hides_links(message));
    }
    for (index, block) in Transcript::read(&messages).blocks() {
        assert!(block.path.follow(&messages[index]).is_some(), "{:?}", block.path);
        let _ = shape_at(&messages, index, &block.path);
    }
    let repaired = repair_tool_pairing(&messages).0.apply(&messages);
    assert!(repair_tool_pairing(&repaired).0.is_empty(), "{}", json!(repaired));
    let _ = squeeze(&messages, &config()).0.apply(&messages);
    let done = compress_messages(&FusionEngine::default(), &messages, &Default::default(), &|| 0.0);
    let row = |row: &BlockReport| {
        let original = row.original.map(|hash| hash.to_ref_id(64));
        ChangedBlock { message: row.message, block: row.block, original }
    };
    let rows: Vec<ChangedBlock> = done.blocks.iter().map(row).collect();
    restore_messages(&done.rewrite.apply(&messages), &done.originals, &rows).expect("the rows are of these messages");
}

/// Returns a turn in each shape, and parts of recorded sessions.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let output: String = (0..40).map(|line| format!("{line} unit took {} ms\n", line * 7919 % 977)).collect();
    let openclaw = json!([
        { "role": "user", "content": "go", "timestamp": 5 },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "thinkingSignature": "s" },
            { "type": "toolCall", "id": "c1", "name": "read", "arguments": { "path": "a.rs" } }] },
        { "role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": false,
          "content": [{ "type": "text", "text": output }, { "type": "image", "data": "AAAA", "mimeType": "image/png" }] },
        { "role": "compactionSummary", "summary": "s" }, { "role": "user", "content": "more" }, { "role": "user", "content": "more" },
    ]);
    let anthropic = json!([
        { "role": "user", "content": [{ "type": "text", "text": "go", "cache_control": { "type": "ephemeral" } }] },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "s" },
            { "type": "tool_use", "id": "c1", "name": "read", "input": { "path": "a.rs" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": [
            { "type": "text", "text": output },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }] }] },
        { "role": "user", "content": "more" }, { "role": "user", "content": "more" },
    ]);
    let openai = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a.rs\"}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": [
            { "type": "text", "text": output },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA", "detail": "low" } }] },
        { "role": "user", "content": "more" }, { "role": "user", "content": "more" },
    ]);
    let responses = json!([
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" },
        { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a.rs\"}" },
        { "type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin" },
        { "type": "function_call_output", "call_id": "c1", "output": [
            { "type": "input_text", "text": output },
            { "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low" }] },
        { "type": "custom_tool_call_output", "call_id": "c2", "output": output },
        { "role": "user", "content": "more" }, { "role": "user", "content": "more" },
    ]);
    let sessions = corpus::inputs("sessions").into_iter().filter_map(|input| serde_json::from_slice(&input.bytes).ok());
    let parts = sessions.flat_map(|session: Vec<Value>| session.chunks(4).map(|part| json!(part)).collect::<Vec<_>>());
    let parts = parts.filter(|part| part.to_string().len() <= PART_BYTES).take(100);
    [openclaw, anthropic, openai, responses]
        .into_iter()
        .chain(parts)
        .map(|messages| messages.to_string().into_bytes())
        .collect()
}

/// Returns names and values from the seeds.
pub(super) fn words() -> Vec<String> {
    let mut words: Vec<String> = (seeds().iter())
        .flat_map(|seed| String::from_utf8_lossy(seed).split('"').map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| (3..=24).contains(&word.len()) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .map(|word| format!("\"{word}\""))
        .collect();
    words.sort();
    words.dedup();
    words.truncate(600);
    words
}
