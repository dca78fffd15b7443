//! The moment of assembly: what was decided before is replayed byte for byte, then what has become stale is folded.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::birth::label;
use super::placeholder::{Placeholder, tokens_of};
use super::{Action, Engine, EpochReport, FETCH_TOOL, Reply, Report};
use crate::error::{Error, Result};
use crate::plan::measure::Meter;
use crate::plan::stale::{Reason, stale};
use crate::reference::{ContentHash, Original};
use crate::store::{Batch, BlockKey, Epoch, Ledger, Millis, Printed, Projection, Receipt, Scope};
use crate::transcript::{Block, Kind, Patch, Transcript};

/// What a caller may ask of an assembly.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// Names of the tools that this run has; `None` when the caller does not know. Without the fetch tool nothing is folded.
    pub available_tools: Option<Vec<String>>,
    /// The model, for the tokens of images.
    pub model: Option<String>,
    /// Also replace oversize results that were never seen at birth (for engines that are wrapped, not hosted).
    pub refer_oversize: bool,
}

/// One block with what it is known by.
struct Known<'t, 'a> {
    message: usize,
    index: usize,
    block: &'t Block<'a>,
    key: BlockKey,
    tokens: u64,
}

/// A fold that becomes a patch once its original is durable.
struct Proposal<'t, 'a> {
    known: &'t Known<'t, 'a>,
    reason: &'static str,
    source: Source,
    placeholder: Placeholder<'a>,
}

/// Where the original of a fold is.
enum Source {
    /// To be stored.
    New(Original),
    /// In the store already: the block is a copy of it.
    Stored(ContentHash),
}

