//! The one place that decides what is protected from folding: the option `protect`, and content that an agent must keep
//! in sight in any case: instruction files and skills, the user's answers to a tool, and figures without words.
//!
//! The marks of a session (`assemble/marks`) protect single blocks in addition.

use std::cell::OnceCell;
use std::sync::LazyLock;

use regex::Regex;

use super::BlockPosition;
use super::files::opened_files;
use super::measure::thinking_texts;
use super::path::resolve;
use crate::config::{Config, Enabled, Encoding, Protect, Subject, Verdict};
use crate::content::head;
use crate::content::time_stamp::Stamp;
use crate::tokens;
use crate::transcript::{Block, BlockKind, ToolResult, Transcript};

/// The protection of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    /// It may be folded.
    None,
    /// It stays until something later holds the same or newer content.
    UntilSuperseded,
    /// It stays.
    Always,
}

/// Instruction files and skills of the usual hosts, in the notation of `protect`.
static INSTRUCTIONS: LazyLock<Protect> = LazyLock::new(|| {
    let stems = HOST_FILES.iter().map(|stem| format!("{stem}.md"));
    let others = [
        "SKILL.md",
        "skills/**/*.md",
        "AGENTS.override.md",
        "CLAUDE.local.md",
        ".claude/commands/**",
        ".claude/rules/**",
        "copilot-instructions.md",
        ".github/instructions/**/*.md",
        ".cursor/rules/**",
        ".cursorrules",
        ".windsurfrules",
        ".clinerules",
        ".clinerules/**",
        ".junie/guidelines.md",
        ".kiro/steering/**",
        "tool:*skill",
        "tool:*skill_*",
        "tool:*skills__*",
        "tool:skills",
    ];
    let all: Vec<String> = stems.chain(others.map(str::to_owned)).collect();
    Protect::parse(all.iter().map(String::as_str)).expect("these are patterns")
});

/// Instruction files by stem: OpenClaw's workspace files, and those of other hosts.
const HOST_FILES: [&str; 12] = [
    "AGENTS",
    "CLAUDE",
    "GEMINI",
    "QWEN",
    "SOUL",
    "TOOLS",
    "IDENTITY",
    "USER",
    "HEARTBEAT",
    "BOOTSTRAP",
    "MEMORY",
    "BOOT",
];

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

/// Returns true if a fresh block may be replaced or rewritten.
pub fn can_replace(block: &Block, config: &Config) -> bool {
    config.sccs_enabled != Enabled::Off && protection(block, 1, config) == Protection::None
}

/// Returns the protection of a block in a user turn of this age, the newest being 1. It decides for births, assemblies
/// and `squeeze()`.
pub(super) fn protection(block: &Block, turn_age: u64, config: &Config) -> Protection {
    let (tool, arguments) = match (block.kind, &block.result) {
        (_, Some(result)) => (Some(result.tool_name.unwrap_or_default()), result.arguments),
        (BlockKind::Call(call), None) => (Some(call.name), Some(call.arguments)),
        _ => (None, None),
    };
    let (opened, run) = (OnceCell::new(), OnceCell::new());
    let opened_by = |arguments| opened_files(arguments).iter().map(|path| resolve(None, path)).collect();
    let paths = || &**opened.get_or_init(|| arguments.as_ref().map_or_else(Vec::new, opened_by));
    let subject = Subject {
        tool,
        paths: &paths,
        command: &|| run.get_or_init(|| arguments?.command()).as_deref(),
        has_content: &|regex| has_content(block, regex),
    };
    match config.protect.verdict(&subject) {
        Some(Verdict::Exempt) => return Protection::None,
        Some(Verdict::File) => return Protection::UntilSuperseded,
        Some(Verdict::Content) => return Protection::Always,
        None => {}
    }
    let Some(result) = &block.result else { return Protection::None };
    let text = if let BlockKind::Text(text) = block.kind { text } else { "" };
    let is_instruction =
        || INSTRUCTIONS.verdict(&subject).is_some() || paths().is_empty() && starts_like_instructions(text);
    match config.instruction_turns {
        turns if (turns == 0 || turn_age <= turns) && is_instruction() => Protection::UntilSuperseded,
        _ if is_user_answer(result, text) || is_mostly_numbers(text) => Protection::Always,
        _ => Protection::None,
    }
}

