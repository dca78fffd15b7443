//! `\x1b[32mok\x1b[0m` -> `§ok¶` with `§=\e[32m ¶=\e[0m`: frequent escape sequences are replaced by one-character
//! names.
//!
//! Lossless. A name is a rare character that the text does not contain, so no escapes are needed.

use std::collections::HashMap;

use crate::fold::Fold;

/// The names; each is one token in both vocabularies.
pub const NAMES: [char; 16] = ['§', '¶', '†', '±', '¬', '¤', '°', '¦', '×', '÷', '¿', '¡', '‡', '•', '→', '←'];

/// The longest escape sequence that gets a name, in bytes.
pub const NAMED_MAX_BYTES: usize = 48;

/// The spelling of the escape character in the legend.
pub const ESCAPE: &str = "\\e";

/// Returns the text that a fold of escape sequences stands for.
pub fn unfold(fold: &Fold) -> Option<String> {
    let mut sequences: HashMap<char, String> = HashMap::new();
    for entry in fold.legend.split(' ') {
        let (name, written) = entry.split_once('=')?;
        let mut name = name.chars();
        let (Some(first), None) = (name.next().filter(|name| NAMES.contains(name)), name.next()) else { return None };
        let is_new =
            written.len() <= 2 * NAMED_MAX_BYTES && sequences.insert(first, written.replace(ESCAPE, "\x1b")).is_none();
        is_new.then_some(())?;
    }
    let body = fold.body.as_deref()?;
    let mut text = String::with_capacity(body.len() * 2);
    for c in body.chars() {
        match sequences.get(&c) {
            Some(sequence) => text.push_str(sequence),
            None => text.push(c),
        }
    }
    Some(text)
}
