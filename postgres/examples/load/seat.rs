//! Plays one session after the other as an agent's loop does: results are admitted when they are created, the history
//! is assembled before each model call, turns are recorded, and occasionally the model fetches an original.

use std::time::Duration;

use concertina::assemble::{FETCH_TOOL, Fetch, FetchedBlock, FinishedTurn, Reply};
use concertina::store::Scope;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::gateway::{Gateway, now, options, tell};
use crate::messages::{Compared, Event, Job};
use crate::recorded;
use crate::session::{Mark, Session, hashes};

/// A player of sessions.
pub(crate) struct Seat<'g> {
    gateway: &'g Gateway,
    seat: usize,
    random: SmallRng,
}

/// The number of variants of a recording. By Zipf's law, few of them occur in most sessions.
const VARIANTS: usize = 1000;

impl<'g> Seat<'g> {
    pub(crate) fn new(gateway: &'g Gateway, seat: usize) -> Self {
        let place = (gateway.play.gateway * 10_000 + seat) as u64;
        let random = SmallRng::seed_from_u64(gateway.play.seed.wrapping_mul(1_000_003).wrapping_add(place));
        Self { gateway, seat, random }
    }

    pub(crate) fn play(mut self) {
        let (gateway, play) = (self.gateway, &self.gateway.play);
        for number in 0.. {
            // Always drawn, so that a restarted gateway draws the same numbers as before.
            let input = gateway.zipf.below(play.inputs.len(), &mut self.random).unwrap_or(0);
            let variant = gateway.zipf.below(VARIANTS, &mut self.random).unwrap_or(0) as u64;
            if gateway.is_over() {
                return;
            }
            let name = format!("g{}-s{}-{number}", play.gateway, self.seat);
            if let Err(wrong) = self.play_session(&name, (input, variant)) {
                tell(&Event::Wrong(format!("{name}: {wrong}")));
            }
        }
    }

    fn play_session(&mut self, name: &str, recording: (usize, u64)) -> Result<(), String> {
        let gateway = self.gateway;
        let mut session = Session::open(&gateway.transcripts, name, recording)?;
        let mut messages = recorded::read(&gateway.play.inputs[session.input])?;
        recorded::vary(&mut messages, session.variant);
        let mut by = Compared::Restarted;
        while let Some(message) = messages.get(session.next) {
            if gateway.is_over() {
                return Ok(());
            }
            let next = session.next + 1;
            match message["role"].as_str() {
                Some("user") => {
                    self.end_turn(&mut session)?;
                    session.push(message.clone(), next, now())?;
                }
                Some("assistant") => {
                    self.pause();
                    self.assemble(&mut session, by)?;
                    by = Compared::Same;
                    session.push(message.clone(), next, now())?;
                    if self.random.random_ratio(gateway.play.fetch_percent, 100) {
                        self.fetch(&mut session, next)?;
                    }
                    if self.random.random_ratio(gateway.play.visit_percent, 100) {
                        self.visit()?;
                    }
                }
                Some("toolResult" | "tool") => {
                    let admitted = self.admit(&session, message);
                    session.push(admitted, next, now())?;
                }
                _ => session.push(message.clone(), next, now())?,
            }
        }
        self.end_turn(&mut session)
    }

    /// Pauses for the time of a model call and of tools.
    fn pause(&mut self) {
        let mean = self.gateway.play.pause_ms as f64;
        if mean > 0.0 {
            let share: f64 = self.random.random_range(f64::EPSILON..1.0);
            std::thread::sleep(Duration::from_secs_f64(-share.ln() * mean / 1e3));
        }
    }

    fn admit(&self, session: &Session, message: &Value) -> Value {
        let gateway = self.gateway;
        let call = session.history.iter().rev().find(|message| message["role"] == "assistant");
        let reply = gateway.timed(true, || {
            let reply = gateway.engine.admit(&session.scope, call, message, now());
            (if reply.rewrite.is_empty() { Job::Admit } else { Job::AdmitFolded }, reply)
        });
        let messages: Vec<Value> = call.into_iter().chain([message]).cloned().collect();
        gateway.acknowledge(&session.scope.session_id, &messages, messages.len() - 1, &reply);
        reply.rewrite.apply(std::slice::from_ref(message)).remove(0)
    }

    fn assemble(&self, session: &mut Session, by: Compared) -> Result<(), String> {
        let (gateway, now) = (self.gateway, now());
        let reply = gateway.timed(true, || {
            (Job::Assemble, gateway.engine.assemble(&session.scope, &session.history, &options(), now))
        });
        gateway.acknowledge(&session.scope.session_id, &session.history, 0, &reply);
        let hash = self.compare(&session.scope, &session.history, &reply, session.shown.as_ref(), by)?;
        let epochs = match (&reply.report.epoch, &session.shown) {
            (None, Some(mark)) => mark.epochs,
            (None, None) => 0,
            (Some(_), _) => self.epochs(&session.scope)?,
        };
        if session.shown.is_none() {
            let name = session.scope.session_id.clone();
            gateway.known().sessions.push(name.clone());
            tell(&Event::Assembled(name));
        }
        session.keep(Mark { messages: session.history.len(), hash, now, epochs })
    }

