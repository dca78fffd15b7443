//! A session as its host keeps it: a transcript in a file, from which any gateway can continue.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use concertina::reference::ContentHash;
use concertina::store::{Millis, Scope};
use concertina::transcript::Rewrite;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The agent of all sessions.
pub(crate) const AGENT: &str = "main";

/// A line of a transcript.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Line {
    /// The recording and its variant.
    Begun { input: usize, variant: u64 },
    /// A message as the provider would receive it before assembly replaces blocks, and the index of the next recorded
    /// message.
    Message { message: Value, next: usize },
    /// The result of an assembly.
    Shown(Mark),
    /// The number of turns that are recorded.
    Turns(usize),
}

/// The result of an assembly of a history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The number of messages.
    pub(crate) messages: usize,
    /// The hash of what was shown.
    pub(crate) hash: String,
    /// The time of the assembly.
    pub(crate) now: Millis,
    /// The number of epochs of the session at that time, or a lower one.
    pub(crate) epochs: usize,
}

/// The contents of a transcript.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) scope: Scope,
    pub(crate) input: usize,
    pub(crate) variant: u64,
    pub(crate) history: Vec<Value>,
    /// The index of the next message of the recording.
    pub(crate) next: usize,
    pub(crate) shown: Option<Mark>,
    /// The number of recorded turns, and the index in the history at which the current turn begins.
    pub(crate) turns: usize,
    pub(crate) turn_from: usize,
    file: PathBuf,
}

pub(crate) fn scope(name: &str) -> Scope {
    Scope { agent_id: AGENT.to_owned(), session_id: name.to_owned() }
}

fn file_of(transcripts: &Path, name: &str) -> PathBuf {
    transcripts.join(format!("{name}.jsonl"))
}

impl Session {
    /// Begins a session, or continues the one of this name.
    pub(crate) fn open(transcripts: &Path, name: &str, (input, variant): (usize, u64)) -> Result<Self, String> {
        if let Some(session) = Self::read(transcripts, name)? {
            session.mend()?;
            return Ok(session);
        }
        let file = file_of(transcripts, name);
        let session = Self {
            scope: scope(name),
            input,
            variant,
            history: Vec::new(),
            next: 0,
            shown: None,
            turns: 0,
            turn_from: 0,
            file,
        };
        session.write(&Line::Begun { input, variant })?;
        Ok(session)
    }

    /// Reads a session from its transcript, or returns `None` if there is none. An incomplete last line was left by a
    /// kill.
    pub(crate) fn read(transcripts: &Path, name: &str) -> Result<Option<Self>, String> {
        let file = file_of(transcripts, name);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", file.display())),
        };
        let mut session: Option<Self> = None;
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let line: Line = serde_json::from_str(line).map_err(|error| format!("{}: {error}", file.display()))?;
            match (line, &mut session) {
                (Line::Begun { input, variant }, None) => {
                    let (history, shown, file) = (Vec::new(), None, file.clone());
                    let scope = scope(name);
                    session =
                        Some(Self { scope, input, variant, history, next: 0, shown, turns: 0, turn_from: 0, file });
                }
                (Line::Message { message, next }, Some(session)) => {
                    session.history.push(message);
                    session.next = next;
                }
                (Line::Shown(mark), Some(session)) => session.shown = Some(mark),
                (Line::Turns(turns), Some(session)) => {
                    (session.turns, session.turn_from) = (turns, session.history.len());
                }
                _ => return Err(format!("{} does not begin as a transcript does", file.display())),
            }
        }
        Ok(session)
    }

    /// Truncates an incomplete last line before anything is appended.
    fn mend(&self) -> Result<(), String> {
        let bad = |error: std::io::Error| format!("{}: {error}", self.file.display());
        let bytes = std::fs::read(&self.file).map_err(bad)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let file = OpenOptions::new().write(true).open(&self.file).map_err(bad)?;
        file.set_len(whole as u64).map_err(bad)
    }

    fn write(&self, line: &Line) -> Result<(), String> {
        let bad = |error: std::io::Error| format!("{}: {error}", self.file.display());
        let mut text = serde_json::to_string(line).map_err(|error| error.to_string())?;
        text.push('\n');
        let mut file: File = OpenOptions::new().create(true).append(true).open(&self.file).map_err(bad)?;
        file.write_all(text.as_bytes()).map_err(bad)
    }

    /// Appends a message. `next` is the index of the recorded message after it.
    pub(crate) fn push(&mut self, mut message: Value, next: usize, now: Millis) -> Result<(), String> {
        message["timestamp"] = Value::from(now);
        let line = Line::Message { message, next };
        self.write(&line)?;
        if let Line::Message { message, next } = line {
            self.history.push(message);
            self.next = next;
        }
        Ok(())
    }

    /// Records what was shown of the history.
    pub(crate) fn keep(&mut self, mark: Mark) -> Result<(), String> {
        self.write(&Line::Shown(mark.clone()))?;
        self.shown = Some(mark);
        Ok(())
    }

    /// Records that the turn has ended.
    pub(crate) fn end_turn(&mut self) -> Result<(), String> {
        self.turns += 1;
        self.turn_from = self.history.len();
        self.write(&Line::Turns(self.turns))
    }
}

/// Returns the hash of the first `prefix` shown messages, if there are so many, and that of all.
pub(crate) fn hashes(history: &[Value], rewrite: &Rewrite, prefix: usize) -> (Option<String>, String) {
    let shown = rewrite.apply(history);
    let (mut text, mut of_prefix) = (String::new(), None);
    for (index, message) in shown.iter().enumerate() {
        if index == prefix {
            of_prefix = Some(ContentHash::of(text.as_bytes()).to_hex());
        }
        text.push_str(&message.to_string());
        text.push('\n');
    }
    let all = ContentHash::of(text.as_bytes()).to_hex();
    if shown.len() == prefix {
        of_prefix = Some(all.clone());
    }
    (of_prefix, all)
}
