//! A gateway: one process with one store, which plays several sessions at once.
//!
//! A gateway remembers only what it did itself and what it was told about others. A killed gateway continues from the
//! transcripts.

use std::collections::HashSet;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use concertina::assemble::{AssembleOptions, Engine, Reply};
use concertina::reference::ContentHash;
use concertina::store::Millis;
use concertina::transcript::{BlockKind, Transcript};
use serde_json::Value;

use crate::check;
use crate::messages::{Event, Issued, Job, Plan, Play, Task, Timed, Told};
use crate::place::config;
use crate::seat::Seat;
use crate::timed::{TimedStore, cpu, take_spent};
use crate::turns::Turns;
use crate::zipf::Zipf;

/// The state that the sessions of a gateway share.
pub(crate) struct Gateway {
    pub(crate) engine: Engine,
    pub(crate) transcripts: PathBuf,
    pub(crate) play: Play,
    pub(crate) zipf: Zipf,
    turns: Turns,
    is_over: AtomicBool,
    known: Mutex<Known>,
}

/// The originals and sessions that the gateway knows.
#[derive(Default)]
pub(crate) struct Known {
    /// Originals that it folded, and those that other gateways folded.
    pub(crate) own: Vec<Issued>,
    pub(crate) foreign: Vec<Issued>,
    pub(crate) ids: HashSet<String>,
    /// Sessions of any gateway that can be assembled.
    pub(crate) sessions: Vec<String>,
}

/// Executes the plan in the first line of the standard input.
pub(crate) fn run() -> Result<(), String> {
    let mut lines = std::io::stdin().lock().lines();
    let mut line = || lines.next().transpose().map_err(|error| error.to_string());
    let first = line()?.ok_or("a gateway was told nothing")?;
    let plan: Plan = serde_json::from_str(&first).map_err(|error| format!("a plan that is none: {error}"))?;
    let opened = plan.place.open().map_err(|error| error.to_string())?;
    let engine = Engine::new(Arc::new(TimedStore(opened)), config()).map_err(|error| error.to_string())?;
    match plan.task {
        Task::Check { originals, sessions } => check::check(&engine, &plan.transcripts, &originals, &sessions),
        Task::Play(play) => {
            let gateway = Gateway {
                engine,
                transcripts: plan.transcripts,
                zipf: Zipf::new(play.zipf),
                turns: Turns::new(play.jobs),
                is_over: AtomicBool::new(false),
                known: Mutex::default(),
                play,
            };
            tell(&Event::Ready);
            std::thread::scope(|threads| {
                let heard = gateway.listen(line, || {
                    for seat in 0..gateway.play.sessions {
                        let gateway = &gateway;
                        threads.spawn(move || Seat::new(gateway, seat).play());
                    }
                });
                gateway.is_over.store(true, Ordering::Relaxed);
                heard
            })
        }
    }
}

/// Reports an event. Exits if nobody reads the standard output any more.
pub(crate) fn tell(event: &Event) {
    let mut line = serde_json::to_string(event).expect("events have no maps with other keys than strings");
    line.push('\n');
    let mut output = std::io::stdout().lock();
    if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
        std::process::exit(1);
    }
}

/// Returns the time of this machine.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set");
    since.as_millis() as Millis
}

/// Returns the options that a host passes to an assembly.
pub(crate) fn options() -> AssembleOptions {
    AssembleOptions { model: Some("claude-opus-4-6".into()), token_budget: Some(200_000), ..AssembleOptions::default() }
}

impl Gateway {
    /// Executes the commands on the input until one ends the run, or the input ends.
    fn listen(
        &self,
        mut line: impl FnMut() -> Result<Option<String>, String>,
        mut begin: impl FnMut(),
    ) -> Result<(), String> {
        while let Some(line) = line()? {
            match serde_json::from_str(&line).map_err(|error| format!("{error} in what was told"))? {
                Told::Issued(issued) => self.learn(issued, true),
                Told::Assembled(session) => self.known().sessions.push(session),
                Told::Go => begin(),
                Told::Stop => break,
            }
        }
        Ok(())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job and reports its times. `work` returns the kind of job. A job that rewrites must wait for its turn.
    pub(crate) fn timed<T>(&self, waits: bool, work: impl FnOnce() -> (Job, T)) -> T {
        let asked = Instant::now();
        let turn = waits.then(|| self.turns.take());
        let waited = asked.elapsed();
        take_spent();
        let cpu_before = cpu();
        let (job, done) = work();
        let (whole, all_cpu, spent) = (asked.elapsed(), cpu().saturating_sub(cpu_before), take_spent());
        drop(turn);
        let micros = |time: std::time::Duration| time.as_micros() as u64;
        tell(&Event::Timed(Timed {
            job,
            whole: micros(whole),
            turn: micros(waited),
            store: micros(spent.time),
            engine: micros(all_cpu.saturating_sub(spent.cpu)),
            store_cpu: micros(spent.cpu),
            calls: spent.calls,
        }));
        done
    }

    /// Reports the warnings of a reply, and the originals that are now behind placeholders. `messages` are the messages
    /// of the request.
    pub(crate) fn acknowledge(&self, name: &str, messages: &[Value], first: usize, reply: &Reply) {
        if let Some(warning) = &reply.report.warning {
            tell(&Event::Wrong(format!("{name}: {} {}", warning.code, warning.message)));
        }
        if reply.report.actions.iter().all(|action| action.ref_id.is_none()) {
            return;
        }
        let transcript = Transcript::read(messages);
        for action in &reply.report.actions {
            let Some(id) = &action.ref_id else { continue };
            let block = transcript.messages.get(first + action.message).and_then(|at| at.blocks.get(action.block));
            let hash = block.and_then(|block| content(&block.kind)).map(|bytes| ContentHash::of(&bytes).to_hex());
            match hash.filter(|hash| hash.starts_with(id.as_str())) {
                Some(hash) => self.learn(Issued { id: id.clone(), hash }, false),
                // A copy that was replaced by a reference to the original it came from.
                None if self.known().ids.contains(id) => {}
                None => {
                    let (at, reason) = ((action.message, action.block), action.reason);
                    tell(&Event::Wrong(format!("{name}: {id} ({reason}) is not the hash of the block {at:?}")));
                }
            }
        }
    }

    /// Remembers an original, and reports one that this gateway folded.
    fn learn(&self, issued: Issued, foreign: bool) {
        let mut known = self.known();
        if !known.ids.insert(issued.id.clone()) {
            return;
        }
        if foreign {
            known.foreign.push(issued);
        } else {
            known.own.push(issued.clone());
            drop(known);
            tell(&Event::Issued(issued));
        }
    }
}

/// Returns the bytes that are stored for a block.
fn content(kind: &BlockKind) -> Option<Vec<u8>> {
    match kind {
        BlockKind::Text(text) => Some(text.as_bytes().to_vec()),
        BlockKind::Call(call) => Some(call.arguments.to_json().into_bytes()),
        BlockKind::Thinking(part) => Some(part.to_string().into_bytes()),
        BlockKind::Image(image) => base64_simd::STANDARD.decode_to_vec(image.base64?).ok(),
        BlockKind::Other(_) => None,
    }
}
