//! Scores a name and its occurrences by its value per token, with the weights that `bench/names/train.py` wrote.
//!
//! Scores are integers, hundredths of a natural logarithm, so that every machine selects the same names. Training reads
//! the steps that [`super::features_of`] returns, so that the scorer gets the features it was trained on.

use std::sync::LazyLock;

use serde_json::Value;

use super::Sighting;
use super::around::{Around, for_each_part};
use super::words::has_file_extension;

/// The names of the features, in the order of the model's lines. These six of 31 were chosen on half of the frozen
/// labels. On the other half, at 60 tokens for each output, they keep 42.9 % of the needed names, and all 31 features
/// keep 41.5 %. The number of features was chosen with both halves in view.
pub(super) const FEATURES: [&str; 6] =
    ["shape", "slashes", "count", "place-on-line", "parts-in-recent-words", "written"];

/// The number of steps of each feature.
const STEPS: usize = 8;

/// The step of each feature of one name, in the order of [`FEATURES`].
pub(super) type Steps = [u8; FEATURES.len()];

/// The logarithm of the token count of a name, for each step of its length in bytes.
const COST: [i64; STEPS] = [69, 83, 96, 119, 143, 179, 220, 277];

/// The least worth of a name that a placeholder keeps. It was chosen on half of the frozen labels, so that the names
/// above it have as many tokens as those that the model with 31 features keeps.
const LEAST_WORTH: i64 = -510;

/// The same for a result that was just returned. Of 143 results of 2,000 characters and more in the recorded sessions,
/// [`LEAST_WORTH`] omits what one of the next four calls writes in 14, and this in 8. It was chosen on all of them.
const LEAST_FRESH_WORTH: i64 = LEAST_WORTH - 100;

/// Returns the least worth of a name that a placeholder keeps.
pub(super) fn least_worth(around: &Around) -> i64 {
    if around.is_fresh() { LEAST_FRESH_WORTH } else { LEAST_WORTH }
}

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let model: Value = serde_json::from_str(include_str!("model.json")).expect("a test reads the model");
    let number = |value: &Value| value.as_i64().expect("a test reads the weights");
    let weights = FEATURES.map(|name| std::array::from_fn(|step| number(&model["weights"][name][step])));
    Model { bias: number(&model["bias"]), weights }
});

/// Returns the logarithm of the odds that a name is needed, minus the logarithm of its token count.
pub(super) fn worth(name: &str, steps: &Steps) -> i64 {
    MODEL.score(steps) - COST[usize::from(step_of(name.len(), &[6, 8, 11, 15, 21, 31, 51]))]
}

/// Returns the features of a name.
pub(super) fn steps(name: &str, sighting: &Sighting, around: &Around) -> Steps {
    [
        shape(name),
        step_of(name.bytes().filter(|byte| b"/\\".contains(byte)).count(), &[1, 2, 3, 4, 5, 7, 9]),
        step_of(sighting.count, &[2, 3, 4, 6, 10, 20, 50]),
        step_of(sighting.place, &[1, 2, 3, 5, 8, 13, 21]),
        recent_parts(name, around),
        u8::from(around.written.contains(name)),
    ]
}

/// Returns the step of a number, given the first number of each step but the first.
fn step_of(number: usize, starts: &[usize; STEPS - 1]) -> u8 {
    starts.iter().take_while(|&&start| number >= start).count() as u8
}

fn shape(name: &str) -> u8 {
    let bytes = name.as_bytes();
    if !bytes.iter().any(u8::is_ascii_alphabetic) {
        0
    } else if name.contains(['/', '\\']) {
        1
    } else if has_file_extension(name) {
        2
    } else if name.contains('.') {
        3
    } else if name.contains('_') {
        4
    } else if bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()) {
        5
    } else if name.contains('-') {
        6
    } else {
        7
    }
}

/// Returns which of a name's parts are among the recent words: 0 if it has no parts, 1 for none, 2 for some, 3 for all.
fn recent_parts(name: &str, around: &Around) -> u8 {
    let (mut parts, mut recent) = (0, 0);
    for_each_part(name, |part| {
        parts += 1;
        recent += usize::from(around.recent.contains(part));
    });
    match (parts, recent) {
        (0, _) => 0,
        (_, 0) => 1,
        (all, some) if some < all => 2,
        _ => 3,
    }
}

/// The weights of each step of each feature.
struct Model {
    bias: i64,
    weights: [[i64; STEPS]; FEATURES.len()],
}

impl Model {
    /// Returns the logarithm of the odds that a name is needed.
    fn score(&self, steps: &Steps) -> i64 {
        self.bias + steps.iter().zip(&self.weights).map(|(&step, weights)| weights[usize::from(step)]).sum::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::features_of;
    use super::*;

    #[test]
    fn scores_are_those_that_the_trainer_wrote() {
        let model: Value = serde_json::from_str(include_str!("model.json")).unwrap();
        let scores = model["examples"].as_array().unwrap().iter().map(|example| {
            let steps: Vec<u8> = serde_json::from_value(example["steps"].clone()).unwrap();
            let score = MODEL.score(&steps.try_into().unwrap());
            assert_eq!(example["score"], score, "{example}");
            score
        });
        assert!(scores.collect::<std::collections::BTreeSet<_>>().len() > 1);
    }

    #[test]
    fn names_are_known_by_their_form_their_place_and_what_is_talked_about() {
        let mut around = Around::default();
        around.add_recent("look at the limit");
        around.add_written("{\"command\":\"grep -n retry_limit a.rs\"}");
        let names = features_of("retry_limit = 3, see ./src/rows/parse_test.rs\nother_name = 4\n", &around);
        let steps: Vec<_> = names.iter().map(|(name, _, steps)| (*name, &steps[..])).collect();
        assert_eq!(
            steps,
            [
                ("retry_limit", &[4, 0, 0, 0, 2, 1][..]),
                ("./src/rows/parse_test.rs", &[1, 3, 0, 3, 1, 0]),
                ("other_name", &[4, 0, 0, 0, 1, 0]),
            ]
        );
    }
}
