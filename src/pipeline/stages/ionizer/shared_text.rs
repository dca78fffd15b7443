//! Many strings -> the beginnings that are worth a number: `https://api.github.com/repos/octokit` becomes `&1`.

use std::borrow::Cow;

use crate::pipeline::columns::LEAST_NAMED;
use crate::tokens::{self, Encoding};
use concertina_base::hashing::FastMap;

/// Shared beginnings, the shortest first. None refers to another, so that a reader looks up a number once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SharedText {
    /// The beginnings, as spelt in JSON.
    pub(super) texts: Vec<String>,
    numbers: FastMap<String, usize>,
}

const SHORTEST: usize = 5;
const LONGEST: usize = 400;
const MOST_CUTS: usize = 40;
const MOST_CANDIDATES: usize = 2000;

/// Room for all cuts of a text.
type Cuts = [usize; MOST_CUTS + 1];

const NO_CUTS: Cuts = [0; MOST_CUTS + 1];

impl SharedText {
    /// Chooses the beginnings that save tokens.
    pub(super) fn of(strings: &[Cow<'_, str>], encoding: Encoding) -> Self {
        let mut buffer = NO_CUTS;
        let mut counts: FastMap<&str, usize> = FastMap::default();
        for text in strings {
            for &cut in cuts(text, &mut buffer) {
                *counts.entry(&text[..cut]).or_default() += 1;
            }
        }
        // A shorter start is useless if a longer one is as frequent.
        let mut candidates: FastMap<&str, usize> = FastMap::default();
        for text in strings {
            let mut longer = 0;
            for &cut in cuts(text, &mut buffer).iter().rev() {
                let count = counts[&text[..cut]];
                if count > longer && count > 1 {
                    candidates.insert(&text[..cut], count);
                }
                longer = longer.max(count);
            }
        }
        let mut candidates: Vec<(&str, usize)> = candidates.into_iter().collect();
        candidates.sort_unstable_by(|a, b| (b.1 * b.0.len()).cmp(&(a.1 * a.0.len())).then(a.0.cmp(b.0)));
        candidates.truncate(MOST_CANDIDATES);
        candidates.sort_unstable_by(|a, b| a.0.len().cmp(&b.0.len()).then(a.0.cmp(b.0)));
        let mut chosen: FastMap<&str, usize> = FastMap::default();
        for (text, count) in candidates {
            let base = longest(text, |cut| cut < text.len() && chosen.contains_key(&text[..cut])).unwrap_or(0);
            if pays(count, text, base, encoding) {
                chosen.insert(text, 0);
            }
        }
        for text in strings {
            if let Some(cut) = longest(text, |cut| chosen.contains_key(&text[..cut])) {
                *chosen.get_mut(&text[..cut]).expect("just found") += 1;
            }
        }
        // Longest first, so that the uses of what goes count for what it begins with.
        let mut order: Vec<&str> = chosen.keys().copied().collect();
        order.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        for text in order {
            let uses = chosen[text];
            let base = longest(text, |cut| cut < text.len() && chosen.contains_key(&text[..cut]));
            if pays(uses, text, base.unwrap_or(0), encoding) {
                continue;
            }
            chosen.remove(text);
            if let Some(base) = base {
                *chosen.get_mut(&text[..base]).expect("just found") += uses;
            }
        }
        Self::numbered(chosen.into_keys().map(str::to_owned).collect())
    }

    fn numbered(mut texts: Vec<String>) -> Self {
        texts.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
        let numbers = texts.iter().enumerate().map(|(number, text)| (text.clone(), number)).collect();
        Self { texts, numbers }
    }

    /// Returns the number and the length of the longest shared start of a text.
    pub(super) fn find(&self, text: &str) -> Option<(usize, usize)> {
        if self.texts.is_empty() {
            return None;
        }
        let cut = longest(text, |cut| self.numbers.contains_key(&text[..cut]))?;
        Some((self.numbers[&text[..cut]], cut))
    }
}

/// Returns true if a definition is worth its uses, and long enough to be looked up. A use that would otherwise refer to
/// the first `base` bytes costs nothing.
fn pays(uses: usize, text: &str, base: usize, encoding: Encoding) -> bool {
    let tokens = |text: &str| tokens::count(text, encoding);
    let own = tokens(text);
    own >= LEAST_NAMED && uses * tokens(&text[base..]) > own + 4 + if base > 0 { 0 } else { 2 * uses }
}

fn longest(text: &str, mut is_known: impl FnMut(usize) -> bool) -> Option<usize> {
    cuts(text, &mut NO_CUTS.clone()).iter().copied().rev().find(|cut| is_known(*cut))
}

/// Returns the places where a shared start may end: before a mark, outside escapes, and at the end of the text.
fn cuts<'b>(text: &str, buffer: &'b mut Cuts) -> &'b [usize] {
    if text.len() < SHORTEST || text.starts_with('&') {
        return &[];
    }
    let bytes = text.as_bytes();
    let end = text.len().min(LONGEST);
    let mut count = 0;
    let mut add = |cut| {
        buffer[count] = cut;
        count += 1;
    };
    (SHORTEST..end)
        .filter(|at| bytes[*at].is_ascii() && !bytes[*at].is_ascii_alphanumeric() && bytes[*at - 1] != b'\\')
        .take(MOST_CUTS)
        .for_each(&mut add);
    if text.len() <= LONGEST && bytes[text.len() - 1] != b'\\' {
        add(text.len());
    }
    &buffer[..count]
}
