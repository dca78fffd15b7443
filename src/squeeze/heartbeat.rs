//! `user: Read HEARTBEAT.md …` + `assistant: HEARTBEAT_OK` -> nothing
//!
//! Only whole pairs are removed: a heartbeat prompt that is answered at once by the bare token. A heartbeat that ran
//! tools or reported something stays, and so does a person's message that merely mentions heartbeats.

use std::sync::LazyLock;

use regex::Regex;

use crate::transcript::{BlockKind, Message, Role, Transcript};

/// The result of a scan for heartbeats.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heartbeats {
    /// Indexes of the prompts whose pairs are removed; the answer is the next message.
    pub(super) prompts: Vec<usize>,
    /// A prompt that ends the transcript. It stays, but does not age other turns until its answer says more than the
    /// token.
    pub(super) pending: Option<usize>,
}

/// Finds the removable pairs. Removing them must not leave two user messages in a row, an empty transcript, or one that
/// no longer starts with a user message.
pub(super) fn find(transcript: &Transcript) -> Heartbeats {
    let messages = &transcript.messages;
    let mut prompts = Vec::new();
    // The role of the last message of the conversation that stays.
    let mut before = None;
    let mut index = 0;
    while index < messages.len() {
        let after = messages.get(index + 2).map(|message| message.role);
        let is_pair = is_heartbeat_prompt(&messages[index]) && messages.get(index + 1).is_some_and(is_heartbeat_answer);
        if is_pair && before != Some(Role::User) && after.is_none_or(|role| role == Role::User) {
            prompts.push(index);
            index += 2;
        } else {
            before = Some(messages[index].role).filter(|role| is_conversation(*role)).or(before);
            index += 1;
        }
    }
    if before.is_none() {
        prompts.pop();
    }
    let pending = messages.len().checked_sub(1).filter(|&last| is_heartbeat_prompt(&messages[last]));
    Heartbeats { prompts, pending }
}

fn is_conversation(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant | Role::Tool)
}

/// Returns the text of a message that has only text (and thinking).
fn text_if_only_text(message: &Message) -> Option<String> {
    let mut text = String::new();
    for block in &message.blocks {
        match block.kind {
            BlockKind::Text(part) if block.result.is_none() => text.push_str(part),
            BlockKind::Thinking(_) => {}
            _ => return None,
        }
    }
    Some(text)
}

fn is_heartbeat_answer(message: &Message) -> bool {
    message.role == Role::Assistant
        && text_if_only_text(message).is_some_and(|text| {
            let word = text.trim_matches(|c: char| c.is_whitespace() || "*_`~.!\"'".contains(c));
            // The token's own underscore survives: it is inside the word.
            word.eq_ignore_ascii_case("HEARTBEAT_OK")
        })
}

/// Recognizes the prompts that OpenClaw sends (its default, its poll, its periodic tasks, its event notices), a bare
/// "heartbeat", and custom prompts that request the token when there is nothing to do.
fn is_heartbeat_prompt(message: &Message) -> bool {
    static BARE_HEARTBEAT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\A[\[(<*\s]*(?:openclaw )?heartbeat(?:[ _-](?:check|poll|ping|prompt|tick))?[\])>*.!:\s]*\z")
            .expect("the pattern of bare heartbeats is valid")
    });
    static TOKEN_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:reply|respond|answer|return|say|output)\b[^.?!\n]{0,30}\bHEARTBEAT_OK\b")
            .expect("the pattern of requests is valid")
    });
    static NOTHING_TO_DO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:nothing|no (?:tasks?|action|changes?|alerts?|issues?)|all (?:is )?(?:good|clear|well|quiet))\b",
        )
        .expect("the pattern of idleness is valid")
    });
    if !message.starts_turn {
        return false;
    }
    let Some(text) = text_if_only_text(message) else { return false };
    let text = text.trim();
    let has_token_request = || TOKEN_REQUEST.is_match(text);
    let host_starts =
        ["Run the following periodic tasks", "An async command completion event was triggered", "[OpenClaw heartbeat"];
    text.starts_with("Read HEARTBEAT.md if it exists")
        || text == "[OpenClaw heartbeat poll]"
        || BARE_HEARTBEAT.is_match(text)
        || (host_starts.iter().any(|start| text.starts_with(start)) && has_token_request())
        || (!text.contains('?') && NOTHING_TO_DO.is_match(text) && has_token_request())
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

    #[test]
    fn pairs_that_go_and_a_prompt_that_waits() {
        check!("heartbeats", |input, _| {
            let Heartbeats { prompts, pending } = find(&Transcript::read(&json_lines(input)));
            format!("prompts: {prompts:?}, pending: {pending:?}")
        });
    }
}
