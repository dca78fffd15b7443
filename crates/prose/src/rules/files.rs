//! Rule files -> one text within a budget of characters, the most important first.
//!
//! A file that does not fit is omitted as a whole and named. A smaller one after it may still fit.

use super::preprocess::{RulesOptions, preprocess};
use super::{Objective, RulesLevel};
use crate::count;
use concertina_base::tokens::utf16::len as chars;

/// A rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// The name for the report.
    pub name: String,
    /// The text. `priority: N` in its front matter decides the order: lower first, 5 by default.
    pub text: String,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its name.
    pub name: String,
    /// The place in the order. Ties are ordered by name.
    pub priority: i64,
    /// True if the file is in the text.
    pub is_included: bool,
    /// The length of the original in UTF-16 units.
    pub chars_before: usize,
    /// The length of the shortened file in UTF-16 units.
    pub chars_after: usize,
    /// o200k tokens of the original.
    pub tokens_before: usize,
    /// o200k tokens of the shortened file.
    pub tokens_after: usize,
}

/// The text of all files that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedRules {
    /// The text, at most as long as requested.
    pub text: String,
    /// All files, in order.
    pub files: Vec<FileRow>,
    /// o200k tokens of the originals of the files that are in the text.
    pub tokens_before: usize,
    /// o200k tokens of the text.
    pub tokens_after: usize,
}

const DEFAULT_PRIORITY: i64 = 5;

const BETWEEN: &str = "\n\n";

struct Shortened<'a> {
    file: &'a RuleFile,
    priority: i64,
    text: String,
}

/// Shortens rule files and joins them, lower priorities first, up to `max_chars` UTF-16 units. The text never has more
/// tokens than the files in it.
pub fn compress_rules(files: &[RuleFile], options: &RulesOptions) -> CompressedRules {
    let max = options.max_chars.unwrap_or(usize::MAX);
    let relaxed = RulesOptions { max_chars: None, ..options.clone() };
    let mut all: Vec<Shortened> = files
        .iter()
        .map(|file| Shortened { file, priority: priority(&file.text), text: preprocess(&file.text, &relaxed) })
        .collect();
    all.sort_by(|a, b| (a.priority, &a.file.name).cmp(&(b.priority, &b.file.name)));
    tighten(&mut all, max, options);

    let mut text = String::new();
    let mut rows = Vec::new();
    let (mut used, mut before) = (0, 0);
    for one in &all {
        let part = one.text.trim_end();
        let joint = if text.is_empty() { 0 } else { BETWEEN.len() };
        let is_included = used + joint + chars(part) <= max;
        let row = FileRow {
            name: one.file.name.clone(),
            priority: one.priority,
            is_included,
            chars_before: chars(&one.file.text),
            chars_after: chars(part),
            tokens_before: count(&one.file.text),
            tokens_after: count(part),
        };
        if is_included && !part.is_empty() {
            text.push_str(if text.is_empty() { "" } else { BETWEEN });
            text.push_str(part);
            used += joint + chars(part);
            before += row.tokens_before;
        }
        rows.push(row);
    }
    // The separators add tokens if the files could not be shortened.
    let mut after = count(&text);
    if after > before {
        let parts: Vec<&str> =
            all.iter().zip(&rows).filter(|(_, row)| row.is_included).map(|(one, _)| one.text.trim_end()).collect();
        text = parts.join("\n");
        after = count(&text);
    }
    CompressedRules { text, files: rows, tokens_before: before, tokens_after: after }
}

/// Uses saved tokens to save characters if the files do not fit together, the least important files first.
fn tighten(all: &mut [Shortened], max: usize, options: &RulesOptions) {
    if options.objective != Objective::Chars || options.level == RulesLevel::Off {
        return;
    }
    let joints = BETWEEN.len() * all.len().saturating_sub(1);
    let mut excess = (all.iter().map(|one| chars(one.text.trim_end())).sum::<usize>() + joints).saturating_sub(max);
    for one in all.iter_mut().rev() {
        if excess == 0 {
            return;
        }
        let had = chars(one.text.trim_end());
        let options = RulesOptions { max_chars: Some(had.saturating_sub(excess)), ..options.clone() };
        one.text = preprocess(&one.file.text, &options);
        excess = excess.saturating_sub(had - chars(one.text.trim_end()).min(had));
    }
}

/// Returns `priority: N` of the front matter, or the default.
fn priority(text: &str) -> i64 {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return DEFAULT_PRIORITY;
    }
    let matter = lines.take(200).take_while(|line| line.trim_end() != "---");
    let values = matter.filter_map(|line| line.strip_prefix("priority:"));
    let mut bare = values.map(|value| value.split_once(" #").map_or(value, |(value, _comment)| value).trim());
    bare.find_map(|value| value.parse().ok()).unwrap_or(DEFAULT_PRIORITY)
}
