//! Helpers to find a stage by its name and to apply edits.

#![allow(dead_code, reason = "not every test binary uses every part")]

use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{Edit, Stage};

/// A stage of the pipeline.
pub(crate) fn stage(name: &str) -> &'static dyn Stage {
    STAGES.iter().map(|(_, stage)| *stage).find(|stage| stage.name() == name).expect("a registered stage")
}

/// Applies edits that are sorted and do not overlap.
pub(crate) fn edited(text: &str, edits: &[Edit]) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for edit in edits {
        assert!(at <= edit.range.start, "edits are sorted and apart");
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out + &text[at..]
}
