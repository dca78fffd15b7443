//! Source code -> its definitions with signatures, its imports.
//!
//! Lines are matched by patterns, without a parser, so that truncated files and files with line numbers are read, too.
//! If not all signatures fit, names are listed instead, the most used first, because a reader asks for those most
//! often.

mod patterns;

use concertina_base::hashing::{FastMap, FastSet};
use indexmap::IndexSet;
use patterns::{Patterns, patterns};

use super::identifiers::words;
use super::numbers::{numbered_lines, unnumbered, which_lines};
use super::sheet::{Sheet, quote};
use crate::content::Language;
use crate::content::head;
use crate::tokens::utf16;

/// The number of bytes of a line in which a definition is searched.
const FRONT: usize = 400;

/// The most definitions that are kept.
const KEPT: usize = 20_000;

struct Definition<'t> {
    name: &'t str,
    signature: &'t str,
    line: usize,
}

/// Writes the summary, and returns false if nothing is defined or imported. Without a language, the patterns of the
/// likeliest of the sixteen languages are used, and the summary does not name it.
pub(super) fn summarize(text: &str, language: Option<Language>, sheet: &mut Sheet) -> bool {
    let Some(likeliest) = language.or_else(|| guess(text)) else { return false };
    let source = Source::read(text, patterns(likeliest));
    if source.definitions.is_empty() && source.imports.is_empty() {
        return false;
    }
    let code = language.map_or_else(|| "code".to_owned(), |language| format!("{} code", language.as_str()));
    sheet.say(&format!("{code}, {}", which_lines(text)));
    source.write(text, sheet);
    true
}

/// Writes the summary of code in a language that is not one of the sixteen.
pub(super) fn summarize_other(text: &str, name: &str, sheet: &mut Sheet) -> bool {
    sheet.say(&format!("{name}, {}", which_lines(text)));
    if let Some(likeliest) = guess(text) {
        Source::read(text, patterns(likeliest)).write(text, sheet);
    }
    true
}

/// Returns the language whose definitions and imports occur on most lines, at least two.
fn guess(text: &str) -> Option<Language> {
    let probe: Vec<&str> = text.lines().take(400).map(|line| head(unnumbered(line).1, FRONT)).collect();
    let hits = |language: Language| {
        let patterns = patterns(language);
        probe.iter().filter(|line| patterns.definition_in(line).is_some() || patterns.import_in(line).is_some()).count()
    };
    Language::ALL
        .iter()
        .map(|&language| (hits(language), language))
        .filter(|(hits, _)| *hits > 1)
        .max_by_key(|(hits, language)| {
            // Of equals, the language that the documentation lists first is taken.
            (*hits, std::cmp::Reverse(*language))
        })
        .map(|(_, language)| language)
}

#[derive(Default)]
struct Source<'t> {
    definitions: Vec<Definition<'t>>,
    imports: IndexSet<&'t str>,
}

impl<'t> Source<'t> {
    fn read(text: &'t str, patterns: &Patterns) -> Self {
        let mut source = Self::default();
        let mut in_import_block = false;
        for (number, line) in numbered_lines(text) {
            let line = head(line, FRONT);
            let trimmed = line.trim();
            if patterns.has_import_block && trimmed == "import (" {
                in_import_block = true;
            } else if in_import_block {
                in_import_block = trimmed != ")";
                if let Some(path) = trimmed.split('"').nth(1) {
                    source.imports.insert(path);
                }
            } else if let Some(import) = patterns.import_in(line).filter(|path| path.contains(char::is_alphabetic)) {
                source.imports.insert(import);
            } else if let Some((name, signature)) = patterns.definition_in(line)
                && source.definitions.len() < KEPT
            {
                source.definitions.push(Definition { name, signature, line: number });
            }
        }
        source
    }

    fn write(&self, text: &str, sheet: &mut Sheet) {
        const LEAST_ROOM: usize = 60;
        self.write_definitions(text, sheet);
        sheet.list("imports:", &Vec::from_iter(&self.imports), sheet.share(30).max(LEAST_ROOM));
    }

    fn write_definitions(&self, text: &str, sheet: &mut Sheet) {
        if self.definitions.is_empty() {
            return;
        }
        let room = sheet.share(75);
        // Room for the label and the blanks around it.
        let mut left = room.checked_sub(10);
        let fitting = self.definitions.iter().map_while(|one| {
            let signature = signature(one.signature);
            left = left?.checked_sub(utf16::len(&signature) + 2);
            left.map(|_| signature)
        });
        let signatures: Vec<String> = fitting.collect();
        match signatures.len() == self.definitions.len() {
            true => sheet.list("defines:", &signatures, room),
            false => sheet.list("defines:", &self.ranked_names(text, room), room),
        }
    }

    /// Returns `name:line` of the most used definitions that fit, in the order of the text, and then of the others,
    /// which are only counted as left out.
    fn ranked_names(&self, text: &str, room: usize) -> Vec<String> {
        let mut uses: FastMap<&[u8], usize> = self.definitions.iter().map(|one| (one.name.as_bytes(), 0)).collect();
        for range in words(text) {
            for part in text.as_bytes()[range].split(|byte| matches!(byte, b'.' | b':' | b'/' | b'-')) {
                if let Some(count) = uses.get_mut(part) {
                    *count += 1;
                }
            }
        }
        let mut ranked: Vec<&Definition<'_>> = self.definitions.iter().collect();
        let mut seen = FastSet::default();
        ranked.retain(|one| seen.insert(one.name));
        ranked.sort_by_key(|one| std::cmp::Reverse(uses[one.name.as_bytes()].min(8)));
        let written = |one: &Definition<'_>| format!("{}:{}", quote(one.name, 80), one.line);
        // Room for the label and the count of omitted names.
        let mut left = room.saturating_sub(9 + 7);
        let fitting = ranked
            .iter()
            .take_while(|one| {
                let cost = utf16::len(&written(one)) + 2;
                let fits = cost <= left;
                left = left.saturating_sub(cost);
                fits
            })
            .count();
        let (shown, rest) = ranked.split_at_mut(fitting);
        shown.sort_by_key(|one| one.line);
        shown.iter().chain(rest.iter()).map(|one| written(one)).collect()
    }
}

/// Returns a signature without the characters that open its body.
fn signature(line: &str) -> String {
    quote(line.trim_end().trim_end_matches(['{', ':', '=', ' ']).trim_end_matches("=>"), 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_without_a_language_and_none_is_named() {
        let mut sheet = Sheet::new(200);
        assert!(summarize("use std::io;\nfn main() {}\nimpl Store {}\nstruct Store;\n", None, &mut sheet));
        assert!(sheet.finish().starts_with("code, 4 lines\ndefines: fn main()"));
    }
}
