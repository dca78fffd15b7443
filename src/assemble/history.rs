//! The moment of assembly: what was decided before is replayed byte for byte, then what has become stale is folded.
//!
//! What is shown is what the store says after the commit, not what was proposed: where two calls decide on one block at the same
//! time, both show the decision that was written first.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::heard::{Heard, Unheard};
use super::identity::{Known, know};
use super::placeholder::{
    Placeholder, arguments_label, explained_in, explanation_in, lists_names, preview_chars, without_cut,
};
use super::replacement::Kept;
use super::replay::{Decided, Shown, State, replay, show};
use super::requests::kind_of;
use super::schedule::{Choice, LARGE, Moment, THINKING};
use super::thinking::Gap;
use super::views::View;
use super::{Engine, FETCH_TOOL, Reply, Report};
use crate::content::Hints;
use crate::error::{Error, Result};
use crate::history::{Meter, fates, may_replace, tells_of_failure};
use crate::pipeline::restore;
use crate::plan::cache::Cold;
use crate::plan::prices::Prices;
use crate::reference::{ContentHash, Media, Original, RefId, SHORT_ID_DIGITS};
use crate::store::{Batch, BlockKey, Epoch, Ledger, Millis, Projection, Receipt, Scope, StoreOptions};
use crate::summarize::Around;
use crate::transcript::{Kind, Transcript, UNSTATED_MIME, frame};
use concertina_base::parallel;

/// What a caller may ask of an assembly.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// Names of the tools that this run has; `None` when the caller does not know. Without the fetch tool nothing is folded.
    pub available_tools: Option<Vec<String>>,
    /// The model, for the tokens of images and for its own options.
    pub model: Option<String>,
    /// Also replace oversize results that were never seen at birth (for engines that are wrapped, not hosted).
    pub refer_oversize: bool,
    /// What the model's tokens cost; by its family where nobody says.
    pub prices: Option<Prices>,
    /// How many tokens the host leaves for the history.
    pub token_budget: Option<u64>,
    /// Whether a user turn begins with this call whose message is not among the messages yet.
    pub turn_begins: bool,
    /// What becomes of what a redactor of the caller's has not seen.
    pub unheard: Unheard,
}

/// A fold that becomes a patch once its original is durable.
struct Proposal<'t, 'a> {
    known: &'t Known<'t, 'a>,
    reason: &'static str,
    source: Source,
    placeholder: Placeholder<'a>,
}

/// A proposal that pays, as it would be shown.
struct Rendered<'f, 't, 'a> {
    proposal: &'f Proposal<'t, 'a>,
    id: RefId,
    kept: Kept,
    tokens: u64,
    /// Whether it says what placeholders are.
    explains: bool,
}

/// What one call folds.
struct Fold<'t, 'a> {
    proposals: Vec<Proposal<'t, 'a>>,
    /// Why the epoch is opened, where the schedule says.
    cause: Option<&'static str>,
    /// What an epoch has to free.
    least: u64,
    /// Of each known block, whether the cache can be read up to it.
    entries: Vec<bool>,
    /// What to record of the session's tools.
    tools: Option<ContentHash>,
    now: Millis,
}

/// The word of an epoch that only brings back what was folded for the sake of something that has left.
const RETURNED: &str = "returned: what held it has left";

/// So many of the last texts and calls say what the talk is about.
const RECENT: usize = 6;

/// Where the original of a fold is.
enum Source {
    /// To be stored.
    New(Original),
    /// In the store already: the block is a copy of it.
    Stored(Original),
}

impl Source {
    fn original(&self) -> &Original {
        match self {
            Self::New(original) | Self::Stored(original) => original,
        }
    }
}

impl Engine {
    /// Folds a history for the next model call: replays the session's projection, then folds what has become stale.
    ///
    /// A store that fails is no error here: [`Report::warning`] says so, and what could not be made durable stays in full.
    pub fn assemble(&self, scope: &Scope, messages: &[Value], options: &AssembleOptions, now: Millis) -> Reply {
        self.of_model(options.model.as_deref()).assemble_as_set(scope, messages, options, now)
    }

