//! The class with a store. Open stores are shared in the process, by directory: the host evaluates the plugin's module
//! several times, and the addon is the one thing that all copies share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use concertina::assemble::{AssembleOptions, Engine, Fetch};
use concertina::config::Config;
use concertina::error::{Error, Result};
use concertina::plan::prices::{Prices, StatedPrices};
use concertina::store::{Receipt, Scope, SqliteStore, StoreOptions, TurnStatus};
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::guard::{guard, to_napi};
use crate::handover::Handover;
use crate::pure::options;
use crate::work::{Outcome, Work, to_json};

static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<SqliteStore>>>> = LazyLock::new(Mutex::default);

/// The store of a directory: the one this process has open, or a newly opened one.
fn open_store(dir: &Path, config: &Config) -> Result<Arc<SqliteStore>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    if let Some(store) = open.get(&key).and_then(Weak::upgrade) {
        return Ok(store);
    }
    let store = Arc::new(SqliteStore::open(&key, StoreOptions::from(config))?);
    open.retain(|_, store| store.strong_count() > 0);
    open.insert(key, Arc::downgrade(&store));
    Ok(store)
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
}

#[napi]
impl NativeConcertina {
    /// Opens the store in a directory.
    #[napi(factory)]
    pub async fn open(dir: String, options_json: String) -> napi::Result<Self> {
        on_tokio(move || {
            let (config, warnings) = Config::from_json(&options(&options_json)?)?;
            let store = open_store(Path::new(&dir), &config)?;
            Ok(Self { engine: Mutex::new(Some(Arc::new(Engine::new(store, config)?))), warnings })
        })
        .await
    }

    /// One line for each option that was corrected.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn engine(&self) -> Result<Arc<Engine>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Error::Closed)
    }

    /// The moment of birth. `messages` holds the result, after its call where that is known.
    #[napi]
    pub fn admit(&self, messages: &mut Handover, session: String, now: f64) -> napi::Result<AsyncTask<Work>> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        let slices = messages.take();
        Ok(Work::queue(move || {
            let scope: Scope = read::<Session>(&session)?.into();
            let messages = slices.read()?;
            let Some((message, before)) = messages.split_last() else { return Ok(Outcome::default()) };
            let reply = engine.admit(&scope, before.last(), message, now as i64);
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
            let reply = engine.assemble(&scope, &slices.read()?, &asked, now as i64);
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

    /// Gives a sub-agent's session what its parent's session may see.
    #[napi]
    pub async fn inherit(&self, parent: String, child: String, now: f64) -> napi::Result<()> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || {
            engine.inherit(&read::<Session>(&parent)?.into(), &read::<Session>(&child)?.into(), None, now as i64)
        })
        .await
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

    /// Forgets a session; resolves to JSON of what was removed.
    #[napi]
    pub async fn purge(&self, session_id: String) -> napi::Result<String> {
        let engine = self.engine().map_err(|error| to_napi(&error))?;
        on_tokio(move || Ok(removed(engine.store().purge(&session_id)?))).await
    }

    /// Lets go of the store. The file closes when nobody in the process uses it any more.
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
