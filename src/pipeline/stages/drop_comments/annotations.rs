//! `result: dict[str, int] = {}` in a function -> `result = {}`; `-> None` -> nothing.
//!
//! Python does not keep annotations of local variables. Annotations of parameters, fields and other results are kept:
//! they add information that the code does not show, and frameworks read them.

use super::change::Change;
use super::view::View;
use crate::pipeline::syntax::Survey;

/// Adds the changes that remove annotations without meaning at run time.
pub(super) fn remove_redundant(view: &View, survey: &Survey, changes: &mut Vec<Change>) {
    let parsed = survey.parsed();
    // For each enclosing definition, its end and whether it is a function.
    let mut around: Vec<(usize, bool)> = Vec::new();
    survey.visit(|node| {
        while around.pop_if(|(end, _)| *end <= node.start_byte()).is_some() {}
        let row = node.start_position().row;
        match node.kind() {
            "class_definition" => around.push((node.end_byte(), false)),
            "function_definition" => {
                around.push((node.end_byte(), true));
                let fields = [node.child_by_field_name("parameters"), node.child_by_field_name("return_type")];
                if let [Some(parameters), Some(result)] = fields
                    && parsed.is_sound(row, row)
                    && &view.code[result.byte_range()] == "None"
                {
                    changes.push(Change::cleanup(parameters.end_byte()..result.end_byte(), ""));
                }
            }
            "assignment" if around.last().is_some_and(|(_, is_function)| *is_function) => {
                let fields = [node.child_by_field_name("left"), node.child_by_field_name("type")];
                if let [Some(left), Some(annotation)] = fields
                    && parsed.is_sound(row, row)
                    && node.child_by_field_name("right").is_some()
                {
                    changes.push(Change::cleanup(left.end_byte()..annotation.end_byte(), ""));
                }
            }
            _ => {}
        }
        true
    });
}