/// Decided blocks of this call: patches and what they refer to.
#[derive(Default)]
struct Shown {
    reply: Reply,
    in_context: BTreeSet<ContentHash>,
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
        let open = replay(&ledger, &known, &meter, &mut shown);
        let proposals = self.propose(scope, &transcript, &ledger, &open, &meter, options.refer_oversize);
        let replayed = shown.in_context.clone();
        if let Err(error) = self.fold(scope, &known, &proposals, &meter, &mut shown, now) {
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

    fn propose<'t, 'a>(
        &self,
        scope: &Scope,
        transcript: &Transcript<'a>,
        ledger: &Ledger,
        open: &[&'t Known<'t, 'a>],
        meter: &Meter,
        refer_oversize: bool,
    ) -> Vec<Proposal<'t, 'a>> {
        let copies = printed(ledger, Printed::Copy);
        let candidates: HashMap<(usize, usize), Reason> = stale(transcript, &self.config, meter, &|_| false)
            .into_iter()
            .map(|candidate| ((candidate.message, candidate.block), candidate.reason))
            .collect();
        open.iter()
            .filter_map(|known| {
                let reason = match candidates.get(&(known.message, known.index)) {
                    Some(Reason::Stale) => "stale",
                    Some(Reason::Superseded) => "superseded",
                    None if refer_oversize && self.is_oversize_output(known.block) => "large",
                    None => return None,
                };
                self.propose_fold(scope, known, reason, copies.get(&known.key.hash).copied())
            })
            .collect()
    }

    /// Whether a fresh block is an output over the reference threshold that birth would have replaced.
    fn is_oversize_output(&self, block: &Block) -> bool {
        match (block.kind, &block.result) {
            (Kind::Text(text), Some(result)) => {
                let tool = result.tool_name.unwrap_or_default();
                text.chars().count() as u64 > self.config.sccs_compress_threshold
                    && tool != FETCH_TOOL
                    && !self.config.is_exact_tool(tool)
            }
            _ => false,
        }
    }

    fn propose_fold<'t, 'a>(
        &self,
        scope: &Scope,
        known: &'t Known<'t, 'a>,
        reason: &'static str,
        copy_of: Option<ContentHash>,
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
                        (Source::New(Original::text(&stored, label(result))), stored)
                    }
                };
                (source, Placeholder::output(&text, self.summary(&text, result, max_chars)))
            }
            (Kind::Call(call), _) => {
                let json = self.storable(&call.arguments.to_json())?;
                let label: String = format!("arguments of {}", call.name).chars().take(120).collect();
                (Source::New(Original::text(&json, label)), Placeholder::Arguments(call))
            }
            (Kind::Image(image), result) => {
                let source = match copy_of.and_then(|hash| self.stored(scope, hash)) {
                    Some(stored) => Source::Stored(stored.hash),
                    None => {
                        let bytes = base64_simd::STANDARD.decode_to_vec(image.base64?).ok()?;
                        let label = result.as_ref().map_or_else(|| "image".to_owned(), label);
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
        proposals: &[Proposal],
        meter: &Meter,
        shown: &mut Shown,
        now: Millis,
    ) -> Result<()> {
        let hashes: Vec<ContentHash> = proposals.iter().map(Proposal::hash).collect();
        let ids = if hashes.is_empty() { Vec::new() } else { self.store.ref_ids(&hashes)? };
        let mut batch = Batch::default();
        let mut accepted = Vec::new();
        let mut in_context = shown.in_context.clone();
        let (mut before, mut after) = (0, 0);
        for (proposal, id) in proposals.iter().zip(ids) {
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
            reason: first.reason.into(),
            tokens_freed: before - after,
            tokens_rebilled: rebilled(known, &accepted) + after,
            blocks: accepted.len() as u64,
        });
        if let Some(epoch) = &epoch {
            batch.receipts.push(Receipt {
                kind: "assemble".into(),
                tokens_before: before,
                tokens_after: after,
                detail: serde_json::json!({ "reason": epoch.reason, "blocks": epoch.blocks }).to_string(),
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

/// Patches what earlier calls decided; returns the blocks that are still open.
fn replay<'k, 't, 'a>(
    ledger: &Ledger,
    known: &'k [Known<'t, 'a>],
    meter: &Meter,
    shown: &mut Shown,
) -> Vec<&'k Known<'t, 'a>> {
    let projections: HashMap<BlockKey, &Projection> = ledger.projections.iter().map(|row| (row.block, row)).collect();
    let placeholders = printed(ledger, Printed::Placeholder);
    let copies = printed(ledger, Printed::Copy);
    let mut open = Vec::new();
    for block in known {
        if let Some(original) = placeholders.get(&block.key.hash) {
            shown.in_context.insert(*original);
        } else if let Some(row) = projections.get(&block.key) {
            let Ok(value) = serde_json::from_str(&row.replacement) else { continue };
            shown.in_context.insert(row.original);
            show(block, "replay", None, value, meter, shown);
        } else {
            // A copy in sight keeps its original alive: its placeholder will name it.
            shown.in_context.extend(copies.get(&block.key.hash));
            open.push(block);
        }
    }
    open
}

fn show(known: &Known, reason: &'static str, ref_id: Option<String>, value: Value, meter: &Meter, shown: &mut Shown) {
    let tokens_after = tokens_of(&value, meter);
    let report = &mut shown.reply.report;
    report.tokens_after = (report.tokens_after + tokens_after).saturating_sub(known.tokens);
    report.actions.push(Action {
        message: known.message,
        block: known.index,
        reason,
        ref_id,
        tokens_before: known.tokens,
        tokens_after,
    });
    shown.reply.rewrite.patches.push(Patch { message: known.message, path: known.block.path.clone(), value });
}

/// Hashes and counts every block. Equal blocks without a timestamp are told apart by their order.
fn know<'t, 'a>(transcript: &'t Transcript<'a>, meter: &Meter) -> Vec<Known<'t, 'a>> {
    let mut seen: HashMap<ContentHash, i64> = HashMap::new();
    let mut known = Vec::new();
    for (message, view) in transcript.messages.iter().enumerate() {
        for (index, block) in view.blocks.iter().enumerate() {
            let hash = hash_of(block);
            let nth = seen.entry(hash).or_insert(-1);
            *nth += 1;
            let key = BlockKey { hash, place: view.timestamp.unwrap_or(*nth) };
            known.push(Known { message, index, block, key, tokens: meter.block(block) as u64 });
        }
    }
    known
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

/// Texts of ours of one kind, with the originals they stand for.
fn printed(ledger: &Ledger, kind: Printed) -> HashMap<ContentHash, ContentHash> {
    ledger.printed.iter().filter(|row| row.printed == kind).map(|row| (row.text, row.original)).collect()
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

/// What a block is known by: its text, its image payload, or its arguments as JSON.
fn hash_of(block: &Block) -> ContentHash {
    match block.kind {
        Kind::Text(text) => ContentHash::of(text.as_bytes()),
        Kind::Image(image) => ContentHash::of(image.base64.unwrap_or_default().as_bytes()),
        Kind::Call(call) => ContentHash::of(call.arguments.to_json().as_bytes()),
        Kind::Thinking | Kind::Other => ContentHash::of(b""),
    }
}
