//! `if False:` and what it guards -> `if False:` and a note; `#if 0` and `if (false) { … }` alike.
//!
//! A condition is folded from literals only: no name has a known value.

use std::ops::Range;

use tree_sitter::Node;

use super::View;
use super::change::Change;
use super::directives::is_promise;
use crate::pipeline::syntax::{Parsed, Survey, descend};

/// A block with fewer lines or fewer visible bytes is not worth a note.
const WORTH_LINES: usize = 3;
const WORTH_BYTES: usize = 64;

/// How deep a condition is folded.
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
        // What is dead in dead code makes no difference.
        false
    });
}

fn is_whole(parsed: &Parsed, node: Node) -> bool {
    !node.has_error() && parsed.is_sound(node.start_position().row, node.end_position().row)
}

/// Definitions and imports stay in sight, unless everything goes; promises stay always.
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

/// The block of an `if` that its condition rules out.
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

/// The lines between `#if 0` and what ends it.
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

/// What a condition folds to.
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

fn is_worth(text: &str, rows: (usize, usize)) -> bool {
    rows.1 + 1 >= rows.0 + WORTH_LINES && text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() >= WORTH_BYTES
}

impl View<'_> {
    /// The change that leaves a note of a block of several lines, and what the language wants where a block is.
    pub(super) fn elide_block(&self, block: Node) -> Option<Change> {
        let range = block.byte_range();
        let text = &self.code[range.clone()];
        let rows = (block.start_position().row, block.end_position().row);
        if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            let rows = (rows.0 + usize::from(inner.starts_with('\n')), rows.1.saturating_sub(1));
            let (open, close) = self.syntax.block_comment.filter(|_| is_worth(inner, rows))?;
            let words = self.elided(rows, inner.len());
            return Some(Change::note(range.start + 1..range.end - 1, format!(" {open} {words} {close} ")));
        }
        // Blocks by indentation; the others need their own words to be blocks.
        let is_python = self.syntax.block_comment.is_none() && block.kind() == "block";
        let text = text.trim_end();
        let rows = (rows.0, rows.0 + text.matches('\n').count());
        (is_python && is_worth(text, rows)).then(|| {
            let words = self.note(&self.elided(rows, text.len()), true);
            Change::note(range.start..range.start + text.len(), format!("...  {words}"))
        })
    }
}
