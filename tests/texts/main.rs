//! Tests of texts: detection, folding, shortening, summaries and secrets. They are one program, because linking the
//! engine takes longer than running most of them.

mod code_corpus;
mod code_notes;
#[path = "../corpus/mod.rs"]
mod corpus;
mod detection;
mod differential;
mod html_corpus;
mod ionizer_corpus;
mod ionizer_properties;
mod log_corpus;
mod meaning;
mod needles;
mod pipeline_corpus;
mod pipeline_engine;
mod pipeline_properties;
mod planted_secrets;
mod prefixes;
#[path = "../properties/mod.rs"]
mod properties;
mod prose;
mod reading;
mod rle_corpus;
mod rules;
#[path = "../search_diff/mod.rs"]
mod search_diff;
mod search_diff_corpus;
mod search_diff_properties;
mod secrets;
mod sections;
#[path = "../shortening/mod.rs"]
mod shortening;
#[path = "../sight/mod.rs"]
mod sight;
#[path = "../stages/mod.rs"]
mod stages;
mod summaries;
mod tokens;
