//! The vocabulary of the pipeline: what a stage is shown ([`FusionContext`]), what it proposes ([`Edit`]), and what it
//! is ([`Stage`]). It knows no stage and no runner.

use std::ops::Range;
use std::sync::LazyLock;

use super::fold;
use super::remembered_folds::RememberedFolds;
use crate::config::{Encoding, Preset};
use crate::content::{ContentType, Hints, Language, Segment};
use crate::transcript::Role;

/// What a stage may look at. Immutable.
#[derive(Debug, Clone, Copy)]
pub struct FusionContext<'a> {
    /// The text as the earlier stages left it.
    pub text: &'a str,
    /// The type of most of it.
    pub content_type: ContentType,
    /// Its language, for code.
    pub language: Option<Language>,
    /// Its parts, in order, without gaps.
    pub segments: &'a [Segment],
    /// Byte ranges that earlier stages wrote, or that must stay for another reason; sorted. An edit that touches one is
    /// rejected.
    pub sealed: &'a [Range<usize>],
    /// Who said it.
    pub role: Role,
    /// What the host knows about it.
    pub hints: &'a Hints,
    /// Length of the text before the first stage, in bytes.
    pub original_len: usize,
    /// How far rewriting may go.
    pub preset: Preset,
    /// The vocabulary that decides what pays.
    pub encoding: Encoding,
    /// The number of tokens the caller would like to have at most; `None` for no wish. Lossy sampling needs it.
    pub max_tokens: Option<usize>,
    /// The folds that earlier passes computed; `None` where there is one pass.
    pub remembered: Option<&'a RememberedFolds>,
}

/// For a text about which the host knows nothing.
static NO_HINTS: LazyLock<Hints> = LazyLock::new(Hints::default);

impl<'a> FusionContext<'a> {
    /// What a tool said, at `balanced`, before any stage; its type is that of the first segment.
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

    /// Whether a byte range is free of sealed ranges.
    pub fn is_free(&self, range: &Range<usize>) -> bool {
        let first = self.sealed.partition_point(|sealed| sealed.end <= range.start);
        self.sealed.get(first).is_none_or(|sealed| sealed.start >= range.end)
    }

    /// Whether a segment is of one of these types.
    pub(super) fn has(&self, types: &[ContentType]) -> bool {
        self.segments.iter().any(|segment| types.contains(&segment.content_type))
    }

    /// The ranges of neighbouring segments that pass, joined.
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

    /// The segments of a type, with their text, that no sealed range touches.
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
    /// Byte range of the context's text that goes. Both ends are character boundaries.
    pub range: Range<usize>,
    /// What comes instead.
    pub text: String,
    /// Whether later stages must leave the new text alone. Folds and elision notes are sealed; cleaned-up text is not.
    pub sealed: bool,
    /// Whether its text is a fold that restores it.
    pub lossless: bool,
    /// Whether no later codec may compete for its range. A reversible edit always excludes them.
    pub excludes_others: bool,
}

impl Edit {
    /// A lossless edit: a whole [`fold`] in place of whole lines (without their last line end).
    pub fn fold(range: Range<usize>, fold: &fold::Fold) -> Self {
        Self { range, text: fold.to_string(), sealed: true, lossless: true, excludes_others: false }
    }

    /// Seals the fold of a lossless edit with the text that it replaces, and returns it; `None` for any other edit.
    pub(super) fn seal(&mut self, replaced: &str) -> Option<fold::Fold> {
        let (fold, _) = fold::parse(&self.text).filter(|_| self.lossless)?;
        let fold = fold.sealed(replaced);
        self.text = fold.to_string();
        Some(fold)
    }

    /// A reversible edit that later stages may work on.
    pub fn reversible(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), sealed: false, lossless: false, excludes_others: true }
    }

    /// A reversible edit that stands as it is: a note of what was left out.
    pub fn note(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), sealed: true, lossless: false, excludes_others: true }
    }
}

/// One pure step. See CONTRIBUTING for how to add one.
pub trait Stage: Send + Sync {
    /// The stage's name, as options and reports spell it (`logCrunch`).
    fn name(&self) -> &'static str;

    /// The types it is for. What else it works on is up to the stage: `logCrunch` leaves lines out of reports, whatever
    /// type their segments are.
    fn content_types(&self) -> &'static [ContentType];

    /// Whether it only ever proposes lossless edits.
    fn is_lossless(&self) -> bool {
        false
    }

    /// Whether looking closer is worth it: a type check or one scan.
    fn should_apply(&self, context: &FusionContext) -> bool;

    /// Proposes edits: sorted, not overlapping, none touching a sealed range.
    ///
    /// Under [`Preset::Lossless`] it proposes lossless edits only. Each edit stands alone: the runner may drop any of
    /// them. A reversible stage must find nothing more to do in its own output, or the block falls back to its lossless
    /// form.
    fn apply(&self, context: &FusionContext) -> Vec<Edit>;

    /// Whether it folds text by its structure. Codecs that run one after the other propose for the same text: each for
    /// all of it, and for what the ones before would leave. Of all these edits those are made that save most together,
    /// where an edit of a stage for plain text counts a tenth less.
    fn is_codec(&self) -> bool {
        false
    }
}

/// The note that stands where something was left out: `[… 380 lines 41-420]`.
///
/// Numbers are 1-based and inclusive. A stage counts lines in the text it sees; the runner turns them into lines of the
/// *original*, so that `lines: "41-420"` fetches just that.
pub fn elided(count: usize, unit: &str, range: Option<(usize, usize)>) -> String {
    match range {
        Some((first, last)) => format!("[… {count} {unit} {first}-{last}]"),
        None => format!("[… {count} {unit}]"),
    }
}
