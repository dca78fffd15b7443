//! Stages that the caller runs, between native ones, wherever their order puts them.
//!
//! A [`Job`] asks for one answer after the other and starts the work over with all the answers it has: the same answers give
//! the same text, so nothing is lost, and a caller's stage is asked once for each text it has to see.

use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::{CompressOptions, Compressed, Edit, FusionContext, FusionEngine};
use crate::content::{ContentType, Language};
use crate::transcript::Role;

/// What a caller's stage is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which stage.
    pub stage: String,
    /// The text as the stages before it left it.
    pub text: String,
    /// The type of most of it.
    pub content_type: ContentType,
    /// Its language, for code.
    pub language: Option<Language>,
    /// Who said it.
    pub role: Role,
}

/// The answers so far, by stage and text; `None` for a stage that did not apply.
#[derive(Debug, Default)]
pub(super) struct Answers {
    known: HashMap<(String, String), Option<String>>,
    /// Without a caller to ask, its stages do not fire.
    deaf: bool,
}

impl Answers {
    /// For a pipeline whose caller runs no stages.
    pub(super) fn none() -> Self {
        Self { deaf: true, ..Self::default() }
    }

    /// What a stage of the caller's wants to change. Only changed lines are edits, and none in a sealed range.
    pub(super) fn edits(&self, stage: &str, context: &FusionContext) -> Result<Vec<Edit>, Question> {
        if self.deaf {
            return Ok(Vec::new());
        }
        match self.known.get(&(stage.to_owned(), context.text.to_owned())) {
            Some(Some(after)) => {
                let mut edits = changed_lines(context.text, after);
                edits.retain(|edit| context.is_free(&edit.range));
                Ok(edits)
            }
            Some(None) => Ok(Vec::new()),
            None => Err(Question {
                stage: stage.to_owned(),
                text: context.text.to_owned(),
                content_type: context.content_type,
                language: context.language,
                role: context.role,
            }),
        }
    }
}

/// How far a job is.
#[derive(Debug)]
pub enum Progress {
    /// Run this stage and call [`Job::answer`].
    Ask(Question),
    /// Done.
    Done(Box<Compressed>),
}

/// One compression with stages that the caller runs.
pub struct Job<'a> {
    engine: &'a FusionEngine,
    text: &'a str,
    options: &'a CompressOptions,
    answers: Answers,
    asked: Option<(String, String)>,
}

impl<'a> Job<'a> {
    /// A job for an engine whose pipeline names custom stages.
    pub fn new(engine: &'a FusionEngine, text: &'a str, options: &'a CompressOptions) -> Self {
        Self { engine, text, options, answers: Answers::default(), asked: None }
    }

    /// Works until an answer is missing.
    pub fn advance(&mut self, clock: &dyn Fn() -> f64) -> Progress {
        match self.engine.compress_answered(self.text, &[], self.options, &self.answers, clock) {
            Ok(compressed) => Progress::Done(Box::new(compressed)),
            Err(question) => {
                self.asked = Some((question.stage.clone(), question.text.clone()));
                Progress::Ask(question)
            }
        }
    }

    /// The answer to the last question: the whole text as the stage would have it, or `None` when it does not apply.
    ///
    /// It is a proposal like any other: measured, kept out of sealed ranges, and undone by the stored original.
    pub fn answer(&mut self, text: Option<String>) {
        if let Some(question) = self.asked.take() {
            self.answers.known.insert(question, text);
        }
    }
}

/// The differing runs of lines between two texts, as reversible edits of the first.
fn changed_lines(before: &str, after: &str) -> Vec<Edit> {
    let input = InternedInput::new(before, after);
    let (starts_before, starts_after) = (line_starts(before), line_starts(after));
    Diff::compute(Algorithm::Histogram, &input)
        .hunks()
        .map(|hunk| {
            let place = |starts: &[usize], range: std::ops::Range<u32>| {
                starts[range.start as usize]..starts[range.end as usize]
            };
            Edit::reversible(place(&starts_before, hunk.before), &after[place(&starts_after, hunk.after)])
        })
        .collect()
}

/// Where each line starts, and where the last one ends.
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1))
        .take_while(|&start| start < text.len())
        .collect();
    starts.push(text.len());
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_turn_one_text_into_the_other() {
        for (before, after) in
            [("a\nb\nc\n", "a\nx\ny\nc"), ("", "a"), ("a\n", ""), ("a\nb", "a\nb\n"), ("ü\n\nü", "ü\nü")]
        {
            let mut text = before.to_owned();
            for edit in changed_lines(before, after).iter().rev() {
                text.replace_range(edit.range.clone(), &edit.text);
            }
            assert_eq!(text, after);
        }
    }
}
