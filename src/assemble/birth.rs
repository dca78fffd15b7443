//! Birth: a tool result is rewritten before it is first sent, when that costs nothing.
//!
//! First the fusion pipeline shortens the text; only what is still over the threshold becomes a reference and a
//! summary. Images are scaled down to the resolution that a model perceives. The whole original is stored first, so
//! that the fetch tool returns its exact bytes whatever a stage did.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::asked_again::lengthened;
use super::content_cache::{ContentKind, hash_of};
use super::engine::Engine;
use super::fetch_answers::{call_arguments, can_request_original};
use super::labels::{cut_note_of, is_cut_at, label_with_cut_note, tool_of};
use super::placeholder::{Placeholder, explained_in, explanation_in, summary};
use super::replacement::Replacement;
use super::report::{Action, Reply, Report};
use crate::config::{Preset, RulesScope};
use crate::content::{self, ContentType, Hints};
use crate::error::Result;
use crate::history::{Meter, can_replace, can_shorten_fresh, is_exact, is_over_threshold, must_keep_lines};
use crate::pipeline::images::{ShrunkBlock, patch_images, shrink_block};
use crate::pipeline::{CompressOptions, unnumbered};
use crate::reference::{ContentHash, FETCH_TOOL, Original, RefId, SHORT_ID_DIGITS};
use crate::store::{Batch, FoldedKind, Ledger, MarkKind, Millis, PrintedKind, PrintedText, Receipt, Scope};
use crate::summarize::Around;
use crate::tokens::utf16;
use crate::tokens::vision::Provider;
use crate::transcript::{Block, BlockKind, Patch, Path, ToolResult, Transcript, is_cache_point};

/// The limits at which a host cuts the outputs of its tools, in UTF-16 units.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostCuts<'a> {
    /// The limit that the host applies before it hands an output over. A text of exactly this length was cut, and so
    /// was one that is a unit shorter, where a surrogate pair did not fit. The shown text says that it was cut.
    pub before: Option<usize>,
    /// The message as the host handed it over, if a redactor has masked it since.
    pub unmasked: Option<&'a Value>,
    /// The limit that the host alone would apply before it sends an output. Text beyond it would have cost nothing.
    pub after: Option<usize>,
}

/// The proposed rewrite of one block.
struct FreshProposal {
    block: usize,
    path: Path,
    /// The content hash of the block before the rewrite.
    hash: ContentHash,
    /// The arguments of the call that the result answers, if known.
    call_arguments: Option<String>,
    original: Original,
    replacement: FreshReplacement,
    tokens_before: u64,
    /// Tokens that a host without the plugin would have sent for it.
    tokens_without: u64,
    kind: FoldedKind,
}

impl FreshProposal {
    /// Builds the proposal for a block of a result. The two token counts are the block's own, and what a host without
    /// the plugin would have sent.
    fn of(
        index: usize,
        block: &Block,
        result: &ToolResult,
        original: Original,
        replacement: FreshReplacement,
        (tokens_before, tokens_without): (u64, u64),
    ) -> Self {
        let kind = match replacement {
            FreshReplacement::Shrunk(_) => FoldedKind::Images,
            FreshReplacement::Shortened(_) | FreshReplacement::Reference(..) => FoldedKind::Results,
        };
        let (path, hash, call_arguments) = (block.path.clone(), hash_of(block), call_arguments(result));
        Self { block: index, path, hash, call_arguments, original, replacement, tokens_before, tokens_without, kind }
    }
}

/// A fresh result with the proposed rewrites of its blocks. They are shown once their originals are durable.
pub struct FreshResult {
    message: Value,
    proposals: Vec<FreshProposal>,
}

/// The proposed replacement of a block.
enum FreshReplacement {
    /// The text, shortened by the pipeline.
    Shortened(ShortenedText),
    /// A reference and a summary, and the replacement if the whole text has to stay in sight.
    Reference(Placeholder<'static>, Option<Box<FreshReplacement>>),
    /// The image, scaled down.
    Shrunk(Box<ShrunkBlock>),
}

/// A shortened text.
struct ShortenedText {
    text: String,
    /// True if the original can be restored from the text alone.
    is_lossless: bool,
}

/// A replacement with its id filled in.
struct RenderedReplacement {
    value: Value,
    /// The content hash of the shown value.
    shown_hash: ContentHash,
    /// A text that is appended to the content.
    note: Option<String>,
    tokens: u64,
}

impl FreshReplacement {
    fn reason(&self) -> &'static str {
        match self {
            Self::Shortened(_) => "shortened",
            Self::Reference(..) => "large",
            Self::Shrunk(_) => "shrunk",
        }
    }

