//! A run: gateways play, some are killed and restarted, and finally everything that they acknowledged is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::args::Load;
use crate::figures::AllTook;
use crate::messages::{Compared, Event, Issued, Plan, Play, Task, Told};
use crate::place::Place;
use crate::process::{Heard, Process};
use crate::progress::Progress;

/// The time limit for gateways to start and to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The results of a run.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) took: AllTook,
    pub(crate) seconds: f64,
    pub(crate) kills: usize,
    /// The issued ids, with the gateway that folded each first.
    pub(crate) issued: BTreeMap<String, (usize, Issued)>,
    /// Sessions that were assembled, in the order of their start.
    pub(crate) sessions: Vec<String>,
    /// The number of fetched originals with the right bytes, and how many of them other gateways had folded.
    pub(crate) fetched: (u64, u64),
    pub(crate) compared: BTreeMap<Compared, u64>,
    /// For each session and number of epochs, the hashes of what is shown, with the number of gateways.
    pub(crate) shown: BTreeMap<String, BTreeMap<String, usize>>,
    pub(crate) kept: usize,
    pub(crate) wrong: Vec<String>,
}

/// The conductor of a run.
struct Run<'r> {
    load: &'r Load,
    place: &'r Place,
    transcripts: PathBuf,
    inputs: Vec<PathBuf>,
    gateways: Vec<Process>,
    sender: Sender<(usize, Heard)>,
    heard: Receiver<(usize, Heard)>,
    outcome: Outcome,
}

pub(crate) fn run(load: &Load, place: &Place, transcripts: &Path, inputs: Vec<PathBuf>) -> Result<Outcome, String> {
    let (sender, heard) = channel();
    let (transcripts, gateways, outcome) = (transcripts.to_owned(), Vec::new(), Outcome::default());
    let mut run = Run { load, place, transcripts, inputs, gateways, sender, heard, outcome };
    run.play()?;
    run.check()?;
    Ok(run.outcome)
}

