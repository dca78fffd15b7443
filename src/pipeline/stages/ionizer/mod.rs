//! `[{"id":1,"ok":true},{"id":2,"ok":true}]` -> `[A` with columns `id=^+1,ok=true`: JSON becomes columns, rows and
//! rules.

mod columns;
mod find;
mod fit;
mod groups;
mod json;
mod keys;
mod layout;
mod matrix;
mod records;
mod sample;
mod scan;
mod shared_text;
mod table;
mod write;

use std::ops::Range;

use concertina_format::ionizer::{cells, path};

use self::find::Found;
use self::table::Table;
use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};
use crate::tokens;

/// The most tokens of a folded value that is not sampled, if the preset allows sampling.
const VALUE_MAX_TOKENS: usize = 32_768;

/// The longest value that is folded before sampling, in bytes: few folds get a longer one below the token limit.
const VALUE_MAX_BYTES: usize = 24 * VALUE_MAX_TOKENS;

/// The stage that folds JSON and tables.
#[derive(Debug)]
pub struct Ionizer;

impl Stage for Ionizer {
    fn name(&self) -> &'static str {
        "ionizer"
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Json, ContentType::Table]
    }

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.has(self.content_types())
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let folds = proposals(context);
        let mut saved = 0;
        let mut edits = Vec::new();
        for proposal in &folds {
            let Some((legend, body)) = &proposal.fold else { continue };
            let old = &context.text[proposal.range.clone()];
            let before = tokens::count(old, context.encoding);
            let fold = Fold::new(self.name(), legend.clone(), Some(body.clone()));
            let edit = Edit::fold(proposal.range.clone(), &fold);
            let after = tokens::count(&edit.text, context.encoding);
            if after < before {
                saved += before - after;
                edits.push(edit);
            }
        }
        let limit = if may_sample(context, saved) { 0 } else { VALUE_MAX_TOKENS };
        if context.preset != Preset::Lossless {
            // Lines count in the original, so they are known only while nothing has changed.
            let is_original = context.sealed.is_empty() && context.text.len() == context.original_len;
            for proposal in &folds {
                let known = edits.iter().position(|edit| edit.range == proposal.range);
                let shown = known.map_or(&context.text[proposal.range.clone()], |known| &edits[known].text);
                if tokens::fits(shown, limit, context.encoding) {
                    continue;
                }
                let limit = tokens::count(shown, context.encoding);
                let pays = |sample: &String| tokens::count(sample, context.encoding) < limit;
                // Lines are not always known, so the decision to sample must not depend on them.
                let forms = if is_original { &[true, false][..] } else { &[false] };
                let sample = forms.iter().find_map(|&wants_lines| proposal.sample(context, wants_lines).filter(pays));
                let Some(sample) = sample else { continue };
                edits.extend(known.is_none().then(|| Edit::note(proposal.range.clone(), "")));
                let at = known.unwrap_or(edits.len() - 1);
                edits[at] = Edit::note(proposal.range.clone(), sample);
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }
}

/// A value or table that could be folded.
struct Proposal<'c> {
    range: Range<usize>,
    /// The legend and body, if it folds.
    fold: Option<(String, String)>,
    rows: Rows<'c>,
}

/// The rows that a sample is taken from.
enum Rows<'c> {
    Json(Found<'c>),
    Table(Table),
}

fn proposals<'c>(context: &'c FusionContext) -> Vec<Proposal<'c>> {
    let mut found = Vec::new();
    for segment in context.segments.iter().filter(|segment| context.is_free(&segment.range)) {
        let text = &context.text[segment.range.clone()];
        if segment.content_type == ContentType::Table {
            let whole = text.strip_suffix('\n').unwrap_or(text);
            let Some(table) = Table::parse(whole) else { continue };
            let fold = may_fold(context, whole).then(|| table.fold(context.encoding)).flatten();
            let range = segment.range.start..segment.range.start + whole.len();
            found.push(Proposal { range, fold, rows: Rows::Table(table) });
        } else if segment.content_type == ContentType::Json {
            for one in find::find(context.text, segment.range.clone()) {
                let value = &context.text[one.range.clone()];
                let fold = may_fold(context, value)
                    .then(|| json::fold(&one.scan, one.lines, one.tail, context.encoding))
                    .flatten();
                found.push(Proposal { range: one.range.clone(), fold, rows: Rows::Json(one) });
            }
        }
    }
    found
}

/// Returns true if the fold of a value may fit.
fn may_fold(context: &FusionContext, value: &str) -> bool {
    context.preset == Preset::Lossless || value.len() <= VALUE_MAX_BYTES
}

/// Returns true if rows may be left out: by preset, or because the rest exceeds the limit.
fn may_sample(context: &FusionContext, saved: usize) -> bool {
    match (context.preset, context.max_tokens) {
        (Preset::Lossless, _) => false,
        (Preset::Max, _) => true,
        (Preset::Balanced, None) => false,
        (Preset::Balanced, Some(limit)) => !tokens::fits(context.text, limit + saved, context.encoding),
    }
}

impl Proposal<'_> {
    /// Returns some rows and statistics of all, with the line numbers of omitted rows if wanted.
    fn sample(&self, context: &FusionContext, wants_lines: bool) -> Option<String> {
        let first_line = context.text[..self.range.start].matches('\n').count() + 1;
        match &self.rows {
            Rows::Json(found) => {
                let known = wants_lines.then(|| sample::lines_of(&found.scan, first_line, found.lines));
                let sample = sample::sample(&found.scan.tree, &[], &|id| known.as_ref().map(|lines| lines[id]))?;
                Some(sample + found.tail)
            }
            Rows::Table(table) => table.sample(first_line, wants_lines),
        }
    }
}
