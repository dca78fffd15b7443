//! Detection on real inputs, with all hints hidden.

mod corpus;
#[path = "detection/labels.rs"]
mod labels;

use concertina::content::{Hints, detect};

fn assert_accuracy(inputs: &[labels::Labelled]) {
    let mut misses = Vec::new();
    for input in inputs {
        let found = detect(&input.text, &Hints::default());
        if found.content_type != input.content_type || found.language != input.language {
            misses.push(format!(
                "{}: {:?} {:?}, not {:?} {:?}",
                input.name, input.content_type, input.language, found.content_type, found.language
            ));
        }
    }
    println!("{} of {} right; missed:\n{}", inputs.len() - misses.len(), inputs.len(), misses.join("\n"));
    assert!(misses.len() * 100 <= inputs.len() * 3, "more than 3 % of {} missed:\n{}", inputs.len(), misses.join("\n"));
}

#[test]
fn nearly_all_real_inputs_are_told_without_hints() {
    assert_accuracy(&labels::all());
}
