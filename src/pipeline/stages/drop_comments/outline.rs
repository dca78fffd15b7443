//! A long file -> its declarations, with a note for each body of a function.

use super::change::Change;
use super::view::View;
use crate::pipeline::syntax::Survey;

/// A function that is more of the file than this, in percent, is what holds the others: a module's wrapper.
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
