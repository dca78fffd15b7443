//! Settings in YAML, TOML or of the form `key = value` -> their sections, or their keys of the first level.
//!
//! By their form only: what a `#` opens is a comment, whatever it looks like.

use indexmap::IndexSet;

use super::numbers::{numbered_lines, which_lines};
use super::sheet::{Sheet, quote};

/// Sections and keys that are kept.
const KEPT: usize = 2_000;

/// Writes the summary.
pub(super) fn summarize(text: &str, name: &str, sheet: &mut Sheet) -> bool {
    sheet.say(&format!("{name}, {}", which_lines(text)));
    let (mut sections, mut keys) = (IndexSet::new(), IndexSet::new());
    for (_, line) in numbered_lines(text) {
        if let Some(section) = section(line) {
            sections.insert(section);
        } else if let Some(key) = key(line) {
            keys.insert(key);
        }
    }
    let (label, parts) = if sections.is_empty() { ("keys:", keys) } else { ("sections:", sections) };
    let quoted: Vec<String> = parts.into_iter().take(KEPT).map(|part| quote(part, 80)).collect();
    sheet.list(label, &quoted, sheet.share(60));
    true
}

/// `[dependencies]`, `[[bin]]` -> what stands between the brackets.
fn section(line: &str) -> Option<&str> {
    let inner = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    let name = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
    (!name.is_empty() && !name.contains([',', '[', ']'])).then_some(name)
}

/// `jobs:`, `name: ci`, `edition = "2024"` -> the key of a line that is not indented.
fn key(line: &str) -> Option<&str> {
    let (name, value) = line.split_once([':', '='])?;
    // `a:hover {` is none.
    let is_value = line.as_bytes()[name.len()] == b'=' || value.is_empty() || value.starts_with(char::is_whitespace);
    let name = name.trim_end().trim_matches(['"', '\'']);
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    (is_value && name.chars().any(char::is_alphabetic) && name.chars().all(is_key)).then_some(name)
}
