//! The class with a store. Every opener has a store of its own, with its own options: a host may load this addon twice into one
//! process, so nothing may rest on what its copies share. They share the file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use concertina::assemble::{AssembleOptions, Engine, FETCH_TOOL, Fetch};
use concertina::config::{Config, Secrets};
use concertina::error::{Error, Result};
use concertina::plan::prices::{Prices, StatedPrices};
use concertina::reference::{RefId, parse_ref};
use concertina::store::{Receipt, Retention, Scope, SqliteStore, StoreOptions, TurnStatus};
use napi::bindgen_prelude::{AsyncTask, spawn_blocking};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::guard::{guard, to_napi};
use crate::handover::Handover;
use crate::pure::options;
use crate::work::{Outcome, Work, to_json};

/// Takes a text out of the options that is not a user's option.
fn take_text(options: &mut Map<String, Value>, name: &str, expected: &str) -> Result<Option<String>> {
    match options.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Error::bad_argument(name, other, expected)),
    }
}

/// When the time to live of a session's originals begins, as the host says.
fn retention(options: &mut Map<String, Value>) -> Result<Retention> {
    const EXPECTED: &str = "\"clock\" or \"host\"";
    match take_text(options, "retention", EXPECTED)?.as_deref() {
        None | Some("clock") => Ok(Retention::Clock),
        Some("host") => Ok(Retention::Held),
        Some(other) => Err(Error::bad_argument("retention", format!("{other:?}"), EXPECTED)),
    }
}

/// Whose content a call is about, as it crosses.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    agent_id: Option<String>,
    session_id: String,
}

impl From<Session> for Scope {
    fn from(session: Session) -> Self {
        Self { agent_id: session.agent_id.unwrap_or_else(|| "main".into()), session_id: session.session_id }
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| Error::bad_argument("argument", error, "as the documentation says"))
}

/// One open store with one set of options.
#[napi]
pub struct NativeConcertina {
    engine: Mutex<Option<Arc<Engine>>>,
    warnings: Vec<String>,
    /// What opening had to say and nobody has read yet.
    notices: Mutex<Vec<String>>,
}

#[napi]
impl NativeConcertina {
    /// Opens the store in a directory.
    ///
    /// Beside the user's options: `retention`, `"clock"` (default) or `"host"`, and `today`, a date such as `2026-01-31`: with it a
    /// damaged file is set aside under a name with that date, and a new one takes its place.
    #[napi(factory)]
    pub async fn open(dir: String, options_json: String) -> napi::Result<Self> {
        on_tokio(move || {
            let mut given = options(&options_json)?;
            let retention = retention(&mut given)?;
            let today = take_text(&mut given, "today", "a date such as 2026-01-31")?;
            let (config, warnings) = Config::from_json(&given)?;
            let dir = std::path::absolute(Path::new(&dir))
                .map_err(|error| Error::StoreUnavailable { path: dir.clone(), reason: error.to_string() })?;
            let options = StoreOptions { retention, ..StoreOptions::from(&config) };
            let (store, aside) = match today {
                Some(today) => SqliteStore::open_or_set_aside(&dir, options, &today)?,
                None => (SqliteStore::open(&dir, options)?, None),
            };
            let engine = Engine::new(Arc::new(store), config)?;
            let notices = Mutex::new(aside.into_iter().collect());
            Ok(Self { engine: Mutex::new(Some(Arc::new(engine))), warnings, notices })
        })
        .await
    }

