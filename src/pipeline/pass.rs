//! One pass of all stages over a draft.
//!
//! A pass decides about each edit separately ([`super::edit_filter`]). Consecutive codecs compete ([`super::contest`]).
//!
//! If lines have prefixes, codecs also see the lines alone. Their edits of these lines are translated to edits of the
//! text.

use std::ops::Range;
use std::rc::Rc;

use super::caller_stages::{Answers, Gone};
use super::contest::{Candidate, EARNED, PLAIN_TEXT_DISCOUNT, SETTLED, best, merged, overlaps, saves_percent};
use super::draft::Draft;
use super::edit_filter::EditFilter;
use super::edits::check;
use super::line_counter::LineCounter;
use super::map_segments::map_segments;
use super::prefixed_lines::PrefixedLines;
use super::report::{Attempts, Sum, Tally};
use super::steps::{FusionPipeline, Step, Work};
use super::{CompressOptions, Edit, FusionContext, RememberedFolds, Stage};
use crate::config::Preset;
use crate::content::{ContentType, Detection, Hints, Language, Segment, detect};
use crate::tokens;
use crate::transcript::Role;

/// The state that all passes over one text share.
pub(super) struct Passes<'a> {
    pub(super) pipeline: &'a FusionPipeline,
    pub(super) options: &'a CompressOptions,
    pub(super) clock: &'a dyn Fn() -> f64,
    pub(super) answers: &'a Answers<'a>,
    /// The text before any change. Line numbers in notes refer to it.
    pub(super) original: &'a str,
    /// The folds that stages computed in earlier passes.
    pub(super) remembered: &'a RememberedFolds,
    /// The attempts of each step, over all passes.
    pub(super) attempts: Vec<Attempts>,
    /// The last draft whose type was detected, with the result.
    pub(super) detected: Option<(Rc<Draft>, Detection)>,
    /// For each step, true if it kept a reversible form from settling. Empty if that form settled.
    pub(super) unsettled: Vec<bool>,
}

/// The result of one pass over a draft.
pub(super) struct Pass {
    pub(super) draft: Rc<Draft>,
    /// The tallies of each step.
    pub(super) tallies: Vec<Tally>,
    pub(super) content_type: ContentType,
    pub(super) language: Option<Language>,
    /// True if a note of an earlier round was removed.
    pub(super) lost_note: bool,
}

impl Pass {
    /// Returns the sum of all edits that need the original to be undone, over all steps.
    pub(super) fn changes(&self) -> Sum {
        let mut sum = Sum::default();
        self.tallies.iter().for_each(|tally| sum.add(tally.changes));
        sum
    }
}

