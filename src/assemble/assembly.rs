//! Assembly: earlier decisions are replayed byte for byte, then content that has become stale is folded.
//!
//! The reply shows what the store returns after the commit, not the proposals: if two calls decide on one block at the
//! same time, both show the decision that was written first.

use std::borrow::Cow;
use std::collections::BTreeSet;

use concertina_base::parallel;
use serde_json::{Value, json};

use super::asked_again::NewReruns;
use super::assembly_log::AssemblyRecord;
use super::blocks::{KeyedBlock, key_blocks};
use super::decisions::Decisions;
use super::engine::Engine;
use super::fold_choice::FoldChoice;
use super::fold_commit::{PlannedFolds, Restored};
use super::fold_proposal::Proposal;
use super::marks::Marks;
use super::placeholder::{Placeholder, has_names};
use super::redaction::{Question, RedactorAnswer, RedactorMode};
use super::replay::{BlockState, ReplyBuilder, replay};
use super::report::{Reply, Report};
use crate::config::Enabled;
use crate::error::{Error, Result};
use crate::history::{Meter, asks_to_keep, fates, kept_by_person};
use crate::plan::cache::ColdCause;
use crate::plan::prices::StatedPrices;
use crate::reference::{ContentHash, FETCH_TOOL, Media};
use crate::store::{Batch, Ledger, Mark, MarkKind, Millis, Projection, Scope};
use crate::summarize::Around;
use crate::transcript::{BlockKind, Transcript};

/// The number of most recent texts and calls that represent the topic of the conversation. Chosen by judgement.
const MAX_RECENT_TEXTS: usize = 6;

/// The options of one assembly, beside the history itself.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// Names of the tools that are available in this run; `None` if the caller does not know. Nothing is folded without
    /// the fetch tool.
    pub available_tools: Option<Vec<String>>,
    /// The model: selects the image tokenizer and the per-model options.
    pub model: Option<String>,
    /// Also replace oversize results that were never seen at birth (for engines that are wrapped, not hosted).
    pub refer_oversize: bool,
    /// Prices of the model's tokens, as far as the caller states them.
    pub prices: Option<StatedPrices>,
    /// The token budget that the host reserves for the history.
    pub token_budget: Option<u64>,
    /// True if a user turn begins with this call and its message is not among the messages yet.
    pub turn_begins: bool,
    /// The message that begins the turn, if it is not among the messages yet.
    pub prompt: Option<String>,
    /// The way in which the caller's redactor takes part.
    pub redactor: RedactorMode,
}

impl Engine {
    /// Folds a history for the next model call: replays the session's projection, then folds what has become stale.
    ///
    /// A store failure is reported as [`Report::warning`]; blocks that could not be made durable stay in full.
    pub fn assemble(&self, scope: &Scope, messages: &[Value], options: &AssembleOptions, now: Millis) -> Reply {
        self.of_model(options.model.as_deref()).assemble_for_model(scope, messages, options, now)
    }

    fn assemble_for_model(&self, scope: &Scope, messages: &[Value], options: &AssembleOptions, now: Millis) -> Reply {
        let read = if options.turn_begins { Transcript::before_turn } else { Transcript::read };
        let transcript = read(messages);
        let fates = fates(&transcript, &self.config);
        let mut kept = kept_by_person(&transcript);
        if options.turn_begins {
            kept.is_last_turn = options.prompt.as_deref().is_some_and(asks_to_keep);
        }
        let meter = Meter::new(options.model.as_deref(), self.config.encoding);
        let has_fetch_tool =
            options.available_tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == FETCH_TOOL));
        let unchanged = |warning: Option<&Error>| {
            // A store that has just failed is not queried again.
            let ledger =
                if warning.is_none() { self.store.ledger(scope).unwrap_or_default() } else { Ledger::default() };
            let blocks = key_blocks(&transcript, &fates, &Decisions::default(), &self.contents, &meter);
            let report = Report { warning: warning.map(Into::into), ..unchanged_report(&blocks) };
            let record = AssemblyRecord::of(&blocks, &report, &ledger, &self.config, true, now);
            let mut record = record.with_host_state(&transcript, options.token_budget);
            record.has_fetch_tool = false;
            self.assemblies.add(scope, record, (&transcript, &blocks), ledger.last_request);
            Reply::unchanged(report)
        };
        if self.config.sccs_enabled == Enabled::Off || !has_fetch_tool {
            return unchanged(None);
        }
        let attempt = || {
            let ledger = self.store.ledger(scope)?;
            let location = || self.store.location();
            let decisions = Decisions::of(&ledger, location, &self.replacements, &self.contents)?;
            let mut blocks = key_blocks(&transcript, &fates, &decisions, &self.contents, &meter);
            let marks = Marks::apply(&ledger, &decisions, &kept, &mut blocks);
            let first_new = self.assemblies.first_unseen(scope, &transcript);
            let reruns = NewReruns::find(&fates.reruns, first_new, &decisions, &mut blocks);
            Assembly {
                engine: self,
                scope,
                transcript: &transcript,
                blocks: &blocks,
                ledger: &ledger,
                decisions: &decisions,
                marks: &marks,
                reruns: &reruns,
                options,
                now,
            }
            .run()
        };
        // The store was replaced, so everything read from it is outdated: read again, once.
        let retry_if_replaced =
            |error| if matches!(error, Error::StoreReplaced { .. }) { attempt() } else { Err(error) };
        attempt().or_else(retry_if_replaced).unwrap_or_else(|error| unchanged(Some(&error)))
    }
}

