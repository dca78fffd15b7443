//! `[{"id":1,"ok":true},{"id":2,"ok":true}]` -> `[A` with columns `id=^+1,ok=true`: JSON becomes columns, rows and rules.

mod cells;
mod escapes;
mod find;
mod fit;
mod json;
mod layout;
mod matrix;
mod read;
mod records;
mod scan;
mod shared_text;
mod steps;
mod table;
mod write;

use self::escapes::Escapes;
use self::table::Table;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};
use crate::tokens;

/// The stage.
#[derive(Debug)]
pub struct Ionizer;

impl Stage for Ionizer {
    fn name(&self) -> &'static str {
        "ionizer"
    }

    fn order(&self) -> u32 {
        15
    }

    fn content_types(&self) -> &'static [ContentType] {
        use ContentType::{Json, Log, Search, Table, Text, Unknown};
        &[Json, Table, Log, Search, Text, Unknown]
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.segments.iter().any(|segment| {
            self.content_types().contains(&segment.content_type)
                && (segment.content_type == ContentType::Table
                    || memchr::memchr2(b'{', b'[', context.text[segment.range.clone()].as_bytes()).is_some())
        })
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (segment, text) in context.free_segments(ContentType::Table) {
            let whole = text.strip_suffix('\n').unwrap_or(text);
            if let Some(table) = Table::parse(whole) {
                let (legend, body) = table.fold(context.encoding);
                let fold = Fold::new(self.name(), legend, Some(body));
                if pays(&fold, whole, context) {
                    edits.push(Edit::fold(segment.range.start..segment.range.start + whole.len(), &fold));
                }
            }
        }
        for content_type in self.content_types().iter().filter(|own| **own != ContentType::Table) {
            for (segment, text) in context.free_segments(*content_type) {
                let escapes = Escapes::of(text);
                let is_json = *content_type == ContentType::Json;
                for found in find::find(context.text, segment.range.clone(), escapes, is_json) {
                    let old = &context.text[found.range.clone()];
                    let (legend, body) = json::fold(&found.scan, found.lines, found.tail, escapes, context.encoding);
                    let fold = Fold::new(self.name(), legend, Some(body));
                    if pays(&fold, old, context) {
                        edits.push(Edit::fold(found.range, &fold));
                    }
                }
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        if fold.stage != self.name() {
            return None;
        }
        let body = fold.body.as_deref()?;
        json::unfold(&fold.legend, body).or_else(|| table::unfold(&fold.legend, body))
    }
}

fn pays(fold: &Fold, old: &str, context: &FusionContext) -> bool {
    tokens::count(&fold.to_string(), context.encoding) < tokens::count(old, context.encoding)
}