impl Passes<'_> {
    /// Runs every step once.
    ///
    /// # Errors
    /// [`Gone`] if the caller no longer answers.
    pub(super) fn run(&mut self, draft: &Rc<Draft>, preset: Preset) -> Result<Pass, Gone> {
        let pipeline = self.pipeline;
        let steps = &pipeline.steps;
        let detection = self.detect(draft);
        let mut pass = Pass {
            draft: Rc::clone(draft),
            tallies: vec![Tally::default(); steps.len()],
            content_type: detection.content_type,
            language: detection.language,
            lost_note: false,
        };
        let mut segments = detection.segments;
        let pass_input = PassInput {
            content_type: pass.content_type,
            language: pass.language,
            options: self.options,
            remembered: self.remembered,
            original_len: self.original.len(),
            preset,
        };
        let mut started = (self.clock)();
        let mut next = 0;
        while next < steps.len() {
            let contest = next..next + steps[next..].iter().take_while(|step| is_codec(step)).count().max(1);
            next = contest.end;
            let draft = Rc::clone(&pass.draft);
            let is_contest = is_codec(&steps[contest.start]);
            // Ranges that later steps of the contest must not use, and ranges that earlier steps would fold.
            let mut taken = draft.sealed();
            let mut wanted: Vec<Range<usize>> = Vec::new();
            let mut candidates: Vec<Candidate> = Vec::new();
            let mut prefixed = Vec::new();
            if let Some(index) = self.detecting().filter(|_| is_contest) {
                prefixed = PrefixedPart::all(&pass_input.context(draft.text(), &segments, &taken));
                let now = (self.clock)();
                self.attempts[index].work_ms += now - started;
                started = now;
            }
            let input = StepInput { pass_input: &pass_input, draft: &draft, segments: &segments, prefixed: &prefixed };
            for index in contest {
                let Some(mut proposed) = self.plan(index, &input, &taken, &mut started)? else { continue };
                // A candidate for all of the text excludes overlapping candidates of earlier steps. The step therefore
                // also proposes edits of what those would leave.
                let earlier = merged(taken.iter().chain(&wanted));
                if proposed.iter().any(|candidate| overlaps(&earlier, &candidate.edit.range)) {
                    proposed.extend(self.plan(index, &input, &earlier, &mut started)?.unwrap_or_default());
                }
                let is_settled =
                    |candidate: &&Candidate| candidate.edit.excludes_others || self.settles(candidate, &segments);
                let (exclusive, open): (Vec<&Candidate>, Vec<&Candidate>) = proposed.iter().partition(is_settled);
                wanted.extend(open.into_iter().map(|candidate| candidate.edit.range.clone()));
                taken = merged(taken.iter().chain(exclusive.into_iter().map(|candidate| &candidate.edit.range)));
                candidates.extend(proposed);
            }
            let candidates = if is_contest { best(candidates) } else { candidates };
            for candidate in &candidates {
                let tally = &mut pass.tallies[candidate.step];
                let sum = if candidate.edit.lossless { &mut tally.folds } else { &mut tally.changes };
                sum.add(Sum { edits: 1, saved: candidate.saved });
            }
            let edits: Vec<Edit> = candidates.into_iter().map(|candidate| candidate.edit).collect();
            if !edits.is_empty() {
                let (after, lost_note) = draft.apply(&edits);
                segments = map_segments(&segments, &edits, draft.text(), after.text());
                pass.lost_note |= lost_note;
                pass.draft = Rc::new(after);
            }
            started = (self.clock)();
        }
        Ok(pass)
    }

    /// Returns the edits that one step would make outside sealed ranges; `None` if it does not run. `started` is the
    /// time at which the step began; it is set to the time at which it ended.
    fn plan(
        &mut self,
        index: usize,
        input: &StepInput,
        sealed: &[Range<usize>],
        started: &mut f64,
    ) -> Result<Option<Vec<Candidate>>, Gone> {
        let step = &self.pipeline.steps[index];
        let context = input.pass_input.context(input.draft.text(), input.segments, sealed);
        let sealed_prefixed: Vec<_> = input.prefixed.iter().map(|part| part.lines.to_lines(sealed)).collect();
        let shown = input.prefixed.iter().zip(&sealed_prefixed);
        let shown: Vec<(&PrefixedLines, FusionContext)> = shown
            .map(|(part, sealed)| (&part.lines, input.pass_input.context(&part.lines.text, &part.segments, sealed)))
            .filter(|(_, alone)| applies(step, alone))
            .collect();
        let takes_text = applies(step, &context);
        let gated = (self.clock)();
        self.attempts[index].gate_ms += gated - *started;
        *started = gated;
        if !takes_text && shown.is_empty() {
            return Ok(None);
        }
        let edits = self.propose(step, &context, takes_text, &shown, input.draft)?;
        let less = if knows_type(step) { 0 } else { PLAIN_TEXT_DISCOUNT };
        let candidate =
            |(edit, saved): (Edit, isize)| Candidate { step: index, edit, saved, worth: saved * (100 - less) };
        let must_earn = folds_plain_text(step) && !step.is_asked_for;
        let is_earned = |(edit, saved): &(Edit, isize)| {
            !must_earn || !edit.lossless || saves_percent(*saved, self.count(&edit.text), EARNED)
        };
        let edits = edits.into_iter().filter(is_earned);
        let candidates: Vec<Candidate> = edits.map(candidate).collect();
        let candidates = if shown.is_empty() { candidates } else { best(candidates) };
        let offered = candidates.iter().map(|candidate| candidate.saved).sum::<isize>();
        *started = (self.clock)();
        let attempts = &mut self.attempts[index];
        attempts.work_ms += *started - gated;
        attempts.offered = attempts.offered.max(usize::try_from(offered).unwrap_or(0));
        Ok(Some(candidates))
    }

    /// Returns true if a stage for the type of a segment folds all of it so well that no other codec needs to try.
    fn settles(&self, candidate: &Candidate, segments: &[Segment]) -> bool {
        let Range { start, end } = candidate.edit.range;
        let first = segments.partition_point(|segment| segment.range.start < start);
        knows_type(&self.pipeline.steps[candidate.step])
            && segments.get(first).is_some_and(|segment| segment.range.end <= end + 1)
            && saves_percent(candidate.saved, self.count(&candidate.edit.text), SETTLED)
    }

    pub(super) fn count(&self, text: &str) -> usize {
        tokens::count(text, self.options.encoding)
    }

    /// Returns the index of the detection step, if there is one.
    fn detecting(&self) -> Option<usize> {
        self.pipeline.steps.iter().position(|step| matches!(step.work, Work::Detect))
    }

    pub(super) fn detect(&mut self, draft: &Rc<Draft>) -> Detection {
        let text = draft.text();
        let hints = &self.options.hints;
        let Some(index) = self.detecting() else {
            let content_type = hints.content_type.unwrap_or(ContentType::Unknown);
            let whole = Segment::whole(text, content_type, hints.language);
            let segments = if text.is_empty() { Vec::new() } else { vec![whole] };
            return Detection { content_type, language: hints.language, segments };
        };
        // The same text is detected again when a pass is repeated with another preset.
        if let Some((_, detection)) = self.detected.as_ref().filter(|(known, _)| known.text() == text) {
            return detection.clone();
        }
        let started = (self.clock)();
        let detection = detect(text, hints);
        self.attempts[index].work_ms += (self.clock)() - started;
        self.detected = Some((Rc::clone(draft), detection.clone()));
        detection
    }

    /// Returns the valid edits of one step, with the tokens that each saves. The step sees the text, if it applies to
    /// it, and the lines without their prefixes.
    fn propose(
        &self,
        step: &Step,
        context: &FusionContext,
        takes_text: bool,
        shown: &[(&PrefixedLines, FusionContext)],
        draft: &Draft,
    ) -> Result<Vec<(Edit, isize)>, Gone> {
        let offers = match &step.work {
            Work::Detect | Work::MoveVolatileLines => return Ok(Vec::new()),
            Work::Custom => self.answers.edits(&step.name, context)?,
            Work::Native(stage) => {
                let mut offers = if takes_text { offered(&**stage, context) } else { Vec::new() };
                for (lines, alone) in shown {
                    let moved = |edit: Edit| lines.to_edit(context, edit);
                    let found = offered(&**stage, alone);
                    let count = found.len();
                    let before = offers.len();
                    offers.extend(found.into_iter().filter_map(moved));
                    // A sample of several lines needs equal prefixes. A fold of all lines does not.
                    if offers.len() - before < count && alone.preset != Preset::Lossless {
                        let whole = FusionContext { preset: Preset::Lossless, ..*alone };
                        offers.extend(offered(&**stage, &whole).into_iter().filter_map(moved));
                    }
                }
                offers.sort_by_key(|edit| edit.range.start);
                offers
            }
        };
        let mut filter = EditFilter::new(self.original, context, draft, &offers);
        Ok(offers.into_iter().filter_map(|edit| filter.accept(edit)).collect())
    }
}

