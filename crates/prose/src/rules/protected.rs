//! Finds the spans that shortening a rule file must not change: everything technical, negations, assertions, actions.
//!
//! Headings and table rows are read word by word, because their marks are removed and their words stay.

use std::ops::Range;

use crate::{Atom, Class, Kind, atoms, inline_atoms, lexicon};
use concertina_readers::markup_block::Fence;

/// A part of a text that must not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its place, in bytes.
    pub range: Range<usize>,
    /// The reason: a kind of `tokenize`, or `negation`, `assertion`, `action`.
    pub category: &'static str,
}

/// Returns the protected spans, in order and apart.
pub fn protected_spans(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut helper: Option<Range<usize>> = None;
    let mut add = |atom: Atom| {
        let category = category(text, &atom);
        let before = helper.take();
        if let Some(category) = category {
            // `do not` is one span.
            let joined = before.filter(|before| category == "negation" && text[before.end..atom.range.start] == *" ");
            let start = joined.map_or(atom.range.start, |before| before.start);
            if spans.last().is_some_and(|last| last.range.end > start) {
                spans.pop();
            }
            spans.push(Span { range: start..atom.range.end, category });
        }
        if atom.kind == Kind::Prose
            && HELPERS.iter().any(|helper| text[atom.range.clone()].eq_ignore_ascii_case(helper))
        {
            helper = Some(atom.range);
        }
    };
    for atom in atoms(text) {
        match atom.kind {
            Kind::Heading | Kind::TableRow => {
                inline_atoms(text, atom.range)
                    .into_iter()
                    .filter(|atom| atom.kind != Kind::TableRow)
                    .for_each(&mut add);
            }
            Kind::Fence if is_diagram(&text[atom.range.clone()]) => {}
            _ => add(atom),
        }
    }
    spans
}

const HELPERS: [&str; 10] = ["do", "does", "did", "must", "should", "shall", "will", "would", "could", "may"];

fn category(text: &str, atom: &Atom) -> Option<&'static str> {
    if !matches!(atom.kind, Kind::Prose | Kind::Identifier) {
        return Some(atom.kind.as_str());
    }
    let classes = match atom.kind {
        Kind::Prose => atom.word.classes,
        _ => lexicon().classes(&text[atom.range.clone()]),
    };
    let named = [(Class::Negation, "negation"), (Class::Assertion, "assertion"), (Class::Action, "action")];
    let class = named.into_iter().find(|(class, _)| classes.has(*class)).map(|(_, name)| name);
    class.or((atom.kind == Kind::Identifier).then(|| atom.kind.as_str()))
}

/// Returns true if a fence contains a Mermaid diagram.
pub(super) fn is_diagram(fence: &str) -> bool {
    fence.lines().next().and_then(Fence::parse).is_some_and(|open| open.info == "mermaid")
}
