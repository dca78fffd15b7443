//! Text in, [`Compressed`] out: picks between the reversible and the lossless form of a text, and proves what it gives
//! back.
//!
//! Compressing twice is compressing once, by construction and not by trusting markers. A text that comes in folded is
//! unfolded first. A reversible result, taken for a text from outside, must make no stage want more: its notes and
//! marker line go through the stages again, and again, until it settles; one that does not settle is given up for the
//! lossless form.

use std::rc::Rc;
use std::slice;

use super::caller_stages::{Answers, Caller, Gone};
use super::draft::Draft;
use super::measure::{MARKER_TOKENS, saving};
use super::move_volatile_lines::volatile_last;
use super::pass::{Pass, Passes, is_codec};
use super::report::{Attempts, Compressed, Sum, Tally, rows};
use super::restore::{UNFOLDED_MAX_BYTES, before_marker, marker_line, restore, rewound, unfold, unfolds_to};
use super::steps::Work;
use super::{CompressOptions, Edit, FusionPipeline, RememberedFolds};
use crate::config::Preset;
use crate::content::ContentType;
use crate::content::escapes::has_old_line_ends;
use crate::reference::Original;
use crate::tokens;
use crate::transcript::Role;

/// How many passes a reversible text has to settle in.
const ROUNDS: usize = 4;

/// Compresses texts through one pipeline.
#[derive(Default)]
pub struct FusionEngine {
    pipeline: FusionPipeline,
}

/// A form of the text that may be given back.
struct Form {
    text: String,
    tallies: Vec<Tally>,
    /// Whether it pays in the provider's cache, and may have more tokens than the text.
    pays_in_cache: bool,
    original: Option<Original>,
}

impl Form {
    /// What its edits save, without the marker line and the line numbers of notes: they depend on how the text came in.
    fn saved(&self) -> isize {
        self.tallies.iter().map(|tally| tally.changes.saved + tally.folds.saved).sum()
    }

    /// Whether its marker line leads back to the text, where it has one.
    fn rewinds_to(&self, text: &str) -> bool {
        let original = self.original.as_ref();
        original.is_none_or(|original| rewound(&self.text, slice::from_ref(original)).as_deref() == Some(text))
    }
}

impl FusionEngine {
    /// An engine with a pipeline.
    pub fn new(pipeline: FusionPipeline) -> Self {
        Self { pipeline }
    }

    /// The pipeline.
    pub fn pipeline(&self) -> &FusionPipeline {
        &self.pipeline
    }

    /// Compresses a text. Time is whatever `clock` says, in milliseconds. Stages that the caller runs do not fire; see
    /// [`FusionEngine::compress_asking`].
    ///
    /// The result has fewer tokens than the text, or is the text; only a system prompt whose volatile lines moved may
    /// be longer. Linear in the length of the text.
    pub fn compress(&self, text: &str, options: &CompressOptions, clock: &dyn Fn() -> f64) -> Compressed {
        self.compress_edited(text, &[], options, clock)
    }

    /// [`FusionEngine::compress`] of a text in which something has already been replaced, reversibly.
    pub(super) fn compress_edited(
        &self,
        text: &str,
        edits: &[Edit],
        options: &CompressOptions,
        clock: &dyn Fn() -> f64,
    ) -> Compressed {
        let compressed = self.compress_answered(text, edits, options, &Answers::of(None), clock);
        compressed.unwrap_or_else(|Gone| unreachable!("nobody is asked"))
    }

    /// Undoes [`FusionEngine::compress`] with the stages of this pipeline; see [`super::restore()`].
    pub fn restore(&self, text: &str, originals: &[Original]) -> String {
        restore(text, originals)
    }

    /// [`FusionEngine::compress`] for a caller that runs the custom stages that the pipeline names.
    ///
    /// # Errors
    /// [`Gone`], when the caller says so.
    pub fn compress_asking(
        &self,
        text: &str,
        options: &CompressOptions,
        caller: &Caller<'_>,
        clock: &dyn Fn() -> f64,
    ) -> Result<Compressed, Gone> {
        self.compress_answered(text, &[], options, &Answers::of(Some(caller)), clock)
    }