/// One assembly over the ledger that was read for it.
pub(super) struct Assembly<'e, 't, 'a> {
    pub(super) engine: &'e Engine,
    pub(super) scope: &'e Scope,
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) blocks: &'e [KeyedBlock<'t, 'a>],
    pub(super) ledger: &'e Ledger,
    pub(super) decisions: &'e Decisions<'e>,
    pub(super) marks: &'e Marks,
    pub(super) reruns: &'e NewReruns,
    pub(super) options: &'e AssembleOptions,
    pub(super) now: Millis,
}

/// A block chosen for folding, after the caller's redactor was applied.
struct RedactedBlock<'e, 't, 'a> {
    block: &'e KeyedBlock<'t, 'a>,
    reason: &'static str,
    /// The original that the block is a copy of.
    copy_of: Option<ContentHash>,
    /// The masked text, if the redactor changed it.
    masked: Option<String>,
}

impl<'e, 't, 'a> Assembly<'e, 't, 'a> {
    /// # Errors
    /// [`Error::StoreReplaced`]; every other error becomes a warning.
    fn run(&self) -> Result<Reply> {
        let Self { engine, scope, transcript, blocks, ledger, options, now, .. } = *self;
        let mut builder = ReplyBuilder { reply: Reply::unchanged(unchanged_report(blocks)), ..ReplyBuilder::default() };
        let states = replay(self.decisions, blocks, &mut builder);
        let model_and_tools = hash_of_model_and_tools(options);
        let is_switched = model_and_tools.is_some() && ledger.tools.is_some() && model_and_tools != ledger.tools;
        let is_rewritten = is_rewritten(ledger, &states, &builder);
        let choice =
            if ledger.is_off { FoldChoice::default() } else { self.choose(&states, is_switched, is_rewritten) };
        let is_warm = !choice.cause.is_some_and(ColdCause::is_cold_reason);
        let (redacted, questions) = self.ask_redactor(&choice);
        if options.redactor == RedactorMode::Ask && !questions.is_empty() {
            return Ok(Reply { questions, ..Reply::default() });
        }
        let proposals = self.propose(&redacted, &states, &builder);
        // Only a proposal tells the original of arguments, images and texts with secrets.
        let is_pinned = |proposal: &Proposal| self.marks.is_pinned(&proposal.source.original().hash);
        let (pinned, proposals): (Vec<_>, Vec<_>) = proposals.into_iter().partition(is_pinned);
        let pinned = pinned.iter().map(|proposal| Mark::on(MarkKind::Pinned, proposal.block.key.hash)).collect();
        let restored = self.restored();
        let planned = PlannedFolds { proposals, restored, pinned, choice, states, model_and_tools };
        match self.commit(&planned, &mut builder) {
            Err(error @ Error::StoreReplaced { .. }) => return Err(error),
            Err(error) => {
                builder.reply.report.warning = Some((&error).into());
                // A store that rejects new originals may still extend the life of those in context; a locked one is not
                // waited for twice.
                let batch = Batch { in_context: Some(builder.in_context.clone()), ..Batch::after(ledger) };
                if !matches!(error, Error::StoreLocked { .. })
                    && let Err(error) = engine.store.commit(scope, &batch, now)
                {
                    builder.reply.report.warning = Some((&error).into());
                }
            }
            Ok(()) => {}
        }
        let record = AssemblyRecord::of(blocks, &builder.reply.report, ledger, &engine.config, is_warm, now);
        let record = record.with_host_state(transcript, options.token_budget);
        engine.assemblies.add(scope, record, (transcript, blocks), ledger.last_request);
        Ok(builder.reply)
    }

