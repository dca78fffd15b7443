//! What is never replaced whatever its size: the host's own instruction files and skills, which the agent must keep in sight.

use crate::transcript::ToolResult;

/// OpenClaw's workspace files, by stem.
const HOST_FILES: [&str; 9] =
    ["AGENTS", "SOUL", "TOOLS", "IDENTITY", "USER", "HEARTBEAT", "BOOTSTRAP", "MEMORY", "BOOT"];

/// Whether a tool result shows one of the host's own files: known by the path it was read from, else by its first heading.
pub(super) fn is_host_file(result: &ToolResult, text: &str) -> bool {
    match result.arguments.and_then(|arguments| arguments.file_path()) {
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

/// The text of the first line after optional front matter, if it is a heading. Looks at the first 4 KB only.
fn first_heading(text: &str) -> Option<&str> {
    let head = &text[..text.floor_char_boundary(4096)];
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
        ToolResult {
            call_id: "c",
            tool_name: Some("read"),
            arguments: arguments.map(Arguments::Value),
            is_error: false,
            call: None,
        }
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
        ] {
            assert_eq!(is_host_file(&result(Some(&json!({ "path": path }))), "x"), expected, "{path}");
        }
        let read = json!({ "path": "README.md" });
        assert!(!is_host_file(&result(Some(&read)), "# AGENTS.md - Your Workspace\n"));
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