impl Run<'_> {
    fn play(&mut self) -> Result<(), String> {
        for number in 0..self.load.gateways {
            let gateway = self.start(number)?;
            self.gateways.push(gateway);
        }
        let mut waiting: BTreeSet<usize> = (0..self.load.gateways).collect();
        while !waiting.is_empty() {
            match self.heard.recv_timeout(PATIENCE).map_err(|_| "the gateways do not begin".to_owned())? {
                (number, Heard::Event(Event::Ready)) => drop(waiting.remove(&number)),
                (number, Heard::Event(event)) => self.note(number, event),
                // It has already reported the reason.
                (number, Heard::Ended(_)) => return Err(format!("gateway {number} does not begin")),
            }
        }
        self.gateways.iter_mut().for_each(|gateway| gateway.tell(&Told::Go));
        let (began, duration) = (Instant::now(), self.load.duration);
        let mut progress = Progress::new("playing");
        while began.elapsed() < duration {
            let share = began.elapsed().as_secs_f64() / duration.as_secs_f64();
            // Kills are spread over the run, with none at its very beginning or end.
            if self.outcome.kills < self.load.kills
                && share > (self.outcome.kills + 1) as f64 / (self.load.kills + 1) as f64
            {
                self.replace(self.outcome.kills % self.load.gateways)?;
                self.outcome.kills += 1;
            }
            progress.say(|| {
                let jobs: u64 = self.outcome.took.0.values().map(|took| took.whole.count()).sum();
                format!("{} of {} s, {jobs} jobs", began.elapsed().as_secs(), duration.as_secs())
            });
            match self.heard.recv_timeout(Duration::from_millis(50)) {
                Ok((number, Heard::Event(event))) => self.note(number, event),
                Ok((number, Heard::Ended(wrong))) => {
                    self.wrong(format!("gateway {number} ended by itself: {}", wrong.unwrap_or_default()));
                    self.gateways[number] = self.start(number)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("no gateway is left".to_owned()),
            }
        }
        self.outcome.seconds = began.elapsed().as_secs_f64();
        self.gateways.iter_mut().for_each(|gateway| gateway.tell(&Told::Stop));
        self.hear_the_end("ending")
    }

    fn start(&self, number: usize) -> Result<Process, String> {
        let load = self.load;
        let play = Play {
            gateway: number,
            sessions: load.sessions,
            jobs: load.jobs,
            pause_ms: load.pause_ms,
            fetch_percent: load.fetch_percent,
            visit_percent: load.visit_percent,
            zipf: load.zipf,
            seed: load.seed,
            inputs: self.inputs.clone(),
        };
        let plan = Plan { place: self.place.clone(), transcripts: self.transcripts.clone(), task: Task::Play(play) };
        Process::start(number, &plan, &self.sender)
    }

    /// Kills a gateway during its work and restarts it. What it has reported until then counts as acknowledged.
    fn replace(&mut self, number: usize) -> Result<(), String> {
        self.gateways[number].kill()?;
        loop {
            match self.heard.recv_timeout(PATIENCE).map_err(|_| format!("gateway {number} does not end"))? {
                (ended, Heard::Ended(_)) if ended == number => break,
                (ended, Heard::Ended(_)) => self.wrong(format!("gateway {ended} ended by itself")),
                (from, Heard::Event(event)) => self.note(from, event),
            }
        }
        self.gateways[number] = self.start(number)?;
        for (_, issued) in self.outcome.issued.values() {
            self.gateways[number].tell(&Told::Issued(issued.clone()));
        }
        for session in &self.outcome.sessions {
            self.gateways[number].tell(&Told::Assembled(session.clone()));
        }
        self.gateways[number].tell(&Told::Go);
        Ok(())
    }

    fn hear_the_end(&mut self, word: &'static str) -> Result<(), String> {
        let mut running = self.gateways.len();
        let mut progress = Progress::new(word);
        while running > 0 {
            progress.say(|| format!("{running} gateways, {} originals", self.outcome.kept));
            match self.heard.recv_timeout(PATIENCE).map_err(|_| format!("{running} gateways do not end"))? {
                (number, Heard::Event(event)) => self.note(number, event),
                (_, Heard::Ended(wrong)) => {
                    self.outcome.wrong.extend(wrong);
                    running -= 1;
                }
            }
        }
        let ended: Vec<String> = self.gateways.iter_mut().filter_map(Process::wait).collect();
        self.outcome.wrong.extend(ended);
        self.gateways.clear();
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        let count = self.load.gateways;
        // Each gateway checks what the others folded, and the sessions that were played last, all at the same time.
        let last = self.outcome.sessions.len().saturating_sub(self.load.gateways * self.load.sessions);
        let sessions = self.outcome.sessions[last..].to_vec();
        for number in 0..count {
            let theirs = |of: usize| (of + 1) % count == number;
            let originals = self.outcome.issued.values().filter(|(of, _)| theirs(*of));
            let originals = originals.map(|(_, issued)| issued.clone()).collect();
            let task = Task::Check { originals, sessions: sessions.clone() };
            let plan = Plan { place: self.place.clone(), transcripts: self.transcripts.clone(), task };
            self.gateways.push(Process::start(number, &plan, &self.sender)?);
        }
        self.hear_the_end("checking")?;
        let differ = self.outcome.shown.iter().filter(|(_, ways)| ways.len() > 1);
        let differ: Vec<String> = differ.map(|(session, _)| format!("{session} is shown in several ways")).collect();
        self.outcome.wrong.extend(differ);
        let lost = self.outcome.issued.len() - self.outcome.kept.min(self.outcome.issued.len());
        if lost > 0 {
            self.wrong(format!("{lost} acknowledged originals were not found"));
        }
        Ok(())
    }

    fn note(&mut self, number: usize, event: Event) {
        match event {
            Event::Ready => {}
            Event::Timed(timed) => self.outcome.took.add(&timed),
            Event::Issued(issued) => {
                if !self.outcome.issued.contains_key(&issued.id) {
                    self.tell_others(number, &Told::Issued(issued.clone()));
                    self.outcome.issued.insert(issued.id.clone(), (number, issued));
                }
            }
            Event::Assembled(session) => {
                self.tell_others(number, &Told::Assembled(session.clone()));
                self.outcome.sessions.push(session);
            }
            Event::Fetched { foreign } => {
                self.outcome.fetched.0 += 1;
                self.outcome.fetched.1 += u64::from(foreign);
            }
            Event::Compared(compared) => *self.outcome.compared.entry(compared).or_default() += 1,
            Event::Shown { session, hash } => {
                *self.outcome.shown.entry(session).or_default().entry(hash).or_default() += 1;
            }
            Event::Kept => self.outcome.kept += 1,
            Event::Wrong(what) => self.wrong(format!("gateway {number}: {what}")),
        }
    }

    fn tell_others(&mut self, number: usize, told: &Told) {
        self.gateways.iter_mut().filter(|gateway| gateway.number != number).for_each(|gateway| gateway.tell(told));
    }

    /// Reports a failed check immediately, and again at the end.
    fn wrong(&mut self, what: String) {
        eprintln!("wrong: {what}");
        self.outcome.wrong.push(what);
    }
}
