//! Code of the language that the first byte selects, parsed with each of its grammars and around their flaws, as in the
//! gateway.

use concertina::content::Language;
use concertina::pipeline::comments;

use super::{chosen, corpus, seed};

pub(super) fn run(data: &[u8]) {
    let Some(([language], code)) = chosen(data) else { return };
    for found in comments(&code, Language::ALL[usize::from(language) % Language::ALL.len()]) {
        assert!(found.iter().all(|range| code.get(range.clone()).is_some()), "{found:?}");
    }
}

/// Returns whole files if they are short, and the start of others.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let all = ["code", "detection/code"].into_iter().flat_map(corpus::inputs);
    let of_language = |input: corpus::Input| {
        let named = |language: &Language| input.name.split('/').any(|part| part == language.as_str());
        Some(seed(&[Language::ALL.iter().position(named)? as u8], input.text()?))
    };
    all.filter_map(of_language).collect()
}

pub(super) use super::grammars::words;
