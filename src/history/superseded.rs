//! Blocks whose content something later shows again or made obsolete: older reads of a file, written bodies, and exact
//! repeats.
//!
//! Superseded means contained: in reads that provably showed the same lines of the same file, or in a whole write of it
//! that reports success. A failed call supersedes nothing, and neither does an edit: the lines that it left unchanged
//! are in context only where they were read. Line ranges are compared by number only as long as nothing may have moved
//! the lines; after that, by text. The module also lists the written bodies that a file holds: the agent loses less
//! with them than with a result.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memchr::memmem;
use quick_cache::DefaultHashBuilder;

use super::files::{FileEffect, FileUse, file_use, may_change_folder};
use super::read_result::{LineRange, ReadResult, read_result, reports_failure, reports_no_change, reports_success};
use super::{BlockPosition, Reason, Rerun};
use crate::transcript::{BlockKind, Transcript};

/// The reason why a block is no longer the newest, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Superseded {
    /// [`Reason::Superseded`] or [`Reason::Duplicate`].
    pub(super) reason: Reason,
    /// The number of model calls since then.
    pub(super) calls: u64,
}

/// Blocks whose content is also held elsewhere.
pub(super) struct HeldElsewhere {
    /// Blocks that something later in the history holds.
    pub(super) superseded: HashMap<BlockPosition, Superseded>,
    /// Blocks that a file holds: the bodies of whole writes that succeeded.
    pub(super) written: HashSet<BlockPosition>,
    /// Results that repeat an earlier one, each with the nearest one.
    pub(super) reruns: Vec<Rerun>,
}

/// The minimum size in bytes of a text whose repetition counts: a placeholder is hardly shorter than less. Chosen by
/// judgement.
const REPEAT_MIN_BYTES: usize = 200;

/// The maximum number of earlier texts that are searched for in one later read, so that the work stays linear. Chosen
/// by judgement.
const MAX_SEARCHES: u8 = 8;

/// The maximum number of gaps in a range that later reads may leave to be closed by others. Chosen by judgement.
const MAX_GAPS: usize = 16;

/// The maximum number of later reads remembered per file. Chosen by judgement.
const MAX_READS: usize = 256;

/// The later uses of a file, as seen walking back from the newest message.
#[derive(Default)]
struct LaterUses<'a> {
    reads: Vec<LaterRead<'a>>,
    /// The number of model calls since the earliest whole write.
    write: Option<u64>,
    /// The number of calls that may have moved its lines.
    line_shifts: u64,
}

/// A later read.
struct LaterRead<'a> {
    lines: LineRange,
    text: Cow<'a, str>,
    calls: u64,
    line_shifts: u64,
    searches: u8,
    position: BlockPosition,
    /// True if the nearest earlier result that it repeats is known.
    is_rerun: bool,
}

/// The texts that answer a call.
#[derive(Default)]
struct Answer<'a> {
    texts: Vec<(BlockPosition, &'a str)>,
    is_error: bool,
}

impl<'a> Answer<'a> {
    /// Returns the shown part of the file, if it can be determined.
    fn shown(&self, requested: LineRange) -> Option<ReadResult<'a>> {
        match self.texts.as_slice() {
            [(_, text)] => read_result(requested, text),
            _ => None,
        }
    }

    /// Returns true if the call did not have its effect. A refused write may be reported in any words, so a write has
    /// failed unless its answer reports success.
    fn has_failed(&self, effect: FileEffect) -> bool {
        let is_change = !matches!(effect, FileEffect::Read(_));
        let fails = |text| reports_failure(text) || is_change && reports_no_change(text);
        let is_ambiguous = || !self.texts.is_empty() && !self.texts.iter().any(|(_, text)| reports_success(text));
        self.is_error || self.texts.iter().any(|(_, text)| fails(text)) || effect == FileEffect::Write && is_ambiguous()
    }
}

