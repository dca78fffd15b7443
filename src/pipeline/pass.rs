//! One pass of all stages over a draft.
//!
//! A pass decides about each edit separately. It drops an edit that does not save tokens, that contains only a part of
//! something that looks like a marker, or that claims to be lossless and whose fold does not restore exactly the text
//! that it replaced.
//!
//! If lines have prefixes, codecs also see the lines alone. Their edits of these lines are translated to edits of the
//! text.

use std::iter::Peekable;
use std::ops::Range;
use std::rc::Rc;

use super::caller_stages::{Answers, Gone};
use super::draft::{Draft, Origins};
use super::edits::{check, cuts_marker, has_notes, marker_ranges, renumber};
use super::fold::Fold;
use super::line_counter::LineCounter;
use super::map_segments::map_segments;
use super::measure::saving;
use super::prefixed_lines::PrefixedLines;
use super::report::{Attempts, Sum, Tally};
use super::restore::undone;
use super::steps::{FusionPipeline, Step, Work};
use super::{CompressOptions, Edit, FusionContext, Prior, RememberedFolds, Stage};
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
        let frame = Frame {
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
            let mut bids: Vec<Bid> = Vec::new();
            let mut prefixed = Vec::new();
            if let Some(index) = self.detecting().filter(|_| is_contest) {
                prefixed = PrefixedPart::all(&frame.context(draft.text(), &segments, &taken));
                let now = (self.clock)();
                self.attempts[index].work_ms += now - started;
                started = now;
            }
            let scene = Scene { frame: &frame, draft: &draft, segments: &segments, prefixed: &prefixed };
            for index in contest {
                let Some(mut plans) = self.plan(index, &scene, &taken, &mut started)? else { continue };
                // The step's bids on all of the text exclude overlapping bids of earlier steps. The step therefore also
                // makes bids on what those would leave.
                let around = merged(taken.iter().chain(&wanted));
                if plans.iter().any(|bid| overlaps(&around, &bid.edit.range)) {
                    plans.extend(self.plan(index, &scene, &around, &mut started)?.unwrap_or_default());
                }
                let is_settled = |bid: &&Bid| bid.edit.excludes_others || self.settles(bid, &segments);
                let (exclusive, open): (Vec<&Bid>, Vec<&Bid>) = plans.iter().partition(is_settled);
                wanted.extend(open.into_iter().map(|bid| bid.edit.range.clone()));
                taken = merged(taken.iter().chain(exclusive.into_iter().map(|bid| &bid.edit.range)));
                bids.extend(plans);
            }
            let bids = if is_contest { best(bids) } else { bids };
            for bid in &bids {
                let tally = &mut pass.tallies[bid.step];
                let sum = if bid.edit.lossless { &mut tally.folds } else { &mut tally.changes };
                sum.add(Sum { edits: 1, saved: bid.saved });
            }
            let edits: Vec<Edit> = bids.into_iter().map(|bid| bid.edit).collect();
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
        scene: &Scene,
        sealed: &[Range<usize>],
        started: &mut f64,
    ) -> Result<Option<Vec<Bid>>, Gone> {
        let step = &self.pipeline.steps[index];
        let context = scene.frame.context(scene.draft.text(), scene.segments, sealed);
        let sealed_prefixed: Vec<_> = scene.prefixed.iter().map(|part| part.lines.to_lines(sealed)).collect();
        let shown = scene.prefixed.iter().zip(&sealed_prefixed);
        let shown: Vec<(&PrefixedLines, FusionContext)> = shown
            .map(|(part, sealed)| (&part.lines, scene.frame.context(&part.lines.text, &part.segments, sealed)))
            .filter(|(_, alone)| may_fire(step, alone))
            .collect();
        let takes_text = may_fire(step, &context);
        let gated = (self.clock)();
        self.attempts[index].gate_ms += gated - *started;
        *started = gated;
        if !takes_text && shown.is_empty() {
            return Ok(None);
        }
        let edits = self.propose(step, &context, takes_text, &shown, scene.draft)?;
        let less = if knows_type(step) { 0 } else { READING };
        let bid = |(edit, saved): (Edit, isize)| Bid { step: index, edit, saved, worth: saved * (100 - less) };
        let bids: Vec<Bid> = edits.into_iter().map(bid).collect();
        let bids = if shown.is_empty() { bids } else { best(bids) };
        let offered = bids.iter().map(|bid| bid.saved).sum::<isize>();
        *started = (self.clock)();
        let attempts = &mut self.attempts[index];
        attempts.work_ms += *started - gated;
        attempts.offered = attempts.offered.max(usize::try_from(offered).unwrap_or(0));
        Ok(Some(bids))
    }

    /// Returns true if a stage for the type of a segment folds all of it so well that no other codec needs to try.
    fn settles(&self, bid: &Bid, segments: &[Segment]) -> bool {
        let Range { start, end } = bid.edit.range;
        let is_all = |segment: &Segment| start <= segment.range.start && segment.range.end <= end + 1;
        knows_type(&self.pipeline.steps[bid.step])
            && segments.iter().any(is_all)
            && bid.saved * 100 >= SETTLED * (bid.saved + self.count(&bid.edit.text) as isize)
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
        let mut filter = Filter::new(self.original, context, draft, &offers);
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

fn may_fire(step: &Step, context: &FusionContext) -> bool {
    match &step.work {
        Work::Detect | Work::MoveVolatileLines => false,
        // Text of users and of the system is never shortened.
        Work::Native(stage) => matches!(context.role, Role::Assistant | Role::Tool) && stage.should_apply(context),
        Work::Custom => context.preset != Preset::Lossless,
    }
}

/// The input that all steps of a contest share.
struct Scene<'a> {
    frame: &'a Frame<'a>,
    draft: &'a Draft,
    segments: &'a [Segment],
    prefixed: &'a [PrefixedPart],
}