    /// What an operator should know and has not been told yet, one line each: a file that was replaced, set aside, or open to
    /// others.
    #[napi]
    pub fn notices(&self) -> napi::Result<Vec<String>> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        guard(|| {
            let mut notices = std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner));
            notices.extend(engine.store().notices());
            Ok(notices)
        })
    }

    /// One line for each option that was corrected.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn engine(&self) -> Result<Arc<Engine>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Error::Closed)
    }

    /// JSON of what becomes of a fresh result of a tool: `secrets` is that option, and `storesTextsOf` says whether its texts may be stored.
    #[napi]
    pub fn at_birth(&self, tool: String) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        guard(|| {
            let config = engine.config();
            let may_store = config.sccs_enabled && tool != FETCH_TOOL && config.may_touch_tool(&tool);
            let secrets = match config.secrets {
                Secrets::KeepInline => "keep-inline",
                Secrets::Store => "store",
                Secrets::Redact => "redact",
            };
            Ok(to_json(&json!({ "secrets": secrets, "storesTextsOf": may_store && !config.is_exact_tool(&tool) })))
        })
    }

    /// The moment of birth. `messages` holds the result, after its call where that is known.
    #[napi]
    pub fn admit(
        &self,
        messages: &mut Handover,
        session: String,
        now: f64,
        host_cut_at: Option<u32>,
    ) -> napi::Result<AsyncTask<Work>> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        let slices = messages.take();
        Ok(Work::queue(move || {
            let scope: Scope = read::<Session>(&session)?.into();
            let messages = slices.read()?;
            let Some((message, before)) = messages.split_last() else { return Ok(Outcome::default()) };
            let cut_at = host_cut_at.map(|units| units as usize);
            let reply = engine.admit_cut(&scope, before.last(), message, cut_at, now as i64);
            Ok(Outcome::rewrite(&reply.rewrite, &reply.report))
        }))
    }

    /// Folds a history.
    #[napi]
    pub fn assemble(
        &self,
        messages: &mut Handover,
        session: String,
        options_json: String,
        now: f64,
    ) -> napi::Result<AsyncTask<Work>> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        let slices = messages.take();
        Ok(Work::queue(move || {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Options {
                available_tools: Option<Vec<String>>,
                model: Option<String>,
                #[serde(default)]
                refer_oversize: bool,
                prices: Option<StatedPrices>,
                token_budget: Option<u64>,
            }
            let scope: Scope = read::<Session>(&session)?.into();
            let given: Options = read(&options_json)?;
            let asked = AssembleOptions {
                available_tools: given.available_tools,
                model: given.model,
                refer_oversize: given.refer_oversize,
                prices: given.prices.map(Prices::try_from).transpose()?,
                token_budget: given.token_budget,
            };
            let messages = slices.read()?;
            let reply = engine.assemble(&scope, &messages, &asked, now as i64);
            // Freeing so many small pieces takes a while, and nobody has to wait for it.
            drop(spawn_blocking(move || drop(messages)));
            Ok(Outcome::rewrite(&reply.rewrite, &reply.report))
        }))
    }

    /// Records a finished turn; resolves to whether it was new.
    #[napi]
    pub async fn commit_turn(&self, session: String, advancement_key: String, now: f64) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            let scope: Scope = read::<Session>(&session)?.into();
            Ok(match engine.commit_turn(&scope, &advancement_key, now as i64)? {
                TurnStatus::Committed => "committed".to_owned(),
                TurnStatus::Duplicate => "duplicate".to_owned(),
            })
        })
        .await
    }

    /// Gives a sub-agent's session what its parent's session may see; with `named`, of that only the originals with these ids.
    #[napi]
    pub async fn inherit(
        &self,
        parent: String,
        child: String,
        now: f64,
        named: Option<Vec<String>>,
    ) -> napi::Result<()> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            let named: Option<Vec<RefId>> =
                named.map(|ids| ids.iter().map(|id| parse_ref(id)).collect()).transpose()?;
            let (parent, child) = (read::<Session>(&parent)?.into(), read::<Session>(&child)?.into());
            engine.inherit(&parent, &child, named.as_deref(), now as i64)
        })
        .await
    }

    /// The host has ended a session: the time to live of what it held begins.
    #[napi]
    pub async fn end_session(&self, session_id: String, now: f64) -> napi::Result<()> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || engine.store().end_session(&session_id, now as i64)).await
    }

    /// Ends the held sessions that are not among those that the host still knows; resolves to how many.
    #[napi]
    pub async fn settle(&self, alive: Vec<String>, now: f64) -> napi::Result<f64> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            let alive: BTreeSet<String> = alive.into_iter().collect();
            Ok(engine.store().settle(&alive, now as i64)? as f64)
        })
        .await
    }

    /// Puts originals back in the place of placeholders: those of a session, or, without a `sessionId`, those that the markers lead
    /// an agent to. The report is `{ unfolded, missing }`.
    #[napi]
    pub fn unfold(&self, messages: &mut Handover, request: String, now: f64) -> napi::Result<AsyncTask<Work>> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        let slices = messages.take();
        Ok(Work::queue(move || {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Request {
                agent_id: Option<String>,
                session_id: Option<String>,
            }
            let Request { agent_id, session_id } = read(&request)?;
            let agent_id = agent_id.unwrap_or_else(|| "main".into());
            let scope = session_id.map(|session_id| Scope { agent_id: agent_id.clone(), session_id });
            let done = engine.unfold(scope.as_ref(), &agent_id, &slices.read()?, now as i64)?;
            let missing: Vec<&str> = done.missing.iter().map(RefId::as_str).collect();
            Ok(Outcome::rewrite(&done.rewrite, &json!({ "unfolded": done.unfolded, "missing": missing })))
        }))
    }

    /// Keeps what repeating rules came to.
    #[napi]
    pub async fn record_rules(&self, session: String, report: String, now: f64) -> napi::Result<()> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Report {
                tokens_before: u64,
                tokens_after: u64,
            }
            let Report { tokens_before, tokens_after } = read(&report)?;
            let receipt = Receipt { kind: "rules".into(), tokens_before, tokens_after, detail: report };
            engine.record(&read::<Session>(&session)?.into(), receipt, now as i64)
        })
        .await
    }

    /// Answers a fetch; resolves to JSON of the answer.
    #[napi]
    pub async fn fetch(&self, request: String, now: f64) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Request {
                agent_id: Option<String>,
                session_id: Option<String>,
                ref_ids: Vec<String>,
                lines: Option<String>,
                chars: Option<String>,
                pattern: Option<String>,
                max_chars: usize,
            }
            let request: Request = read(&request)?;
            let scope = Session { agent_id: request.agent_id, session_id: request.session_id.unwrap_or_default() };
            let fetch = Fetch {
                ref_ids: request.ref_ids,
                lines: request.lines.map(|lines| Fetch::parse_range("lines", &lines)).transpose()?,
                characters: request.chars.map(|chars| Fetch::parse_range("chars", &chars)).transpose()?,
                pattern: request.pattern,
                max_chars: request.max_chars,
            };
            Ok(to_json(&engine.fetch(&scope.into(), &fetch, now as i64)?))
        })
        .await
    }

    /// Totals as JSON.
    #[napi]
    pub async fn stats(&self, session_id: Option<String>) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            let stats = engine.stats(session_id.as_deref())?;
            let receipts: Vec<Value> = stats
                .receipts
                .iter()
                .map(|(at, receipt)| {
                    json!({
                        "at": at, "kind": receipt.kind, "tokensBefore": receipt.tokens_before,
                        "tokensAfter": receipt.tokens_after,
                        "detail": serde_json::from_str::<Value>(&receipt.detail).unwrap_or(Value::Null),
                    })
                })
                .collect();
            let epochs: Vec<Value> = stats
                .epochs
                .iter()
                .map(|(at, epoch)| {
                    json!({
                        "at": at, "reason": epoch.reason, "tokensFreed": epoch.tokens_freed,
                        "tokensRebilled": epoch.tokens_rebilled, "blocks": epoch.blocks,
                    })
                })
                .collect();
            Ok(to_json(&json!({
                "sessions": stats.sessions, "originals": stats.originals, "originalBytes": stats.original_bytes,
                "storedBytes": stats.stored_bytes, "turns": stats.turns, "tokensBefore": stats.tokens_before,
                "tokensAfter": stats.tokens_after, "receipts": receipts, "epochs": epochs,
            })))
        })
        .await
    }

    /// Removes what expired; resolves to JSON of what was removed.
    #[napi]
    pub async fn sweep(&self, now: f64) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || Ok(removed(engine.store().sweep(now as i64)?))).await
    }

    /// Forgets a session; resolves to JSON of what was removed. With `dry`, of what would be.
    #[napi]
    pub async fn purge(&self, session_id: String, dry: Option<bool>) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            let store = engine.store();
            let done = if dry == Some(true) { store.purgeable(&session_id) } else { store.purge(&session_id) };
            Ok(removed(done?))
        })
        .await
    }

    /// Lets go of the store. The file closes when no call is under way any more.
    #[napi]
    pub async fn close(&self) -> napi::Result<()> {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
        on_tokio(move || {
            drop(engine);
            Ok(())
        })
        .await
    }
}

fn removed(removed: concertina::store::Removed) -> String {
    to_json(&json!({ "originals": removed.originals, "bytes": removed.bytes, "sessions": removed.sessions }))
}

/// Runs a blocking body on tokio's own pool, so that waiting for the disk takes no libuv worker.
async fn on_tokio<T: Send + 'static>(body: impl FnOnce() -> Result<T> + Send + 'static) -> napi::Result<T> {
    tokio::task::spawn_blocking(move || guard(body))
        .await
        .unwrap_or_else(|error| Err(napi::Error::from_reason(error.to_string())))
}