/// Finds the blocks that are held elsewhere. Linear in the messages.
pub(super) fn held_elsewhere(transcript: &Transcript) -> HeldElsewhere {
    let mut answers = answers(transcript);
    let (mut superseded, mut written, mut reruns) = (HashMap::new(), HashSet::new(), Vec::new());
    // A relative path in a shell is keyed with the number of later calls that may change its working directory.
    let mut files: HashMap<(String, Option<u64>), LaterUses> = HashMap::new();
    let mut folder_changes = 0;
    // Calls whose effect on files is unknown.
    let mut unknown_calls = 0;
    let mut texts: HashMap<&str, (u64, BlockPosition), DefaultHashBuilder> = HashMap::default();
    for (message_index, message) in transcript.messages.iter().enumerate().rev() {
        for (block_index, block) in message.blocks.iter().enumerate().rev() {
            let position = (message_index, block_index);
            match (block.kind, block.result) {
                (BlockKind::Text(text), Some(_)) if text.len() >= REPEAT_MIN_BYTES => {
                    if let Some((calls, later)) = texts.insert(text, (message.calls_after, position)) {
                        reruns.push(Rerun { earlier: position, later });
                        superseded.insert(position, Superseded { reason: Reason::Duplicate, calls });
                    }
                }
                (BlockKind::Call(call), None) => {
                    folder_changes += u64::from(may_change_folder(&call));
                    let Some(FileUse { path, effect, is_in_shell }) = file_use(&call) else {
                        unknown_calls += 1;
                        continue;
                    };
                    let later = files.entry((path, is_in_shell.then_some(folder_changes))).or_default();
                    let line_shifts_here = later.line_shifts + unknown_calls;
                    later.line_shifts +=
                        u64::from(!matches!(effect, FileEffect::Read(_) | FileEffect::Edit { keeps_lines: true }));
                    let Some(answer) = answers.remove(&position).filter(|answer| !answer.has_failed(effect)) else {
                        continue;
                    };
                    match effect {
                        FileEffect::Read(requested) => {
                            let shown = answer.shown(requested);
                            if let Some(superseded_by) =
                                later.supersedes_read(requested, shown.as_ref(), line_shifts_here)
                            {
                                for (position, _) in &answer.texts {
                                    let known = superseded.entry(*position).or_insert(superseded_by);
                                    if superseded_by.calls > known.calls {
                                        *known = superseded_by;
                                    }
                                }
                            }
                            if let (Some(ReadResult { lines, text, .. }), [(position, _)]) =
                                (shown, answer.texts.as_slice())
                            {
                                let calls = message.calls_after;
                                reruns.extend(later.reruns_of(*position, lines, &text, line_shifts_here));
                                later.reads.retain(|known| !lines.covers(known.lines));
                                // The newest read is forgotten; then more stays than necessary.
                                if later.reads.len() == MAX_READS {
                                    later.reads.remove(0);
                                }
                                later.reads.push(LaterRead {
                                    lines,
                                    text,
                                    calls,
                                    line_shifts: line_shifts_here,
                                    searches: MAX_SEARCHES,
                                    position: *position,
                                    is_rerun: false,
                                });
                            }
                        }
                        FileEffect::Write | FileEffect::Edit { .. } => {
                            if let Some(superseded_by) = later.supersedes_body() {
                                superseded.insert(position, superseded_by);
                            }
                            if effect == FileEffect::Write {
                                written.insert(position);
                                later.write = Some(message.calls_after);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
    HeldElsewhere { superseded, written, reruns }
}

/// Returns the texts that answer each call.
fn answers<'a>(transcript: &Transcript<'a>) -> HashMap<BlockPosition, Answer<'a>> {
    let mut answers: HashMap<BlockPosition, Answer> = HashMap::new();
    for (message, block_index, block) in transcript.indexed_blocks() {
        let Some((result, call)) = block.result.and_then(|result| Some((result, result.call?))) else { continue };
        let answer = answers.entry(call).or_default();
        answer.is_error |= result.is_error;
        if let BlockKind::Text(text) = block.kind {
            answer.texts.push(((message, block_index), text));
        }
    }
    answers
}

impl LaterUses<'_> {
    /// Returns what supersedes a read, at the earliest moment.
    fn supersedes_read(
        &mut self,
        requested: LineRange,
        shown: Option<&ReadResult>,
        line_shifts: u64,
    ) -> Option<Superseded> {
        let read = self.calls_since_shown(
            shown.map_or(requested, |shown| shown.returned),
            shown.map(|shown| &*shown.text),
            line_shifts,
        );
        self.earlier_of_write(read)
    }

    /// Returns the later reads that show these lines or a part of them again, by number or by text, and whose nearest
    /// earlier read this is.
    fn reruns_of(&mut self, earlier: BlockPosition, lines: LineRange, text: &str, line_shifts: u64) -> Vec<Rerun> {
        let is_rerun = |read: &&mut LaterRead| {
            let (short, long) = if text.len() < read.text.len() { (text, &*read.text) } else { (&*read.text, text) };
            let shows_same =
                || short.len() >= REPEAT_MIN_BYTES && memmem::find(long.as_bytes(), short.as_bytes()).is_some();
            !read.is_rerun
                && (read.line_shifts == line_shifts && (lines.covers(read.lines) || read.lines.covers(lines))
                    || shows_same())
        };
        let rerun = |read: &mut LaterRead| {
            read.is_rerun = true;
            Rerun { earlier, later: read.position }
        };
        self.reads.iter_mut().filter(is_rerun).map(rerun).collect()
    }

    /// Returns the number of model calls since later reads show all of these lines, by number or by text.
    fn calls_since_shown(&mut self, lines: LineRange, text: Option<&str>, line_shifts: u64) -> Option<u64> {
        let mut missing = vec![lines];
        for read in self.reads.iter_mut().rev() {
            if read.lines == LineRange::ALL || read.line_shifts == line_shifts {
                missing = missing.into_iter().flat_map(|lines| lines.without(read.lines)).collect();
                if missing.is_empty() {
                    return Some(read.calls);
                }
                if missing.len() > MAX_GAPS {
                    return None;
                }
            } else if let Some(text) = text.filter(|text| text.len() <= read.text.len() && read.searches > 0) {
                read.searches -= 1;
                if memmem::find(read.text.as_bytes(), text.as_bytes()).is_some() {
                    return Some(read.calls);
                }
            }
        }
        None
    }

    /// Returns what supersedes a written body: a read of the whole file, or a later body.
    fn supersedes_body(&self) -> Option<Superseded> {
        self.earlier_of_write(
            self.reads.iter().filter(|read| read.lines == LineRange::ALL).map(|read| read.calls).max(),
        )
    }

    /// Returns the earlier of a read this many calls ago and the earliest whole write.
    fn earlier_of_write(&self, read: Option<u64>) -> Option<Superseded> {
        read.max(self.write).map(|calls| Superseded { reason: Reason::Superseded, calls })
    }
}
