//! Short forms -> the long ones they stand for.
//!
//! Only words of prose are looked at: `.env`, `config.json` and `5 min` were never abbreviated.

use super::lexicon::{Category, Entry, lexicon};
use super::segment::Kind;
use super::shorten::{Break, Separator, capitalized, for_each_paragraph};

/// A short form that stands for a longer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// What stood there.
    pub long: String,
    /// What stands there now.
    pub short: String,
    /// How often it was put in.
    pub count: usize,
}

/// Writes the abbreviations of the lexicon out.
pub fn expand(text: &str) -> String {
    expanded(text, &[Kind::Prose], |entry, before| {
        let counts = before.trim_end_matches([' ', '\t']).ends_with(|c: char| c.is_ascii_digit());
        !(entry.needs_receipt || entry.is_unit && counts)
    })
}

/// Writes out only those abbreviations that a receipt names. A text that uses a short form itself is never given that
/// form, so all of them are ours, also where a short form reads like a word that is named.
pub fn expand_listed(text: &str, substitutions: &[Substitution]) -> String {
    expanded(text, &[Kind::Prose, Kind::Named], |entry, _| {
        substitutions.iter().any(|one| one.long == entry.long && one.short == entry.written)
    })
}

/// Looks at words of these kinds. `applies` is asked with what stands before the short form. Where a sentence begins is
/// told as it was when shortening.
fn expanded(text: &str, kinds: &[Kind], applies: impl Fn(&Entry, &str) -> bool) -> String {
    let mut long = String::with_capacity(text.len() + text.len() / 8);
    let mut at = 0;
    for_each_paragraph(text, |atoms, around| {
        let (mut end, mut before) = (around.start, None);
        for atom in atoms {
            let word = &text[atom.range.clone()];
            let separator = Separator::new(&text[end..atom.range.start], before.replace(word));
            end = atom.range.end;
            let entry = lexicon().expansion(atom.word).filter(|_| kinds.contains(&atom.kind));
            let Some(entry) = entry.filter(|entry| applies(entry, &text[..atom.range.start])) else { continue };
            debug_assert_eq!(entry.category, Category::Abbreviation);
            let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
            let is_free = separator.opens() && Separator::new(&text[end..], None).closes();
            if !is_free || is_capital && (entry.is_lower_only || separator.kind != Break::Sentence) {
                continue;
            }
            long.push_str(&text[at..atom.range.start]);
            long.push_str(&if is_capital { capitalized(entry.long) } else { entry.long.to_owned() });
            at = end;
        }
    });
    long + &text[at..]
}