/// Returns the edits that a stage proposes, or none if they are malformed.
fn offered(stage: &dyn Stage, context: &FusionContext) -> Vec<Edit> {
    let edits = stage.apply(context);
    if let Err(wrong) = check(stage, context, &edits) {
        debug_assert!(false, "{wrong}");
        return Vec::new();
    }
    edits
}

/// Lines that have prefixes in a text, with the segments that are detected without the prefixes.
struct PrefixedPart {
    lines: PrefixedLines,
    segments: Vec<Segment>,
}

impl PrefixedPart {
    /// Returns the prefixed lines of all segments except code, which has stages of its own.
    fn all(context: &FusionContext) -> Vec<Self> {
        let hints = Hints { path: context.hints.path.clone(), ..Hints::default() };
        let mut counter = LineCounter::new(context.text, 1);
        let lines = |segment: &Segment| {
            let Range { start, end } = segment.range;
            PrefixedLines::of(&context.text[start..end], start, counter.line(start))
        };
        let is_open = |segment: &&Segment| segment.content_type != ContentType::Code && context.is_free(&segment.range);
        let parts = context.segments.iter().filter(is_open).filter_map(lines);
        parts.map(|lines| Self { segments: detect(&lines.text, &hints).segments, lines }).collect()
    }
}

fn applies(step: &Step, context: &FusionContext) -> bool {
    match &step.work {
        Work::Detect | Work::MoveVolatileLines => false,
        // Text of users and of the system is never shortened.
        Work::Native(stage) => matches!(context.role, Role::Assistant | Role::Tool) && stage.should_apply(context),
        Work::Custom => context.preset != Preset::Lossless,
    }
}

/// The input that all steps of a contest share.
struct StepInput<'a> {
    pass_input: &'a PassInput<'a>,
    draft: &'a Draft,
    segments: &'a [Segment],
    prefixed: &'a [PrefixedPart],
}

/// The values that are the same for all steps of a pass.
struct PassInput<'a> {
    content_type: ContentType,
    language: Option<Language>,
    options: &'a CompressOptions,
    remembered: &'a RememberedFolds,
    original_len: usize,
    preset: Preset,
}

impl PassInput<'_> {
    fn context<'c>(&'c self, text: &'c str, segments: &'c [Segment], sealed: &'c [Range<usize>]) -> FusionContext<'c> {
        FusionContext {
            text,
            content_type: self.content_type,
            language: self.language,
            segments,
            sealed,
            role: self.options.role,
            hints: &self.options.hints,
            original_len: self.original_len,
            preset: self.preset,
            encoding: self.options.encoding,
            max_tokens: self.options.max_tokens,
            remembered: Some(self.remembered),
        }
    }
}

/// Returns true if the step is a codec, which competes with neighbouring codecs for lines.
pub(super) fn is_codec(step: &Step) -> bool {
    matches!(&step.work, Work::Native(stage) if stage.is_codec())
}

/// Returns true if the step's stage folds text and logs: lines that a reader could read as they are.
fn folds_plain_text(step: &Step) -> bool {
    let of_lines = |kind: &ContentType| matches!(kind, ContentType::Text | ContentType::Log);
    matches!(&step.work, Work::Native(stage) if stage.is_codec() && stage.content_types().iter().any(of_lines))
}

/// Returns true if the step's stage is for specific types of content and not for plain text.
fn knows_type(step: &Step) -> bool {
    matches!(&step.work, Work::Native(stage) if !stage.content_types().contains(&ContentType::Text))
}