    /// Returns how later calls classify the shown text.
    fn printed_kind(&self) -> PrintedKind {
        match self {
            Self::Shortened(_) | Self::Shrunk(_) => PrintedKind::Copy,
            Self::Reference(..) => PrintedKind::Placeholder,
        }
    }

    /// Returns true if the placeholder has room for the explanation of placeholders, given the tokens of its block.
    fn can_explain(&self, tokens: u64) -> bool {
        matches!(self, Self::Reference(placeholder, _) if placeholder.can_explain(tokens))
    }

    /// Renders the replacement. Returns `None` if it would not pay, or if the pipeline printed another id because a
    /// different original already has these digits.
    fn render(
        &self,
        original: &Original,
        id: &RefId,
        engine: &Engine,
        meter: &Meter,
        has_explanation: bool,
    ) -> Option<RenderedReplacement> {
        let text = match self {
            Self::Shortened(shorter) => {
                let is_id_printed = shorter.is_lossless || *id == original.hash.to_ref_id(SHORT_ID_DIGITS);
                let shown = match cut_note_of(original) {
                    Some(words) => format!("{}\n[{words}]", shorter.text),
                    None => shorter.text.clone(),
                };
                is_id_printed.then_some(shown)?
            }
            Self::Reference(placeholder, _) => match placeholder.render(id, &engine.config, meter, has_explanation)? {
                Replacement::Text(text) => text,
                other => unreachable!("an output has {other:?} for its placeholder"),
            },
            Self::Shrunk(image) => {
                let (note, tokens) = image.note(id, engine.config.encoding)?;
                let (value, shown_hash) = (image.value.clone(), ContentKind::Image.hash(&image.base64));
                return Some(RenderedReplacement { value, shown_hash, note: Some(note), tokens: tokens as u64 });
            }
        };
        let (shown_hash, tokens) = engine.contents.of_text(&text);
        Some(RenderedReplacement { value: text.into(), shown_hash, note: None, tokens })
    }
}

impl Engine {
    /// Shortens the texts of a fresh tool result, replaces those that stay oversize by a reference and a summary, and
    /// scales images down.
    ///
    /// `call` is the assistant message that made the call, if known: it names the tool and its arguments. These stay
    /// unchanged: results of the fetch tool, protected and pinned results, blocks with a cache breakpoint of the
    /// caller, and texts that hold secrets. Texts of exact tools keep every line, because the next edit needs their
    /// bytes; only printed line numbers are removed.
    ///
    /// A store failure is no error here: the message comes back unchanged with [`Report::warning`] set.
    pub fn admit(&self, scope: &Scope, call: Option<&Value>, message: &Value, now: Millis) -> Reply {
        self.show_fresh(scope, &self.propose_fresh(call, message, HostCuts::default()), now)
    }

    /// The first half of [`Engine::admit`], which does all of the computation, for a host that cuts the outputs of its
    /// tools. It does not query the store.
    pub fn propose_fresh(&self, call: Option<&Value>, message: &Value, host: HostCuts<'_>) -> FreshResult {
        let messages: Vec<Value> = call.into_iter().chain([message]).cloned().collect();
        let transcript = Transcript::read(&messages);
        let blocks = transcript.messages.last().map_or(&[][..], |fresh| &fresh.blocks);
        let unmasked = host.unmasked.map(std::slice::from_ref).map(Transcript::read);
        // The block as the host cut it. Masking changes texts but not the number of blocks.
        let unmasked_block = |block: usize| unmasked.as_ref().unwrap_or(&transcript).messages.last()?.blocks.get(block);
        let text_of = |block: usize| match unmasked_block(block)?.kind {
            BlockKind::Text(text) => Some(text),
            _ => None,
        };
        let is_cut = |block, units| text_of(block).is_some_and(|text| is_cut_at(text, units));
        // A masked text no longer holds the exact bytes that an edit needs.
        let is_usable = |block, text, result| text_of(block) == Some(text) || !is_exact(result, &self.config);
        let proposals: Vec<FreshProposal> = blocks
            .iter()
            .enumerate()
            .filter_map(|(index, block)| match (block.kind, &block.result) {
                (BlockKind::Text(text), Some(result))
                    if can_shorten_fresh(message, block) && is_usable(index, text, result) =>
                {
                    let cut_at = host.before.filter(|&units| is_cut(index, units));
                    self.propose_shorter(blocks, index, text, result, HostCuts { before: cut_at, ..host })
                }
                (BlockKind::Image(_), Some(result)) if !is_cache_point(message, &block.path) => {
                    self.propose_smaller(index, message, block, result)
                }
                _ => None,
            })
            .collect();
        FreshResult { proposals, message: message.clone() }
    }

