//! Which outputs are too long to stay whole, whatever their age.
//!
//! `squeeze()` cuts them, birth and assembly put a reference in their place. Both leave alone what the options exclude;
//! a reference, which takes the text away, is also not for what the agent needs exactly.

use serde_json::Value;

use super::command_output::{Prints, prints_of};
use super::{exempt, may_touch, may_touch_output};
use crate::config::Config;
use crate::reference::FETCH_TOOL;
use crate::tokens::utf16;
use crate::transcript::{Block, BlockKind, ToolResult, is_cache_point};

/// Whether a block is an output of more than `largeResultThreshold` UTF-16 units, which `squeeze()` cuts at any age:
/// not one that a script parses.
pub fn is_cut(block: &Block, config: &Config) -> bool {
    let most = config.large_result_threshold as usize;
    most > 0
        && block.result.is_some_and(|result| !result.is_for_script)
        && matches!(block.kind, BlockKind::Text(text) if utf16::exceeds(text, most))
        && may_touch(block, config)
}

/// Whether a text is over the threshold of references.
pub fn is_over(text: &str, config: &Config) -> bool {
    text.chars().count() as u64 > config.sccs_compress_threshold
}

/// Whether an output may be replaced while it is fresh: not where the agent needs its bytes.
pub fn may_go_fresh(message: &Value, block: &Block, config: &Config) -> bool {
    may_shrink_fresh(message, block) && block.result.is_some_and(|result| !is_exact(&result, config))
}

/// Whether an output may be said in less while it is fresh: not what was fetched on purpose, nor what a script of the
/// model's parses, nor what a caller has put a cache breakpoint on.
pub fn may_shrink_fresh(message: &Value, block: &Block) -> bool {
    let may_shrink = |result: &ToolResult| result.tool_name != Some(FETCH_TOOL) && !result.is_for_script;
    block.result.as_ref().is_some_and(may_shrink) && !is_cache_point(message, &block.path)
}

/// Whether a tool's outputs stay exact, line by line, or a command printed files as such a tool would have.
pub fn is_exact(result: &ToolResult, config: &Config) -> bool {
    config.is_exact_tool(result.tool_name.unwrap_or_default()) || printed(result, config) == Prints::FilesOnly
}

/// Whether a command printed lines of files among others: what is said in less must hold all of them, comments too.
pub fn keeps_lines(result: &ToolResult, config: &Config) -> bool {
    printed(result, config) == Prints::FilesAmongOther
}

fn printed(result: &ToolResult, config: &Config) -> Prints {
    let command = result.arguments.filter(|_| !config.exact_tools.is_empty()).and_then(|arguments| arguments.command());
    command.map_or(Prints::Nothing, |command| prints_of(&command))
}

/// Whether the options let an output be replaced, and it is nothing that the agent must keep in sight. A result without
/// a known tool is treated like any other.
pub fn may_replace(result: &ToolResult, text: &str, config: &Config) -> bool {
    config.sccs_enabled
        && config.may_touch_tool(result.tool_name.unwrap_or_default())
        && may_touch_output(Some(result), config)
        && !exempt::is_exempt(result, text)
}
