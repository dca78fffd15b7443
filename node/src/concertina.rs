//! The class with a store. Each opener has its own options, while the store itself may be shared ([`crate::registry`]).

use std::collections::BTreeSet;
use std::path::Path;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use concertina::assemble::{self, Engine, FETCH_TOOL, Fetch, HostCuts, RedactorAnswer, SEARCH_CHARS};
use concertina::config::{Config, Enabled};
use concertina::error::{Error, Result};
use concertina::foreign::{self, Journal, Skipped};
use concertina::reference::{RefId, parse_ref};
use concertina::store::{Receipt, Retention, Scope, StoreOptions, TurnStatus};
use concertina::transcript::Transcript;
use napi::Env;
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi_derive::napi;
use serde_json::{Value, json};

use crate::guard::{guard, to_napi};
use crate::handover::Handover;
use crate::pure::options;
use crate::registry::{self, StorePlace};
use crate::report::{
    Answer, AssembleOptions, BirthOptions, FetchRequest, Fetched, FiguresQuery, FinishedTurn, Folded, Prices, Removed,
    SearchQuery, SearchResult, Session, Stats, Unfolded,
};
use crate::work::{ThenBlocking, blocking, heavy, heavy_blocking, run_in_background};

/// The rules that the options set for a fresh tool result.
#[napi(object, object_from_js = false)]
pub struct AtBirth {
    /// The value of the option `secrets`.
    #[napi(ts_type = "\"keep-inline\" | \"store\" | \"redact\"")]
    pub secrets: String,
    /// True if texts of this tool may be stored.
    pub stores_texts: bool,
}

/// A parser or library that is disabled for some texts, or for all, until the next release.
#[napi(object, object_from_js = false)]
pub struct SkippedCode {
    /// The name of the grammar or library.
    pub code: String,
    /// The number of texts on which it crashed or hung. These texts are never passed to it again.
    pub texts: u32,
    /// True if it is disabled for every text.
    pub is_off: bool,
}

/// The ids that were to be restored.
#[napi(object, object_from_js = false)]
pub struct RestoredIds {
    /// Those that are shown in full from the next assembly on.
    pub restored: Vec<String>,
    /// Those of no original that the session shows in a shorter form.
    pub unknown: Vec<String>,
}

/// One open store with one set of options.
#[napi]
pub struct NativeConcertina {
    engine: Mutex<Option<Arc<Engine>>>,
    warnings: Vec<String>,
    /// The journal of parser calls. Absent if the store keeps it.
    journal: Option<Arc<Journal>>,
    /// Notices from opening the store that nobody has read yet.
    notices: Mutex<Vec<String>>,
}

