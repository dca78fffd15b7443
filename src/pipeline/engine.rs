//! The entry point of compression: takes a text, chooses between its reversible and its lossless form, and proves that
//! the result can be restored.
//!
//! Compressing a text twice gives the same result as compressing it once. This does not rely on markers: a folded text
//! is unfolded first. A reversible result, including its notes and marker line, is passed through the stages again
//! until they propose nothing more. If it does not settle, the lossless form is used.

use std::rc::Rc;
use std::slice;

use super::caller_stages::{Answers, Caller, Gone};
use super::draft::Draft;
use super::measure::{MARKER_TOKENS, saving};
use super::move_volatile_lines::volatile_last;
use super::pass::{Pass, Passes, is_codec};
use super::report::{Attempts, Compressed, Sum, Tally, recount, rows};
use super::restore::{UNFOLDED_MAX_BYTES, before_marker, marker_line, restore, rewound, unfold, unfolds_to};
use super::steps::Work;
use super::{CompressOptions, Edit, FusionPipeline, RememberedFolds};
use crate::config::Preset;
use crate::content::ContentType;
use crate::content::escapes::has_old_line_ends;
use crate::reference::Original;
use crate::tokens;
use crate::transcript::Role;

/// The maximum number of passes in which a reversible text has to settle.
const ROUNDS: usize = 4;

/// The percentage of tokens that a reversible form must save for the lossless form not to be tried, which takes as long
/// again.
const NEARLY_ALL: isize = 90;

/// Compresses texts through one pipeline.
#[derive(Default)]
pub struct FusionEngine {
    pipeline: FusionPipeline,
}

/// A candidate for the result.
struct Form {
    text: String,
    tallies: Vec<Tally>,
    /// True if the form pays in the provider's cache and may therefore have more tokens than the text.
    pays_in_cache: bool,
    original: Option<Original>,
}

impl Form {
    /// Returns the tokens that the edits save. The marker line and the line numbers of notes are not counted, because
    /// they depend on the form in which the text came in.
    fn saved(&self) -> isize {
        self.tallies.iter().map(|tally| tally.changes.saved + tally.folds.saved).sum()
    }

    /// Returns true if the form has no marker line or its marker line leads back to the text.
    fn rewinds_to(&self, text: &str) -> bool {
        let original = self.original.as_ref();
        original.is_none_or(|original| rewound(&self.text, slice::from_ref(original)).as_deref() == Some(text))
    }
}

impl FusionEngine {
    /// Creates an engine that uses a pipeline.
    pub fn new(pipeline: FusionPipeline) -> Self {
        Self { pipeline }
    }

    /// Returns the pipeline.
    pub fn pipeline(&self) -> &FusionPipeline {
        &self.pipeline
    }

    /// Compresses a text. `clock` returns the time in milliseconds. Custom stages do not run; see
    /// [`FusionEngine::compress_asking`].
    ///
    /// The result has fewer tokens than the text or equals it. Only a system prompt whose volatile lines were moved may
    /// be longer. The time is linear in the length of the text.
    pub fn compress(&self, text: &str, options: &CompressOptions, clock: &dyn Fn() -> f64) -> Compressed {
        self.compress_edited(text, &[], options, clock)
    }

    /// Does the same as [`FusionEngine::compress`], after applying reversible edits to the text.
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

    /// Undoes [`FusionEngine::compress`]; see [`super::restore()`].
    pub fn restore(&self, text: &str, originals: &[Original]) -> String {
        restore(text, originals)
    }

    /// Does the same as [`FusionEngine::compress`] and runs the custom stages of the pipeline through `caller`.
    ///
    /// # Errors
    /// [`Gone`] if `caller` returns it.
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
        // The lines of a system prompt are at most moved.
        if options.preset != Preset::Lossless && options.role != Role::System && has_old_line_ends(text) {
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
        // A longer text could not be unfolded again.
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

    /// Does the same as [`FusionEngine::compress_answered`] for a text whose lines end in carriage returns. The stages
    /// see line feeds instead, and the original keeps the carriage returns.
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
        let fired = compressed.stages.iter().any(|row| row.fired);
        let pays = fired && compressed.tokens_after < compressed.tokens_before;
        // With the marker at its end, the same lines may fold in another way.
        let is_settled = pays && self.compress_answered(&shown, &[], options, answers, clock)?.text == shown;
        compressed.lossless = !is_settled;
        recount(&mut compressed.stages, compressed.tokens_before, !compressed.lossless);
        if compressed.lossless {
            compressed.tokens_after = compressed.tokens_before;
            (compressed.text, compressed.originals) = (text.to_owned(), Vec::new());
        } else {
            (compressed.text, compressed.originals) = (shown, vec![original]);
        }
        Ok(compressed)
    }

    /// Returns a system prompt with its volatile lines at the end and no other change; `None` if no line has to move.
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

    /// Returns the best form of the draft. The choice depends only on the draft's text, not on the form in which it
    /// came in.
    fn best(&self, passes: &mut Passes, start: &Rc<Draft>, first: Pass, edits: &[Edit]) -> Result<Form, Gone> {
        let is_lossless = passes.options.preset == Preset::Lossless;
        let reversible = if is_lossless { None } else { self.reversible(passes, start, &first, edits)? };
        let Some(form) = reversible else { return self.folded(passes, start, first) };
        // Callers that pass edits compare the forms themselves. A form that leaves next to nothing is not compared.
        let is_settled = || form.saved() * 100 >= NEARLY_ALL * passes.count(start.text()) as isize;
        if !edits.is_empty() || !self.is_contested(&form) || is_settled() {
            return Ok(form);
        }
        let folded = self.folded(passes, start, first)?;
        Ok(if folded.saved() + MARKER_TOKENS >= form.saved() { folded } else { form })
    }

    /// Returns true if a codec made a reversible edit. Its lines were not compared with the folds that other codecs
    /// would make of them.
    fn is_contested(&self, form: &Form) -> bool {
        let mut steps = self.pipeline.steps.iter().zip(&form.tallies);
        steps.any(|(step, tally)| tally.changes.edits > 0 && is_codec(step))
    }

    /// Returns the draft with lossless folds only, or unchanged if these do not pay. `pass` is the result of a pass
    /// over the draft.
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

    /// Returns the form that needs the original to be restored, or `None` if it does not pay or does not settle.
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
            // A truncated fold would read the marker as its last line.
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

    /// Returns the draft as it would be read from outside. A reversible edit may have written text that looks like a
    /// fold.
    fn without_folds(&self, draft: Draft) -> Draft {
        unfold(draft.text()).map_or(draft, |unfolded| Draft::derived(&unfolded))
    }
}

/// Returns the tallies for a text that is left unchanged.
fn unchanged(tallies: Vec<Tally>) -> Vec<Tally> {
    let keep = |tally: Tally| match tally.folds.edits + tally.changes.edits {
        0 => tally,
        _ => Tally::default(),
    };
    tallies.into_iter().map(keep).collect()
}

/// Returns true if `line` is the last line of a text and occurs nowhere else in it.
fn ends_once(text: &str, line: &str) -> bool {
    let rest = text.strip_suffix(line).filter(|rest| rest.is_empty() || rest.ends_with('\n'));
    rest.is_some_and(|rest| !rest.contains(line))
}