    fn compress_answered(
        &self,
        text: &str,
        edits: &[Edit],
        options: &CompressOptions,
        answers: &Answers,
        clock: &dyn Fn() -> f64,
    ) -> Result<Compressed, Gone> {
        if options.preset != Preset::Lossless && has_old_line_ends(text) {
            return self.compress_old_lines(text, edits, options, answers, clock);
        }
        let steps = &self.pipeline.steps;
        let mut passes = Passes {
            pipeline: &self.pipeline,
            options,
            clock,
            answers,
            original: text,
            remembered: &RememberedFolds::default(),
            attempts: vec![Attempts::default(); steps.len()],
            detected: None,
            unsettled: Vec::new(),
        };
        let tokens_before = passes.count(text);
        let mut compressed = Compressed {
            text: text.to_owned(),
            tokens_before,
            tokens_after: tokens_before,
            content_type: options.hints.content_type.unwrap_or(ContentType::Unknown),
            language: options.hints.language,
            lossless: true,
            stages: Vec::new(),
            originals: Vec::new(),
        };
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        let mut tallies = vec![Tally::default(); steps.len()];
        // What cannot be unfolded again is not folded.
        if text.len() <= UNFOLDED_MAX_BYTES {
            let unfolded = unfold(text);
            let start = Rc::new(unfolded.as_deref().map_or_else(|| Draft::verbatim(text), Draft::derived));
            let form = if let Some(form) = self.with_volatile_lines_last(&passes, start.text()) {
                let detection = passes.detect(&start);
                (compressed.content_type, compressed.language) = (detection.content_type, detection.language);
                form
            } else {
                let first = passes.run(&start, options.preset)?;
                (compressed.content_type, compressed.language) = (first.content_type, first.language);
                let edits = if unfolded.is_some() { &[] } else { edits };
                self.best(&mut passes, &start, first, edits)?
            };
            let tokens_after = passes.count(&form.text);
            if (tokens_after < tokens_before || form.pays_in_cache) && form.rewinds_to(text) {
                compressed.tokens_after = tokens_after;
                compressed.lossless = form.original.is_none();
                compressed.text = form.text;
                compressed.originals.extend(form.original);
                tallies = form.tallies;
            } else {
                tallies = unchanged(form.tallies);
            }
        }
        for (tally, _) in tallies.iter_mut().zip(&passes.unsettled).filter(|(_, unsettled)| **unsettled) {
            tally.notes.push(("unsettled".to_owned(), format!("wanted more after {ROUNDS} rounds")));
        }
        compressed.stages = rows(&names, &tallies, &passes.attempts, tokens_before);
        Ok(compressed)
    }

    /// [`FusionEngine::compress_answered`] of a text whose lines end in carriage returns: it is read with line feeds,
    /// and only its original has the returns.
    fn compress_old_lines(
        &self,
        text: &str,
        edits: &[Edit],
        options: &CompressOptions,
        answers: &Answers,
        clock: &dyn Fn() -> f64,
    ) -> Result<Compressed, Gone> {
        let read = text.replace('\r', "\n");
        let mut compressed = self.compress_answered(&read, edits, options, answers, clock)?;
        let original = Original::text(text, options.hints.label());
        let end = if compressed.lossless { compressed.text.len() } else { before_marker(&compressed.text) };
        let shown = format!("{}\n{}", compressed.text[..end].trim_end_matches('\n'), marker_line(&original, text));
        compressed.tokens_before = tokens::count(text, options.encoding);
        compressed.tokens_after = tokens::count(&shown, options.encoding);
        compressed.lossless = compressed.tokens_after >= compressed.tokens_before;
        if compressed.lossless {
            compressed.tokens_after = compressed.tokens_before;
            (compressed.text, compressed.originals) = (text.to_owned(), Vec::new());
        } else {
            (compressed.text, compressed.originals) = (shown, vec![original]);
        }
        Ok(compressed)
    }

    /// A system prompt with its volatile lines at the end, which nothing else changes; `None` where none has to move.
    fn with_volatile_lines_last(&self, passes: &Passes, text: &str) -> Option<Form> {
        let steps = &self.pipeline.steps;
        let index = steps.iter().position(|step| matches!(step.work, Work::MoveVolatileLines))?;
        let moved =
            volatile_last(text).filter(|moved| passes.options.role == Role::System && unfolds_to(moved, text))?;
        let saved = passes.count(text) as isize - passes.count(&moved) as isize;
        let mut tallies = vec![Tally::default(); steps.len()];
        tallies[index].folds.add(Sum { edits: 1, saved });
        Some(Form { text: moved, tallies, pays_in_cache: true, original: None })
    }

    /// The best form of the draft. It depends on what the draft says, not on how the text came in.
    fn best(&self, passes: &mut Passes, start: &Rc<Draft>, first: Pass, edits: &[Edit]) -> Result<Form, Gone> {
        let is_lossless = passes.options.preset == Preset::Lossless;
        let reversible = if is_lossless { None } else { self.reversible(passes, start, &first, edits)? };
        let Some(form) = reversible else { return self.folded(passes, start, first) };
        // Whoever gives edits compares by itself.
        if !edits.is_empty() || !self.is_contested(&form) {
            return Ok(form);
        }
        let folded = self.folded(passes, start, first)?;
        Ok(if folded.saved() + MARKER_TOKENS >= form.saved() { folded } else { form })
    }

