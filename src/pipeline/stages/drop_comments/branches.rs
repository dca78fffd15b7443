//! `if False:` and its branch -> `if False:` and a note; likewise for `#if 0` and `if (false) { … }`.
//!
//! Conditions are evaluated from literals only. Names have no known values.

use std::ops::Range;

use tree_sitter::Node;

use super::change::Change;
use super::directives::is_promise;
use super::view::{View, is_worth};
use crate::pipeline::syntax::{Parsed, Survey, descend};

/// The maximum depth to which a condition is evaluated.
const CONDITION_DEPTH: usize = 16;

/// Adds the changes that elide branches that never run.
pub(super) fn elide_dead(view: &View, survey: &Survey, changes: &mut Vec<Change>) {
    survey.visit(|node| {
        let found = match node.kind() {
            "if_statement" | "if_expression" => dead_block(view, node).and_then(|block| view.elide_block(block)),
            "preproc_if" => dead_lines(view, node),
            _ => None,
        };
        let Some(change) = found else { return true };
        if is_expendable(view, &change.range, node) && is_whole(survey.parsed(), node) {
            changes.push(change);
        }
        // Dead code within dead code needs no change of its own.
        false
    });
}

fn is_whole(parsed: &Parsed, node: Node) -> bool {
    !node.has_error() && parsed.is_sound(node.start_position().row, node.end_position().row)
}

/// Returns true if a branch may be elided. Definitions and imports are kept except at `max`; reminders are always kept.
fn is_expendable(view: &View, range: &Range<usize>, node: Node) -> bool {
    let mut defines = false;
    descend(node, |inner| {
        let kind = inner.kind();
        let named = inner.is_named() && range.start <= inner.start_byte() && inner.end_byte() <= range.end;
        defines |= named
            && ["function", "class", "method", "import", "struct", "enum", "include", "preproc_def"]
                .iter()
                .any(|word| kind.contains(word));
        !defines
    });
    (view.max || !defines) && !is_promise(&view.code[range.clone()])
}

/// Returns the block of an `if` that can never run.
fn dead_block<'t>(view: &View, node: Node<'t>) -> Option<Node<'t>> {
    let condition = node.child_by_field_name("condition")?;
    if truth(view, condition, CONDITION_DEPTH)? {
        let other = node.child_by_field_name("alternative").filter(|other| other.kind() == "else_clause")?;
        return other.child_by_field_name("body").or_else(|| {
            let last = other.named_child_count().checked_sub(1)?;
            other.named_child(last.try_into().ok()?)
        });
    }
    node.child_by_field_name("consequence").or_else(|| node.child_by_field_name("body"))
}

/// Returns the change of the lines between `#if 0` and the directive that ends it.
fn dead_lines(view: &View, node: Node) -> Option<Change> {
    let condition = node.child_by_field_name("condition")?;
    if view.code[condition.byte_range()].trim() != "0" {
        return None;
    }
    let closing = node.child_by_field_name("alternative").or_else(|| {
        let last = node.child_count().checked_sub(1)?;
        node.child(last).filter(|last| last.kind() == "#endif")
    })?;
    let start = condition.end_byte() + view.code[condition.end_byte()..].find('\n')? + 1;
    let end = view.code[..closing.start_byte()].rfind('\n')?;
    let rows = (condition.end_position().row + 1, closing.start_position().row.checked_sub(1)?);
    (start < end && is_worth(&view.code[start..end], rows))
        .then(|| Change::note(start..end, view.note(&view.elided(rows, end - start), true)))
}

/// Returns the value of a condition, if literals determine it.
fn truth(view: &View, node: Node, depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let text = &view.code[node.byte_range()];
    match text {
        "true" | "True" | "TRUE" => return Some(true),
        "false" | "False" | "FALSE" => return Some(false),
        "0" if view.syntax.zero_is_false => return Some(false),
        "1" if view.syntax.zero_is_false => return Some(true),
        _ => {}
    }
    let operator = |operators: &[&str]| {
        let found = node.child_by_field_name("operator").or_else(|| node.child(0).filter(|child| !child.is_named()))?;
        operators.contains(&&view.code[found.byte_range()]).then_some(())
    };
    let side = |name: &str| truth(view, node.child_by_field_name(name)?, depth);
    if node.named_child_count() == 1 {
        let only = node.named_child(0)?;
        if text.starts_with('(') || node.kind() == "condition_clause" {
            return truth(view, only, depth);
        }
        return operator(&["not", "!"]).and_then(|()| Some(!truth(view, only, depth)?));
    }
    if operator(&["and", "&&"]).is_some() {
        let dead = side("left") == Some(false) || side("right") == Some(false);
        return if dead { Some(false) } else { Some(side("left")? && side("right")?) };
    }
    if operator(&["or", "||"]).is_some() {
        let sure = side("left") == Some(true) || side("right") == Some(true);
        return if sure { Some(true) } else { Some(side("left")? || side("right")?) };
    }
    None
}
