//! One typed view over the four message shapes: OpenClaw's, Anthropic's, and those of OpenAI's chat completions and
//! Responses API.
//!
//! [`Transcript::read`] borrows from the JSON messages and never fails: what it does not understand is
//! [`BlockKind::Other`] and stays untouched. Blocks carry the [`Path`] of what may be replaced, so a change is a
//! [`Patch`] and everything else in a message (unknown fields, signatures, ids) comes back as it was.

mod block;
mod links;
mod message;
mod patch;
mod read;
mod shape;
mod time;
mod usage;

pub use block::{Arguments, Block, BlockKind, COMMAND_KEYS, Call, FILE_KEYS, Image, ToolResult, string_in};
pub use links::{CallLink, ResultLink, Shape, call_links, hides_links, is_result, result_links};
pub use message::{Message, Role, Transcript};
pub use patch::{MessageSource, Patch, Path, Rewrite, Step, part_of};
pub use read::{
    has_opaque, image_frame, image_in_place, is_cache_point, text_beside, text_in_place, text_value, with_payload,
};
pub use shape::{UNSTATED_MIME, image_part, shape_at};
pub use usage::{Charge, Usage};
