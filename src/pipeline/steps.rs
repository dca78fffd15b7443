//! Stage options -> the stages in the order in which they run.
//!
//! Detection (`cortex`) and QuantumLock are listed like stages and can be disabled, but the engine runs them itself
//! before all others. Every stage needs the result of detection, and only QuantumLock works on system prompts. Their
//! order only affects their position in the list.

use std::iter;
use std::ops::Deref;

use serde_json::{Map, Value, json};

use super::move_volatile_lines::QUANTUM_LOCK;
use super::stages::{self, STAGES};
use super::{Stage, StageOption, StageOptions};
use crate::content::ContentType;
use crate::error::{Error, Result};

/// The published name and order of detection.
const CORTEX: &str = "cortex";
const CORTEX_ORDER: u32 = 5;
const QUANTUM_LOCK_ORDER: u32 = 3;

/// The distance in order between the stages of a caller's own list.
const OWN_ORDER_STEP: u32 = 10;

/// The stages of a pipeline, sorted by order. Built once, used for any number of texts.
pub struct FusionPipeline {
    pub(super) steps: Vec<Step>,
}

/// One step of a pipeline.
pub(super) struct Step {
    pub(super) name: String,
    order: u32,
    /// True if the caller named the stage.
    pub(super) is_asked_for: bool,
    pub(super) work: Work,
}

impl Step {
    fn new(name: &str, order: u32, work: Work) -> Self {
        Self { name: name.to_owned(), order, is_asked_for: false, work }
    }

    fn native(order: u32, stage: HeldStage) -> Self {
        Self::new(stage.name(), order, Work::Native(stage))
    }
}

/// The work of a step.
pub(super) enum Work {
    Detect,
    /// See [`super::move_volatile_lines`].
    MoveVolatileLines,
    Native(HeldStage),
    /// A stage that the caller runs.
    Custom,
}

/// A built-in stage, or a stage of the caller's.
pub(super) enum HeldStage {
    BuiltIn(&'static dyn Stage),
    Own(Box<dyn Stage>),
}

impl Deref for HeldStage {
    type Target = dyn Stage;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::BuiltIn(stage) => *stage,
            Self::Own(stage) => &**stage,
        }
    }
}

/// The description of a stage in a list of stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageInfo {
    /// The name of the stage.
    pub name: String,
    /// The order of the stage. Stages run by ascending order.
    pub order: u32,
    /// True if the stage proposes lossless edits only.
    pub lossless: bool,
    /// The types that the stage is for.
    pub content_types: Vec<ContentType>,
}

impl Default for FusionPipeline {
    fn default() -> Self {
        Self::build(&StageOptions::default()).expect("the built-in stages need no options")
    }
}

impl FusionPipeline {
    /// Builds a pipeline of the built-in stages.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for options of an unknown stage, for an unknown setting, and for two stages with the same
    /// name.
    pub fn build(options: &StageOptions) -> Result<Self> {
        let steps = STAGES.iter().map(|(order, stage)| Step::native(*order, HeldStage::BuiltIn(*stage)));
        let lock = Step::new(QUANTUM_LOCK, QUANTUM_LOCK_ORDER, Work::MoveVolatileLines);
        Self::of(iter::once(lock).chain(steps), options)
    }

    /// Builds a pipeline of these stages only, in this order. They get the orders 10, 20, and so on.
    ///
    /// # Errors
    /// As [`FusionPipeline::build`].
    pub fn only(stages: Vec<Box<dyn Stage>>, options: &StageOptions) -> Result<Self> {
        let orders = (1..).map(|nth| nth * OWN_ORDER_STEP);
        let step = |(order, stage)| Step { is_asked_for: true, ..Step::native(order, HeldStage::Own(stage)) };
        Self::of(orders.zip(stages).map(step), options)
    }

