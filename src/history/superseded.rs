//! Which blocks show what something later shows again or made untrue: older reads of a file, written bodies, and exact repeats.
//!
//! Superseded means contained: by a read that provably showed the same lines of the same file, or by a whole write of it that
//! succeeded. A failed call supersedes nothing, and neither does an edit: what it left as it was is in sight only where it was read.

use std::collections::HashMap;

use quick_cache::DefaultHashBuilder;

use super::files::{Lines, Use, file_use, lines_shown, tells_of_failure};
use super::{At, Reason};
use crate::transcript::{Kind, Transcript};

/// Why a block is no longer the newest, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Superseded {
    /// [`Reason::Superseded`] or [`Reason::Duplicate`].
    pub(super) reason: Reason,
    /// Whether what supersedes it shows its content: a whole read, or the same text.
    pub(super) is_shown: bool,
    /// How many model calls were made since.
    pub(super) calls: u64,
}

/// Texts of fewer bytes are not worth finding again.
const REPEAT_MIN_BYTES: usize = 200;

/// The later uses of a file, as seen walking back from the newest message; the earliest of each kind is kept.
#[derive(Default)]
struct Later {
    reads: Vec<(Lines, u64)>,
    write: Option<u64>,
}

/// The texts that answer a call.
#[derive(Default)]
struct Answer<'a> {
    texts: Vec<(At, &'a str)>,
    has_failed: bool,
}

impl Answer<'_> {
    /// The lines that came back, and those that this shows of the file, where they can be told.
    fn lines(&self, asked: Lines) -> Option<(Lines, Lines)> {
        match self.texts.as_slice() {
            [(_, text)] => lines_shown(asked, text),
            _ => None,
        }
    }
}

/// The superseded blocks. Linear in the messages, but for the ranges read of one file.
pub(super) fn superseded(transcript: &Transcript) -> HashMap<At, Superseded> {
    let mut answers = answers(transcript);
    let mut found = HashMap::new();
    let mut files: HashMap<String, Later> = HashMap::new();
    let mut texts: HashMap<&str, u64, DefaultHashBuilder> = HashMap::default();
    for (message_index, message) in transcript.messages.iter().enumerate().rev() {
        for (block_index, block) in message.blocks.iter().enumerate().rev() {
            let at = (message_index, block_index);
            match (block.kind, block.result) {
                (Kind::Text(text), Some(_)) if text.len() >= REPEAT_MIN_BYTES => {
                    if let Some(calls) = texts.insert(text, message.calls_after) {
                        found.insert(at, Superseded { reason: Reason::Duplicate, is_shown: true, calls });
                    }
                }
                (Kind::Call(call), None) => {
                    let Some(answer) = answers.remove(&at).filter(|answer| !answer.has_failed) else { continue };
                    let Some((path, does)) = file_use(&call) else { continue };
                    if answer.texts.iter().any(|(_, text)| tells_of_failure(text)) {
                        continue;
                    }
                    let later = files.entry(path).or_default();
                    match does {
                        Use::Read(asked) => {
                            let shown = answer.lines(asked);
                            if let Some(superseded) = later.of_read(shown.map_or(asked, |(came_back, _)| came_back)) {
                                for (at, _) in answer.texts {
                                    let known = found.entry(at).or_insert(superseded);
                                    if superseded.calls > known.calls {
                                        *known = superseded;
                                    }
                                }
                            }
                            if let Some((_, lines)) = shown {
                                later.reads.retain(|(known, _)| !lines.cover(*known));
                                later.reads.push((lines, message.calls_after));
                            }
                        }
                        Use::Write | Use::Edit => {
                            if let Some(superseded) = later.of_body() {
                                found.insert(at, superseded);
                            }
                            if does == Use::Write {
                                later.write = Some(message.calls_after);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// What answers each call.
fn answers<'a>(transcript: &Transcript<'a>) -> HashMap<At, Answer<'a>> {
    let mut answers: HashMap<At, Answer> = HashMap::new();
    for (message, block_index, block) in transcript.places() {
        let Some((result, call)) = block.result.and_then(|result| Some((result, result.call?))) else { continue };
        let answer = answers.entry(call).or_default();
        answer.has_failed |= result.is_error;
        if let Kind::Text(text) = block.kind {
            answer.texts.push(((message, block_index), text));
        }
    }
    answers
}

impl Later {
    /// What supersedes a read of these lines, the earliest of it.
    fn of_read(&self, lines: Lines) -> Option<Superseded> {
        let read = self.reads.iter().filter(|(later, _)| later.cover(lines)).map(|(_, calls)| *calls).max();
        let calls = read.max(self.write)?;
        Some(Superseded { reason: Reason::Superseded, is_shown: read == Some(calls), calls })
    }

    /// What supersedes a written body: a read of the whole file, or a later body.
    fn of_body(&self) -> Option<Superseded> {
        let read = self.reads.iter().filter(|(later, _)| *later == Lines::ALL).map(|(_, calls)| *calls).max();
        let calls = read.max(self.write)?;
        Some(Superseded { reason: Reason::Superseded, is_shown: read.is_some(), calls })
    }
}
