//! Stores the originals of the proposals that pay, and only then shows what the store returned.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use super::assembly::Assembly;
use super::blocks::KeyedBlock;
use super::engine::Engine;
use super::fold_choice::FoldChoice;
use super::fold_proposal::{OriginalSource, Proposal};
use super::placeholder::{explained_in, explanation_in};
use super::replacement::Replacement;
use super::replay::{BlockState, ReplyBuilder};
use super::report::{LARGE, THINKING};
use crate::error::Result;
use crate::history::Meter;
use crate::reference::{ContentHash, Original, RefId};
use crate::store::{Batch, BlockKey, Epoch, Mark, Projection, RESTORED, Receipt};

/// The reason of an epoch that only restores content whose duplicate or successor has left the history.
const RETURNED_REASON: &str = "returned: its duplicate or successor is gone";

/// The reason of an epoch that only shows protected content in full again.
const RESTORED_REASON: &str = "restored: it is pinned or protected";

/// An original to be shown in the place of what the host holds for it.
pub(super) struct Restored<'e, 't, 'a> {
    pub(super) block: &'e KeyedBlock<'t, 'a>,
    pub(super) original: ContentHash,
    pub(super) text: String,
}

/// A proposal that pays, rendered.
struct RenderedProposal<'f, 't, 'a> {
    proposal: &'f Proposal<'f, 't, 'a>,
    id: RefId,
    replacement: Replacement,
    tokens: u64,
    /// True if it contains the explanation of placeholders.
    has_explanation: bool,
}

/// The changes that an assembly plans.
pub(super) struct PlannedFolds<'e, 't, 'a> {
    pub(super) proposals: Vec<Proposal<'e, 't, 'a>>,
    pub(super) restored: Vec<Restored<'e, 't, 'a>>,
    /// Marks on blocks that stay because their originals are pinned.
    pub(super) pinned: Vec<Mark>,
    pub(super) choice: FoldChoice,
    /// The state of each block before this call.
    pub(super) states: Vec<BlockState>,
    /// The hash of the caller's model and tools, to be recorded.
    pub(super) model_and_tools: Option<ContentHash>,
}

impl<'e, 't, 'a> Assembly<'e, 't, 'a> {
    /// Commits the planned changes and adds the stored decisions to the reply.
    ///
    /// # Errors
    /// Store errors.
    pub(super) fn commit(&self, planned: &PlannedFolds, builder: &mut ReplyBuilder) -> Result<()> {
        let rendered = self.render(planned, builder)?;
        let batch = self.batch(planned, &rendered, builder);
        let stored = self.engine.store.commit(self.scope, &batch, self.now)?;
        self.show_stored(&rendered, &batch, &stored, builder)?;
        builder.reply.report.epoch = batch.epoch;
        Ok(())
    }

