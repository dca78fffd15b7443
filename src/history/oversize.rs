//! Outputs that are too long to stay whole, whatever their age.
//!
//! `squeeze()` cuts them, birth and assembly replace them by a reference. Both respect the options; a reference, which
//! removes the text, is also never used for content that the agent needs exactly.

use concertina_format::restore::restore;
use serde_json::Value;

use super::command_output::{Prints, names_file, prints_of};
use super::protection::{Protection, protection};
use crate::config::Config;
use crate::content::hit_line::{has_suffix, is_path};
use crate::reference::FETCH_TOOL;
use crate::tokens::utf16;
use crate::transcript::{Block, BlockKind, Message, ToolResult, is_cache_point};

/// Returns true if `squeeze()` cuts a block at any age: an output of more than `largeResultThreshold` UTF-16 units that
/// no script parses.
pub fn is_truncated(message: &Message, block: &Block, config: &Config) -> bool {
    let max_chars = config.large_result_threshold as usize;
    max_chars > 0
        && block.result.is_some_and(|result| !result.is_for_script)
        && matches!(block.kind, BlockKind::Text(text) if utf16::exceeds(text, max_chars))
        && protection(block, message.turn_age, config) == Protection::None
}

/// The length that a list of paths may have, in reference thresholds. The next calls use any of its names, so no
/// selection of them replaces it; a fresh list leaves when it is stale. Chosen by judgement.
const LIST_FACTOR: u64 = 2;

/// Returns true if a text of a result is over the reference threshold. The threshold is that of the whole result, so
/// each of its texts has an equal share of it. `blocks` are those of the result's message.
pub fn is_over_threshold(text: &str, result: &ToolResult, blocks: &[Block], config: &Config) -> bool {
    let own = blocks.iter().filter(|block| block.result.is_some_and(|other| other.call_id == result.call_id));
    let texts = || {
        own.clone().filter_map(|block| match block.kind {
            BlockKind::Text(text) => Some(text),
            _ => None,
        })
    };
    let exceeds = |limit: u64| {
        let most = limit as usize;
        let is_share_exceeded = || text.chars().nth(most / texts().count().max(1)).is_some();
        texts().flat_map(str::chars).nth(most).is_some() && is_share_exceeded()
    };
    let limit = config.sccs_compress_threshold;
    exceeds(limit) && (exceeds(limit.saturating_mul(LIST_FACTOR)) || !lists_paths(text))
}

/// Returns true if a text consists of paths or names, one on each line (`find`, `ls -R`, `tree`), or of folds of
/// such lines. Half of them have to have a suffix, as only names of files do.
fn lists_paths(text: &str) -> bool {
    let text = restore(text, &[]);
    let branches = ['│', '├', '└', '─', '|', '`', '-', ' ', '\u{a0}'];
    let lines = text.lines().map(|line| line.trim_start_matches(branches).trim_end().trim_end_matches(':'));
    let (mut names, mut files, mut all) = (0, 0, 0);
    for name in lines.filter(|name| !name.is_empty()) {
        all += 1;
        names += usize::from(!name.contains(' ') && is_path(name.trim_end_matches('/')));
        files += usize::from(has_suffix(name));
    }
    names * 5 >= all * 4 && files * 2 >= all
}

/// Returns true if an output may be replaced while it is fresh, because the agent does not need its exact bytes.
pub fn can_replace_fresh(message: &Value, block: &Block, config: &Config) -> bool {
    can_shorten_fresh(message, block) && block.result.is_some_and(|result| !is_exact(&result, config))
}

/// Returns true if an output may be shortened while it is fresh. That excludes answers of the fetch tool, results that
/// a script of the model parses, and blocks with a cache breakpoint of the caller.
pub fn can_shorten_fresh(message: &Value, block: &Block) -> bool {
    let can_shorten = |result: &ToolResult| result.tool_name != Some(FETCH_TOOL) && !result.is_for_script;
    block.result.as_ref().is_some_and(can_shorten) && !is_cache_point(message, &block.path)
}

/// Returns true if a tool's outputs stay exact, line by line, or if a command or a search printed files as such a tool
/// would.
pub fn is_exact(result: &ToolResult, config: &Config) -> bool {
    config.is_exact_tool(result.tool_name.unwrap_or_default()) || printed_files(result, config) == Prints::Files
}

/// Returns true if a search printed lines of files: the shortened form must keep all of them, comments included.
pub fn must_keep_lines(result: &ToolResult, config: &Config) -> bool {
    printed_files(result, config) == Prints::Hits
}

/// Search tools by their exact names.
const SEARCH_TOOLS: &[&str] = &[
    "Grep",
    "code_search",
    "codesearch",
    "grep",
    "grep_search",
    "ripgrep",
    "rg",
    "search_file_content",
    "search_files",
];

/// The keys under which search tools take how many lines around a hit they print.
const AROUND: &[&str] = &["-A", "-B", "-C", "context", "context_lines", "before", "after"];

fn printed_files(result: &ToolResult, config: &Config) -> Prints {
    let Some(arguments) = result.arguments.filter(|_| !config.exact_tools.is_empty()) else { return Prints::Nothing };
    if result.tool_name.is_some_and(|name| SEARCH_TOOLS.contains(&name)) {
        let is_around = arguments.value().is_some_and(|value| AROUND.iter().any(|key| value.get(key).is_some()));
        let is_in_file = || arguments.file_path().is_some_and(|path| names_file(&path));
        return if is_around && is_in_file() { Prints::Files } else { Prints::Hits };
    }
    arguments.command().map_or(Prints::Nothing, |command| prints_of(&command))
}
