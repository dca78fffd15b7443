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
/// likeliest of the sixteen languages are used. `name` is the name of a language that is none of them, if it is known:
/// then the summary is written in any case.
pub(super) fn summarize(text: &str, language: Option<Language>, name: Option<&str>, sheet: &mut Sheet) -> bool {
    let likeliest = language.or_else(|| guess(text));
    let source = likeliest.map_or_else(Source::default, |likeliest| Source::read(text, patterns(likeliest)));
    if name.is_none() && source.definitions.is_empty() && source.imports.is_empty() {
        return false;
    }
    let code = match (name, language) {
        (Some(name), _) => name.to_owned(),
        (None, Some(language)) => format!("{} code", language.as_str()),
        (None, None) => "code".to_owned(),
    };
    sheet.say(&format!("{code}, {}", which_lines(text)));
    source.write(text, sheet);
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
        let signatures: Vec<String> = self.definitions.iter().map(|one| signature(one.signature)).collect();
        // Room for the label and the blanks around it.
        let needed = 10 + signatures.iter().map(|signature| utf16::len(signature) + 2).sum::<usize>();
        sheet.list("defines:", &if needed <= room { signatures } else { self.ranked_names(text) }, room);
    }

    /// Returns `name:line` of the definitions, the most used first.
    fn ranked_names(&self, text: &str) -> Vec<String> {
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
        ranked.iter().map(|one| format!("{}:{}", quote(one.name, 80), one.line)).collect()
    }
}

/// Returns a signature without the characters that open its body.
fn signature(line: &str) -> String {
    quote(line.trim_end().trim_end_matches(['{', ':', '=', ' ']).trim_end_matches("=>"), 100)
}
