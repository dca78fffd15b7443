//! Prints every option as JSON, for `scripts/generate.mjs`: the core's table, and the part that a host's settings page
//! shows.

use concertina::config::{
    models_schema, option_table,
    settings::{SETTINGS, SQUEEZE_ONLY, Setting},
};
use concertina::pipeline::FusionPipeline;
use serde_json::json;

fn main() {
    let options: Vec<_> = option_table()
        .into_iter()
        .map(|row| {
            let schema = match row.name {
                "fusion.stages" => FusionPipeline::default().schema(),
                "models" => models_schema(),
                _ => row.schema,
            };
            json!({
                "name": row.name, "doc": row.doc, "default": row.default, "byThrift": row.by_thrift, "minimum": row.minimum,
                "schema": schema, "typeScript": row.type_script,
            })
        })
        .collect();
    let setting = |Setting { name, section, label, help }: &Setting| json!({ "name": name, "section": section.as_str(), "label": label, "help": help });
    let settings: Vec<_> = SETTINGS.iter().map(setting).collect();
    println!("{}", json!({ "options": options, "settings": settings, "squeezeOnly": SQUEEZE_ONLY }));
}
