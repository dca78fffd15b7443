//! The interface between stages and the runner: the input of a stage ([`FusionContext`]), its proposals ([`Edit`]), and
//! the trait [`Stage`]. This module depends on no stage and no runner.

use std::ops::Range;
use std::sync::LazyLock;

use super::fold;
use super::remembered_folds::RememberedFolds;
use crate::config::{Encoding, Preset};
use crate::content::{ContentType, Hints, Language, Segment};
use crate::transcript::Role;

/// The read-only input of a stage.
#[derive(Debug, Clone, Copy)]
pub struct FusionContext<'a> {
    /// The text as the earlier stages left it.
    pub text: &'a str,
    /// The type of the largest part of the text.
    pub content_type: ContentType,
    /// The language of the text, if it is code.
    pub language: Option<Language>,
    /// The segments of the text, in order and without gaps.
    pub segments: &'a [Segment],
    /// Byte ranges that must not change, mostly because earlier stages wrote them. They are sorted. An edit that
    /// touches one is rejected.
    pub sealed: &'a [Range<usize>],
    /// The author of the text.
    pub role: Role,
    /// Facts that the host knows about the text.
    pub hints: &'a Hints,
    /// The length of the text before the first stage, in bytes.
    pub original_len: usize,
    /// The limit on how much may be rewritten.
    pub preset: Preset,
    /// The tokenizer vocabulary that tokens are counted with.
    pub encoding: Encoding,
    /// The number of tokens that the result should not exceed; `None` for no limit. Lossy sampling uses it.
    pub max_tokens: Option<usize>,
    /// The folds that earlier passes computed; `None` if there is only one pass.
    pub remembered: Option<&'a RememberedFolds>,
}

/// The hints for a text about which the host knows nothing.
static NO_HINTS: LazyLock<Hints> = LazyLock::new(Hints::default);

impl<'a> FusionContext<'a> {
    /// Creates the context of a tool result under the balanced preset, before any stage. Its type is the type of its
    /// first segment.
    pub fn of(text: &'a str, segments: &'a [Segment]) -> Self {
        let first = segments.first();
        Self {
            text,
            content_type: first.map_or(ContentType::Unknown, |segment| segment.content_type),
            language: first.and_then(|segment| segment.language),
            segments,
            sealed: &[],
            role: Role::Tool,
            hints: &NO_HINTS,
            original_len: text.len(),
            preset: Preset::Balanced,
            encoding: Encoding::O200kBase,
            max_tokens: None,
            remembered: None,
        }
    }

    /// Returns true if a byte range overlaps no sealed range.
    pub fn is_free(&self, range: &Range<usize>) -> bool {
        let first = self.sealed.partition_point(|sealed| sealed.end <= range.start);
        self.sealed.get(first).is_none_or(|sealed| sealed.start >= range.end)
    }

    /// Returns true if a segment has one of these types.
    pub(super) fn has(&self, types: &[ContentType]) -> bool {
        self.segments.iter().any(|segment| types.contains(&segment.content_type))
    }

    /// Returns the ranges of segments for which `passes` returns true. Adjacent ranges are joined.
    pub(super) fn runs(&self, passes: impl Fn(&Segment) -> bool) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for segment in self.segments.iter().filter(|segment| passes(segment)) {
            match runs.last_mut() {
                Some(run) if run.end == segment.range.start => run.end = segment.range.end,
                _ => runs.push(segment.range.clone()),
            }
        }
        runs
    }

    /// Returns the segments of a type that no sealed range touches, with their text.
    pub fn free_segments(&self, content_type: ContentType) -> impl Iterator<Item = (&Segment, &str)> {
        self.segments
            .iter()
            .filter(move |segment| segment.content_type == content_type && self.is_free(&segment.range))
            .map(|segment| (segment, &self.text[segment.range.clone()]))
    }
}

/// One proposed change of the context's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The byte range of the context's text that is replaced. Both ends are character boundaries.
    pub range: Range<usize>,
    /// The replacement.
    pub text: String,
    /// True if later stages must not change the new text. Folds and elision notes are sealed; cleaned-up text is not.
    pub sealed: bool,
    /// True if the new text is a fold from which the replaced text can be restored.
    pub lossless: bool,
    /// True if later codecs must not compete for the range. This is always so for a reversible edit.
    pub excludes_others: bool,
}

impl Edit {
    /// Creates a lossless edit: a complete [`fold`] in place of whole lines (without their last line end).
    pub fn fold(range: Range<usize>, fold: &fold::Fold) -> Self {
        Self { range, text: fold.to_string(), sealed: true, lossless: true, excludes_others: false }
    }

    /// Adds the seal for the replaced text to the fold of a lossless edit, and returns the fold. Returns `None` for any
    /// other edit.
    pub(super) fn seal(&mut self, replaced: &str) -> Option<fold::Fold> {
        let (fold, _) = fold::parse(&self.text).filter(|_| self.lossless)?;
        let fold = fold.sealed(replaced);
        self.text = fold.to_string();
        Some(fold)
    }

    /// Creates a reversible edit that later stages may change.
    pub fn reversible(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), sealed: false, lossless: false, excludes_others: true }
    }

    /// Creates a reversible edit that later stages must not change, such as a note about omitted text.
    pub fn note(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), sealed: true, lossless: false, excludes_others: true }
    }
}

/// A pure rewriting step. See CONTRIBUTING for how to add one.
pub trait Stage: Send + Sync {
    /// Returns the stage's name, as options and reports spell it (`logCrunch`).
    fn name(&self) -> &'static str;

    /// Returns the types that the stage is for. It may also work on others: `logCrunch` shortens reports, whatever type
    /// their segments have.
    fn content_types(&self) -> &'static [ContentType];

    /// Returns true if the stage proposes lossless edits only.
    fn is_lossless(&self) -> bool {
        false
    }

    /// Returns true if the stage may have edits for the text. Must be cheap: a type check or one scan.
    fn should_apply(&self, context: &FusionContext) -> bool;

    /// Proposes edits. They are sorted, do not overlap, and touch no sealed range.
    ///
    /// Under [`Preset::Lossless`] all edits must be lossless. The runner may drop any single edit, so edits must not
    /// depend on each other. A reversible stage must find nothing more to do in its own output; otherwise the lossless
    /// form is used.
    fn apply(&self, context: &FusionContext) -> Vec<Edit>;

    /// Returns true if the stage folds text by its structure. Consecutive codecs compete for the same text. Each
    /// proposes edits for all of it that no earlier codec has settled, and for what the earlier codecs would leave. The
    /// combination of edits that saves most is made, where edits of stages for plain text count ten percent less.
    fn is_codec(&self) -> bool {
        false
    }
}

/// Returns the note that replaces omitted text: `[… 380 lines 41-420]`.
///
/// Numbers are 1-based and inclusive. A stage counts lines in the text that it sees. The runner turns them into lines
/// of the *original*, so that `lines: "41-420"` fetches exactly that part.
pub fn elided(count: usize, unit: &str, range: Option<(usize, usize)>) -> String {
    match range {
        Some((first, last)) => format!("[… {count} {unit} {first}-{last}]"),
        None => format!("[… {count} {unit}]"),
    }
}

/// Returns true if a line is or begins with a note of [`elided`]. A codec of lines leaves it as it is.
pub(super) fn begins_with_note(line: &str) -> bool {
    line.trim_start().starts_with("[… ")
}
