//! Long words and their short forms: the built-in list, and what the caller adds.
//!
//! Shorter is not cheaper: each entry knows what it costs in tokens, and one that costs some is for texts that would
//! not fit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::lexicon::data_lines;
use crate::{ShortForms, count};
use concertina_base::error::{Error, Result};

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) long: String,
    pub(super) short: String,
    /// Tokens more than the long form, in the middle of a sentence.
    pub(super) cost: i64,
}

/// Long words with their short forms.
#[derive(Debug, Clone)]
pub struct Dictionary {
    /// By the first word, the longest first.
    entries: HashMap<String, Vec<Entry>>,
    /// How long the shortest of the first words is: most words of a text are shorter.
    shortest_len: usize,
    short_forms: Arc<ShortForms>,
}

static BUILT_IN: LazyLock<Dictionary> = LazyLock::new(|| {
    let lines = data_lines(include_str!("lexicon/dictionary.txt"));
    let pairs = lines.map(|line| line.split_once(" | ").expect("a line of the dictionary has a long and a short form"));
    Dictionary::of(pairs.map(|(long, short)| (long.to_owned(), short.to_owned())).collect())
});

impl Default for Dictionary {
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

impl Dictionary {
    /// The built-in entries and those of `{ "entries": { long: short } }`, which win.
    ///
    /// # Errors
    /// [`Error::BadArgument`] that names the entry which is no pair of a long form in words and a shorter one without
    /// blanks, or whose short form holds a long form.
    pub fn merged(json: &Value) -> Result<Self> {
        let bad = |name: &str, found: String, expected: &str| Err(Error::bad_argument(name, found, expected));
        let Some(given) = json.get("entries").and_then(Value::as_object) else {
            return bad("abbreviations", brief(json), "an object { \"entries\": { long form: short form } }");
        };
        let mut pairs: HashMap<String, String> =
            BUILT_IN.entries.values().flatten().map(|entry| (entry.long.clone(), entry.short.clone())).collect();
        let mut names = BTreeMap::new();
        for (long, short) in given {
            let name = format!("abbreviations.entries[{long:?}]");
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            if !long.split(' ').all(is_word) {
                let expected = "words of the letters a to z with single blanks between them";
                return bad(&name, "no long form".to_owned(), expected);
            }
            let is_mark = |c: char| c.is_whitespace() || c.is_control();
            let fits = |short: &&str| !short.is_empty() && short.len() < long.len() && !short.contains(is_mark);
            let Some(written) = short.as_str().filter(fits) else {
                return bad(&name, brief(short), "a string without blanks that is shorter than the long form");
            };
            pairs.insert(long.to_ascii_lowercase(), written.to_owned());
            names.insert(long.to_ascii_lowercase(), name);
        }
        for (long, name) in &names {
            if pairs.contains_key(&pairs[long].to_ascii_lowercase()) {
                let found = brief(&Value::from(pairs[long].as_str()));
                return bad(name, found, "a short form that is not abbreviated itself");
            }
        }
        // A built-in entry gives way when its short form is now a long one.
        let longs: HashSet<String> = pairs.keys().cloned().collect();
        pairs.retain(|long, short| names.contains_key(long) || !longs.contains(short));
        Ok(Self::of(pairs))
    }

    fn of(pairs: HashMap<String, String>) -> Self {
        let count = |word: &str| count(&format!("so {word} it")) as i64;
        let mut entries: HashMap<String, Vec<Entry>> = HashMap::new();
        for (long, short) in pairs {
            let first = long.split(' ').next().expect("a phrase has a first word").to_owned();
            let cost = count(&short) - count(&long);
            entries.entry(first).or_default().push(Entry { long, short, cost });
        }
        entries
            .values_mut()
            .for_each(|entries| entries.sort_by(|a, b| b.long.len().cmp(&a.long.len()).then(a.long.cmp(&b.long))));
        let shortest_len = entries.keys().map(String::len).min().unwrap_or(usize::MAX);
        let short_forms = ShortForms::new(entries.values().flatten().map(|entry| entry.short.as_str()));
        Self { entries, shortest_len, short_forms: Arc::new(short_forms) }
    }

    /// The entries whose short forms a text does not use as words: `pwd` stays the command that it is.
    pub(super) fn without_used(&self, text: &str) -> Self {
        let used = self.short_forms.used_in(text);
        let mut left = self.clone();
        left.entries.values_mut().for_each(|entries| entries.retain(|entry| !used.contains(entry.short.as_str())));
        left
    }

    /// The entries that begin with a word, longest first.
    pub(super) fn beginning_with(&self, word: &str) -> &[Entry] {
        let found = if word.len() < self.shortest_len { None } else { self.entries.get(&*word.to_ascii_lowercase()) };
        found.map_or(&[], Vec::as_slice)
    }
}

/// A value as short text for messages.
fn brief(value: &Value) -> String {
    let json = value.to_string();
    json.char_indices().nth(80).map_or_else(|| json.clone(), |(end, _)| format!("{}…", &json[..end]))
}