#[napi]
impl NativeConcertina {
    /// Opens the store at `place`. `retention` is `"clock"` (the default) or `"host"`. With `today`, a date such as
    /// `2026-01-31`, a damaged file is renamed to include that date and replaced by a new one. `journalDir` is the
    /// directory of the journal of parser calls for a store in a database; a store in a directory keeps that journal
    /// there.
    #[napi(ts_return_type = "Promise<NativeConcertina>")]
    pub fn open(
        env: &Env,
        place: StorePlace,
        options_json: String,
        retention: Option<String>,
        today: Option<String>,
        journal_dir: Option<String>,
    ) -> napi::Result<PromiseRaw<'_, Self>> {
        blocking(env, move || {
            let (config, warnings) = Config::from_json(&options(&options_json)?)?;
            let retention = if retention.as_deref() == Some("host") { Retention::Held } else { Retention::Clock };
            let options = StoreOptions { retention, ..StoreOptions::from(&config) };
            let (store, notice) = registry::open(place, options, today.as_deref())?;
            let engine = Mutex::new(Some(Arc::new(Engine::new(store, config)?)));
            let journal = journal_dir.map(|dir| Journal::open(Path::new(&dir)));
            Ok(Self { engine, warnings, journal, notices: Mutex::new(notice.into_iter().collect()) })
        })
    }

    /// Returns the notices for the operator that were not returned before, one line each: a file was replaced, set
    /// aside, or accessible to other users.
    #[napi]
    pub fn notices(&self) -> napi::Result<Vec<String>> {
        let engine = self.engine()?;
        guard(|| {
            let mut notices = std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner));
            notices.extend(engine.store().notices());
            notices.extend(self.journal.iter().flat_map(|journal| journal.notices()));
            Ok(notices)
        })
    }

    /// Returns the parsers and libraries that are disabled for some texts, or for all, because they crashed or hung.
    #[napi]
    pub fn skipped(&self) -> napi::Result<Vec<SkippedCode>> {
        guard(|| {
            let of = |Skipped { code, texts, is_off }| SkippedCode { code, texts: texts as u32, is_off };
            Ok(foreign::skipped().into_iter().map(of).collect())
        })
    }

    /// The corrections to the options, one line each.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn engine(&self) -> napi::Result<Arc<Engine>> {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone();
        engine.ok_or_else(|| to_napi(&Error::Closed))
    }

    /// Runs a job that mostly waits for the store.
    fn job<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        job: impl FnOnce(&Engine) -> Result<T> + Send + 'static,
    ) -> napi::Result<PromiseRaw<'env, T>> {
        let engine = self.engine()?;
        blocking(env, move || job(&engine))
    }

    /// Returns the rules that the options set for a fresh result of `tool`.
    #[napi]
    pub fn at_birth(&self, tool: String) -> napi::Result<AtBirth> {
        let engine = self.engine()?;
        guard(|| {
            let config = engine.config();
            let can_store =
                config.sccs_enabled != Enabled::Off && tool != FETCH_TOOL && !config.protect.covers_tool(&tool);
            let stores_texts = can_store && (config.fusion_enabled || !config.is_exact_tool(&tool));
            Ok(AtBirth { secrets: config.secrets.as_str().to_owned(), stores_texts })
        })
    }

    /// Shortens a fresh tool result before it is first sent. `messages` ends with the result. The block of its call,
    /// without an id, stands before it if it is known. If a redactor masked the result, the masked result comes second
    /// to last and the unmasked one last.
    #[napi]
    pub fn admit<'env>(
        &self,
        env: &'env Env,
        messages: &Handover,
        session: Session,
        options: BirthOptions,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, Folded>> {
        let (engine, slices) = (self.engine()?, messages.slices());
        heavy(env, move || {
            let engine = engine.of_model(options.model.as_deref());
            let messages = slices.read()?;
            let (shown, unmasked) =
                messages.split_at(messages.len().saturating_sub(usize::from(options.is_masked == Some(true))));
            let unmasked = unmasked.first();
            let (message, before) =
                shown.split_last().ok_or_else(|| Error::bad_argument("messages", "empty", "the result"))?;
            let units = |units: u32| units as usize;
            let (cut_at, keeps) = (options.host_cut_at.map(units), options.host_keeps.map(units));
            let host = HostCuts { before: cut_at, unmasked, after: keeps };
            let answer = before.last().map(|call| answer_with(call, message));
            let fresh = engine.propose_fresh(answer.as_ref(), message, host);
            Ok(ThenBlocking(move || Ok(Folded::from(engine.show_fresh(&session.into(), &fresh, now as i64)))))
        })
    }

    /// Folds a history. If the answer has questions, the same messages may be assembled again.
    #[napi]
    pub fn assemble<'env>(
        &self,
        env: &'env Env,
        messages: &Handover,
        session: Session,
        options: AssembleOptions,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, Folded>> {
        let (engine, slices) = (self.engine()?, messages.slices());
        heavy_blocking(env, move || {
            let parsed = options.try_into()?;
            let messages = slices.read()?;
            let reply = engine.assemble(&session.into(), &messages, &parsed, now as i64);
            if reply.questions.is_empty() {
                // Freeing so many small allocations is slow, and the caller need not wait for it.
                drop(run_in_background(move || drop(messages)));
            } else {
                slices.put_back(messages);
            }
            Ok(reply.into())
        })
    }

    /// Stores the redactor's answers to the questions of `assemble` in memory.
    #[napi]
    pub fn hear(&self, answers: Vec<Answer>) -> napi::Result<()> {
        let engine = self.engine()?;
        guard(|| {
            for Answer { key, masked, stays } in answers {
                engine.remember_redaction(
                    key,
                    if stays {
                        RedactorAnswer::Withheld
                    } else {
                        masked.map_or(RedactorAnswer::Unchanged, RedactorAnswer::Masked)
                    },
                );
            }
            Ok(())
        })
    }

    /// Records a finished turn and its requests. Resolves to `"duplicate"` if the turn was recorded before.
    #[napi(ts_return_type = "Promise<\"committed\" | \"duplicate\">")]
    pub fn commit_turn<'env>(
        &self,
        env: &'env Env,
        messages: &Handover,
        session: Session,
        turn: FinishedTurn,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, String>> {
        let (engine, slices) = (self.engine()?, messages.slices());
        heavy_blocking(env, move || {
            let turn = assemble::FinishedTurn {
                advancement_key: &turn.advancement_key,
                session_key: turn.session_key.as_deref(),
                messages: &slices.read()?,
                prices: turn.prices.map(Prices::stated).transpose()?,
                window: turn.context_window.map(|tokens| tokens as u64),
                tool: &turn.tool,
                failed: &turn.failed,
                is_held_out: turn.held_out,
            };
            let status = match engine.commit_turn(&session.into(), &turn, now as i64)? {
                TurnStatus::Committed => "committed",
                TurnStatus::Duplicate => "duplicate",
            };
            Ok(status.to_owned())
        })
    }

    /// Grants a sub-agent's session the originals of its parent's session: all of them, or only those with the ids in
    /// `named`.
    #[napi]
    pub fn inherit<'env>(
        &self,
        env: &'env Env,
        parent: Session,
        child: Session,
        now: f64,
        named: Option<Vec<String>>,
    ) -> napi::Result<PromiseRaw<'env, ()>> {
        self.job(env, move |engine| {
            let named: Option<Vec<RefId>> =
                named.map(|ids| ids.iter().map(|id| parse_ref(id)).collect()).transpose()?;
            engine.store().inherit(&parent.into(), &child.into(), named.as_deref(), now as i64)
        })
    }

    /// Ends a session: the time to live of the originals that it held begins.
    #[napi]
    pub fn end_session<'env>(&self, env: &'env Env, session: Session, now: f64) -> napi::Result<PromiseRaw<'env, ()>> {
        self.job(env, move |engine| engine.store().end_session(&session.into(), now as i64))
    }

    /// Ends the held sessions that are not in `alive`. Resolves to their number.
    #[napi]
    pub fn settle<'env>(&self, env: &'env Env, alive: Vec<String>, now: f64) -> napi::Result<PromiseRaw<'env, u32>> {
        self.job(env, move |engine| {
            let alive: BTreeSet<String> = alive.into_iter().collect();
            Ok(engine.store().settle(&alive, now as i64)? as u32)
        })
    }

    /// Replaces placeholders by their originals. With a session, only placeholders that it was shown are replaced;
    /// without one, every placeholder whose original the agent may fetch.
    #[napi]
    pub fn unfold<'env>(
        &self,
        env: &'env Env,
        messages: &Handover,
        session_id: Option<String>,
        agent_id: Option<String>,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, Unfolded>> {
        let (engine, slices) = (self.engine()?, messages.slices());
        heavy_blocking(env, move || {
            let agent_id = agent_id.unwrap_or_else(|| "main".into());
            let scope = session_id.map(|session_id| Scope { agent_id: agent_id.clone(), session_id });
            Ok(engine.unfold(scope.as_ref(), &agent_id, &slices.read()?, now as i64)?.into())
        })
    }

    /// Records the report of compressing the rule files.
    #[napi]
    pub fn record_rules<'env>(
        &self,
        env: &'env Env,
        session: Session,
        #[napi(ts_arg_type = "RulesReport")] report: Value,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, ()>> {
        self.job(env, move |engine| {
            let tokens = |name: &str| {
                let expected = "a whole number of at least 0";
                report[name]
                    .as_u64()
                    .ok_or_else(|| Error::bad_argument(format!("report.{name}"), &report[name], expected))
            };
            let (tokens_before, tokens_after) = (tokens("tokensBefore")?, tokens("tokensAfter")?);
            let receipt = Receipt { kind: "rules".into(), tokens_before, tokens_after, detail: report.to_string() };
            engine.record(&session.into(), receipt, now as i64)
        })
    }

    /// Fetches originals.
    #[napi]
    pub fn fetch<'env>(&self, env: &'env Env, request: FetchRequest) -> napi::Result<PromiseRaw<'env, Fetched>> {
        self.job(env, move |engine| {
            let now = request.now.ok_or_else(|| Error::bad_argument("now", "absent", "milliseconds since 1970"))?;
            let session_id = request.session_id.unwrap_or_default();
            let fetch = Fetch {
                ref_ids: request.ref_ids.unwrap_or_default(),
                lines: request.lines.map(|lines| Fetch::parse_range("lines", &lines)).transpose()?,
                characters: request.chars.map(|chars| Fetch::parse_range("chars", &chars)).transpose()?,
                pattern: request.pattern,
                done: request.done.unwrap_or_default(),
                query: request.query,
                max_chars: request.max_chars.map_or(usize::MAX, |most| most as usize),
            };
            let done = engine.fetch(&Session { agent_id: request.agent_id, session_id }.into(), &fetch, now as i64)?;
            Ok(Fetched { content: done.blocks.into_iter().map(Into::into).collect(), found: done.found as u32 })
        })
    }

    /// Searches originals.
    #[napi]
    pub fn search<'env>(&self, env: &'env Env, query: SearchQuery) -> napi::Result<PromiseRaw<'env, SearchResult>> {
        self.job(env, move |engine| {
            let max_chars = query.max_chars.map_or(SEARCH_CHARS, |most| most as usize);
            let session = query.session.map(Into::into);
            Ok(engine.search(session.as_ref(), &query.query, max_chars, query.now as i64)?.into())
        })
    }

    /// Returns the totals of a session or of the whole store.
    #[napi]
    pub fn stats<'env>(&self, env: &'env Env, session: Option<Session>) -> napi::Result<PromiseRaw<'env, Stats>> {
        self.job(env, move |engine| Ok(engine.store().stats(session.map(Into::into).as_ref())?.into()))
    }

    /// Returns what was sent and billed, and the estimate of the same without Concertina.
    #[napi(ts_return_type = "Promise<StoredFigures>")]
    pub fn figures<'env>(&self, env: &'env Env, query: FiguresQuery) -> napi::Result<PromiseRaw<'env, Value>> {
        self.job(env, move |engine| Ok(json!(engine.store().figures(&query.into())?)))
    }

    /// Returns the sessions in the store, the most recently seen first.
    #[napi(ts_return_type = "Promise<KnownSession[]>")]
    pub fn sessions<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Value>> {
        self.job(env, move |engine| Ok(json!(engine.store().sessions()?)))
    }

    /// Switches folding off in a session, or on again. Folded content stays folded.
    #[napi]
    pub fn switch<'env>(
        &self,
        env: &'env Env,
        session: Session,
        is_off: bool,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, ()>> {
        self.job(env, move |engine| engine.store().switch(&session.into(), is_off, now as i64))
    }

    /// Asks for everything foldable to be folded at the session's next assembly.
    #[napi]
    pub fn fold_all<'env>(&self, env: &'env Env, session: Session, now: f64) -> napi::Result<PromiseRaw<'env, ()>> {
        self.job(env, move |engine| engine.fold_all(&session.into(), now as i64))
    }

    /// Returns the originals that stand in a session's context in a shorter form, the last folded first.
    #[napi(ts_return_type = "Promise<FoldedOriginal[]>")]
    pub fn folded<'env>(&self, env: &'env Env, session: Session) -> napi::Result<PromiseRaw<'env, Value>> {
        self.job(env, move |engine| Ok(json!(engine.folded(&session.into())?)))
    }

    /// Pins the last tool result of a session.
    #[napi]
    pub fn pin_last<'env>(&self, env: &'env Env, session: Session, now: f64) -> napi::Result<PromiseRaw<'env, ()>> {
        self.job(env, move |engine| engine.pin_last(&session.into(), now as i64))
    }

    /// Pins originals of a session and shows them in full from the next assembly on.
    #[napi]
    pub fn restore<'env>(
        &self,
        env: &'env Env,
        session: Session,
        ids: Vec<String>,
        now: f64,
    ) -> napi::Result<PromiseRaw<'env, RestoredIds>> {
        self.job(env, move |engine| {
            let ids: Vec<RefId> = ids.iter().map(|id| parse_ref(id)).collect::<Result<_>>()?;
            let done = engine.restore(&session.into(), &ids, now as i64)?;
            let words = |ids: Vec<RefId>| ids.iter().map(RefId::to_string).collect();
            Ok(RestoredIds { restored: words(done.marked), unknown: words(done.unknown) })
        })
    }

    /// Takes back what is pinned in a session. Resolves to the number of contents.
    #[napi]
    pub fn unpin<'env>(&self, env: &'env Env, session: Session, now: f64) -> napi::Result<PromiseRaw<'env, u32>> {
        self.job(env, move |engine| Ok(engine.unpin(&session.into(), now as i64)? as u32))
    }

    /// Verifies the whole file. With `today` a damaged file is set aside and replaced by a new one. Resolves to true
    /// if that happened.
    #[napi]
    pub fn check<'env>(&self, env: &'env Env, today: Option<String>) -> napi::Result<PromiseRaw<'env, bool>> {
        self.job(env, move |engine| engine.store().check(today.as_deref()))
    }

    /// Removes expired content.
    #[napi]
    pub fn sweep<'env>(&self, env: &'env Env, now: f64) -> napi::Result<PromiseRaw<'env, Removed>> {
        self.job(env, move |engine| Ok(engine.store().sweep(now as i64)?.into()))
    }

    /// Removes a session and the originals that no other session shares. Resolves to what was removed. With `dry`
    /// nothing is removed, and it resolves to what would be.
    #[napi]
    pub fn purge<'env>(&self, env: &'env Env, session: Session, dry: bool) -> napi::Result<PromiseRaw<'env, Removed>> {
        self.job(env, move |engine| {
            let (store, scope) = (engine.store(), session.into());
            Ok(if dry { store.purgeable(&scope) } else { store.purge(&scope) }?.into())
        })
    }

    /// Releases the store. The file is closed when nothing in the process uses it any more.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
        blocking(env, move || {
            drop(engine);
            Ok(())
        })
    }
}

/// Returns an answer of the model that makes a call under each id that the results in a message name.
fn answer_with(call: &Value, message: &Value) -> Value {
    let read = Transcript::read(slice::from_ref(message));
    let blocks = read.messages.iter().flat_map(|message| &message.blocks);
    let ids: BTreeSet<&str> = blocks.filter_map(|block| Some(block.result.as_ref()?.call_id)).collect();
    let call_under = |id: &&str| {
        let mut call = call.clone();
        call["id"] = json!(id);
        call
    };
    json!({ "role": "assistant", "content": ids.iter().map(call_under).collect::<Value>() })
}