    /// Renders the proposals that pay. If they free too little for an epoch, only those that open none are kept.
    fn render<'f>(
        &self,
        planned: &'f PlannedFolds<'e, 't, 'a>,
        builder: &ReplyBuilder,
    ) -> Result<Vec<RenderedProposal<'f, 't, 'a>>> {
        if planned.proposals.is_empty() {
            return Ok(Vec::new());
        }
        let config = &self.engine.config;
        let originals: Vec<&Original> = planned.proposals.iter().map(|proposal| proposal.source.original()).collect();
        let ids = self.engine.ids(&originals)?;
        let meter = Meter::new(None, config.encoding);
        // If the host has dropped the placeholder with the explanation, it is repeated.
        let mut is_explained = explained_in(self.ledger).any(|original| builder.in_context.contains(&original));
        let mut rendered = Vec::with_capacity(ids.len());
        for (proposal, id) in planned.proposals.iter().zip(ids) {
            let has_explanation = !is_explained && proposal.placeholder.can_explain(proposal.block.tokens);
            let Some(replacement) = proposal.placeholder.render(&id, config, &meter, has_explanation) else { continue };
            let (_, tokens) = replacement.shown(&self.engine.contents);
            // Thinking whose words are hidden counts zero tokens and leaves all the same.
            if tokens < proposal.block.tokens || tokens == 0 {
                is_explained |= has_explanation;
                rendered.push(RenderedProposal { proposal, id, replacement, tokens, has_explanation });
            }
        }
        let is_opening_epoch = |one: &&RenderedProposal| !matches!(one.proposal.reason, LARGE | THINKING);
        let frees = rendered.iter().filter(is_opening_epoch).map(|one| one.proposal.block.tokens - one.tokens);
        if frees.sum::<u64>() < planned.choice.min_tokens_freed {
            rendered.retain(|one| one.proposal.reason == LARGE);
        }
        Ok(rendered)
    }

    /// Builds the batch that is committed before anything is shown.
    fn batch(&self, planned: &PlannedFolds, rendered: &[RenderedProposal], builder: &ReplyBuilder) -> Batch {
        let mut batch = Batch {
            tools: planned.model_and_tools.filter(|hash| self.ledger.tools != Some(*hash)),
            withdrawn: builder.withdrawn.clone(),
            marked: [&*self.marks.marked, &self.reruns.marked, &planned.pinned].concat(),
            asked_again: self.reruns.asked_again.clone(),
            unmarked: self.marks.unmarked.clone(),
            ..Batch::after(self.ledger)
        };
        let mut in_context = builder.in_context.clone();
        // What comes back is shown in full.
        let mut changed: BTreeMap<BlockKey, Option<u64>> = builder.withdrawn.iter().map(|key| (*key, None)).collect();
        let (mut before, mut after) = (0, 0);
        for &RenderedProposal { proposal, ref id, ref replacement, tokens, has_explanation } in rendered {
            let (block, original) = (proposal.block, proposal.source.original());
            (before, after) = (before + block.tokens, after + tokens);
            changed.insert(block.key, Some(tokens));
            in_context.insert(original.hash);
            batch.printed.extend(has_explanation.then(|| explanation_in(original.hash)));
            batch.folded.push((block.folded_kind(), block.tokens, tokens));
            batch.projections.push(Projection {
                block: block.key,
                replacement: replacement.to_json(),
                original: original.hash,
                reason: proposal.reason.into(),
            });
            if let OriginalSource::New(original) = &proposal.source {
                batch.originals.push((id.clone(), original.clone()));
            }
        }
        for Restored { block, original, text } in &planned.restored {
            changed.insert(block.key, Some(self.engine.contents.of_text(text).1));
            in_context.insert(*original);
            batch.projections.push(Projection {
                block: block.key,
                replacement: Replacement::Text(text.clone()).to_json(),
                original: *original,
                reason: RESTORED.into(),
            });
        }
        batch.in_context = Some(in_context);
        if changed.is_empty() {
            return batch;
        }
        let has_restored = builder.has_restored || !planned.restored.is_empty();
        let reason = rendered.first().map(|first| planned.choice.cause.unwrap_or(first.proposal.reason));
        let epoch = Epoch {
            reason: reason.unwrap_or(if has_restored { RESTORED_REASON } else { RETURNED_REASON }).into(),
            tokens_freed: before - after,
            tokens_rebilled: self.rebilled(planned, &changed),
            blocks: changed.len() as u64,
        };
        batch.receipts.push(Receipt {
            kind: "assemble".into(),
            tokens_before: before,
            tokens_after: after,
            detail: json!({ "reason": epoch.reason, "blocks": epoch.blocks }).to_string(),
        });
        batch.epoch = Some(epoch);
        batch
    }

    /// Returns the tokens from the last cache entry before the first changed block to the end of what the cache holds,
    /// as they are shown now: the cache has to take them in again.
    fn rebilled(&self, planned: &PlannedFolds, changed: &BTreeMap<BlockKey, Option<u64>>) -> u64 {
        let PlannedFolds { choice, states, .. } = planned;
        let cached = &self.blocks[..choice.cached_blocks.unwrap_or(usize::MAX).min(self.blocks.len())];
        let Some(first) = cached.iter().position(|block| changed.contains_key(&block.key)) else { return 0 };
        let is_entry = |at: &usize| choice.after_cache_entry.get(*at).is_none_or(|is_entry| *is_entry);
        let from = (0..=first).rev().find(is_entry).unwrap_or(0);
        let tokens = |(block, state): (&KeyedBlock, &BlockState)| match changed.get(&block.key) {
            Some(tokens) => tokens.unwrap_or(block.tokens),
            None => state.tokens(block),
        };
        cached.iter().zip(states).skip(from).map(tokens).sum()
    }

    /// Shows the rows as stored; some may be those of a concurrent call.
    fn show_stored(
        &self,
        rendered: &[RenderedProposal],
        batch: &Batch,
        stored: &[Projection],
        builder: &mut ReplyBuilder,
    ) -> Result<()> {
        let Engine { store, contents, replacements, .. } = self.engine;
        let rendered: HashMap<BlockKey, &RenderedProposal> =
            rendered.iter().map(|one| (one.proposal.block.key, one)).collect();
        let stored: HashMap<BlockKey, &Projection> = stored.iter().map(|row| (row.block, row)).collect();
        for block in self.blocks {
            let Some(&row) = stored.get(&block.key) else { continue };
            let read = replacements.read(&row.replacement, || store.location(), contents)?;
            let Some(change) = read.replacement.change(block.message, block.block) else { continue };
            let ours = rendered.get(&block.key).filter(|_| batch.projections.contains(row));
            let (reason, id) = match ours {
                Some(one) => (one.proposal.reason, Some(one.id.to_string())),
                None if row.reason == RESTORED => (RESTORED, None),
                None => ("replay", None),
            };
            builder.show(block, reason, id, change, read.tokens);
        }
        Ok(())
    }
}
