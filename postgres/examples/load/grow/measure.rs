//! Measures each call of a store on a store of a known size.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use concertina::error::Result;
use concertina::reference::Original;
use concertina::store::figures::FiguresQuery;
use concertina::store::{Batch, BlockKey, Projection, Scope, Store, StoreOptions};
use concertina_postgres::{PostgresOptions, PostgresStore};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::figures::Times;
use crate::gateway::now;
use crate::place::{Place, options};
use crate::progress::Progress;
use crate::session::scope;

/// The maximum number of repetitions of a call, and their time limit. A call is always made at least three times.
const ROUNDS: usize = 300;
const PATIENCE: Duration = Duration::from_secs(8);

/// The size of the store.
pub(crate) struct Size {
    pub(crate) originals: u64,
}

/// The times of a call.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) times: Times,
}

/// Calls on random sessions and originals.
struct Calls {
    store: PostgresStore,
    size: Size,
    random: SmallRng,
    made: Vec<Call>,
    progress: Progress,
}

pub(crate) fn measure(place: &Place, size: Size) -> std::result::Result<(Size, Vec<Call>), String> {
    let Place::Postgres { url, namespace } = place else { return Err("growth is PostgreSQL's".into()) };
    // A query over the whole of a large store takes longer than the default timeouts.
    let patient = PostgresOptions {
        store: StoreOptions { busy_timeout_ms: 600_000, ..options() },
        statement_timeout: Duration::from_secs(600),
        ..PostgresOptions::default()
    };
    let store = PostgresStore::open(url, namespace, patient).map_err(|error| error.to_string())?;
    let random = SmallRng::seed_from_u64(size.originals);
    let mut calls = Calls { store, size, random, made: Vec::new(), progress: Progress::new("measuring") };
    calls.all().map_err(|error| error.to_string())?;
    Ok((calls.size, calls.made))
}

impl Calls {
    fn all(&mut self) -> Result<()> {
        self.time("ledger of 100 originals", |store, me, _| store.ledger(me).map(drop))?;
        self.time("get", |store, _, random_original| {
            let found = store.get(&random_original.hash.to_ref_id(16), "main", now())?;
            assert_eq!(found.map(|(_, original)| original.bytes), Some(random_original.bytes.clone()));
            Ok(())
        })?;
        self.commits("commit of 1 new original, unswept")?;
        self.time("turn", |store, me, original| {
            store.commit_turn(me, &original.hash.to_hex().as_str().into(), now()).map(drop)
        })?;
        self.time("stats of a session", |store, me, _| store.stats(Some(me)).map(drop))?;
        self.time("figures of a session", |store, me, _| {
            store.figures(&FiguresQuery { session: Some(me.clone()), ..FiguresQuery::default() }).map(drop)
        })?;
        self.sweep()?;
        self.commits("commit of 1 new original, swept")?;
        self.time("stats of all", |store, _, _| store.stats(None).map(drop))?;
        self.time("sessions", |store, _, _| store.sessions().map(drop))?;
        self.time("figures of all", |store, _, _| store.figures(&FiguresQuery::default()).map(drop))
    }

    fn session(&mut self) -> Scope {
        scope(&format!("session {}", self.random.random_range(1..=self.size.originals / 100)))
    }

    /// Returns a random original as `fill.sql` writes it.
    fn original(&mut self) -> Original {
        let start = format!("original {} ", self.random.random_range(1..=self.size.originals));
        let rest = "what a tool printed ".chars().cycle();
        Original::text(&start.chars().chain(rest).take(100).collect::<String>(), "test")
    }

    /// Repeats a call until the repetitions or the time limit are reached.
    fn time(
        &mut self,
        name: &'static str,
        mut call: impl FnMut(&PostgresStore, &Scope, &Original) -> Result<()>,
    ) -> Result<()> {
        let (began, mut times) = (Instant::now(), Times::default());
        for round in 0..ROUNDS {
            let (session, original) = (self.session(), self.original());
            let start = Instant::now();
            call(&self.store, &session, &original)?;
            times.add(start.elapsed().as_micros() as u64);
            self.progress.say(|| format!("{name}, at {} originals", self.size.originals));
            if round >= 2 && began.elapsed() > PATIENCE {
                break;
            }
        }
        self.made.push(Call { name, times });
        Ok(())
    }

    fn commits(&mut self, name: &'static str) -> Result<()> {
        let mut times = Times::default();
        let began = Instant::now();
        for round in 0..ROUNDS {
            let session = self.session();
            times.add(commit_new(&self.store, &session, self.random.random())?.as_micros() as u64);
            self.progress.say(|| format!("{name}, at {} originals", self.size.originals));
            if round >= 2 && began.elapsed() > PATIENCE {
                break;
            }
        }
        self.made.push(Call { name, times });
        Ok(())
    }

    /// Measures a sweep that finds nothing, and its effect on concurrent writers.
    fn sweep(&mut self) -> Result<()> {
        let session = self.session();
        let (store, is_over) = (&self.store, AtomicBool::new(false));
        let mut random = SmallRng::seed_from_u64(self.random.random());
        let (swept, meanwhile) = std::thread::scope(|threads| {
            let others = threads.spawn(|| {
                let mut times = Times::default();
                while !is_over.load(Ordering::Relaxed) {
                    times.add(commit_new(store, &session, random.random())?.as_micros() as u64);
                }
                Ok::<_, concertina::error::Error>(times)
            });
            let (began, mut times) = (Instant::now(), Times::default());
            let mut swept = Ok(());
            for round in 0..ROUNDS {
                if round >= 2 && began.elapsed() > PATIENCE || swept.is_err() {
                    break;
                }
                let start = Instant::now();
                swept = store.sweep(now()).map(|removed| assert_eq!(removed.originals, 0, "nothing has expired"));
                times.add(start.elapsed().as_micros() as u64);
            }
            is_over.store(true, Ordering::Relaxed);
            let others = others.join().expect("commits do not panic");
            (swept.map(|()| times), others)
        });
        self.made.push(Call { name: "sweep that finds nothing", times: swept? });
        self.made.push(Call { name: "commit of 1 new original during sweeps", times: meanwhile? });
        Ok(())
    }
}

/// Commits a new original, shown at its own place. Returns the duration including the id query.
fn commit_new(store: &PostgresStore, session: &Scope, seed: u64) -> Result<Duration> {
    let original = Original::text(&format!("a new original {seed:016x} ").repeat(30), "new");
    let block = BlockKey { hash: original.hash, place: 1 };
    let projection =
        Projection { block, replacement: "\"shown\"".into(), original: original.hash, reason: "stale".into() };
    let start = Instant::now();
    let id = store.ref_ids(&[original.hash])?.remove(0);
    let batch =
        Batch { originals: vec![(id, original)], projections: vec![projection], since: i64::MAX, ..Batch::default() };
    store.commit(session, &batch, now())?;
    Ok(start.elapsed())
}