/// Sorts ranges and joins those that overlap.
fn merged<'r>(ranges: impl Iterator<Item = &'r Range<usize>>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = ranges.cloned().collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// Returns true if `range` overlaps one of `ranges`, which are sorted and do not overlap.
fn overlaps(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = ranges.partition_point(|other| other.end <= range.start);
    ranges.get(first).is_some_and(|other| other.start < range.end)
}

/// The values that are the same for all steps of a pass.
struct Frame<'a> {
    content_type: ContentType,
    language: Option<Language>,
    options: &'a CompressOptions,
    remembered: &'a RememberedFolds,
    original_len: usize,
    preset: Preset,
}

impl Frame<'_> {
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

/// The discount on folds of stages for plain text, in percent. Stages that know the type of a text are preferred
/// because names of columns, paths and hunks tell a reader more than line positions.
const READING: isize = 10;

/// The percentage of a segment's tokens that a fold by a stage for its type must save to settle the segment. Planning
/// the folds of all other codecs costs several times as much as the fold itself.
const SETTLED: isize = 66;

/// An edit that a step offers, with its value.
struct Bid {
    step: usize,
    edit: Edit,
    saved: isize,
    /// The saved tokens in hundredths, after the discount. Competing edits are compared by it.
    worth: isize,
}

/// Returns true if the step is a codec, which competes with neighbouring codecs for lines.
pub(super) fn is_codec(step: &Step) -> bool {
    matches!(&step.work, Work::Native(stage) if stage.is_codec())
}

/// Returns true if the step's stage is for specific types of content and not for plain text.
fn knows_type(step: &Step) -> bool {
    matches!(&step.work, Work::Native(stage) if !stage.content_types().contains(&ContentType::Text))
}

/// Returns the non-overlapping edits with the highest total worth, sorted.
fn best(mut bids: Vec<Bid>) -> Vec<Bid> {
    bids.sort_by_key(|bid| (bid.edit.range.end, bid.edit.range.start));
    // `most[n]` is the highest worth of the first `n` bids, and whether the last of them is taken.
    let mut most = vec![(0isize, false); bids.len() + 1];
    let before = |bid: &Bid| bids.partition_point(|other| other.edit.range.end <= bid.edit.range.start);
    for (index, bid) in bids.iter().enumerate() {
        let with = most[before(bid).min(index)].0 + bid.worth;
        let without = most[index].0;
        most[index + 1] = if with > without { (with, true) } else { (without, false) };
    }
    let mut is_taken = vec![false; bids.len()];
    let mut at = bids.len();
    while at > 0 {
        is_taken[at - 1] = most[at].1;
        at = if most[at].1 { before(&bids[at - 1]).min(at - 1) } else { at - 1 };
    }
    let mut is_taken = is_taken.into_iter();
    bids.retain(|_| is_taken.next() == Some(true));
    bids
}