    /// Returns the pinned originals that are to be shown in the place of what the host holds for them.
    fn restored(&self) -> Vec<Restored<'e, 't, 'a>> {
        let Self { engine, scope, now, .. } = *self;
        let of = |block: &'e KeyedBlock<'t, 'a>| {
            let original = self.marks.to_restore(self.decisions, block)?;
            // An original that has expired or cannot be read stays folded.
            let (_, stored) = engine.store.get(&original.to_ref_id(64), &scope.agent_id, now).ok()??;
            let text = std::str::from_utf8(&stored.bytes).ok().filter(|_| stored.media == Media::Text)?;
            Some(Restored { block, original, text: text.to_owned() })
        };
        self.blocks.iter().filter_map(of).collect()
    }

    /// Returns the chosen blocks that the caller's redactor permits, and the questions that it must answer first.
    fn ask_redactor(&self, choice: &FoldChoice) -> (Vec<RedactedBlock<'e, 't, 'a>>, Vec<Question>) {
        let (mut redacted, mut questions, mut keys) = (Vec::new(), Vec::new(), BTreeSet::new());
        for chosen in &choice.blocks {
            let block = &self.blocks[chosen.index];
            if !keys.insert(block.key) {
                continue;
            }
            let copy_of = self.decisions.copies.get(&block.key.hash).copied();
            // For a shortened copy of ours the redactor was asked at birth.
            let must_ask = self.options.redactor != RedactorMode::Absent && copy_of.is_none();
            let answer = || {
                let is_image = matches!(block.block.kind, BlockKind::Image(_));
                let frames = if is_image { self.image_frames(block, None) } else { Vec::new() };
                self.engine.redaction_of(block, &frames)
            };
            let masked = match if must_ask { answer() } else { Ok(RedactorAnswer::Unchanged) } {
                Ok(RedactorAnswer::Unchanged) => None,
                Ok(RedactorAnswer::Masked(text)) => Some(text),
                Ok(RedactorAnswer::Withheld) => continue,
                Err(question) => {
                    questions.push(*question);
                    continue;
                }
            };
            redacted.push(RedactedBlock { block, reason: chosen.reason, copy_of, masked });
        }
        (redacted, questions)
    }

    fn propose(
        &self,
        redacted: &[RedactedBlock<'e, 't, 'a>],
        states: &[BlockState],
        builder: &ReplyBuilder,
    ) -> Vec<Proposal<'e, 't, 'a>> {
        let config = &self.engine.config;
        let proposals = parallel::map(redacted, |(): &mut (), RedactedBlock { block, reason, copy_of, masked }| {
            self.propose_fold(block, reason, *copy_of, masked.as_deref())
        });
        let mut proposals: Vec<Proposal> = proposals.into_iter().flatten().collect();
        let is_output = |proposal: &Proposal| matches!(proposal.placeholder, Placeholder::Output { .. });
        if has_names(config) && proposals.iter().any(is_output) {
            let mut visible = visible_names(self.blocks, states, builder);
            for proposal in &mut proposals {
                let (original, tokens) = (proposal.source.original(), proposal.block.tokens);
                proposal.placeholder.add_names(original, tokens, config, &mut visible);
            }
        }
        proposals
    }
}

/// Returns the report of an unchanged history.
fn unchanged_report(blocks: &[KeyedBlock]) -> Report {
    let total = blocks.iter().map(|block| block.tokens).sum();
    Report { tokens_before: total, tokens_after: total, ..Report::default() }
}

/// Collects the names that the model can still see: in unchanged words of people and of the model, and in placeholders.
/// The most recent words and calls are added separately.
fn visible_names(blocks: &[KeyedBlock], states: &[BlockState], builder: &ReplyBuilder) -> Around {
    let mut visible = Around::default();
    let mut recent_texts = Vec::new();
    for (block, state) in blocks.iter().zip(states) {
        match block.block.kind {
            BlockKind::Text(text) => {
                if block.block.result.is_none() || matches!(state, BlockState::Placeholder(_)) {
                    visible.add(text);
                }
                if block.block.result.is_none() {
                    recent_texts.push(Cow::Borrowed(text));
                }
            }
            BlockKind::Call(call) => {
                let written = call.arguments.to_json();
                visible.add_written(&written);
                recent_texts.push(written.into());
            }
            _ => {}
        }
    }
    for text in recent_texts.iter().rev().take(MAX_RECENT_TEXTS) {
        visible.add_recent(text);
    }
    for patch in &builder.reply.rewrite.patches {
        if let Some(text) = patch.value.as_str() {
            visible.add(text);
        }
    }
    visible
}

/// Returns true if the last assembly had folded something of which nothing is in context now.
fn is_rewritten(ledger: &Ledger, states: &[BlockState], builder: &ReplyBuilder) -> bool {
    let is_gone = |row: &Projection| {
        let was_in_context = ledger.state.as_ref().is_some_and(|state| state.in_context.contains(&row.original));
        was_in_context && !builder.in_context.contains(&row.original) && !builder.withdrawn.contains(&row.block)
    };
    states.iter().all(|state| *state == BlockState::Open) && ledger.projections.iter().any(is_gone)
}

/// Returns a hash that identifies the model and its set of tools, in any order.
fn hash_of_model_and_tools(options: &AssembleOptions) -> Option<ContentHash> {
    let tools: Option<BTreeSet<&String>> = options.available_tools.as_ref().map(|tools| tools.iter().collect());
    let is_named = tools.is_some() || options.model.is_some();
    is_named.then(|| ContentHash::of(json!([options.model, tools]).to_string().as_bytes()))
}
