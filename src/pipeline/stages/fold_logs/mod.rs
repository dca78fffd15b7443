//! A report -> its failures, with counts of the successes; a log -> one template with its values, and the alarms
//! unchanged.
//!
//! First, successful lines of test runners, build tools and installers are replaced by notes, unless only lossless
//! rewrites are allowed ([`report`]). Then [`lines`] folds the rest. If lines that report an error are rare, they stay
//! unchanged and in place. Otherwise the general stage for lines folds them too.
//!
//! If a token limit is given and the fold exceeds it, frequent lines are left out ([`select`]). The fold then stands
//! for the shortened log, and the edit is not lossless.

mod report;
mod select;

use std::ops::Range;

use crate::config::Preset;
use crate::content::{ContentType, Segment};
use crate::pipeline::contest::{EARNED, saves_percent};
use crate::pipeline::edits::free_lines;
use crate::pipeline::measure::MARKER_TOKENS;
use crate::pipeline::{Edit, FusionContext, Stage, lines};
use crate::tokens;
use select::is_alarm;

const NAME: &str = "logCrunch";
/// The minimum size of a log, in bytes. A shorter one cannot pay for the legend.
const MIN_BYTES: usize = 400;
/// The minimum estimated saving of a fold, in percent.
const LEAST: usize = 5;
/// Alarms are kept unfolded if they make up at most one byte in this many.
const RARE: usize = 20;

/// The stage `logCrunch`.
#[derive(Debug)]
pub(super) struct LogCrunch;

impl Stage for LogCrunch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Log]
    }

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        let reports = may_report(context);
        context.text.len() >= MIN_BYTES
            && context
                .segments
                .iter()
                .any(|part| part.content_type == ContentType::Log || reports && report::may_hold(part))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let reports = if may_report(context) { reports(context) } else { Vec::new() };
        let is_log = |segment: &&Segment| segment.content_type == ContentType::Log;
        let logs = context.segments.iter().filter(is_log).map(|segment| segment.range.clone());
        let mut sealed = context.sealed.to_vec();
        sealed.extend(reports.iter().map(|report| report.range.clone()));
        sealed.sort_by_key(|range| range.start);
        let folds = logs
            .flat_map(|log| free_lines(context.text, &sealed, log))
            .flat_map(|range| folds(context, range))
            .collect::<Vec<_>>();
        let mut edits: Vec<Edit> = reports.into_iter().chain(folds).collect();
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }
}

/// Returns true if lines may be left out of reports.
fn may_report(context: &FusionContext) -> bool {
    context.preset != Preset::Lossless && context.text.len() >= MIN_BYTES && report::is_printed(context)
}

/// Returns the edits of reports. A report may span several segments, because detection may assign different types to
/// its lines.
fn reports(context: &FusionContext) -> Vec<Edit> {
    let runs = context.runs(report::may_hold).into_iter();
    let free = runs.flat_map(|range| free_lines(context.text, context.sealed, range));
    free.filter(|range| range.len() >= MIN_BYTES).flat_map(|range| report::find(context, range)).collect()
}

/// Returns the folds of a log, or a fold of the shortened log if there is a limit.
fn folds(context: &FusionContext, range: Range<usize>) -> Vec<Edit> {
    let text = &context.text[range.clone()];
    if text.len() < MIN_BYTES {
        return Vec::new();
    }
    let limit = context.max_tokens.filter(|_| context.preset != Preset::Lossless);
    if let Some(edit) = limit.and_then(|limit| within(context, range.clone(), limit)) {
        return vec![edit];
    }
    // Without alarms the general stage folds equally well. If there are many, they are folded like other lines.
    let alarms: usize = text.split('\n').filter(|line| is_alarm(line)).map(str::len).sum();
    if alarms == 0 || alarms * RARE > text.len() {
        return Vec::new();
    }
    // Codecs that run later would fold the alarms too.
    let folds = lines::edits(context, NAME, range, LEAST, is_alarm).into_iter();
    folds.map(|fold| Edit { excludes_others: true, ..fold }).collect()
}

/// Returns the fold of the shortened log if the whole log does not fit the limit. The marker line must fit too, or the
/// next pass would exceed the limit again.
fn within(context: &FusionContext, range: Range<usize>, limit: usize) -> Option<Edit> {
    let text = &context.text[range.clone()];
    let fold = |text: &str| lines::fold(NAME, text, context.encoding, is_alarm).map(|fold| fold.sealed(text));
    let folded = fold(text).map_or_else(|| text.to_owned(), |fold| fold.to_string());
    if tokens::fits(&folded, limit, context.encoding) {
        return None;
    }
    let first_line = context.text[..range.start].matches('\n').count() + 1;
    let within = select::fold_within(
        text,
        limit.saturating_sub(MARKER_TOKENS.unsigned_abs()),
        first_line,
        fold,
        context.encoding,
    )?;
    let cost = |text: &str| tokens::count(text, context.encoding);
    // A log that was shortened before and is still too long is not shortened again for next to nothing.
    let (before, after) = (cost(&folded) as isize, cost(&within));
    saves_percent(before - after as isize, after, EARNED).then(|| Edit::note(range, within))
}

#[cfg(test)]
mod tests;