/// The result of [`Draft::unfolded_pieces`].
type Pieces<'a> = Box<dyn Iterator<Item = (Range<usize>, &'a str)> + 'a>;

/// Decides on the edits of one stage, from left to right.
struct Filter<'a> {
    context: &'a FusionContext<'a>,
    markers: Vec<Range<usize>>,
    lines: Option<LineMap<'a>>,
    /// The unfolded text before the next edit, which a fold may refer to.
    before: Prior,
    pieces: Peekable<Pieces<'a>>,
}

impl<'a> Filter<'a> {
    fn new(original: &str, context: &'a FusionContext<'a>, draft: &'a Draft, offers: &[Edit]) -> Self {
        let markers = if offers.is_empty() { Vec::new() } else { marker_ranges(context.text) };
        let noted = offers.iter().any(has_notes);
        let lines = (noted && context.text != original).then(|| LineMap::new(context.text, original, draft));
        let pieces: Pieces<'a> = Box::new(draft.unfolded_pieces());
        Self { context, markers, lines, before: Prior::default(), pieces: pieces.peekable() }
    }

    fn accept(&mut self, mut edit: Edit) -> Option<(Edit, isize)> {
        let replaced = &self.context.text[edit.range.clone()];
        if edit.text == replaced || cuts_marker(&self.markers, &edit.range) {
            return None;
        }
        if let Some(lines) = &self.lines {
            renumber(&mut edit, replaced, |first, last| lines.original(first, last));
        }
        let fold = edit.seal(replaced);
        // Line numbers are not always known and digits vary in price, so they must not affect the decision.
        let mut priced = edit.clone();
        renumber(&mut priced, replaced, |_, _| None);
        let saved = saving(self.context.text, &priced, self.context.encoding);
        let is_sound = !edit.lossless || saved > 0 && fold.is_some_and(|fold| self.is_proved(&fold, edit.range.start));
        (saved > 0 && is_sound).then_some((edit, saved))
    }

    /// Returns true if a sealed fold at offset `start` can be restored.
    fn is_proved(&mut self, fold: &Fold, start: usize) -> bool {
        // Edits never cut sealed parts, so a piece with a fold lies entirely before or after the edit.
        while let Some((range, text)) = self.pieces.peek_mut().filter(|(range, _)| range.start < start) {
            if range.end <= start {
                self.before.push(text);
                self.pieces.next();
            } else {
                let (before, rest) = text.split_at(start - range.start);
                self.before.push(before);
                (range.start, *text) = (start, rest);
            }
        }
        undone(fold, &mut self.before).is_some()
    }
}

/// Maps line numbers of a draft to line numbers of the original. Both are 1-based.
struct LineMap<'a> {
    line_starts: Vec<usize>,
    len: usize,
    original_line_ends: Vec<usize>,
    origins: Origins<'a>,
}

impl<'a> LineMap<'a> {
    fn new(text: &str, original: &str, draft: &'a Draft) -> Self {
        let ends = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).collect::<Vec<_>>();
        let line_starts = std::iter::once(0).chain(ends(text).into_iter().map(|end| end + 1)).collect();
        Self { line_starts, len: text.len(), original_line_ends: ends(original), origins: draft.origins() }
    }

    fn original(&self, first: usize, last: usize) -> Option<(usize, usize)> {
        let start = *self.line_starts.get(first.checked_sub(1)?)?;
        // The line end is excluded because it may belong to the next part.
        let end = self.line_starts.get(last).map_or(self.len, |next| next - 1);
        let range = self.origins.of(&(start..end))?;
        let line = |at: usize| self.original_line_ends.partition_point(|&end| end < at) + 1;
        Some((line(range.start), line(range.end)))
    }
}
