//! Stage options -> the stages in the order in which they run.
//!
//! Detection (`cortex`) is listed like a stage and can be left out, but it always comes first, because every other stage asks
//! what it found; its order only says where it is listed.

use std::ops::Deref;

use serde_json::{Map, Value, json};

use super::stages::STAGES;
use super::{Stage, StageOption, StageOptions};
use crate::content::ContentType;
use crate::error::{Error, Result};

/// The name of detection.
pub(super) const CORTEX: &str = "cortex";
const CORTEX_ORDER: u32 = 5;

/// The stages of a pipeline, sorted by order. Built once, used for any number of texts.
pub struct FusionPipeline {
    pub(super) steps: Vec<Step>,
}

/// One step of a pipeline.
pub(super) struct Step {
    pub(super) name: String,
    order: u32,
    pub(super) work: Work,
}

pub(super) enum Work {
    Detect,
    Native(HeldStage),
    /// The caller runs it.
    Custom,
}

/// A built-in stage, or one of the caller's.
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

/// What a stage is, for lists of stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageInfo {
    /// The name.
    pub name: String,
    /// When it runs.
    pub order: u32,
    /// Whether it only ever proposes lossless edits.
    pub lossless: bool,
    /// The types it is for.
    pub content_types: Vec<ContentType>,
}

impl Default for FusionPipeline {
    fn default() -> Self {
        Self::build(&StageOptions::default(), Vec::new()).expect("the built-in stages need no options")
    }
}

impl FusionPipeline {
    /// Builds a pipeline of the built-in stages and, after equals in order, the caller's.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for options of a stage that there is not, for a setting that it does not have, and for two
    /// stages with one name.
    pub fn build(options: &StageOptions, own: Vec<Box<dyn Stage>>) -> Result<Self> {
        let built_in = STAGES.iter().map(|stage| HeldStage::BuiltIn(*stage));
        Self::of(built_in.chain(own.into_iter().map(HeldStage::Own)).collect(), options)
    }

    /// Builds a pipeline of these stages only.
    ///
    /// # Errors
    /// As [`FusionPipeline::build`].
    pub fn only(stages: Vec<Box<dyn Stage>>, options: &StageOptions) -> Result<Self> {
        Self::of(stages.into_iter().map(HeldStage::Own).collect(), options)
    }

    fn of(stages: Vec<HeldStage>, options: &StageOptions) -> Result<Self> {
        let step = |name: &str, order, work| Step { name: name.to_owned(), order, work };
        let mut steps = vec![step(CORTEX, CORTEX_ORDER, Work::Detect)];
        for stage in stages {
            steps.push(step(stage.name(), stage.order(), Work::Native(stage)));
        }
        for (name, order) in &options.custom {
            steps.push(step(name, *order, Work::Custom));
        }
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

    /// The stages in the order in which they run, detection included.
    pub fn stages(&self) -> Vec<StageInfo> {
        let info = |step: &Step| {
            let (lossless, content_types) = match &step.work {
                Work::Detect => (true, ContentType::ALL.to_vec()),
                Work::Native(stage) => (stage.is_lossless(), stage.content_types().to_vec()),
                Work::Custom => (false, ContentType::ALL.to_vec()),
            };
            StageInfo { name: step.name.clone(), order: step.order, lossless, content_types }
        };
        self.steps.iter().map(info).collect()
    }

    /// JSON schema of `stages`: what a caller may say of each.
    pub fn schema(&self) -> Value {
        let of = |step: &Step| {
            let mut settings =
                json!({ "enabled": { "type": "boolean" }, "order": { "type": "integer", "minimum": 0 } });
            if let Work::Native(stage) = &step.work {
                for (name, expected) in stage.settings() {
                    settings[name] = json!({ "description": expected });
                }
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
    let Some(setting) = option.settings.keys().next() else { return Ok(()) };
    match &step.work {
        Work::Native(stage) => step.work = Work::Native(HeldStage::Own(stage.with_settings(&option.settings)?)),
        _ => {
            let name = format!("stages.{}.{setting}", step.name);
            return Err(Error::bad_argument(name, "not a setting", "order or enabled"));
        }
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
        let pipeline = FusionPipeline::build(options, Vec::new()).unwrap();
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
        let refused = |name: &str, option| match FusionPipeline::build(&options(name, option), Vec::new()) {
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