    /// The second half of [`Engine::admit`]: stores the originals, and only then returns the rewrite.
    pub fn show_fresh(&self, scope: &Scope, fresh: &FreshResult, now: Millis) -> Reply {
        if fresh.proposals.is_empty() {
            return Reply::default();
        }
        self.store_and_show(scope, fresh, now)
            .unwrap_or_else(|error| Reply::unchanged(Report { warning: Some((&error).into()), ..Report::default() }))
    }

    fn propose_shorter(
        &self,
        blocks: &[Block],
        index: usize,
        text: &str,
        result: &ToolResult,
        host: HostCuts<'_>,
    ) -> Option<FreshProposal> {
        let block = &blocks[index];
        if !can_replace(block, &self.config) {
            return None;
        }
        let stored = self.secrets().text_to_store(text)?;
        let label = self.secrets().label(&Hints::from(result).label());
        let label = host.before.map_or_else(|| label.clone(), |units| label_with_cut_note(&label, units));
        let original = Original::text(&stored, label).exactly(text, block.exact.as_deref());
        let is_exact = is_exact(result, &self.config);
        // A text with lone surrogates is skipped: the stages would restore its lossy stand-in, not its bytes.
        let shorter = if block.exact.is_none() { self.shorten(&stored, result, is_exact) } else { None };
        let shown = shorter.as_ref().map_or(&*stored, |shorter| shorter.text.as_str());
        let is_oversize = !is_exact && is_over_threshold(shown, result, blocks, &self.config);
        let shorter = shorter.filter(|shorter| shorter.text != stored).map(FreshReplacement::Shortened);
        let replacement = match shorter {
            shorter if is_oversize => {
                let (_, tokens) = self.contents.of_text(&stored);
                let max_chars = self.config.sccs_summary_max_chars;
                let mut placeholder =
                    Placeholder::output(&original, &stored, &summary(&stored, result, max_chars, &self.config));
                placeholder.add_names(&original, tokens, &self.config, &mut Around::of_fresh_result());
                FreshReplacement::Reference(placeholder, shorter.map(Box::new))
            }
            Some(shorter) => shorter,
            None => return None,
        };
        let (_, tokens_before) = self.contents.of_text(text);
        let tokens_without = match host.after {
            Some(units) if utf16::exceeds(text, units) => self.contents.of_text(utf16::head(text, units)).1,
            _ => tokens_before,
        };
        Some(FreshProposal::of(index, block, result, original, replacement, (tokens_before, tokens_without)))
    }

    /// Proposes to scale an image down to the resolution that a model perceives. The model is not known yet.
    fn propose_smaller(
        &self,
        index: usize,
        message: &Value,
        block: &Block,
        result: &ToolResult,
    ) -> Option<FreshProposal> {
        let is_fetched = result.tool_name == Some(FETCH_TOOL);
        if !self.config.fusion_enabled || is_fetched || !can_replace(block, &self.config) {
            return None;
        }
        let shrunk = shrink_block(
            message,
            block,
            self.secrets().label(&Hints::from(result).label()),
            Provider::default(),
            self.config.preset,
        )?;
        let (original, tokens_before) = (shrunk.original.clone(), shrunk.tokens_before as u64);
        let replacement = FreshReplacement::Shrunk(Box::new(shrunk));
        Some(FreshProposal::of(index, block, result, original, replacement, (tokens_before, tokens_before)))
    }

    /// Returns the text as the pipeline shortens it, if the pipeline is enabled.
    fn shorten(&self, text: &str, result: &ToolResult, is_exact: bool) -> Option<ShortenedText> {
        if !self.config.fusion_enabled {
            return None;
        }
        let encoding = self.config.encoding;
        if is_exact {
            return unnumbered(text, encoding).map(|text| ShortenedText { text, is_lossless: true });
        }
        let hints = Hints::from(result);
        let shortens_prose = self.config.rules_scope == RulesScope::All && self.config.preset == Preset::Balanced;
        let is_prose = || content::detect(text, &hints).content_type == ContentType::Text;
        let preset = match self.config.preset {
            _ if must_keep_lines(result, &self.config) => Preset::Lossless,
            _ if shortens_prose && is_prose() => Preset::Max,
            preset => preset,
        };
        let options = CompressOptions { hints, preset, encoding, ..CompressOptions::default() };
        // The core has no clock, so stage timings are zero.
        let compressed = self.fusion.compress(text, &options, &|| 0.0);
        Some(ShortenedText { text: compressed.text, is_lossless: compressed.lossless })
    }

