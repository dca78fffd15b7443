//! Results that are never replaced whatever their size, because the agent must keep them in context: the host's own
//! instruction files and skills, the user's answers to a tool, and the current plan.

use super::BlockPosition;
use super::files::opened_file;
use crate::config::Encoding;
use crate::content::head;
use crate::content::time_stamp::Stamp;
use crate::tokens;
use crate::transcript::{BlockKind, ToolResult, Transcript};

/// OpenClaw's workspace files, by stem, and the equivalent files of other hosts.
const HOST_FILES: [&str; 10] =
    ["AGENTS", "CLAUDE", "SOUL", "TOOLS", "IDENTITY", "USER", "HEARTBEAT", "BOOTSTRAP", "MEMORY", "BOOT"];

/// Tools that ask the user.
const ASKING_TOOLS: [&str; 4] = ["ask_user", "AskUserQuestion", "ask_followup_question", "request_user_input"];

/// Tools whose last call holds the whole plan.
const PLANNING_TOOLS: [&str; 4] = ["update_plan", "TodoWrite", "todo_write", "ExitPlanMode"];

/// The number of bytes at the beginning of a result that are searched for the words that report a user's answer. Chosen
/// by judgement.
const ANSWER_BYTES: usize = 400;

/// The number of bytes at the beginning of a result that are searched for front matter and the first heading. Chosen by
/// judgement.
const HEADING_BYTES: usize = 4096;

/// Returns true if a tool result must stay in context.
pub(super) fn is_exempt(result: &ToolResult, text: &str) -> bool {
    is_host_file(result, text) || is_user_answer(result, text) || is_mostly_numbers(text)
}

/// Returns true if a short text consists largely of figures. They mean nothing without their words, and with these a
/// placeholder is hardly shorter.
fn is_mostly_numbers(text: &str) -> bool {
    /// A placeholder with its summary costs about as much as a text of this size.
    const MAX_BYTES: usize = 400;
    const MAX_TOKENS: usize = 90;
    /// Numbers of two digits or more. Chosen by judgement.
    const MIN_NUMBERS: usize = 4;
    let numbers = || text.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() > 1).count();
    text.len() <= MAX_BYTES
        && numbers() >= MIN_NUMBERS
        && !text.lines().any(Stamp::leads)
        && tokens::count(text, Encoding::O200kBase) < MAX_TOKENS
}

/// Returns true if a tool result holds an answer of the user.
fn is_user_answer(result: &ToolResult, text: &str) -> bool {
    let head = head(text, ANSWER_BYTES);
    result.tool_name.is_some_and(|tool| ASKING_TOOLS.contains(&tool)) || head.contains("the user said:")
}

/// Returns the last call of each planning tool.
pub(super) fn plan_calls(transcript: &Transcript) -> Vec<BlockPosition> {
    let mut last: Vec<(&str, BlockPosition)> = Vec::new();
    for (message_index, message) in transcript.messages.iter().enumerate() {
        for (block_index, block) in message.blocks.iter().enumerate() {
            if let BlockKind::Call(call) = &block.kind
                && PLANNING_TOOLS.contains(&call.name)
            {
                last.retain(|(tool, _)| *tool != call.name);
                last.push((call.name, (message_index, block_index)));
            }
        }
    }
    last.into_iter().map(|(_, at)| at).collect()
}

/// Returns true if a tool result shows one of the host's own files, recognized by its path or else by its first
/// heading.
fn is_host_file(result: &ToolResult, text: &str) -> bool {
    match opened_file(result) {
        Some(path) => is_host_path(&path),
        None => first_heading(text).is_some_and(names_host_file),
    }
}

fn is_host_path(path: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or_default();
    name == "SKILL.md"
        || HOST_FILES.iter().any(|stem| name.strip_suffix(".md") == Some(stem))
        || (name.ends_with(".md") && parts.any(|folder| folder == "skills"))
}

fn names_host_file(heading: &str) -> bool {
    let word = heading.split_whitespace().next().unwrap_or_default();
    HOST_FILES.iter().any(|stem| word.strip_suffix(".md") == Some(stem))
}

/// Returns the text of the first line after optional front matter, if it is a heading. Reads the first
/// [`HEADING_BYTES`] only.
fn first_heading(text: &str) -> Option<&str> {
    let head = head(text, HEADING_BYTES);
    let mut lines = head.lines().skip_while(|line| line.trim().is_empty()).peekable();
    if lines.peek().is_some_and(|line| line.trim_end() == "---") {
        lines.next();
        lines.by_ref().find(|line| line.trim_end() == "---")?;
    }
    lines.find(|line| !line.trim().is_empty())?.strip_prefix("# ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::transcript::Arguments;

    fn result(arguments: Option<&Value>) -> ToolResult<'_> {
        let arguments = arguments.map(Arguments::Value);
        ToolResult { tool_name: Some("read"), arguments, ..ToolResult::default() }
    }

    #[test]
    fn host_files_are_known_by_path_first() {
        for (path, expected) in [
            ("/ws/AGENTS.md", true),
            ("C:\\ws\\SOUL.md", true),
            ("skills/git/notes.md", true),
            ("skills/git/SKILL.md", true),
            ("docs/AGENTS.md.bak", false),
            ("agents.md", false),
            ("src/skills/tool.rs", false),
            ("CLAUDE.md", true),
        ] {
            assert_eq!(is_host_file(&result(Some(&json!({ "path": path }))), "x"), expected, "{path}");
        }
        let read = json!({ "path": "README.md" });
        assert!(!is_host_file(&result(Some(&read)), "# AGENTS.md - Your Workspace\n"));
    }

    #[test]
    fn host_files_that_a_command_prints_are_known_by_its_path() {
        for (command, expected) in [
            ("cat ~/.openclaw/skills/deploy/SKILL.md", true),
            ("cd /w && sed -n '1,200p' AGENTS.md", true),
            ("cat README.md", false),
            ("grep -n x AGENTS.md", false),
        ] {
            assert_eq!(is_exempt(&result(Some(&json!({ "command": command }))), "# Deploy\n"), expected, "{command}");
        }
    }

    #[test]
    fn what_the_user_answers_to_a_tool_stays() {
        let asked = ToolResult { tool_name: Some("AskUserQuestion"), ..result(None) };
        assert!(is_exempt(&asked, "only staging"));
        let refused =
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse tabs";
        assert!(is_exempt(&result(None), refused) && !is_exempt(&result(None), "the users said nothing"));
    }

    #[test]
    fn host_files_are_known_by_heading_where_no_path_is_known() {
        for (text, expected) in [
            ("# AGENTS.md - Your Workspace\n", true),
            ("---\nsummary: x\n---\n\n# SOUL.md - Who You Are\n", true),
            ("---\nunclosed\n# SOUL.md\n", false),
            ("intro\n# AGENTS.md\n", false),
            ("# Agents\n", false),
            ("", false),
        ] {
            assert_eq!(is_host_file(&result(None), text), expected, "{text:?}");
        }
    }
}
