//! A session as its host keeps it: a transcript in a file, which whoever plays the session next goes on from.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use concertina::reference::ContentHash;
use concertina::store::{Millis, Scope};
use concertina::transcript::Rewrite;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What all sessions work for.
pub(crate) const AGENT: &str = "main";

/// A line of a transcript.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Line {
    /// Which recording is played, and in which variant.
    Begun { input: usize, variant: u64 },
    /// A message as the model's provider is sent it, but for what an assembly replaces; and which of the recording comes next.
    Message { message: Value, next: usize },
    /// What was shown.
    Shown(Mark),
    /// So many turns are recorded.
    Turns(usize),
}

/// What was shown of a history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Of so many messages.
    pub(crate) messages: usize,
    /// What they were shown as.
    pub(crate) hash: String,
    /// When.
    pub(crate) now: Millis,
    /// Epochs of the session by then, or fewer.
    pub(crate) epochs: usize,
}

/// What a transcript holds.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) scope: Scope,
    pub(crate) input: usize,
    pub(crate) variant: u64,
    pub(crate) history: Vec<Value>,
    /// Which message of the recording comes next.
    pub(crate) next: usize,
    pub(crate) shown: Option<Mark>,
    /// Turns that are recorded, and where in the history the one that is not begins.
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
    /// Begins a session, or goes on with the one of this name.
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

    /// A session as its transcript tells of it; `None` where there is none. A last line without its end is what a kill left.
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

    /// Cuts off what a kill left of a line, before anything is written behind it.
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

    /// Adds a message; `next` is the recorded one after it.
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

    /// Keeps what was shown of the history.
    pub(crate) fn keep(&mut self, mark: Mark) -> Result<(), String> {
        self.write(&Line::Shown(mark.clone()))?;
        self.shown = Some(mark);
        Ok(())
    }

    /// The turn is recorded.
    pub(crate) fn end_turn(&mut self) -> Result<(), String> {
        self.turns += 1;
        self.turn_from = self.history.len();
        self.write(&Line::Turns(self.turns))
    }
}

/// What messages are shown as: the hash of the first `prefix` of them, where there are so many, and of all.
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