    fn assemble_as_set(&self, scope: &Scope, messages: &[Value], options: &AssembleOptions, now: Millis) -> Reply {
        let read = if options.turn_begins { Transcript::before_turn } else { Transcript::read };
        let transcript = read(messages);
        let fates = fates(&transcript, &self.config);
        let meter = Meter::new(options.model.as_deref(), self.config.encoding);
        let has_fetch_tool =
            options.available_tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == FETCH_TOOL));
        let unfolded = |warning: Option<&Error>| {
            let known = know(&transcript, &fates, &Decided::default(), &self.memo, &meter);
            let report = Report { warning: warning.map(Into::into), ..untouched(&known) };
            // A store that just failed is not asked again.
            let ledger =
                if warning.is_none() { self.store.ledger(scope).unwrap_or_default() } else { Ledger::default() };
            let mut view = View::of(&known, &report, &ledger, true, now).with(&transcript, options.token_budget);
            view.has_tool = false;
            self.views.keep(scope, view, (&transcript, &known), ledger.last_request);
            Reply::unchanged(report)
        };
        if !self.config.sccs_enabled || !has_fetch_tool {
            return unfolded(None);
        }
        let attempt = || {
            let ledger = self.store.ledger(scope)?;
            let decided = Decided::of(&ledger, || self.store.location(), &self.memo)?;
            let known = know(&transcript, &fates, &decided, &self.memo, &meter);
            self.assemble_known(scope, &transcript, &known, (&ledger, &decided), options, now)
        };
        // A store that was replaced under us knows nothing of what was read from the one before.
        let again = |error| if matches!(error, Error::StoreReplaced { .. }) { attempt() } else { Err(error) };
        attempt().or_else(again).unwrap_or_else(|error| unfolded(Some(&error)))
    }

    /// # Errors
    /// [`Error::StoreReplaced`]; what else fails is a warning.
    fn assemble_known(
        &self,
        scope: &Scope,
        transcript: &Transcript,
        known: &[Known],
        (ledger, decided): (&Ledger, &Decided),
        options: &AssembleOptions,
        now: Millis,
    ) -> Result<Reply> {
        let mut shown = Shown { reply: Reply::unchanged(untouched(known)), ..Shown::default() };
        let states = replay(decided, known, &mut shown);
        let tools = hash_of_caller(options);
        let touch_interval = StoreOptions::from(&*self.config).touch_interval_ms();
        let moment = Moment {
            options,
            ledger,
            is_switched: tools.is_some() && ledger.tools.is_some() && tools != ledger.tools,
            last_call: self.views.last_call(scope, transcript, ledger, touch_interval),
            is_rewritten: is_rewritten(ledger, &states, &shown),
            now,
        };
        let choice = if ledger.is_off { Choice::default() } else { self.choose(transcript, known, &states, &moment) };
        let is_warm = !choice.cause.is_some_and(Cold::is_reason);
        let mut seen = BTreeSet::new();
        let chosen = choice.blocks.iter().filter(|chosen| seen.insert(known[chosen.known].key));
        let (mut folded, mut questions) = (Vec::new(), Vec::new());
        let all = known;
        for chosen in chosen {
            let known = &all[chosen.known];
            let copy_of = decided.copies.get(&known.key.hash).copied();
            // A copy of ours shows what the redactor was asked about at birth.
            let is_asked = options.unheard != Unheard::Fold && copy_of.is_none();
            let heard = if is_asked { self.heard(known) } else { Ok(Heard::AsIs) };
            match heard {
                Ok(Heard::AsIs) => folded.push((known, chosen.reason, copy_of, None)),
                Ok(Heard::Masked(text)) => folded.push((known, chosen.reason, copy_of, Some(text))),
                Ok(Heard::Stays) => {}
                Err(question) => questions.push(*question),
            }
        }
        if options.unheard == Unheard::Ask && !questions.is_empty() {
            return Ok(Reply { questions, ..Reply::default() });
        }
        let proposals = parallel::map(&folded, |(): &mut (), (known, reason, copy_of, masked)| {
            self.propose_fold(scope, (all, known), reason, *copy_of, masked.as_deref(), now)
        });
        let mut proposals: Vec<Proposal> = proposals.into_iter().flatten().collect();
        let tells = |proposal: &Proposal| matches!(proposal.placeholder, Placeholder::Output { .. });
        if lists_names(&self.config) && proposals.iter().any(tells) {
            let mut around = names_around(known, &states, &shown);
            for proposal in &mut proposals {
                let (original, tokens) = (proposal.source.original(), proposal.known.tokens);
                proposal.placeholder.add_names(original, tokens, &self.config, &mut around);
            }
        }
        let fold = Fold { proposals, cause: choice.cause, least: choice.least, entries: choice.entries, tools, now };
        match self.fold(scope, known, &fold, ledger, &mut shown) {
            Err(error @ Error::StoreReplaced { .. }) => return Err(error),
            Err(error) => {
                shown.reply.report.warning = Some((&error).into());
                // A store that takes nothing more may still keep alive what is in sight; a locked one is not waited for twice.
                let batch = Batch { in_context: Some(shown.in_context.clone()), ..Batch::after(ledger) };
                if !matches!(error, Error::StoreLocked { .. })
                    && let Err(error) = self.store.commit(scope, &batch, now)
                {
                    shown.reply.report.warning = Some((&error).into());
                }
            }
            Ok(()) => {}
        }
        let view = View::of(known, &shown.reply.report, ledger, is_warm, now).with(transcript, options.token_budget);
        self.views.keep(scope, view, (transcript, known), ledger.last_request);
        Ok(shown.reply)
    }

    fn propose_fold<'t, 'a>(
        &self,
        scope: &Scope,
        (all, known): (&[Known], &'t Known<'t, 'a>),
        reason: &'static str,
        copy_of: Option<ContentHash>,
        masked: Option<&str>,
        now: Millis,
    ) -> Option<Proposal<'t, 'a>> {
        // Where it has expired or cannot be read, what is in sight is stored anew, and a fold as what it restores.
        let stored = || {
            let found = self.store.get(&copy_of?.to_ref_id(64), &scope.agent_id, now).ok()??;
            Some(found.1)
        };
        let (source, placeholder) = match (known.block.kind, &known.block.result) {
            (Kind::Text(text), Some(result)) if may_replace(result, text, &self.config) => {
                let max_chars = match reason {
                    LARGE => self.config.sccs_summary_max_chars,
                    _ => preview_chars(result.is_error || tells_of_failure(text), &self.config),
                };
                let source = match stored().filter(|stored| stored.media == Media::Text) {
                    Some(stored) => Source::Stored(stored),
                    None => {
                        let label = self.label(&Hints::from(result).label());
                        let copied = copy_of.and_then(|original| Some((restored(text, original)?, original)));
                        Source::New(match (masked, &copied) {
                            (Some(masked), _) => Original::text(&self.storable(masked)?, label),
                            (None, Some((copied, hash))) => self.original_of(copied, *hash, label)?,
                            (None, None) => self
                                .original_of(text, known.key.hash, label)?
                                .exactly(text, known.block.exact.as_deref()),
                        })
                    }
                };
                let text = source.original().read_text()?;
                let placeholder =
                    Placeholder::output(source.original(), &text, &self.summary(&text, result, max_chars));
                if !self.may_pay(&placeholder, source.original(), known.tokens) {
                    return None;
                }
                (source, placeholder)
            }
            (Kind::Call(call), _) => {
                let label = self.label(&arguments_label(call.name));
                let json = call.arguments.to_json();
                let original = self.original_of(&json, ContentHash::of(json.as_bytes()), label)?;
                (Source::New(original), Placeholder::Arguments(call))
            }
            (Kind::Image(image), result) => {
                let source = match stored() {
                    Some(stored) => Source::Stored(stored),
                    None => {
                        let bytes = base64_simd::STANDARD.decode_to_vec(image.base64?).ok()?;
                        let label =
                            result.as_ref().map_or_else(|| "image".to_owned(), |result| Hints::from(result).label());
                        let mime = image.mime.unwrap_or(UNSTATED_MIME);
                        Source::New(Original::image(bytes, mime, self.label(&label)))
                    }
                };
                // A copy, which is smaller, may be of another type than what comes back.
                let mime = match &source {
                    Source::Stored(Original { media: Media::Image(mime), .. }) => Some(mime.as_str()),
                    _ => None,
                };
                let twins = all.iter().filter(|other| other.key == known.key);
                let frames: Vec<Value> =
                    twins.filter_map(|twin| frame(twin.block.path.follow(twin.view.raw)?, mime)).collect();
                if frames.is_empty() {
                    return None;
                }
                (source, Placeholder::Image { frames, tokens: known.tokens })
            }
            (Kind::Thinking(part), _) => {
                let json = part.to_string();
                let original = self.original_of(&json, ContentHash::of(json.as_bytes()), "thinking".to_owned())?;
                (Source::New(original), Placeholder::Nothing(Gap::of(known.view, known.block)?))
            }
            _ => return None,
        };
        Some(Proposal { known, reason, source, placeholder })
    }

    /// Whether an output's placeholder costs less than `tokens` as long as it tells no names.
    fn may_pay(&self, placeholder: &Placeholder, original: &Original, tokens: u64) -> bool {
        let id = original.hash.to_ref_id(SHORT_ID_DIGITS);
        let shown = placeholder.render(&id, self, &Meter::new(None, self.config.encoding), false);
        // No token is shorter than a byte.
        let is_short = |shown: &Kept| matches!(shown, Kept::Text(text) if (text.len() as u64) < tokens);
        shown.is_some_and(|shown| is_short(&shown) || shown.shown(&self.memo).1 < tokens)
    }

    /// Puts the originals of the proposals that pay, and only then shows them, as the store has them.
    fn fold(&self, scope: &Scope, known: &[Known], fold: &Fold, ledger: &Ledger, shown: &mut Shown) -> Result<()> {
        let rendered = self.render(fold, ledger, shown)?;
        let batch = batch_of(known, fold, &rendered, ledger, shown);
        let in_force = self.store.commit(scope, &batch, fold.now)?;
        self.show_in_force(known, &rendered, &batch, &in_force, shown)?;
        shown.reply.report.epoch = batch.epoch;
        Ok(())
    }

    /// The proposals that pay; where they free too little for an epoch, those that open none.
    fn render<'f, 't, 'a>(
        &self,
        fold: &'f Fold<'t, 'a>,
        ledger: &Ledger,
        shown: &Shown,
    ) -> Result<Vec<Rendered<'f, 't, 'a>>> {
        if fold.proposals.is_empty() {
            return Ok(Vec::new());
        }
        let originals: Vec<&Original> = fold.proposals.iter().map(|proposal| proposal.source.original()).collect();
        let ids = self.ids(&originals)?;
        let meter = Meter::new(None, self.config.encoding);
        // Where the host has dropped the placeholder that did, it is to be said again.
        let mut is_explained = explained_in(ledger).any(|original| shown.in_context.contains(&original));
        let mut rendered = Vec::with_capacity(ids.len());
        for (proposal, id) in fold.proposals.iter().zip(ids) {
            let explains = !is_explained && proposal.placeholder.may_explain(proposal.known.tokens);
            let Some(kept) = proposal.placeholder.render(&id, self, &meter, explains) else { continue };
            let (_, tokens) = kept.shown(&self.memo);
            // Where the words of thinking are hidden it counts nothing, and leaves all the same.
            if tokens < proposal.known.tokens || tokens == 0 {
                is_explained |= explains;
                rendered.push(Rendered { proposal, id, kept, tokens, explains });
            }
        }
        let opens = |one: &&Rendered| !matches!(one.proposal.reason, LARGE | THINKING);
        let frees = rendered.iter().filter(opens).map(|one| one.proposal.known.tokens - one.tokens);
        if frees.sum::<u64>() < fold.least {
            rendered.retain(|one| one.proposal.reason == LARGE);
        }
        Ok(rendered)
    }

    /// Shows the rows in force, of which some may be another call's.
    fn show_in_force(
        &self,
        known: &[Known],
        rendered: &[Rendered],
        batch: &Batch,
        in_force: &[Projection],
        shown: &mut Shown,
    ) -> Result<()> {
        let rendered: HashMap<BlockKey, &Rendered> = rendered.iter().map(|one| (one.proposal.known.key, one)).collect();
        let in_force: HashMap<BlockKey, &Projection> = in_force.iter().map(|row| (row.block, row)).collect();
        for known in known {
            let Some(&row) = in_force.get(&known.key) else { continue };
            let replacement = self.memo.of_replacement(&row.replacement, || self.store.location())?;
            let Some(change) = replacement.kept.change(known) else { continue };
            let ours = rendered.get(&known.key).filter(|_| batch.projections.contains(row));
            let (reason, id) = ours.map_or(("replay", None), |one| (one.proposal.reason, Some(one.id.to_string())));
            show(known, reason, id, change, replacement.tokens, shown);
        }
        Ok(())
    }
}

