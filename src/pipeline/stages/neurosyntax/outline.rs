//! A long file -> its declarations, with a note for each body of a function.

use super::View;
use super::change::Change;
use crate::pipeline::syntax::Survey;

/// A function that is more of the file than this, in percent, is what holds the others: a module's wrapper.
const WRAPPER_PERCENT: usize = 50;

/// Adds the changes that elide the bodies of functions.
pub(super) fn elide_bodies(view: &View, survey: &Survey, changes: &mut Vec<Change>) {
    // Where the last function ends whose body goes; what is in it goes with it.
    let mut gone = 0;
    for node in survey.nodes().filter(|node| view.syntax.functions.contains(&node.kind())) {
        if node.start_byte() < gone
            || node.has_error()
            || !survey.parsed().is_sound(node.start_position().row, node.end_position().row)
            || node.byte_range().len() * 100 > view.code.len() * WRAPPER_PERCENT
        {
            continue;
        }
        let mut cursor = node.walk();
        let body = node
            .child_by_field_name("body")
            .or_else(|| node.children(&mut cursor).find(|child| child.kind() == "function_body"));
        if let Some(change) = body.and_then(|body| view.elide_block(body)) {
            changes.push(change);
            gone = node.end_byte();
        }
    }
}
