//! Which blocks show what something later shows again or made untrue: older reads of a file, written bodies, and exact repeats.
//!
//! A failed call supersedes nothing, and neither does an edit: what it left as it was is in sight only where it was read.

use std::collections::HashMap;

use super::files::{Lines, Use, file_use};
use super::stale::Reason;
use crate::config::Config;
use crate::transcript::{Kind, Transcript};

/// Why a block is no longer the newest, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superseded {
    /// [`Reason::Superseded`] or [`Reason::Duplicate`].
    pub reason: Reason,
    /// Whether what supersedes it was a whole read, so that its content is still in sight.
    pub by_read: bool,
    /// How many model calls were made since.
    pub calls: u64,
}

/// Texts of fewer bytes are not worth finding again.
const REPEAT_MIN_BYTES: usize = 200;

/// The later uses of a file, as seen walking back from the newest message; the earliest of each kind is kept.
#[derive(Default)]
struct Later {
    reads: Vec<(Lines, u64)>,
    write: Option<u64>,
}

/// The result of a call whose call comes next, walking back.
#[derive(Default)]
struct Answer {
    texts: Vec<(usize, usize)>,
    has_failed: bool,
}

/// The superseded blocks by message and block index. Linear in the messages, but for the ranges read of one file.
pub fn superseded(transcript: &Transcript, config: &Config) -> HashMap<(usize, usize), Superseded> {
    let mut found = HashMap::new();
    let mut files: HashMap<String, Later> = HashMap::new();
    let mut texts: HashMap<&str, u64> = HashMap::new();
    let mut results: HashMap<&str, Answer> = HashMap::new();
    for (message_index, message) in transcript.messages.iter().enumerate().rev() {
        for (block_index, block) in message.blocks.iter().enumerate().rev() {
            let at = (message_index, block_index);
            match (block.kind, block.result) {
                (Kind::Text(text), Some(result)) => {
                    let answer = results.entry(result.call_id).or_default();
                    answer.texts.push(at);
                    answer.has_failed |= result.is_error;
                    if text.len() >= REPEAT_MIN_BYTES {
                        if let Some(&calls) = texts.get(text) {
                            found.insert(at, Superseded { reason: Reason::Duplicate, by_read: true, calls });
                        }
                        texts.insert(text, message.calls_after);
                    }
                }
                (Kind::Call(call), None) => {
                    let Some(Answer { texts: shown, has_failed: false }) = results.remove(call.id) else { continue };
                    let Some((path, does)) = file_use(&call, config) else { continue };
                    let later = files.entry(path).or_default();
                    match does {
                        Use::Read(lines) => {
                            if let Some(superseded) = later.of_read(lines) {
                                for at in shown {
                                    let known = found.entry(at).or_insert(superseded);
                                    if superseded.calls > known.calls {
                                        *known = superseded;
                                    }
                                }
                            }
                            later.reads.retain(|(known, _)| !lines.cover(*known));
                            later.reads.push((lines, message.calls_after));
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

impl Later {
    /// What supersedes a read of these lines, the earliest of it.
    fn of_read(&self, lines: Lines) -> Option<Superseded> {
        let read = self.reads.iter().filter(|(later, _)| later.cover(lines)).map(|(_, calls)| *calls).max();
        let calls = read.max(self.write)?;
        Some(Superseded { reason: Reason::Superseded, by_read: read == Some(calls), calls })
    }

    /// What supersedes a written body: a read of the whole file, or a later body.
    fn of_body(&self) -> Option<Superseded> {
        let read = self.reads.iter().filter(|(later, _)| *later == Lines::ALL).map(|(_, calls)| *calls).max();
        let calls = read.max(self.write)?;
        Some(Superseded { reason: Reason::Superseded, by_read: read.is_some(), calls })
    }
}