    fn of(steps: impl Iterator<Item = Step>, options: &StageOptions) -> Result<Self> {
        let custom = options.custom.iter().map(|(name, order)| Step::new(name, *order, Work::Custom));
        let detection = Step::new(CORTEX, CORTEX_ORDER, Work::Detect);
        let mut steps: Vec<Step> = iter::once(detection).chain(steps).chain(custom).collect();
        for (index, step) in steps.iter().enumerate() {
            if steps[..index].iter().any(|earlier| earlier.name == step.name) {
                return Err(Error::bad_argument("stages", format!("twice {}", step.name), "a list of unique names"));
            }
        }
        for (name, option) in &options.stages {
            let Some(index) = steps.iter().position(|step| step.name == *name) else {
                let known: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
                let expected = format!("one of {}", known.join(", "));
                return Err(Error::bad_argument(format!("stages.{name}"), "not a stage", expected));
            };
            configure(&mut steps[index], option)?;
            if !option.enabled {
                steps.remove(index);
            }
        }
        steps.sort_by_key(|step| step.order);
        Ok(Self { steps })
    }

    /// Returns the stages in the order in which they run, including detection.
    pub fn stages(&self) -> Vec<StageInfo> {
        let info = |step: &Step| {
            let (lossless, content_types) = match &step.work {
                Work::Detect | Work::MoveVolatileLines => (true, ContentType::ALL.to_vec()),
                Work::Native(stage) => (stage.is_lossless(), stage.content_types().to_vec()),
                Work::Custom => (false, ContentType::ALL.to_vec()),
            };
            StageInfo { name: step.name.clone(), order: step.order, lossless, content_types }
        };
        self.steps.iter().map(info).collect()
    }

    /// Returns the JSON schema of the option `stages`.
    pub fn schema(&self) -> Value {
        let of = |step: &Step| {
            let mut settings =
                json!({ "enabled": { "type": "boolean" }, "order": { "type": "integer", "minimum": 0 } });
            for (name, expected) in stages::settings(&step.name) {
                settings[name] = json!({ "description": expected });
            }
            let object = json!({ "type": "object", "properties": settings });
            (step.name.clone(), json!({ "anyOf": [{ "type": "boolean" }, object] }))
        };
        let properties: Map<String, Value> = self.steps.iter().map(of).collect();
        json!({ "type": "object", "properties": properties })
    }
}

fn configure(step: &mut Step, option: &StageOption) -> Result<()> {
    step.order = option.order.unwrap_or(step.order);
    step.is_asked_for = true;
    if !option.settings.is_empty() {
        step.work = Work::Native(HeldStage::Own(stages::with_settings(&step.name, &option.settings)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &str, option: StageOption) -> StageOptions {
        StageOptions { stages: [(name.to_owned(), option)].into(), custom: vec![("mine".into(), 13)] }
    }

    fn names(options: &StageOptions) -> Vec<String> {
        let pipeline = FusionPipeline::build(options).unwrap();
        pipeline.stages().into_iter().map(|stage| stage.name).collect()
    }

    #[test]
    fn stages_can_be_left_out_moved_and_added() {
        let all = names(&options("cortex", StageOption::default()));
        let place = |names: &[String], name: &str| names.iter().position(|other| other == name);
        assert!(place(&all, "cortex") < place(&all, "semanticDedup"));
        assert!(place(&all, "semanticDedup") < place(&all, "mine"));
        let moved = names(&options("semanticDedup", StageOption { order: Some(14), ..StageOption::default() }));
        assert!(place(&moved, "mine") < place(&moved, "semanticDedup"));
        let left = names(&options("semanticDedup", StageOption { enabled: false, ..StageOption::default() }));
        assert_eq!(place(&left, "semanticDedup"), None);
        assert_eq!(left.len(), all.len() - 1);
    }

    #[test]
    fn an_unknown_stage_or_setting_is_named() {
        let refused = |name: &str, option| match FusionPipeline::build(&options(name, option)) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name} was accepted"),
        };
        let words = refused("logCrush", StageOption::default());
        assert!(words.starts_with("stages.logCrush is not a stage; it must be one of "), "{words}");
        let settings = [("depth".to_owned(), 3.into())].into_iter().collect();
        let words = refused("semanticDedup", StageOption { settings, ..StageOption::default() });
        assert_eq!(words, "stages.semanticDedup.depth is not a setting; it must be order or enabled");
    }
}
