//! A long file -> its declarations, with a note in place of each function body.

use super::change::Change;
use super::view::View;
use crate::pipeline::syntax::Survey;

/// The maximum share of the file, in percent, of a function whose body is elided. A larger function wraps the others,
/// like a module.
const WRAPPER_PERCENT: usize = 50;

/// Adds the changes that elide the bodies of functions.
pub(super) fn elide_bodies(view: &View, survey: &Survey, changes: &mut Vec<Change>) {
    survey.visit(|node| {
        if !view.syntax.functions.contains(&node.kind())
            || node.has_error()
            || !survey.parsed().is_sound(node.start_position().row, node.end_position().row)
            || node.byte_range().len() * 100 > view.code.len() * WRAPPER_PERCENT
        {
            return true;
        }
        let mut cursor = node.walk();
        let body = node
            .child_by_field_name("body")
            .or_else(|| node.children(&mut cursor).find(|child| child.kind() == "function_body"));
        let change = body.and_then(|body| view.elide_block(body));
        let found = change.is_some();
        changes.extend(change);
        !found
    });
}
