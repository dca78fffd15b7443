//! What a gateway is told, and what it tells: lines of JSON over its standard input and output.
//!
//! A gateway may be killed between any two lines. What it has told by then is what was acknowledged to somebody outside.

use std::path::PathBuf;

use concertina::assemble::FetchedBlock;
use concertina::reference::ContentHash;
use serde::{Deserialize, Serialize};

use crate::place::Place;

/// The first line that a gateway is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) place: Place,
    /// Where the transcripts of sessions are: on the disk that all gateways share.
    pub(crate) transcripts: PathBuf,
    pub(crate) task: Task,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Plays sessions until it is told to stop.
    Play(Play),
    /// Looks whether what was acknowledged is there.
    Check {
        originals: Vec<Issued>,
        /// Names of sessions.
        sessions: Vec<String>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Play {
    pub(crate) gateway: usize,
    pub(crate) sessions: usize,
    pub(crate) jobs: usize,
    pub(crate) pause_ms: u64,
    pub(crate) fetch_percent: u32,
    pub(crate) visit_percent: u32,
    pub(crate) zipf: f64,
    pub(crate) seed: u64,
    /// Recorded sessions, the largest first.
    pub(crate) inputs: Vec<PathBuf>,
}

/// What a gateway is told while it plays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Told {
    Go,
    Stop,
    /// Another gateway's.
    Issued(Issued),
    /// A session, of any gateway, has been assembled for the first time.
    Assembled(String),
}

/// An id that a session was given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Issued {
    pub(crate) id: String,
    /// The hash of the bytes that it has to lead to, in hexadecimal digits.
    pub(crate) hash: String,
}

impl Issued {
    /// Whether an answer is this original and nothing else, byte for byte.
    pub(crate) fn is(&self, answer: &[FetchedBlock]) -> bool {
        match answer {
            [FetchedBlock::Text(text)] => ContentHash::of(text.as_bytes()).to_hex() == self.hash,
            [FetchedBlock::Image(bytes, _)] => ContentHash::of(bytes).to_hex() == self.hash,
            _ => false,
        }
    }
}

/// What a gateway tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Event {
    Ready,
    /// A job was done.
    Timed(Timed),
    Issued(Issued),
    /// A session was assembled for the first time.
    Assembled(String),
    /// A fetched original had the bytes that its id stands for; `foreign` where another gateway had folded it.
    Fetched {
        foreign: bool,
    },
    /// What a session shows was compared with what it had shown.
    Compared(Compared),
    /// What a session shows in the end, as a hash of its messages.
    Shown {
        session: String,
        hash: String,
    },
    /// An acknowledged original is there.
    Kept,
    /// Something that must not be.
    Wrong(String),
}

/// Who had shown the session before, and what came of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Compared {
    /// The same process.
    Same,
    /// A process that was killed.
    Restarted,
    /// Another gateway.
    Elsewhere,
    /// Nothing to compare: an epoch was opened since, and is logged.
    Epoch,
}

/// A kind of job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Job {
    Admit,
    /// An admission that folded something, and so wrote.
    AdmitFolded,
    Assemble,
    /// An assembly of a session that another process plays.
    Visit,
    Fetch,
    CommitTurn,
}

/// What a job took, in microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) job: Job,
    /// From asking to the answer, with the wait for its turn.
    pub(crate) whole: u64,
    /// Of that, waiting for its turn in the gateway.
    pub(crate) turn: u64,
    /// Of that, in calls of the store: waiting for a connection, for the server, and packing.
    pub(crate) store: u64,
    /// Processor time outside of calls of the store.
    pub(crate) engine: u64,
    /// Processor time in calls of the store, on this side.
    pub(crate) store_cpu: u64,
    /// How many calls of the store.
    pub(crate) calls: u64,
}
