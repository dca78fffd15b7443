//! The moment of assembly: what was decided before is replayed byte for byte, then what has become stale is folded.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::birth::source;
use super::known::{Known, Shown, State, know, printed, replay, show};
use super::placeholder::{Placeholder, tokens_of, with_names};
use super::schedule::Moment;
use super::{Engine, EpochReport, FETCH_TOOL, Reply, Report};
use crate::config::Schedule;
use crate::error::{Error, Result};
use crate::plan::measure::Meter;
use crate::plan::prices::Prices;
use crate::reference::{ContentHash, Original};
use crate::store::{Batch, Epoch, Millis, Printed, Projection, Receipt, Scope};
use crate::summarize::NamesInSight;
use crate::transcript::{Kind, Transcript};

/// What a caller may ask of an assembly.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// Names of the tools that this run has; `None` when the caller does not know. Without the fetch tool nothing is folded.
    pub available_tools: Option<Vec<String>>,
    /// The model, for the tokens of images.
    pub model: Option<String>,
    /// Also replace oversize results that were never seen at birth (for engines that are wrapped, not hosted).
    pub refer_oversize: bool,
    /// What the model's tokens cost; by its family where nobody says.
    pub prices: Option<Prices>,
    /// How many tokens the host leaves for the history.
    pub token_budget: Option<u64>,
}

/// A fold that becomes a patch once its original is durable.
struct Proposal<'t, 'a> {
    known: &'t Known<'t, 'a>,
    reason: &'static str,
    source: Source,
    placeholder: Placeholder<'a>,
}

/// What one call folds.
struct Fold<'t, 'a> {
    proposals: Vec<Proposal<'t, 'a>>,
    /// Why the epoch is opened, where the schedule says.
    cause: Option<&'static str>,
    /// What to record of the session's tools.
    tools: Option<ContentHash>,
}

/// Where the original of a fold is.
enum Source {
    /// To be stored.
    New(Original),
    /// In the store already: the block is a copy of it.
    Stored(ContentHash),
}

