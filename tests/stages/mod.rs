//! One stage by its name, and a text with edits made.

#![allow(dead_code, reason = "not every test binary uses every part")]

use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{Edit, Stage};

/// A stage of the pipeline.
pub(crate) fn stage(name: &str) -> &'static dyn Stage {
    STAGES.iter().map(|(_, stage)| *stage).find(|stage| stage.name() == name).expect("a registered stage")
}

/// A text with edits that are sorted and apart.
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
