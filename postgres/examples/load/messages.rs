//! The messages to and from a gateway: lines of JSON over its standard input and output.
//!
//! A gateway may be killed between any two lines. What it has reported by then counts as acknowledged.

use std::path::PathBuf;

use concertina::assemble::FetchedBlock;
use concertina::reference::ContentHash;
use serde::{Deserialize, Serialize};

use crate::place::Place;

/// The first line that a gateway receives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) place: Place,
    /// The folder with the transcripts of sessions, on a disk that all gateways share.
    pub(crate) transcripts: PathBuf,
    pub(crate) task: Task,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Plays sessions until it is told to stop.
    Play(Play),
    /// Checks that what was acknowledged is there.
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

/// A message to a gateway while it plays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Told {
    Go,
    Stop,
    /// Another gateway issued this id.
    Issued(Issued),
    /// A session, of any gateway, has been assembled for the first time.
    Assembled(String),
}

/// An id that was issued to a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Issued {
    pub(crate) id: String,
    /// The hash of the bytes that it must resolve to, in hexadecimal digits.
    pub(crate) hash: String,
}

impl Issued {
    /// Returns true if an answer is this original and nothing else, byte for byte.
    pub(crate) fn is(&self, answer: &[FetchedBlock]) -> bool {
        match answer {
            [FetchedBlock::Text(text)] => ContentHash::of(text.as_bytes()).to_hex() == self.hash,
            [FetchedBlock::Image(bytes, _)] => ContentHash::of(bytes).to_hex() == self.hash,
            _ => false,
        }
    }
}

/// An event that a gateway reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Event {
    Ready,
    /// A job is done.
    Timed(Timed),
    Issued(Issued),
    /// A session was assembled for the first time.
    Assembled(String),
    /// A fetched original had the right bytes; `foreign` is true if another gateway had folded it.
    Fetched {
        foreign: bool,
    },
    /// The shown form of a session was compared with its earlier form.
    Compared(Compared),
    /// The shown form of a session at the end, as a hash of its messages.
    Shown {
        session: String,
        hash: String,
    },
    /// An acknowledged original is there.
    Kept,
    /// A failed check.
    Wrong(String),
}

/// The outcome of a comparison: by whom the session had been shown before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Compared {
    /// The same process.
    Same,
    /// A process that was killed.
    Restarted,
    /// Another gateway.
    Elsewhere,
    /// There is nothing to compare, because an epoch was opened since and is logged.
    Epoch,
}

/// A kind of job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Job {
    Admit,
    /// An admission that folded something and therefore wrote.
    AdmitFolded,
    Assemble,
    /// An assembly of a session that another process plays.
    Visit,
    Fetch,
    CommitTurn,
}

/// The times of a job, in microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) job: Job,
    /// From the request to the answer, including the wait for its turn.
    pub(crate) whole: u64,
    /// Of that, the wait for its turn in the gateway.
    pub(crate) turn: u64,
    /// Of that, the time in calls of the store: waiting for a connection, waiting for the server, and packing.
    pub(crate) store: u64,
    /// Processor time outside of calls of the store.
    pub(crate) engine: u64,
    /// Processor time in calls of the store, in this process.
    pub(crate) store_cpu: u64,
    /// The number of calls of the store.
    pub(crate) calls: u64,
}