impl Engine {
    /// Folds a history for the next model call: replays the session's projection, then folds what has become stale.
    ///
    /// A store that fails is no error here: [`Report::warning`] says so, and what could not be made durable stays in full.
    pub fn assemble(&self, scope: &Scope, messages: &[Value], options: &AssembleOptions, now: Millis) -> Reply {
        let transcript = Transcript::read(messages);
        let meter = Meter::new(options.model.as_deref(), self.config.encoding);
        let known = know(&transcript, &meter);
        let total = known.iter().map(|known| known.tokens).sum();
        let untouched = || Report { tokens_before: total, tokens_after: total, ..Report::default() };
        let has_fetch_tool =
            options.available_tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == FETCH_TOOL));
        if !self.config.sccs_enabled || !has_fetch_tool {
            return Reply::unchanged(untouched());
        }
        let ledger = match self.store.ledger(scope) {
            Ok(ledger) => ledger,
            Err(error) => return Reply::unchanged(Report { warning: Some((&error).into()), ..untouched() }),
        };
        let mut shown = Shown { reply: Reply::unchanged(untouched()), ..Shown::default() };
        let states = replay(&ledger, &known, &meter, &mut shown);
        let tools = hash_of_tools(options);
        let tools_changed = tools.is_some() && ledger.tools.is_some() && tools != ledger.tools;
        let moment = Moment { options, ledger: &ledger, tools_changed, now };
        let choice = self.choose(&transcript, &known, &states, &moment);
        let copies = printed(&ledger, Printed::Copy);
        let mut in_sight = match choice.blocks.as_slice() {
            [] => NamesInSight::default(),
            _ => names_in_sight(&known, &states, &shown),
        };
        let proposals: Vec<Proposal> = choice
            .blocks
            .iter()
            .filter_map(|chosen| {
                let known = &known[chosen.known];
                self.propose_fold(scope, known, chosen.reason, copies.get(&known.key.hash).copied(), &mut in_sight)
            })
            .collect();
        let fold = Fold { proposals, cause: choice.cause, tools };
        let replayed = shown.in_context.clone();
        if let Err(error) = self.fold(scope, &known, &fold, &meter, &mut shown, now) {
            shown.reply.report.warning = Some((&error).into());
            // A store that takes nothing more may still keep alive what is in sight; a locked one is not waited for twice.
            let batch = Batch { in_context: Some(replayed), ..Batch::default() };
            if !matches!(error, Error::StoreLocked { .. })
                && let Err(error) = self.store.commit(scope, &batch, now)
            {
                shown.reply.report.warning = Some((&error).into());
            }
        }
        shown.reply
    }

    fn propose_fold<'t, 'a>(
        &self,
        scope: &Scope,
        known: &'t Known<'t, 'a>,
        reason: &'static str,
        copy_of: Option<ContentHash>,
        in_sight: &mut NamesInSight,
    ) -> Option<Proposal<'t, 'a>> {
        let (source, placeholder) = match (known.block.kind, &known.block.result) {
            (Kind::Text(text), Some(result)) if self.may_replace(result, text) => {
                let max_chars = match reason {
                    "large" => self.config.sccs_summary_max_chars,
                    _ => self.config.keep_preview_chars,
                };
                let stored = copy_of.and_then(|hash| self.stored(scope, hash));
                let (source, text) = match stored.and_then(|stored| Some((stored.hash, text_of(stored)?))) {
                    Some((hash, text)) => (Source::Stored(hash), text),
                    None => {
                        let stored = self.storable(text)?;
                        (Source::New(Original::text(&stored, self.label(&source(result)))), stored)
                    }
                };
                let summary = self.summary(&text, result, max_chars);
                let summary = match self.config.schedule {
                    Schedule::CacheAware => with_names(summary, &text, known.tokens, &self.config, in_sight),
                    Schedule::EveryTurn => summary,
                };
                (source, Placeholder::output(&text, summary))
            }
            (Kind::Call(call), _) => {
                let json = self.storable(&call.arguments.to_json())?;
                let label = self.label(&format!("arguments of {}", call.name));
                (Source::New(Original::text(&json, label)), Placeholder::Arguments(call))
            }
            (Kind::Image(image), result) => {
                let source = match copy_of.and_then(|hash| self.stored(scope, hash)) {
                    Some(stored) => Source::Stored(stored.hash),
                    None => {
                        let bytes = base64_simd::STANDARD.decode_to_vec(image.base64?).ok()?;
                        let label = self.label(&result.as_ref().map_or_else(|| "image".to_owned(), source));
                        let mime = image.mime.unwrap_or("application/octet-stream");
                        Source::New(Original::image(bytes, mime, label))
                    }
                };
                (source, Placeholder::Image { tokens: known.tokens })
            }
            _ => return None,
        };
        Some(Proposal { known, reason, source, placeholder })
    }

    /// An original that this agent may see; `None` where it has expired or cannot be read, so that what is in sight is stored
    /// anew.
    fn stored(&self, scope: &Scope, hash: ContentHash) -> Option<Original> {
        let (_, original) = self.store.get(&hash.to_ref_id(64), &scope.agent_id).ok()??;
        Some(original)
    }

    /// Puts the originals of the proposals that pay, and only then shows them.
    fn fold(
        &self,
        scope: &Scope,
        known: &[Known],
        fold: &Fold,
        meter: &Meter,
        shown: &mut Shown,
        now: Millis,
    ) -> Result<()> {
        let hashes: Vec<ContentHash> = fold.proposals.iter().map(Proposal::hash).collect();
        let ids = if hashes.is_empty() { Vec::new() } else { self.store.ref_ids(&hashes)? };
        let mut batch = Batch { tools: fold.tools, ..Batch::default() };
        let mut accepted = Vec::new();
        let mut in_context = shown.in_context.clone();
        let (mut before, mut after) = (0, 0);
        for (proposal, id) in fold.proposals.iter().zip(ids) {
            let Some(value) = proposal.placeholder.render(&id, self, meter) else { continue };
            let tokens = tokens_of(&value, meter);
            if tokens >= proposal.known.tokens {
                continue;
            }
            (before, after) = (before + proposal.known.tokens, after + tokens);
            in_context.insert(proposal.hash());
            batch.projections.push(Projection {
                block: proposal.known.key,
                replacement: value.to_string(),
                original: proposal.hash(),
            });
            if let Source::New(original) = &proposal.source {
                batch.originals.push((id.clone(), original.clone()));
            }
            accepted.push((proposal, id, value));
        }
        batch.in_context = Some(in_context.clone());
        let epoch = accepted.first().map(|(first, ..)| Epoch {
            reason: fold.cause.unwrap_or(first.reason).into(),
            tokens_freed: before - after,
            tokens_rebilled: rebilled(known, &accepted) + after,
            blocks: accepted.len() as u64,
        });
        if let Some(epoch) = &epoch {
            batch.receipts.push(Receipt {
                kind: "assemble".into(),
                tokens_before: before,
                tokens_after: after,
                detail: json!({ "reason": epoch.reason, "blocks": epoch.blocks }).to_string(),
            });
        }
        batch.epoch = epoch.clone();
        self.store.commit(scope, &batch, now)?;
        for (proposal, id, value) in accepted {
            show(proposal.known, proposal.reason, Some(id.to_string()), value, meter, shown);
        }
        shown.in_context = in_context;
        shown.reply.report.epoch = epoch.map(|epoch| EpochReport {
            reason: epoch.reason,
            tokens_freed: epoch.tokens_freed,
            tokens_rebilled: epoch.tokens_rebilled,
        });
        Ok(())
    }
}

/// The names in what stays as it is: words of people and of the model, and placeholders.
fn names_in_sight(known: &[Known], states: &[State], shown: &Shown) -> NamesInSight {
    let mut names = NamesInSight::default();
    for (known, state) in known.iter().zip(states) {
        if let Kind::Text(text) = known.block.kind
            && (known.block.result.is_none() || matches!(state, State::Placeholder(_)))
        {
            names.add(text);
        }
    }
    for patch in &shown.reply.rewrite.patches {
        if let Some(text) = patch.value.as_str() {
            names.add(text);
        }
    }
    names
}

/// What a list of tools is known by, whatever its order.
fn hash_of_tools(options: &AssembleOptions) -> Option<ContentHash> {
    let tools: BTreeSet<&String> = options.available_tools.as_ref()?.iter().collect();
    Some(ContentHash::of(json!(tools).to_string().as_bytes()))
}

impl Proposal<'_, '_> {
    fn hash(&self) -> ContentHash {
        match &self.source {
            Source::New(original) => original.hash,
            Source::Stored(hash) => *hash,
        }
    }
}

fn text_of(original: Original) -> Option<String> {
    String::from_utf8(original.bytes).ok()
}

/// Tokens that stay, after the first block that changed: what a prompt cache has to take in anew.
fn rebilled(known: &[Known], accepted: &[(&Proposal, crate::reference::RefId, Value)]) -> u64 {
    let changed: BTreeSet<(usize, usize)> =
        accepted.iter().map(|(proposal, ..)| (proposal.known.message, proposal.known.index)).collect();
    let Some(first) = changed.first() else { return 0 };
    known
        .iter()
        .filter(|known| (known.message, known.index) > *first && !changed.contains(&(known.message, known.index)))
        .map(|known| known.tokens)
        .sum()
}
