//! Real texts for tests of prose shortening: whole files of prose and rules, and pieces of what sessions say. Also the
//! check for lost tokens.

use concertina::transcript::{BlockKind, Transcript};

use crate::corpus;

/// Returns texts with their names: whole files, and the first `bytes` bytes of each `step`-th text of sessions.
pub(crate) fn texts(step: usize, bytes: usize) -> Vec<(String, String)> {
    let files = ["prose", "rules", "prose_filler"].into_iter().flat_map(corpus::inputs);
    let mut texts: Vec<(String, String)> =
        files.filter_map(|input| Some((input.name.clone(), input.text()?.to_owned()))).collect();
    let mut seen = 0;
    for (session, messages) in corpus::sessions() {
        for (index, block) in Transcript::read(&messages).blocks() {
            let BlockKind::Text(text) = block.kind else { continue };
            seen += 1;
            if seen % step == 0 {
                let end = text.floor_char_boundary(text.len().min(bytes));
                texts.push((format!("{session} message {index}"), text[..end].to_owned()));
            }
        }
    }
    assert!(texts.len() >= 5, "no input at all");
    println!("{} texts, of sessions each {step}th of {seen}", texts.len());
    texts
}

/// Returns the first of these tokens that does not occur again in order.
pub(crate) fn lost<'a>(tokens: &[&'a str], text: &str) -> Option<&'a str> {
    let mut at = 0;
    tokens.iter().copied().find(|token| match text[at..].find(token.trim()) {
        Some(found) => {
            at += found + token.trim().len();
            false
        }
        None => true,
    })
}
