//! Recognizes tool results that are answers of the fetch tool: by the tool's name, or by the call that asked for an
//! original.

use crate::reference::{ContentHash, FETCH_TOOL, SHORT_ID_DIGITS};
use crate::transcript::{Block, ToolResult};

/// Returns true if a block is a tool's output that the model did not fetch.
pub(super) fn is_output(block: &Block) -> bool {
    block.result.is_some() && !is_fetch_result(block)
}

/// Returns true if a block is a result of the fetch tool.
pub(super) fn is_fetch_result(block: &Block) -> bool {
    block.result.is_some_and(|result| result.tool_name == Some(FETCH_TOOL))
}

/// Returns true if a result with the text of an earlier fetch answer may be one: the arguments of its call, if known,
/// name the original.
pub(super) fn can_be_fetch_answer(result: &ToolResult, original: ContentHash) -> bool {
    can_request_original(call_arguments(result).as_deref(), original)
}

/// Returns the arguments of the call that a result answers, as JSON, if known.
pub(super) fn call_arguments(result: &ToolResult) -> Option<String> {
    result.arguments.map(|arguments| arguments.to_json())
}

/// Returns true if a call with these arguments may have asked for an original: they name it or have a query, or are
/// empty or unknown.
pub(super) fn can_request_original(arguments: Option<&str>, original: ContentHash) -> bool {
    let id = original.to_ref_id(SHORT_ID_DIGITS);
    let names_it = |json: &str| json.to_ascii_lowercase().contains(id.as_str());
    arguments.is_none_or(|json| json == "{}" || json.contains(r#""query""#) || names_it(json))
}