    /// Whether a codec took lines for good that others would fold: what it replaced was not weighed against their
    /// folds.
    fn is_contested(&self, form: &Form) -> bool {
        let mut steps = self.pipeline.steps.iter().zip(&form.tallies);
        steps.any(|(step, tally)| tally.changes.edits > 0 && is_codec(step))
    }

    /// The draft with nothing but folds, or as it is where those do not pay. `pass` is what a pass over it made.
    fn folded(&self, passes: &mut Passes, draft: &Rc<Draft>, pass: Pass) -> Result<Form, Gone> {
        let pass = if pass.changes().edits == 0 { pass } else { passes.run(draft, Preset::Lossless)? };
        let (before, after) = (draft.text(), pass.draft.text());
        let pays = passes.count(after) < passes.count(before);
        Ok(if pays && unfolds_to(after, before) {
            Form { text: after.to_owned(), tallies: pass.tallies, pays_in_cache: false, original: None }
        } else {
            Form { text: before.to_owned(), tallies: unchanged(pass.tallies), pays_in_cache: false, original: None }
        })
    }

    /// The form that needs the original to be undone, where it pays and settles.
    fn reversible(
        &self,
        passes: &mut Passes,
        start: &Rc<Draft>,
        first: &Pass,
        edits: &[Edit],
    ) -> Result<Option<Form>, Gone> {
        let (edited, mut pass, mut given) = (&mut None, first, 0);
        let savings = edits.iter().map(|edit| (edit, saving(start.text(), edit, passes.options.encoding)));
        let edits: Vec<Edit> = savings
            .filter(|(_, saving)| *saving > 0)
            .map(|(edit, saving)| {
                given += saving;
                edit.clone()
            })
            .collect();
        if !edits.is_empty() {
            pass = edited.insert(passes.run(&Rc::new(start.apply(&edits).0), passes.options.preset)?);
        }
        if given + pass.changes().saved <= MARKER_TOKENS {
            return Ok(None);
        }
        let original = Original::text(passes.original, passes.options.hints.label());
        let marker = marker_line(&original, passes.original);
        let mut changes: Vec<Sum> = pass.tallies.iter().map(|tally| tally.changes).collect();
        let mut draft = pass.draft.unfolded();
        let joint = if draft.text().is_empty() || draft.text().ends_with('\n') { "" } else { "\n" };
        draft.append(&format!("{joint}{marker}"));
        let mut draft = Rc::new(self.without_folds(draft));
        for _ in 0..ROUNDS {
            // A fold that was cut off would take the marker for its last line.
            if !ends_once(draft.text(), &marker) {
                break;
            }
            let pass = passes.run(&draft, passes.options.preset)?;
            if pass.changes().saved <= MARKER_TOKENS {
                passes.unsettled.clear();
                let mut form = self.folded(passes, &draft, pass)?;
                let (before, after) = (passes.count(start.text()), passes.count(&form.text));
                form.tallies.iter_mut().zip(changes).for_each(|(tally, changes)| tally.changes.add(changes));
                form.original = Some(original);
                return Ok((after < before && ends_once(&form.text, &marker)).then_some(form));
            }
            changes.iter_mut().zip(&pass.tallies).for_each(|(sum, tally)| sum.add(tally.changes));
            passes.unsettled = pass.tallies.iter().map(|tally| tally.changes.edits > 0).collect();
            draft = Rc::new(self.without_folds(pass.draft.unfolded()));
            if pass.lost_note {
                break;
            }
        }
        Ok(None)
    }

    /// A draft as it would come in from outside: a reversible edit may have written something that comes undone.
    fn without_folds(&self, draft: Draft) -> Draft {
        unfold(draft.text()).map_or(draft, |unfolded| Draft::derived(&unfolded))
    }
}

/// The tallies of a text that stays as it is.
fn unchanged(tallies: Vec<Tally>) -> Vec<Tally> {
    let keep = |tally: Tally| match tally.folds.edits + tally.changes.edits {
        0 => tally,
        _ => Tally::default(),
    };
    tallies.into_iter().map(keep).collect()
}

/// Whether a line stands at the end of a text and nowhere else in it.
fn ends_once(text: &str, line: &str) -> bool {
    let rest = text.strip_suffix(line).filter(|rest| rest.is_empty() || rest.ends_with('\n'));
    rest.is_some_and(|rest| !rest.contains(line))
}