/// What a fold in sight restores without the store, where that is the original that it was made of.
fn restored(fold: &str, original: ContentHash) -> Option<String> {
    let without = without_cut(fold).map(|(without, _)| without);
    let mut texts = [Some(fold), without].into_iter().flatten().map(|fold| restore(fold, &[]));
    texts.find(|text| ContentHash::of(text.as_bytes()) == original)
}

/// What is written before anything of it is shown.
fn batch_of(known: &[Known], fold: &Fold, rendered: &[Rendered], ledger: &Ledger, shown: &Shown) -> Batch {
    let mut batch = Batch {
        tools: fold.tools.filter(|tools| ledger.tools != Some(*tools)),
        withdrawn: shown.withdrawn.clone(),
        ..Batch::after(ledger)
    };
    let mut in_context = shown.in_context.clone();
    let mut changed: BTreeSet<BlockKey> = shown.withdrawn.iter().copied().collect();
    let (mut before, mut after) = (0, 0);
    for &Rendered { proposal, ref id, ref kept, tokens, explains } in rendered {
        let (block, original) = (proposal.known, proposal.source.original());
        (before, after) = (before + block.tokens, after + tokens);
        changed.insert(block.key);
        in_context.insert(original.hash);
        batch.printed.extend(explains.then(|| explanation_in(original.hash)));
        batch.folded.push((kind_of(block), block.tokens, tokens));
        batch.projections.push(Projection {
            block: block.key,
            replacement: kept.to_json(),
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
    let epoch = Epoch {
        reason: match rendered.first() {
            Some(first) => fold.cause.unwrap_or(first.proposal.reason),
            None => RETURNED,
        }
        .into(),
        tokens_freed: before - after,
        tokens_rebilled: rebilled(known, &changed, &fold.entries) + after,
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

fn untouched(known: &[Known]) -> Report {
    let total = known.iter().map(|known| known.tokens).sum();
    Report { tokens_before: total, tokens_after: total, ..Report::default() }
}

/// The names in what stays as it is, words of people and of the model, and placeholders; and what was written and said last.
fn names_around(known: &[Known], states: &[State], shown: &Shown) -> Around {
    let mut around = Around::default();
    let mut said = Vec::new();
    for (known, state) in known.iter().zip(states) {
        match known.block.kind {
            Kind::Text(text) => {
                if known.block.result.is_none() || matches!(state, State::Placeholder(_)) {
                    around.add(text);
                }
                if known.block.result.is_none() {
                    said.push(Cow::Borrowed(text));
                }
            }
            Kind::Call(call) => {
                let written = call.arguments.to_json();
                around.add_written(&written);
                said.push(written.into());
            }
            _ => {}
        }
    }
    for text in said.iter().rev().take(RECENT) {
        around.add_recent(text);
    }
    for patch in &shown.reply.rewrite.patches {
        if let Some(text) = patch.value.as_str() {
            around.add(text);
        }
    }
    around
}

/// Whether something was folded in the last assembly, and nothing that was is in sight now.
fn is_rewritten(ledger: &Ledger, states: &[State], shown: &Shown) -> bool {
    let has_left = |row: &Projection| {
        let stood = ledger.state.as_ref().is_some_and(|state| state.in_context.contains(&row.original));
        stood && !shown.in_context.contains(&row.original)
    };
    states.iter().all(|state| *state == State::Open) && ledger.projections.iter().any(has_left)
}

/// What a model with a list of tools, in whatever order, is known by.
fn hash_of_caller(options: &AssembleOptions) -> Option<ContentHash> {
    let tools: Option<BTreeSet<&String>> = options.available_tools.as_ref().map(|tools| tools.iter().collect());
    let is_named = tools.is_some() || options.model.is_some();
    is_named.then(|| ContentHash::of(json!([options.model, tools]).to_string().as_bytes()))
}

/// Tokens that stay, from the last entry of the cache before the first block that changed: what it has to take in anew.
fn rebilled(known: &[Known], changed: &BTreeSet<BlockKey>, entries: &[bool]) -> u64 {
    let is_entry = |at: &usize| entries.get(*at).is_none_or(|is_entry| *is_entry);
    let first = known.iter().position(|known| changed.contains(&known.key)).unwrap_or(known.len());
    let from = (0..=first).rev().find(is_entry).unwrap_or(0);
    let taken_in = known[from.min(first)..].iter().filter(|known| !changed.contains(&known.key));
    taken_in.map(|known| known.tokens).sum()
}
