//! The marks of a session: what a person pins, and what the agent no longer needs.
//!
//! A mark names content by its hash, so it holds wherever the content stands: after a restart, in a fork or a
//! sub-agent, and in what a compaction leaves. Wishes that need the history, such as pinning the last result, are marks
//! of the session until the next assembly carries them out.

use std::collections::HashSet;

use super::blocks::KeyedBlock;
use super::decisions::Decisions;
use super::engine::Engine;
use crate::error::Result;
use crate::history::{BlockPosition, Fate, FoldPermission, KeptByPerson, Reason, foldable_part};
use crate::reference::{ContentHash, Media, RefId};
use crate::store::figures::FiguresQuery;
use crate::store::{Batch, FoldedOriginal, Ledger, Mark, MarkKind, Millis, RESTORED, Scope};
use crate::transcript::BlockKind;

/// The ids that a person named, by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedIds {
    /// The ids whose content is marked now.
    pub marked: Vec<RefId>,
    /// The ids of no original that the session shows and that could be marked.
    pub unknown: Vec<RefId>,
}

impl Engine {
    /// Asks for everything foldable to be folded at the session's next assembly.
    pub fn fold_all(&self, scope: &Scope, now: Millis) -> Result<()> {
        self.mark(scope, &[Mark::on_session(MarkKind::FoldAll)], &[], now)
    }

    /// Protects the last tool result before `now` for as long as the session lives.
    pub fn pin_last(&self, scope: &Scope, now: Millis) -> Result<()> {
        self.mark(scope, &[Mark::on_session(MarkKind::PinLast)], &[], now)
    }

    /// Pins originals of the session: from the next assembly on they are shown in full. An image that was only scaled
    /// down stays as it is.
    pub fn restore(&self, scope: &Scope, ids: &[RefId], now: Millis) -> Result<MarkedIds> {
        let ledger = self.store.ledger(scope)?;
        let mut done = MarkedIds::default();
        let (mut pins, mut released) = (Vec::new(), Vec::new());
        for id in ids {
            let found = self.store.get(id, &scope.agent_id, now)?;
            let can_show = |hash: &ContentHash, media: &Media| {
                let has_row = ledger.projections.iter().any(|row| row.original == *hash);
                has_row || *media == Media::Text && ledger.printed.iter().any(|row| row.original == *hash)
            };
            match found.filter(|(_, original)| can_show(&original.hash, &original.media)) {
                Some((id, original)) => {
                    pins.push(Mark::on(MarkKind::Pinned, original.hash));
                    released.push(Mark::on(MarkKind::Released, original.hash));
                    done.marked.push(id);
                }
                None => done.unknown.push(id.clone()),
            }
        }
        self.mark(scope, &pins, &released, now)?;
        Ok(done)
    }

    /// Takes back what is pinned in the session. Returns the number of contents. Turns whose person wrote `<keep>` are
    /// pinned again for as long as their messages are in the history.
    pub fn unpin(&self, scope: &Scope, now: Millis) -> Result<usize> {
        let ledger = self.store.ledger(scope)?;
        let waiting = ledger.marked_at(MarkKind::PinLast).map(|_| Mark::on_session(MarkKind::PinLast));
        let pins: Vec<Mark> =
            ledger.marked(MarkKind::Pinned).map(|hash| Mark::on(MarkKind::Pinned, hash)).chain(waiting).collect();
        self.mark(scope, &[], &pins, now)?;
        Ok(pins.len())
    }

    /// Returns the originals that stand in the session's context in a shorter form, the last folded first.
    pub fn folded(&self, scope: &Scope) -> Result<Vec<FoldedOriginal>> {
        let query = FiguresQuery { session: Some(scope.clone()), ..FiguresQuery::default() };
        Ok(self.store.figures(&query)?.folded_now)
    }

    fn mark(&self, scope: &Scope, marked: &[Mark], unmarked: &[Mark], now: Millis) -> Result<()> {
        let batch = Batch { marked: marked.to_vec(), unmarked: unmarked.to_vec(), ..Batch::default() };
        self.put(scope, batch, now)
    }
}

/// Returns the original that an id names among those whose copies the session was shown.
pub(super) fn shown_copy(ledger: &Ledger, id: &RefId) -> Option<ContentHash> {
    let copies = ledger.printed.iter().map(|row| row.original);
    copies.chain(ledger.projections.iter().map(|row| row.original)).find(|hash| hash.to_hex().starts_with(id.as_str()))
}

/// The marks as they apply to one assembly.
#[derive(Default)]
pub(super) struct Marks {
    pinned: HashSet<ContentHash>,
    /// True if everything foldable is to be folded.
    pub(super) folds_all: bool,
    /// New marks, to be stored.
    pub(super) marked: Vec<Mark>,
    /// Marks that are carried out or no longer hold.
    pub(super) unmarked: Vec<Mark>,
}