/// Returns true if the text of a block, its arguments or its visible thinking fit an expression.
fn has_content(block: &Block, regex: &Regex) -> bool {
    match block.kind {
        BlockKind::Text(text) => regex.is_match(text),
        BlockKind::Call(call) => regex.is_match(&call.arguments.to_json()),
        BlockKind::Thinking(part) => thinking_texts(part).any(|text| regex.is_match(text)),
        BlockKind::Image(_) | BlockKind::Other(_) => false,
    }
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

/// Returns true if the first heading of a text is the name of an instruction file.
fn starts_like_instructions(text: &str) -> bool {
    let word = first_heading(text).and_then(|heading| heading.split_whitespace().next());
    word.and_then(|word| word.strip_suffix(".md")).is_some_and(|stem| HOST_FILES.contains(&stem))
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
    use crate::transcript::{Arguments, Call, Path};

    fn result_block<'a>(tool: &'a str, arguments: Option<&'a Value>, text: &'a str) -> Block<'a> {
        let arguments = arguments.map(Arguments::Value);
        let result = ToolResult { tool_name: Some(tool), arguments, ..ToolResult::default() };
        Block { path: Path::new(), kind: BlockKind::Text(text), result: Some(result), exact: None }
    }

    fn of(block: &Block, options: &Value) -> Protection {
        let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
        protection(block, 3, &config)
    }

    fn is_instruction(tool: &str, arguments: Option<&Value>, text: &str) -> bool {
        let protection = of(&result_block(tool, arguments, text), &json!({}));
        assert_ne!(protection, Protection::Always, "an older copy may go");
        protection == Protection::UntilSuperseded
    }

    /// Each line of an input is a path, a command, a tool, or a text with its line ends as `\n`.
    #[test]
    fn instructions_are_known_by_path_command_tool_or_heading() {
        concertina_cases::check!("instructions", |input, what| {
            let is_known = |line: &str| match what {
                "path" => is_instruction("read", Some(&json!({ "path": line })), "x"),
                "command" => is_instruction("exec", Some(&json!({ "command": line })), "# Deploy\n"),
                "tool" => is_instruction(line, Some(&json!({ "name": "deploy" })), "# Deploy\n"),
                _ => is_instruction("exec", None, &line.replace("\\n", "\n")),
            };
            input.lines().map(|line| format!("{}: {line}\n", is_known(line))).collect()
        });
        let read = json!({ "path": "README.md" });
        assert!(!is_instruction("read", Some(&read), "# AGENTS.md - Your Workspace\n"), "the path counts first");
    }

    #[test]
    fn what_the_user_answers_to_a_tool_stays() {
        let is_kept = |tool, text| of(&result_block(tool, None, text), &json!({})) == Protection::Always;
        assert!(is_kept("AskUserQuestion", "only staging"));
        let refused =
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse tabs";
        assert!(is_kept("exec", refused) && !is_kept("exec", "the users said nothing"));
    }

    #[test]
    fn the_options_decide_before_anything_else() {
        let read = json!({ "path": "/w/docs/spec/AGENTS.md" });
        let instructions = result_block("read", Some(&read), "x");
        let asked = result_block("ask_user", None, "yes");
        for (block, options, expected) in [
            (&instructions, json!({ "protect": ["!AGENTS.md"] }), Protection::None),
            (&instructions, json!({ "protect": ["docs/spec/*"] }), Protection::UntilSuperseded),
            (&instructions, json!({ "protect": ["tool:read"] }), Protection::Always),
            (&instructions, json!({ "protect": ["content:^x$"] }), Protection::Always),
            (&instructions, json!({ "instructionTurns": 2 }), Protection::None),
            (&instructions, json!({ "instructionTurns": 3 }), Protection::UntilSuperseded),
            (&asked, json!({ "protect": ["!tool:ask*"] }), Protection::None),
        ] {
            assert_eq!(of(block, &options), expected, "{options}");
        }
    }

    #[test]
    fn a_call_is_protected_with_its_result_and_a_persons_image_by_no_tool() {
        let arguments = json!({ "path": "docs/a.md", "content": "x" });
        let call = Call {
            id: "",
            name: "write",
            arguments: Arguments::Value(&arguments),
            is_typed: false,
            is_of_script: false,
        };
        let block = |kind| Block { path: Path::new(), kind, result: None, exact: None };
        assert_eq!(of(&block(BlockKind::Call(call)), &json!({ "protect": ["docs/*"] })), Protection::UntilSuperseded);
        let thought = json!({ "type": "thinking", "thinking": "step one" });
        let thinking = block(BlockKind::Thinking(&thought));
        assert_eq!(of(&thinking, &json!({ "protect": ["tool:*"] })), Protection::None);
        assert_eq!(of(&thinking, &json!({ "protect": ["content:one"] })), Protection::Always);
    }
}