    fn epochs(&self, scope: &Scope) -> Result<usize, String> {
        let ledger = self.gateway.engine.store().ledger(scope).map_err(|error| error.to_string())?;
        Ok(ledger.epochs.len())
    }

    /// Compares what is shown now with what was shown for the same messages, and returns the hash of everything that is
    /// shown.
    fn compare(
        &self,
        scope: &Scope,
        history: &[Value],
        reply: &Reply,
        before: Option<&Mark>,
        by: Compared,
    ) -> Result<String, String> {
        let (of_prefix, all) = hashes(history, &reply.rewrite, before.map_or(usize::MAX, |mark| mark.messages));
        let Some(mark) = before else { return Ok(all) };
        let is_same = of_prefix.as_ref() == Some(&mark.hash);
        // Epochs of other gateways matter only if the two differ.
        let is_logged = reply.report.epoch.is_some() || !is_same && self.epochs(scope)? > mark.epochs;
        if !is_same && !is_logged {
            let name = &scope.session_id;
            tell(&Event::Wrong(format!("{name}: {} messages are shown otherwise than before ({by:?})", mark.messages)));
        }
        tell(&Event::Compared(if is_same { by } else { Compared::Epoch }));
        Ok(all)
    }

    /// Assembles a session of any gateway up to the point where it was last shown.
    fn visit(&mut self) -> Result<(), String> {
        let gateway = self.gateway;
        let name = {
            let known = gateway.known();
            let Some(rank) = gateway.zipf.below(known.sessions.len(), &mut self.random) else { return Ok(()) };
            // The newest sessions are active.
            known.sessions[known.sessions.len() - 1 - rank].clone()
        };
        let Some(session) = Session::read(&gateway.transcripts, &name)? else { return Ok(()) };
        let Some(mark) = &session.shown else { return Ok(()) };
        let history = &session.history[..mark.messages];
        let reply = gateway
            .timed(true, || (Job::Visit, gateway.engine.assemble(&session.scope, history, &options(), mark.now)));
        gateway.acknowledge(&name, history, 0, &reply);
        let is_own = name.starts_with(&format!("g{}-", gateway.play.gateway));
        let by = if is_own { Compared::Same } else { Compared::Elsewhere };
        self.compare(&session.scope, history, &reply, Some(mark), by).map(drop)
    }

    /// Fetches an original that this gateway or another one folded, as a model does.
    fn fetch(&mut self, session: &mut Session, next: usize) -> Result<(), String> {
        let gateway = self.gateway;
        let (issued, foreign) = {
            let known = gateway.known();
            let foreign = known.own.is_empty() || !known.foreign.is_empty() && self.random.random_bool(0.5);
            let list = if foreign { &known.foreign } else { &known.own };
            let Some(rank) = gateway.zipf.below(list.len(), &mut self.random) else { return Ok(()) };
            (list[list.len() - 1 - rank].clone(), foreign)
        };
        let asked = Fetch { ref_ids: vec![issued.id.clone()], max_chars: usize::MAX, ..Fetch::default() };
        let answer = gateway.timed(false, || (Job::Fetch, gateway.engine.fetch(&session.scope, &asked, now())));
        let answer = answer.map_err(|error| error.to_string())?;
        if let Some(warning) = &answer.warning {
            return Err(format!("{} {}", warning.code, warning.message));
        }
        if !issued.is(&answer.blocks) {
            return Err(format!("fetching {} did not bring its bytes", issued.id));
        }
        tell(&Event::Fetched { foreign });
        let call_id = format!("fetch_{}", session.history.len());
        let call =
            json!({ "type": "toolCall", "id": call_id, "name": FETCH_TOOL, "arguments": { "ref_ids": [issued.id] } });
        session.push(json!({ "role": "assistant", "content": [call] }), next, now())?;
        let result = json!({ "role": "toolResult", "toolCallId": call_id, "toolName": FETCH_TOOL, "isError": false,
            "content": answer.blocks.iter().map(part).collect::<Vec<_>>() });
        session.push(result, next, now())
    }

    /// Records the turn that ends here, if one has begun.
    fn end_turn(&self, session: &mut Session) -> Result<(), String> {
        if session.turn_from == session.history.len() {
            return Ok(());
        }
        let (gateway, name) = (self.gateway, &session.scope.session_id);
        let key = format!("turn:{}", session.turns);
        let messages = &session.history[session.turn_from..];
        let turn = FinishedTurn { advancement_key: &key, session_key: Some(name), messages, ..FinishedTurn::default() };
        let done = gateway.timed(true, || (Job::CommitTurn, gateway.engine.commit_turn(&session.scope, &turn, now())));
        done.map_err(|error| error.to_string())?;
        session.end_turn()
    }
}

/// Converts an answer to a part of a message.
fn part(block: &FetchedBlock) -> Value {
    match block {
        FetchedBlock::Text(text) => json!({ "type": "text", "text": text }),
        FetchedBlock::Exact(bytes) => json!({ "type": "text", "text": String::from_utf8_lossy(bytes) }),
        FetchedBlock::Image(bytes, mime) => {
            json!({ "type": "image", "data": base64_simd::STANDARD.encode_to_string(bytes), "mimeType": mime })
        }
    }
}
