//! The names, paths and numbers of a text that an agent is most likely to write again.
//!
//! Names are ranked, not parsed: by a model that was trained on recorded sessions, or by a hand-written rule.

mod around;
mod learned;
mod rule;
mod words;

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use concertina_base::hashing::FastMap;

use crate::config::NameScorer;
pub use around::Around;
use rule::SHORTEST;
pub(super) use words::{DEFINING, MODIFIERS, begins_definition, holds, words};
use words::{for_each_term, name_after, stands_apart};

/// The occurrences of a name in a text.
#[derive(Debug, Clone, Copy, Default)]
struct Sighting {
    first: usize,
    count: usize,
    defined: bool,
    /// True if its parts are ranked, too. The whole is then worth less than its parts.
    has_terms: bool,
    /// The number of words before its first occurrence on that line.
    place: usize,
}

/// Returns every name of a text with its occurrences. The time is linear in the text.
fn sightings(text: &str) -> FastMap<&str, Sighting> {
    let mut seen: FastMap<&str, Sighting> = FastMap::default();
    let mut definition = usize::MAX;
    let (mut read, mut place) = (0, 0);
    for range in words(text) {
        if memchr::memchr(b'\n', &text.as_bytes()[read..range.start]).is_some() {
            place = 0;
        }
        read = range.start;
        let word = &text[range.clone()];
        let defined = definition == range.start;
        let mut see = |term: Range<usize>, has_terms: bool| {
            if term.len() < SHORTEST {
                return;
            }
            let first = range.start + term.start;
            let new = Sighting { first, has_terms, place, ..Sighting::default() };
            let sighting = seen.entry(&word[term]).or_insert(new);
            sighting.count += 1;
            sighting.defined |= defined && !has_terms;
        };
        let mut is_whole = false;
        for_each_term(word, |term| {
            is_whole |= term.len() == word.len();
            see(term, false);
        });
        if !is_whole {
            see(0..word.len(), true);
        }
        place += 1;
        if DEFINING.contains(&word) {
            definition = name_after(text, word, range.end);
        }
    }
    seen
}

/// Returns true if a name is a number with a unit, which says nothing without the words around it: `0.31s`, `959.9M`,
/// `12ms`.
fn is_quantity(name: &str) -> bool {
    let unit = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &name[..name.len() - unit.len()];
    let is_unit = unit.len() <= 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_unit && !number.is_empty() && number.matches('.').count() < 2 && (number.contains('.') || !unit.is_empty())
}

/// A name of a text that may be kept.
struct Candidate<'t> {
    name: &'t str,
    sighting: Sighting,
    /// The score by the rule, never 0.
    score: u64,
}

/// Returns the candidates of a text in its order: names by their shape or definition that the reader does not see
/// elsewhere.
fn candidates<'t>(text: &'t str, around: &Around) -> Vec<Candidate<'t>> {
    let candidate = |(name, sighting)| Candidate { name, sighting, score: rule::score(name, &sighting, text) };
    let mut found: Vec<Candidate> = sightings(text)
        .into_iter()
        .map(candidate)
        .filter(|one| one.score > 0 && !is_quantity(one.name) && !around.in_sight.contains(one.name))
        .collect();
    found.sort_unstable_by_key(|one| (one.sighting.first, one.name.len()));
    found
}

/// Returns the candidates of a text with the rule's score and the features on which the learned scorer is trained.
pub fn features_of<'t>(text: &'t str, around: &Around) -> Vec<(&'t str, u64, Vec<u8>)> {
    let steps = |one: &Candidate| learned::steps(one.name, &one.sighting, around).to_vec();
    candidates(text, around).iter().map(|one| (one.name, one.score, steps(one))).collect()
}

/// Returns the most useful identifiers, paths and numbers of a text, best first, at most `limit`. None is contained in
/// another, and none is in sight. The learned scorer leaves out names that are not worth their tokens.
///
/// The time is linear in the text for any limit.
pub fn salient_identifiers<'t>(text: &'t str, limit: usize, around: &Around, scorer: NameScorer) -> Vec<&'t str> {
    if limit == 0 {
        return Vec::new();
    }
    let candidates = candidates(text, around).into_iter();
    let mut ranked: Vec<(i64, usize, &str)> = match scorer {
        NameScorer::Rule => candidates.map(|one| (one.score as i64, one.sighting.first, one.name)).collect(),
        NameScorer::Learned => {
            let least = learned::least_worth(around);
            let rank = |one: Candidate<'t>| {
                let rank = learned::worth(one.name, &learned::steps(one.name, &one.sighting, around));
                (rank >= least).then_some((rank, one.sighting.first, one.name))
            };
            candidates.filter_map(rank).collect()
        }
    };
    let order = |a: &(i64, usize, &str), b: &(i64, usize, &str)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    let considered = limit.saturating_mul(3);
    if ranked.len() > considered {
        ranked.select_nth_unstable_by(considered - 1, order);
        ranked.truncate(considered);
    }
    ranked.sort_unstable_by(order);
    let words: Vec<&str> = ranked.into_iter().map(|(.., word)| word).collect();
    longest_of_nested(&words, limit)
}

