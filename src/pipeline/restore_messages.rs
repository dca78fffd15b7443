//! A compressed conversation -> the conversation before.
//!
//! The rows of the report say which blocks were changed. They also name the original of each block that cannot be
//! restored from its text alone. This is necessary because the note in place of a repeat names the earlier block but no
//! original.

use std::collections::BTreeMap;

use serde_json::Value;

use super::earlier_blocks::is_repeat;
use super::restore::{restore, rewound};
use crate::error::{Error, Result};
use crate::reference::{Marker, Media, Original, RefId, SHORT_ID_DIGITS};
use crate::transcript::{Block, BlockKind, Patch, Path, Rewrite, Transcript, with_payload};

/// The row of a report for a changed block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedBlock {
    /// The index of the message.
    pub message: usize,
    /// The index of the block in its message.
    pub block: usize,
    /// The id of the block's original; `None` if the block can be restored from its text alone.
    pub original: Option<RefId>,
}

/// Undoes [`super::compress_messages`]. Every block that a row names is restored byte for byte. One exception: a text
/// that already contained folds is restored with these folds undone. Messages may have been appended since.
///
/// # Errors
/// [`Error::BadArgument`] for a row that does not fit these messages, or whose original is not among `originals`.
pub fn restore_messages(messages: &[Value], originals: &[Original], rows: &[ChangedBlock]) -> Result<Rewrite> {
    let transcript = Transcript::read(messages);
    let mut rewrite = Rewrite::default();
    let by_hash: BTreeMap<String, &Original> =
        originals.iter().map(|original| (original.hash.to_hex(), original)).collect();
    for (index, row) in rows.iter().enumerate() {
        let name = format!("report.blocks[{index}]");
        let original = row.original.as_ref().and_then(|id| {
            let (hash, original) = by_hash.range(id.as_str().to_owned()..).next()?;
            hash.starts_with(id.as_str()).then_some(*original)
        });
        if let Some(id) = row.original.as_ref().filter(|_| original.is_none()) {
            return Err(Error::bad_argument(
                name,
                format!("a block whose original is {id}"),
                "of one among the originals",
            ));
        }
        let block = transcript.messages.get(row.message).and_then(|message| message.blocks.get(row.block));
        let shown = block.and_then(|block| {
            let note = note_of(&messages[row.message], row.message, block, original, &rewrite.removed);
            Some((block, restored(&messages[row.message], block, original)?, note))
        });
        let Some((block, value, note)) = shown else {
            return Err(Error::bad_argument(name, "of other messages", "of what compressMessages() returned"));
        };
        rewrite.removed.extend(note.map(|path| (row.message, path)));
        rewrite.patches.push(Patch { message: row.message, path: block.path.clone(), value });
    }
    Ok(rewrite)
}

/// Restores a block. Returns `None` if the block was not written by the compression.
fn restored(message: &Value, block: &Block, original: Option<&Original>) -> Option<Value> {
    match (block.kind, original) {
        (BlockKind::Text(text), None) => Some(restore(text, &[]).into()),
        (BlockKind::Text(text), Some(original)) => {
            let repeated = || is_repeat(text).then(|| String::from_utf8(original.bytes.clone()).ok())?;
            rewound(text, std::slice::from_ref(original)).or_else(repeated).map(Value::String)
        }
        (BlockKind::Image(_), Some(Original { bytes, media: Media::Image(mime), .. })) => {
            with_payload(block.path.follow(message)?, mime, &base64_simd::STANDARD.encode_to_string(bytes))
        }
        _ => None,
    }
}

