//! `result: dict[str, int] = {}` in a function -> `result = {}`; `-> None` -> nothing.
//!
//! Python forgets the annotations of local variables. Those of parameters, fields and other results stay: they say what cannot
//! be seen from the code, and frameworks read them.

use super::View;
use super::change::Change;
use crate::pipeline::syntax::{Parsed, descend};

/// Adds the changes that remove annotations without meaning at run time.
pub(super) fn remove_redundant(view: &View, parsed: &Parsed, changes: &mut Vec<Change>) {
    descend(parsed.root(), |node, _| {
        let sound = parsed.is_sound(node.start_position().row, node.start_position().row);
        match node.kind() {
            "function_definition" if sound => {
                let fields = (node.child_by_field_name("parameters"), node.child_by_field_name("return_type"));
                if let (Some(parameters), Some(result)) = fields
                    && &view.code[result.byte_range()] == "None"
                {
                    changes.push(Change::cleanup(parameters.end_byte()..result.end_byte(), ""));
                }
            }
            "assignment" if sound => {
                let fields = [node.child_by_field_name("left"), node.child_by_field_name("type")];
                if let [Some(left), Some(annotation)] = fields
                    && node.child_by_field_name("right").is_some()
                    && is_local(node)
                {
                    changes.push(Change::cleanup(left.end_byte()..annotation.end_byte(), ""));
                }
            }
            _ => {}
        }
        !node.kind().contains("string")
    });
}

fn is_local(node: tree_sitter::Node) -> bool {
    let mut around = node.parent();
    while let Some(parent) = around {
        match parent.kind() {
            "function_definition" => return true,
            "class_definition" => return false,
            _ => around = parent.parent(),
        }
    }
    false
}
