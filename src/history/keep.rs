//! The mark `<keep>` in a person's words: the images of the message and the results of its turn stay in sight.

use super::BlockPosition;
use crate::transcript::{BlockKind, Message, Role, Transcript};

/// The mark.
const KEEP: &str = "<keep>";

/// Returns true if a person's words contain the mark, in any case.
pub fn asks_to_keep(words: &str) -> bool {
    words.contains('<') && words.to_ascii_lowercase().contains(KEEP)
}

/// The blocks that a person's marks protect.
pub struct KeptByPerson {
    /// Their positions, in order.
    pub blocks: Vec<BlockPosition>,
    /// True if the last turn of the transcript has the mark, so that its further results are protected, too.
    pub is_last_turn: bool,
}

/// Finds the blocks that a person's marks protect.
pub fn kept_by_person(transcript: &Transcript) -> KeptByPerson {
    let mut kept = KeptByPerson { blocks: Vec::new(), is_last_turn: false };
    for (message_index, message) in transcript.messages.iter().enumerate() {
        let has_mark = has_mark(message);
        kept.is_last_turn = has_mark || kept.is_last_turn && !message.starts_turn;
        if !kept.is_last_turn {
            continue;
        }
        let can_go = message.blocks.iter().enumerate().filter(|(_, block)| {
            block.result.is_some() || message.role == Role::User && matches!(block.kind, BlockKind::Image(_))
        });
        kept.blocks.extend(can_go.map(|(block_index, _)| (message_index, block_index)));
    }
    kept
}

fn has_mark(message: &Message) -> bool {
    message.role == Role::User
        && (message.blocks.iter())
            .any(|block| block.result.is_none() && matches!(block.kind, BlockKind::Text(text) if asks_to_keep(text)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_results_of_a_marked_turn_and_its_images_are_kept() {
        let user = |text: &str| json!({ "role": "user", "content": text });
        let call =
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "exec", "input": {} }] });
        let result =
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "<keep>" }] });
        let image = json!({ "role": "user", "content": [
            { "type": "text", "text": "<keep> this" },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } } ] });
        let messages: Vec<Value> = vec![
            user("go"),
            call.clone(),
            result.clone(),
            image,
            call.clone(),
            result.clone(),
            call.clone(),
            result.clone(),
            user("and"),
            call,
            result,
        ];
        assert!(asks_to_keep("go <Keep>") && !asks_to_keep("keep < all"));
        let of = |until: usize| {
            let kept = kept_by_person(&Transcript::read(&messages[..until]));
            (kept.blocks, kept.is_last_turn)
        };
        assert_eq!(of(3), (vec![], false), "a tool's words are no person's");
        assert_eq!(of(6), (vec![(3, 1), (5, 0)], true));
        assert_eq!(of(11), (vec![(3, 1), (5, 0), (7, 0)], false));
    }
}
