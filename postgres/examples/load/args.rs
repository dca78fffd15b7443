//! Parses the command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::place::Place;

pub(crate) const HELP: &str = "\
Gateways as processes that replay recorded sessions at once on one store, and what that takes.

usage: load STORE [OPTIONS] [FILE | DIR]...
       load STORE --grow [N]

STORE is one of
  --url ADDRESS      a PostgreSQL database, as postgresql://user:password@host:port/database
  --server           a PostgreSQL server of its own, on loopback, removed at the end; CONCERTINA_POSTGRES names the
                     folder of its programs, such as /usr/lib/postgresql/15/bin
  --dir DIR          SQLite, in a directory that is made where it is missing

Under load:
  --gateways N       processes (4)
  --sessions N       sessions that each of them plays at once (16)
  --seconds N        how long they play (60)
  --pause MS         mean pause before a model call; 0 is as fast as the machine can (0)
  --jobs N           jobs that a gateway works on at once; the addon has 2 (2)
  --kills N          gateways that are killed and started again while they play (4)
  --fetch PERCENT    of model calls that fetch an original (20)
  --visit PERCENT    of model calls after which the gateway also assembles a session of any gateway (5)
  --zipf S           exponent of how unequally transcripts, sessions and originals are chosen (1)
  --seed N           of all that is drawn (1)
  FILE | DIR         recorded sessions: JSON arrays or JSON lines of messages, packed (.gz) or not; without any, those of
                     the repository

Growth, in an empty namespace of PostgreSQL, over a connection without TLS:
  --grow [N]         fills it with rows, up to N originals (10000000), and measures each call at each size; one that an
                     earlier run has filled grows on

  --namespace NAME   of the store (load)
  --help             this text

It ends with 0 when nothing was wrong, with 1 when something was, and with 2 when it could not begin.";

/// The parsed command line.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) store: Asked,
    pub(crate) namespace: String,
    pub(crate) grow: Option<u64>,
    pub(crate) load: Load,
    pub(crate) inputs: Vec<PathBuf>,
}

/// The requested store.
#[derive(Debug)]
pub(crate) enum Asked {
    Place(Place),
    /// A new server, started for this run.
    Server,
}

/// The parameters of the load.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) gateways: usize,
    pub(crate) sessions: usize,
    pub(crate) duration: Duration,
    pub(crate) pause_ms: u64,
    pub(crate) jobs: usize,
    pub(crate) kills: usize,
    pub(crate) fetch_percent: u32,
    pub(crate) visit_percent: u32,
    pub(crate) zipf: f64,
    pub(crate) seed: u64,
}

/// Parses the arguments. `Err` contains a message for the user, or the help if it was requested.
pub(crate) fn read(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Args, String> {
    let mut words = lexopt::Parser::from_args(words);
    let mut load = Load {
        gateways: 4,
        sessions: 16,
        duration: Duration::from_secs(60),
        pause_ms: 0,
        jobs: 2,
        kills: 4,
        fetch_percent: 20,
        visit_percent: 5,
        zipf: 1.0,
        seed: 1,
    };
    let (mut url, mut server, mut dir, mut grow, mut namespace) = (None, false, None, None, "load".to_owned());
    let mut inputs = Vec::new();
    while let Some(word) = words.next().map_err(said)? {
        match word {
            Long("help") | Short('h') => return Err(HELP.to_owned()),
            Long("url") => url = Some(text(&mut words)?),
            Long("server") => server = true,
            Long("dir") => dir = Some(PathBuf::from(words.value().map_err(said)?)),
            Long("namespace") => namespace = text(&mut words)?,
            Long("grow") => {
                let most = words.optional_value().or_else(|| words.values().ok()?.next());
                grow = Some(most.map_or(Ok(10_000_000), |most| most.parse()).map_err(said)?);
            }
            Long("gateways") => load.gateways = number(&mut words, "--gateways", 1..=64)?,
            Long("sessions") => load.sessions = number(&mut words, "--sessions", 1..=1024)?,
            Long("seconds") => {
                load.duration = Duration::from_secs(number(&mut words, "--seconds", 1..=86_400)? as u64);
            }
            Long("pause") => load.pause_ms = number(&mut words, "--pause", 0..=3_600_000)? as u64,
            Long("jobs") => load.jobs = number(&mut words, "--jobs", 1..=1024)?,
            Long("kills") => load.kills = number(&mut words, "--kills", 0..=1000)?,
            Long("fetch") => load.fetch_percent = number(&mut words, "--fetch", 0..=100)? as u32,
            Long("visit") => load.visit_percent = number(&mut words, "--visit", 0..=100)? as u32,
            Long("zipf") => load.zipf = words.value().and_then(|value| value.parse()).map_err(said)?,
            Long("seed") => load.seed = words.value().and_then(|value| value.parse()).map_err(said)?,
            Value(path) => inputs.push(PathBuf::from(path)),
            other => return Err(said(other.unexpected())),
        }
    }
    let store = match (url, server, dir) {
        (Some(url), false, None) => Asked::Place(Place::Postgres { url, namespace: namespace.clone() }),
        (None, true, None) => Asked::Server,
        (None, false, Some(dir)) => Asked::Place(Place::Sqlite { dir }),
        (None, false, None) => return Err(format!("no store is named\n\n{HELP}")),
        _ => return Err("--url, --server and --dir exclude each other".to_owned()),
    };
    if grow.is_some() && matches!(store, Asked::Place(Place::Sqlite { .. })) {
        return Err("--grow fills a namespace of PostgreSQL: it needs --url or --server".to_owned());
    }
    if !(0.0..=10.0).contains(&load.zipf) {
        return Err(format!("--zipf is {}; it must be between 0 and 10", load.zipf));
    }
    Ok(Args { store, namespace, grow, load, inputs })
}

fn said(error: impl std::fmt::Display) -> String {
    format!("{error}; --help lists what there is")
}

fn text(words: &mut lexopt::Parser) -> Result<String, String> {
    words.value().and_then(ValueExt::string).map_err(said)
}

fn number(words: &mut lexopt::Parser, name: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize, String> {
    let given: usize = words.value().and_then(|value| value.parse()).map_err(said)?;
    if range.contains(&given) {
        return Ok(given);
    }
    Err(format!("{name} is {given}; it must be {} to {}", range.start(), range.end()))
}