    /// Returns true if a text that is over the threshold is below that of a tool whose folded content was asked for
    /// again. A text that was replaced before is replaced again: its call may be a repetition of the same request.
    fn is_short_enough(&self, proposal: &FreshProposal, ledger: &Ledger) -> bool {
        let placeholders = || ledger.printed.iter().filter(|row| row.kind == PrintedKind::Placeholder);
        if placeholders().any(|row| row.original == proposal.original.hash) {
            return false;
        }
        let limit = self.config.sccs_compress_threshold;
        let folded = placeholders().count() + ledger.projections.len();
        let max_chars = lengthened(limit, ledger, Some(tool_of(&proposal.original.label)), folded);
        max_chars > limit && proposal.original.read_text().is_some_and(|text| text.chars().count() as u64 <= max_chars)
    }

    fn store_and_show(
        &self,
        scope: &Scope,
        FreshResult { message, proposals }: &FreshResult,
        now: Millis,
    ) -> Result<Reply> {
        if self.store.is_off(scope)? {
            return Ok(Reply::default());
        }
        let ledger = self.store.ledger(scope)?;
        if ledger.marked_at(MarkKind::KeepTurn).is_some() {
            return Ok(Reply::default());
        }
        let pinned: HashSet<ContentHash> = ledger.marked(MarkKind::Pinned).collect();
        // A fetched text is never rewritten, whichever tool returned it: the agent asked for it. Of an image the ledger
        // knows only that it was folded before.
        let is_fetched = |proposal: &&FreshProposal| {
            let original = proposal.original.hash;
            let mut rows = ledger.printed.iter();
            let known = match proposal.replacement {
                FreshReplacement::Shrunk(_) => {
                    let is_folded = ledger.projections.iter().any(|row| row.original == original);
                    (is_folded || rows.any(|row| row.original == original)).then_some(original)
                }
                _ => {
                    rows.find(|row| row.kind == PrintedKind::Copy && row.text == proposal.hash).map(|row| row.original)
                }
            };
            known.is_some_and(|original| can_request_original(proposal.call_arguments.as_deref(), original))
        };
        let proposals: Vec<&FreshProposal> =
            proposals.iter().filter(|proposal| !pinned.contains(&proposal.hash) && !is_fetched(proposal)).collect();
        let originals: Vec<&Original> = proposals.iter().map(|proposal| &proposal.original).collect();
        let meter = Meter::new(None, self.config.encoding);
        let mut batch = Batch::default();
        let mut reply = Reply::default();
        let mut tokens_without = 0;
        let mut images = Vec::new();
        let mut is_explained = explained_in(&ledger).next().is_some();
        for (proposal, id) in proposals.iter().zip(self.ids(&originals)?) {
            let replacement = match &proposal.replacement {
                FreshReplacement::Reference(_, otherwise) if self.is_short_enough(proposal, &ledger) => {
                    otherwise.as_deref()
                }
                replacement => Some(replacement),
            };
            let Some(replacement) = replacement else { continue };
            let has_explanation = !is_explained && replacement.can_explain(proposal.tokens_before);
            let Some(shown) = replacement.render(&proposal.original, &id, self, &meter, has_explanation) else {
                continue;
            };
            // A scaled image may pay by its bytes alone.
            if shown.tokens >= proposal.tokens_before + u64::from(shown.note.is_some()) {
                continue;
            }
            reply.report.actions.push(Action {
                message: 0,
                block: proposal.block,
                reason: replacement.reason(),
                ref_id: Some(id.to_string()),
                tokens_before: proposal.tokens_before,
                tokens_after: shown.tokens,
            });
            reply.report.tokens_before += proposal.tokens_before;
            reply.report.tokens_after += shown.tokens;
            tokens_without += proposal.tokens_without;
            batch.folded.push((proposal.kind, proposal.tokens_without, shown.tokens));
            if has_explanation {
                batch.printed.push(explanation_in(proposal.original.hash));
                is_explained = true;
            }
            let mut record = |text, kind, saved| {
                batch.printed.push(PrintedText { text, kind, original: proposal.original.hash, saved });
            };
            record(shown.shown_hash, replacement.printed_kind(), proposal.tokens_without.saturating_sub(shown.tokens));
            if let Some(note) = shown.note {
                record(ContentHash::of(note.as_bytes()), PrintedKind::Placeholder, 0);
                images.push((&proposal.path, shown.value, note));
            } else {
                reply.rewrite.patches.push(Patch { message: 0, path: proposal.path.clone(), value: shown.value });
            }
            batch.originals.push((id, proposal.original.clone()));
        }
        // Image patches replace the whole content, so they come before the patches of texts in it.
        reply.rewrite.patches.splice(0..0, patch_images(0, message, &images));
        if !batch.originals.is_empty() {
            batch.receipts.push(Receipt {
                kind: "admit".into(),
                tokens_before: tokens_without,
                tokens_after: reply.report.tokens_after,
                detail: json!(reply.report.actions).to_string(),
            });
        }
        self.put(scope, batch, now)?;
        Ok(reply)
    }
}