/// Returns the first `limit` of the words, best first, without those that a better one [holds]. A longer word replaces
/// the best one that it holds: `this.items` makes `items` unnecessary.
fn longest_of_nested<'t>(words: &[&'t str], limit: usize) -> Vec<&'t str> {
    let finder = AhoCorasick::builder()
        // This kind is the quickest to build, and it reads each word once.
        .kind(Some(AhoCorasickKind::NoncontiguousNFA))
        .build(words)
        .expect("words of a text in memory have less letters than an automaton may have states");
    let mut chosen: Vec<&str> = Vec::new();
    // For each word: its index in `chosen`, and whether a chosen word holds it. The latter stays true when a longer
    // word replaces the chosen one, because that word holds both.
    let mut place: Vec<Option<usize>> = vec![None; words.len()];
    let mut is_held = vec![false; words.len()];
    for (index, &word) in words.iter().enumerate() {
        if chosen.len() == limit {
            break;
        }
        if is_held[index] {
            continue;
        }
        let mut best: Option<(usize, usize)> = None;
        let held = finder.find_overlapping_iter(word).filter(|found| stands_apart(word, found.range()));
        for inner in held.map(|found| found.pattern().as_usize()) {
            is_held[inner] = true;
            best = best.into_iter().chain(place[inner].map(|at| (at, inner))).min();
        }
        let at = best.map_or(chosen.len(), |(at, _)| at);
        if let Some((_, shorter)) = best {
            place[shorter] = None;
        }
        place[index] = Some(at);
        match chosen.get_mut(at) {
            Some(shorter) => *shorter = word,
            None => chosen.push(word),
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The argument of a case is the number of names, followed by the names in sight; or it is `words`.
    #[test]
    fn names_of_texts() {
        concertina_cases::check!("names", |text, argument| {
            let mut in_sight = Around::default();
            let (limit, seen) = argument.split_once(' ').unwrap_or((argument, ""));
            in_sight.add(seen);
            let names = match limit {
                "words" => words(text).map(|range| &text[range]).collect(),
                limit => salient_identifiers(text, limit.parse().expect("a number"), &in_sight, NameScorer::Rule),
            };
            names.join("\n")
        });
    }

    #[test]
    fn control_sequences_are_no_part_of_a_name() {
        let text = "\u{1b}[36mbucket_alpha\u{1b}[0m \u{1b}[1;31m./src/a.rs\u{1b}[0m \u{1b}]0;title_of\u{7}next_name";
        let found: Vec<&str> = words(text).map(|range| &text[range]).collect();
        assert_eq!(found, ["bucket_alpha", "./src/a.rs", "next_name"]);
    }

    /// The quadratic reference implementation of [`longest_of_nested`].
    fn by_comparing_pairs<'t>(words: &[&'t str], limit: usize) -> Vec<&'t str> {
        let mut chosen: Vec<&str> = Vec::new();
        for &word in words {
            if chosen.len() < limit && !chosen.iter().any(|longer| holds(longer, word)) {
                match chosen.iter_mut().find(|shorter| holds(word, shorter)) {
                    Some(shorter) => *shorter = word,
                    None => chosen.push(word),
                }
            }
        }
        chosen
    }

    #[test]
    fn nested_words_are_chosen_as_by_comparing_each_with_each() {
        let mut state = 7_u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for _ in 0..2000 {
            let mut words: Vec<String> =
                (0..1 + random(30)).map(|_| (0..1 + random(6)).map(|_| ['a', 'b', '.'][random(3)]).collect()).collect();
            let mut seen = HashSet::new();
            words.retain(|word| seen.insert(word.clone()));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let limit = 1 + random(12);
            assert_eq!(longest_of_nested(&words, limit), by_comparing_pairs(&words, limit), "{words:?} {limit}");
        }
    }

    #[test]
    fn a_hundred_thousand_names_are_all_chosen() {
        let text = (0..100_000).map(|i| format!("name_{i:06}x ")).collect::<String>();
        assert_eq!(salient_identifiers(&text, 100_000, &Around::default(), NameScorer::Rule).len(), 100_000);
    }

    #[test]
    fn the_learned_scorer_leaves_out_what_is_not_worth_its_tokens() {
        let digests: String = (0..40).map(|index| format!("sha256/{:064x}\n", index * 7919 + 1)).collect();
        let text = format!("fn parse_row(cell) {{ parse_row(readCell(cell)) }}\n{digests}");
        let by = |scorer| salient_identifiers(&text, 30, &Around::default(), scorer);
        let (learned, rule) = (by(NameScorer::Learned), by(NameScorer::Rule));
        assert!(learned.contains(&"parse_row") && learned.contains(&"readCell"), "{learned:?}");
        assert!(learned.iter().all(|name| !name.starts_with("sha256")), "{learned:?}");
        assert!(rule.len() > learned.len(), "{rule:?}");
    }
}
