//! Prints every option as JSON, for `scripts/generate.mjs`: the core's table, and the part that a host's settings page
//! shows.

use concertina::config::{
    knobs, models,
    settings::{SETTINGS, SQUEEZE_ONLY, Setting},
};
use concertina::pipeline::FusionPipeline;
use serde_json::json;

fn main() {
    let knobs: Vec<_> = knobs()
        .into_iter()
        .map(|knob| {
            let schema = match knob.name {
                "fusion.stages" => FusionPipeline::default().schema(),
                "models" => models::schema(),
                _ => knob.schema,
            };
            json!({
                "name": knob.name, "doc": knob.doc, "default": knob.default, "byThrift": knob.by_thrift, "minimum": knob.minimum,
                "schema": schema, "typeScript": knob.type_script,
            })
        })
        .collect();
    let setting = |Setting { name, section, label, help }: &Setting| json!({ "name": name, "section": section.as_str(), "label": label, "help": help });
    let settings: Vec<_> = SETTINGS.iter().map(setting).collect();
    println!("{}", json!({ "options": knobs, "settings": settings, "squeezeOnly": SQUEEZE_ONLY }));
}