/// Returns the path of the note that leads to an image's original. Notes in `removed` are skipped.
fn note_of(
    message: &Value,
    index: usize,
    block: &Block,
    original: Option<&Original>,
    removed: &[(usize, Path)],
) -> Option<Path> {
    let original = original.filter(|original| matches!(original.media, Media::Image(_)))?;
    let words = Marker::Reference(original.hash.to_ref_id(SHORT_ID_DIGITS)).to_string();
    let content = block.path.clone().parent();
    let parts = content.follow(message)?.as_array()?;
    let place = |at: usize| content.clone().index(at);
    let is_note = |at: &usize| {
        let leads_there = parts[*at]["text"].as_str().is_some_and(|text| text.starts_with(&words));
        leads_there && !removed.contains(&(index, place(*at)))
    };
    (0..parts.len()).rev().find(is_note).map(place)
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
    use serde_json::json;

    use super::*;
    use crate::pipeline::{CompressedMessages, FusionEngine, MessagesOptions, compress_messages};

    fn noise(lines: u32) -> String {
        (0..lines).map(|n| format!("{n} unit_{} took {} ms\n", n.wrapping_mul(2_654_435_761), n * 7919 % 977)).collect()
    }

    fn picture() -> Value {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let mut state = 7_u32;
        let pixels = RgbImage::from_fn(2000, 1500, |x, y| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgb([(x / 10) as u8, (y / 10) as u8, ((x + y) / 16 % 200) as u8].map(|part| part + (state >> 28) as u8))
        });
        DynamicImage::from(pixels).write_to(&mut bytes, ImageFormat::Png).unwrap();
        json!({ "type": "image", "data": base64_simd::STANDARD.encode_to_string(bytes.into_inner()), "mimeType": "image/png" })
    }

    fn call(id: &str) -> Value {
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": id, "name": "exec", "arguments": {} }] })
    }

    fn result(id: &str, content: &[Value]) -> Value {
        json!({ "role": "toolResult", "toolCallId": id, "toolName": "exec", "content": content })
    }

    fn text(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    /// Returns a conversation with repeats, a delta, repeated lines, and images.
    fn conversation() -> Vec<Value> {
        let (long, rows) = (noise(90), json!([{ "id": 1, "name": "alpha" }, { "id": 2, "name": "beta" }]).to_string());
        let edited = long.replace("7 unit_", "7 part_");
        let image = picture();
        let images = vec![text("look"), image.clone(), image];
        vec![
            json!({ "role": "user", "content": "go" }),
            call("a"),
            result("a", &[text(&long)]),
            call("b"),
            result("b", &[text(&long), text(&rows.repeat(30))]),
            call("c"),
            result("c", &[text(&format!("again:\n{edited}"))]),
            call("d"),
            result("d", &images),
        ]
    }

    fn compressed(messages: &[Value]) -> (CompressedMessages, Vec<Value>, Vec<ChangedBlock>) {
        let done = compress_messages(&FusionEngine::default(), messages, &MessagesOptions::default(), &|| 0.0);
        let shown = done.rewrite.apply(messages);
        let rows = done.blocks.iter().map(|row| ChangedBlock {
            message: row.message,
            block: row.block,
            original: row.original.map(|hash| hash.to_ref_id(64)),
        });
        let rows = rows.collect();
        (done, shown, rows)
    }

    #[test]
    fn every_block_comes_back_byte_for_byte() {
        let messages = conversation();
        let (done, mut shown, rows) = compressed(&messages);
        let shows = |words: &str| shown.iter().any(|message| message.to_string().contains(words));
        assert!(shows("[[DEDUP_REF:") && shows("]] same as "));
        assert_eq!(shown[8]["content"].as_array().unwrap().len(), 5, "each image has its note");
        shown.push(json!({ "role": "user", "content": "and on" }));
        let restored = restore_messages(&shown, &done.originals, &rows).unwrap().apply(&shown);
        assert_eq!(json!(restored[..9]).to_string(), json!(messages).to_string());
        assert_eq!(restored[9], shown[9]);
    }

    #[test]
    fn rows_of_other_messages_and_missing_originals_are_named() {
        let (done, shown, rows) = compressed(&conversation());
        let of_others = restore_messages(&shown[1..], &done.originals, &rows).unwrap_err().to_string();
        assert_eq!(of_others, "report.blocks[0] is of other messages; it must be of what compressMessages() returned");
        let missing = restore_messages(&shown, &[], &rows).unwrap_err().to_string();
        assert!(missing.contains("] is a block whose original is "), "{missing}");
    }
}
