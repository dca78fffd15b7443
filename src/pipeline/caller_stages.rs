//! Stages that the caller runs, between native ones, wherever their order puts them.
//!
//! The caller is called back in the middle of the work, and asked once for each text that a stage of its has to see:
//! the same text gets the same answer.

use std::cell::RefCell;
use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::{Edit, FusionContext};
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

/// The caller is not there any more: its question stays without an answer, and the work ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// Runs a stage of the caller's: the whole text as the stage would have it, or `None` when it does not apply.
///
/// It is a proposal like any other: measured, kept out of sealed ranges, and undone by the stored original.
pub type Caller<'a> = dyn Fn(Question) -> Result<Option<String>, Gone> + 'a;

/// What the caller has answered so far, by stage and text.
pub(super) struct Answers<'a> {
    known: RefCell<HashMap<(String, String), Option<String>>>,
    /// Without a caller to ask, its stages do not fire.
    caller: Option<&'a Caller<'a>>,
}

impl<'a> Answers<'a> {
    pub(super) fn of(caller: Option<&'a Caller<'a>>) -> Self {
        Self { known: RefCell::default(), caller }
    }

    /// What a stage of the caller's wants to change. Only changed lines are edits, and none in a sealed range.
    pub(super) fn edits(&self, stage: &str, context: &FusionContext) -> Result<Vec<Edit>, Gone> {
        let Some(caller) = self.caller else { return Ok(Vec::new()) };
        let asked = (stage.to_owned(), context.text.to_owned());
        let known = self.known.borrow().get(&asked).cloned();
        let answer = match known {
            Some(answer) => answer,
            None => {
                let answer = caller(Question {
                    stage: stage.to_owned(),
                    text: context.text.to_owned(),
                    content_type: context.content_type,
                    language: context.language,
                    role: context.role,
                })?;
                self.known.borrow_mut().insert(asked, answer.clone());
                answer
            }
        };
        let mut edits = answer.map_or_else(Vec::new, |after| changed_lines(context.text, &after));
        edits.retain(|edit| context.is_free(&edit.range));
        Ok(edits)
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
