//! Steps of a name -> how much it is worth per token, by weights that `bench/names/train.py` wrote.
//!
//! Whole numbers, hundredths of a natural logarithm: the same names on every machine.

use std::sync::LazyLock;

use serde_json::Value;

use super::features::{FEATURES, LENGTH, STEPS, Steps};

static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::read(include_str!("model.json")).expect("a test reads the model that is compiled in"));

/// What a name of each step of length costs: the logarithm of its tokens.
const COST: [i64; STEPS] = [69, 83, 96, 119, 143, 179, 220, 277];

/// What a name that a placeholder keeps is worth at least: the higher, the shorter placeholders are. In the replay of the development corpus,
/// each family by a model of the others, copy and use recall are .958 and .955 at -500, and .962 and .957 here.
pub(super) const LEAST_WORTH: i64 = -550;

/// How much more likely than not a name is needed, less what its tokens cost.
pub(super) fn worth(steps: &Steps) -> i64 {
    MODEL.score(steps) - COST[usize::from(steps[LENGTH])]
}

/// A weight for each step of each feature.
#[derive(Debug)]
struct Model {
    bias: i64,
    weights: [[i64; STEPS]; FEATURES.len()],
}

impl Model {
    /// `None` where a weight is missing.
    fn read(json: &str) -> Option<Self> {
        let model: Value = serde_json::from_str(json).ok()?;
        let mut weights = [[0; STEPS]; FEATURES.len()];
        for (name, weights) in FEATURES.iter().zip(&mut weights) {
            for (step, weight) in weights.iter_mut().enumerate() {
                *weight = model["weights"][name][step].as_i64()?;
            }
        }
        Some(Self { bias: model["bias"].as_i64()?, weights })
    }

    /// The logarithm of the odds that a name is needed.
    fn score(&self, steps: &Steps) -> i64 {
        self.bias + steps.iter().zip(&self.weights).map(|(&step, weights)| weights[usize::from(step)]).sum::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_that_the_trainer_wrote() {
        let model: Value = serde_json::from_str(include_str!("model.json")).unwrap();
        let examples = model["examples"].as_array().unwrap();
        let mut scores = Vec::new();
        for example in examples {
            let steps: Vec<u8> = serde_json::from_value(example["steps"].clone()).unwrap();
            let score = MODEL.score(&steps.try_into().unwrap());
            assert_eq!(example["score"], score, "{example}");
            scores.push(score);
        }
        scores.sort_unstable();
        scores.dedup();
        assert!(scores.len() > 1, "{scores:?}");
    }

    #[test]
    fn a_model_without_a_weight_is_none() {
        let mut model: Value = serde_json::from_str(include_str!("model.json")).unwrap();
        assert!(Model::read(&model.to_string()).is_some());
        model["weights"]["count"].as_array_mut().unwrap().pop();
        assert!(Model::read(&model.to_string()).is_none());
    }

    #[test]
    fn the_model_is_small() {
        assert!(include_str!("model.json").len() < 10_000);
    }
}
