//! Custom stages: stages that the caller runs, at the place among the native ones that their order gives them.
//!
//! The caller is called back while a text is being compressed. Answers are cached by stage and text, so the caller is
//! asked once for each text that a custom stage sees.

use std::cell::RefCell;
use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::{Edit, FusionContext};
use crate::content::{ContentType, Language};
use crate::transcript::Role;

/// A request to run a custom stage on a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name of the stage.
    pub stage: String,
    /// The text as the stages before it left it.
    pub text: String,
    /// The type of the largest part of the text.
    pub content_type: ContentType,
    /// The language of the text, if it is code.
    pub language: Option<Language>,
    /// The author of the text.
    pub role: Role,
}

/// The error for a caller that no longer answers. The compression ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// Runs a custom stage. Returns the whole text after the stage, or `None` if the stage does not apply.
///
/// The answer is handled like any other proposal: it is measured, does not change sealed ranges, and is undone with the
/// stored original.
pub type Caller<'a> = dyn Fn(Question) -> Result<Option<String>, Gone> + 'a;

/// The caller's answers so far, by stage and text.
pub(super) struct Answers<'a> {
    known: RefCell<HashMap<(String, String), Option<String>>>,
    /// The callback. If it is `None`, custom stages do not run.
    caller: Option<&'a Caller<'a>>,
}

impl<'a> Answers<'a> {
    pub(super) fn of(caller: Option<&'a Caller<'a>>) -> Self {
        Self { known: RefCell::default(), caller }
    }

    /// Returns the edits that a custom stage proposes: the changed lines outside sealed ranges.
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

/// Returns the runs of lines that differ between two texts, as reversible edits of the first text.
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

/// Returns the byte offset of each line's start, followed by the length of the text.
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
