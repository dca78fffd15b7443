//! Which tool results are answers of the fetch tool: by the tool's name, or by the call that asked for an original.

use crate::reference::{ContentHash, FETCH_TOOL, SHORT_ID_DIGITS};
use crate::transcript::{Block, ToolResult};

/// Whether a block is a tool's output, and not what the model fetched on purpose.
pub(super) fn is_output(block: &Block) -> bool {
    block.result.is_some() && !is_fetched(block)
}

/// Whether a block is what the model fetched on purpose.
pub(super) fn is_fetched(block: &Block) -> bool {
    block.result.is_some_and(|result| result.tool_name == Some(FETCH_TOOL))
}

/// Whether a result that reads as an answer of the fetch tool did is one: its call, as far as it is known, names the
/// original.
pub(super) fn may_be_fetched(result: &ToolResult, original: ContentHash) -> bool {
    asks_for(call_arguments(result).as_deref(), original)
}

/// The arguments of the call that a result answers as JSON, as far as they are known.
pub(super) fn call_arguments(result: &ToolResult) -> Option<String> {
    result.arguments.map(|arguments| arguments.to_json())
}

/// Whether a call with these arguments may have asked for an original: they name it, or say nothing.
pub(super) fn asks_for(arguments: Option<&str>, original: ContentHash) -> bool {
    let id = original.to_ref_id(SHORT_ID_DIGITS);
    arguments.is_none_or(|json| json == "{}" || json.to_ascii_lowercase().contains(id.as_str()))
}