impl Marks {
    /// Applies the marks of a ledger to the fates of blocks. `kept` are the blocks that a person's words protect.
    pub(super) fn apply(
        ledger: &Ledger,
        decisions: &Decisions,
        kept: &KeptByPerson,
        blocks: &mut [KeyedBlock],
    ) -> Self {
        let mut marks = Self {
            pinned: ledger.marked(MarkKind::Pinned).collect(),
            folds_all: ledger.marked_at(MarkKind::FoldAll).is_some(),
            ..Self::default()
        };
        // While folding is off, the wish waits.
        marks.set_on_session(ledger, MarkKind::FoldAll, marks.folds_all && ledger.is_off);
        marks.set_on_session(ledger, MarkKind::KeepTurn, kept.is_last_turn);
        let mut new_pins: HashSet<BlockPosition> = kept.blocks.iter().copied().collect();
        if let Some(until) = ledger.marked_at(MarkKind::PinLast) {
            marks.set_on_session(ledger, MarkKind::PinLast, false);
            new_pins.extend(last_result(blocks, until));
        }
        for block in blocks.iter().filter(|block| new_pins.contains(&(block.message_index, block.block_index))) {
            // The placeholder of a whole output stands for its original, which is then shown.
            marks.pin(*decisions.placeholders.get(&block.key.hash).unwrap_or(&block.key.hash));
        }
        let released: HashSet<ContentHash> = ledger.marked(MarkKind::Released).collect();
        for block in blocks {
            let hash = &block.key.hash;
            let copied = decisions.copies.get(hash);
            let stands_for = decisions.of_block(&block.key).map(|row| &row.projection.original);
            let born = copied.filter(|_| !decisions.fetched.contains_key(hash));
            let original = stands_for.or(decisions.placeholders.get(hash)).or(born);
            block.is_pinned =
                marks.pinned.contains(hash) || original.is_some_and(|original| marks.pinned.contains(original));
            if block.is_pinned {
                // Without its row the block is known by its own hash alone.
                if stands_for.is_some() {
                    marks.pin(*hash);
                }
                block.fate = block.fate.protected();
            } else if copied.is_some_and(|original| released.contains(original))
                && matches!(block.fate, Fate::Stays | Fate::Young { .. })
                && foldable_part(block.message, block.block).is_some()
            {
                let permission = FoldPermission { reason: Reason::Stale, is_old: true, calls: 0, turns: 0 };
                block.fate = Fate::Foldable(permission);
            }
        }
        marks
    }

    /// Returns true if a block or an original is pinned.
    pub(super) fn is_pinned(&self, content: &ContentHash) -> bool {
        self.pinned.contains(content)
    }

    fn pin(&mut self, content: ContentHash) {
        if self.pinned.insert(content) {
            self.marked.push(Mark::on(MarkKind::Pinned, content));
        }
    }

    /// Sets or takes back a mark of the session itself.
    fn set_on_session(&mut self, ledger: &Ledger, kind: MarkKind, is_set: bool) {
        match (ledger.marked_at(kind).is_some(), is_set) {
            (false, true) => self.marked.push(Mark::on_session(kind)),
            (true, false) => self.unmarked.push(Mark::on_session(kind)),
            _ => {}
        }
    }

    /// Returns the original that a text block of the host stands for, if it is to be shown in its place: the block is a
    /// placeholder or a shorter copy from its birth, and the original is pinned.
    pub(super) fn to_restore(&self, decisions: &Decisions, block: &KeyedBlock) -> Option<ContentHash> {
        let hash = &block.key.hash;
        let is_result = block.block.result.is_some() && matches!(block.block.kind, BlockKind::Text(_));
        let is_shown = decisions.of_block(&block.key).is_some_and(|row| row.projection.reason == RESTORED);
        let is_new = is_result && !is_shown && !decisions.fetched.contains_key(hash);
        let original = decisions.placeholders.get(hash).or(decisions.copies.get(hash)).filter(|_| is_new)?;
        (original != hash && self.pinned.contains(original)).then_some(*original)
    }
}

/// Returns the blocks of the last tool result until a time. Messages without a time count as earlier.
fn last_result(blocks: &[KeyedBlock], until: Millis) -> Vec<BlockPosition> {
    let is_before = |block: &KeyedBlock| block.message.timestamp.is_none_or(|timestamp| timestamp <= until);
    let Some(last) = blocks.iter().rfind(|block| block.block.result.is_some() && is_before(block)) else {
        return Vec::new();
    };
    let is_of_last = |block: &&KeyedBlock| {
        let mut results = block.block.result.iter().zip(&last.block.result);
        block.message_index == last.message_index
            && results.any(|(one, other)| (one.call, one.call_id) == (other.call, other.call_id))
    };
    blocks.iter().filter(is_of_last).map(|block| (block.message_index, block.block_index)).collect()
}
