//! Stores the originals of the proposals that pay, and only then shows what the store returned.

use std::collections::{BTreeSet, HashMap};

use serde_json::json;

use super::blocks::KeyedBlock;
use super::engine::Engine;
use super::fold_choice::FoldChoice;
use super::fold_proposal::{Proposal, Source};
use super::placeholder::{explained_in, explanation_in};
use super::replacement::Replacement;
use super::replay::Assembled;
use super::report::{LARGE, THINKING};
use crate::error::Result;
use crate::history::Meter;
use crate::reference::{ContentHash, Original, RefId};
use crate::store::{Batch, BlockKey, Epoch, Ledger, Millis, Projection, Receipt, Scope};

/// The reason of an epoch that only restores content whose duplicate or successor has left the history.
const RETURNED: &str = "returned: what held it has left";

/// A proposal that pays, rendered.
struct Rendered<'f, 't, 'a> {
    proposal: &'f Proposal<'f, 't, 'a>,
    id: RefId,
    replacement: Replacement,
    tokens: u64,
    /// True if it contains the explanation of placeholders.
    explains: bool,
}

/// The commit of one assembly.
pub(super) struct FoldCommit<'f, 't, 'a> {
    pub(super) engine: &'f Engine,
    pub(super) scope: &'f Scope,
    pub(super) blocks: &'f [KeyedBlock<'t, 'a>],
    pub(super) ledger: &'f Ledger,
    pub(super) proposals: &'f [Proposal<'f, 't, 'a>],
    pub(super) choice: &'f FoldChoice,
    /// The hash of the caller's model and tools, to be recorded.
    pub(super) tools: Option<ContentHash>,
    pub(super) now: Millis,
}

impl<'f, 't, 'a> FoldCommit<'f, 't, 'a> {
    /// Commits the batch and adds the stored decisions to the reply.
    ///
    /// # Errors
    /// Store errors.
    pub(super) fn run(&self, assembled: &mut Assembled) -> Result<()> {
        let rendered = self.render(assembled)?;
        let batch = self.batch(&rendered, assembled);
        let stored = self.engine.store.commit(self.scope, &batch, self.now)?;
        self.show_stored(&rendered, &batch, &stored, assembled)?;
        assembled.reply.report.epoch = batch.epoch;
        Ok(())
    }

    /// Renders the proposals that pay. If they free too little for an epoch, only those that open none are kept.
    fn render(&self, assembled: &Assembled) -> Result<Vec<Rendered<'f, 't, 'a>>> {
        if self.proposals.is_empty() {
            return Ok(Vec::new());
        }
        let config = &self.engine.config;
        let originals: Vec<&Original> = self.proposals.iter().map(|proposal| proposal.source.original()).collect();
        let ids = self.engine.ids(&originals)?;
        let meter = Meter::new(None, config.encoding);
        // If the host has dropped the placeholder with the explanation, it is repeated.
        let mut is_explained = explained_in(self.ledger).any(|original| assembled.in_context.contains(&original));
        let mut rendered = Vec::with_capacity(ids.len());
        for (proposal, id) in self.proposals.iter().zip(ids) {
            let explains = !is_explained && proposal.placeholder.may_explain(proposal.block.tokens);
            let Some(replacement) = proposal.placeholder.render(&id, config, &meter, explains) else { continue };
            let (_, tokens) = replacement.shown(&self.engine.contents);
            // Thinking whose words are hidden counts zero tokens and leaves all the same.
            if tokens < proposal.block.tokens || tokens == 0 {
                is_explained |= explains;
                rendered.push(Rendered { proposal, id, replacement, tokens, explains });
            }
        }
        let opens = |one: &&Rendered| !matches!(one.proposal.reason, LARGE | THINKING);
        let frees = rendered.iter().filter(opens).map(|one| one.proposal.block.tokens - one.tokens);
        if frees.sum::<u64>() < self.choice.least {
            rendered.retain(|one| one.proposal.reason == LARGE);
        }
        Ok(rendered)
    }

    /// Builds the batch that is committed before anything is shown.
    fn batch(&self, rendered: &[Rendered], assembled: &Assembled) -> Batch {
        let mut batch = Batch {
            tools: self.tools.filter(|tools| self.ledger.tools != Some(*tools)),
            withdrawn: assembled.withdrawn.clone(),
            ..Batch::after(self.ledger)
        };
        let mut in_context = assembled.in_context.clone();
        let mut changed: BTreeSet<BlockKey> = assembled.withdrawn.iter().copied().collect();
        let (mut before, mut after) = (0, 0);
        for &Rendered { proposal, ref id, ref replacement, tokens, explains } in rendered {
            let (block, original) = (proposal.block, proposal.source.original());
            (before, after) = (before + block.tokens, after + tokens);
            changed.insert(block.key);
            in_context.insert(original.hash);
            batch.printed.extend(explains.then(|| explanation_in(original.hash)));
            batch.folded.push((block.folded_kind(), block.tokens, tokens));
            batch.projections.push(Projection {
                block: block.key,
                replacement: replacement.to_json(),
                original: original.hash,
                reason: proposal.reason.into(),
            });
            if let Source::New(original) = &proposal.source {
                batch.originals.push((id.clone(), original.clone()));
            }
        }
        batch.in_context = Some(in_context);
        if changed.is_empty() {
            return batch;
        }
        let reason = rendered.first().map(|first| self.choice.cause.unwrap_or(first.proposal.reason));
        let epoch = Epoch {
            reason: reason.unwrap_or(RETURNED).into(),
            tokens_freed: before - after,
            tokens_rebilled: self.rebilled(&changed) + after,
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

    /// Returns the unchanged tokens from the last cache entry before the first changed block: the cache has to take
    /// them in again.
    fn rebilled(&self, changed: &BTreeSet<BlockKey>) -> u64 {
        let blocks = self.blocks;
        let is_entry = |at: &usize| self.choice.entries.get(*at).is_none_or(|is_entry| *is_entry);
        let first = blocks.iter().position(|block| changed.contains(&block.key)).unwrap_or(blocks.len());
        let from = (0..=first).rev().find(is_entry).unwrap_or(0);
        let taken_in = blocks[from.min(first)..].iter().filter(|block| !changed.contains(&block.key));
        taken_in.map(|block| block.tokens).sum()
    }

    /// Shows the rows as stored; some may be those of a concurrent call.
    fn show_stored(
        &self,
        rendered: &[Rendered],
        batch: &Batch,
        stored: &[Projection],
        assembled: &mut Assembled,
    ) -> Result<()> {
        let Engine { store, contents, replacements, .. } = self.engine;
        let rendered: HashMap<BlockKey, &Rendered> = rendered.iter().map(|one| (one.proposal.block.key, one)).collect();
        let stored: HashMap<BlockKey, &Projection> = stored.iter().map(|row| (row.block, row)).collect();
        for block in self.blocks {
            let Some(&row) = stored.get(&block.key) else { continue };
            let read = replacements.read(&row.replacement, || store.location(), contents)?;
            let Some(change) = read.replacement.change(block.message, block.block) else { continue };
            let ours = rendered.get(&block.key).filter(|_| batch.projections.contains(row));
            let (reason, id) = ours.map_or(("replay", None), |one| (one.proposal.reason, Some(one.id.to_string())));
            assembled.show(block, reason, id, change, read.tokens);
        }
        Ok(())
    }
}
