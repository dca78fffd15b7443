//! `\x1b[32mok\x1b[0m` -> `§ok¶` with `§=\e[32m ¶=\e[0m`: the few colours of a text by name.
//!
//! Lossless. A name is a rare character that the text does not hold, so undoing needs no escapes of its own.

use std::collections::HashMap;

use crate::fold::Fold;

/// Names, each of one token in both vocabularies.
pub const NAMES: [char; 16] = ['§', '¶', '†', '±', '¬', '¤', '°', '¦', '×', '÷', '¿', '¡', '‡', '•', '→', '←'];

/// What has a name is no longer, in bytes.
pub const NAMED_MAX_BYTES: usize = 48;

/// How the escape character is written in the legend.
pub const ESCAPE: &str = "\\e";

/// Undoes a fold of colours.
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
