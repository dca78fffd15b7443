//! `"""Six lines about f."""` -> `"""[… 6 lines 2-7]"""`; at `max` removed if the body contains anything else.
//!
//! Only a string in the position of a docstring is one. All other strings are values.

use std::ops::Range;

use tree_sitter::Node;

use super::change::{Change, is_note, whole_lines};
use super::directives::is_promise;
use super::view::View;
use crate::pipeline::syntax::{Parsed, Survey};

/// The minimum size in bytes of a docstring that is replaced by a note.
const WORTH_BYTES: usize = 16;

/// Adds the changes that elide docstrings.
pub(super) fn elide(view: &View, survey: &Survey, changes: &mut Vec<Change>) {
    let parsed = survey.parsed();
    // If a fragment starts within a string, the end of that string would look like the start of the module's docstring.
    let module = Some(parsed.root()).filter(|_| !parsed.has_errors());
    changes.extend(module.and_then(|module| docstring(view, parsed, module)));
    survey.visit(|node| {
        if matches!(node.kind(), "function_definition" | "class_definition") {
            changes.extend(node.child_by_field_name("body").and_then(|body| docstring(view, parsed, body)));
        }
        true
    });
}

/// Returns the change of a body's docstring, if there is one.
fn docstring(view: &View, parsed: &Parsed, body: Node) -> Option<Change> {
    let mut cursor = body.walk();
    let mut statements = body.named_children(&mut cursor).filter(|child| child.kind() != "comment");
    let statement = statements.next().filter(|statement| statement.kind() == "expression_statement")?;
    let is_only = statements.next().is_none();
    let string = statement.named_child(0).filter(|string| string.kind() == "string")?;
    let content = content(view.code, string)?;
    let words = view.code[content.clone()].trim();
    let rows = (string.start_position().row, string.end_position().row);
    if words.len() < WORTH_BYTES || is_note(words) || is_promise(words) || !parsed.is_sound(rows.0, rows.1) {
        return None;
    }
    if view.max {
        let lines = whole_lines(view.code, statement.byte_range()).filter(|_| !is_only);
        return Some(match lines {
            Some(lines) => Change::removal(lines, "", rows.1 - rows.0 + 1),
            None => Change::note(content, super::change::ONE_LINE.to_owned()),
        });
    }
    Some(Change::note(content, view.elided(rows, words.len())))
}

/// Returns the range between the quotes of a plain string.
fn content(code: &str, string: Node) -> Option<Range<usize>> {
    let last = string.child_count().checked_sub(1)?;
    let (open, close) = (string.child(0)?, string.child(last)?);
    let prefix = code[open.byte_range()].trim_end_matches(['"', '\'']);
    let is_plain = prefix.chars().all(|letter| matches!(letter, 'r' | 'R' | 'u' | 'U'));
    (is_plain && open.kind() == "string_start" && close.kind() == "string_end")
        .then(|| open.end_byte()..close.start_byte())
}
