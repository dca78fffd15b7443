//! Prints every option as JSON, for `scripts/generate.mjs`.

use serde_json::json;

fn main() {
    let knobs: Vec<_> = concertina::config::knobs()
        .into_iter()
        .map(|knob| {
            json!({
                "name": knob.name, "doc": knob.doc, "default": knob.default, "minimum": knob.minimum,
                "lenient": knob.lenient, "schema": knob.schema, "typeScript": knob.type_script,
            })
        })
        .collect();
    println!("{}", json!(knobs));
}
