//! A text -> its repeated phrases once, and its lines with references to them: for long lines that share paths and
//! options in no common shape, such as the command lines of compilers.
//!
//! Phrases are sought by words: a sorted list of all places at which a repeated beginning starts shows every repeated
//! phrase as a run of neighbours. The phrases that save most are taken first, each at places that no other one takes.
//! `concertina_format::phrases` describes the notation.

use std::collections::BinaryHeap;
use std::ops::Range;

use concertina_format::phrases::{MARKS, legend};
use xxhash_rust::xxh3::xxh3_64;

use super::columns::cost;
use super::fold::Fold;
use super::measure::is_worth;
use super::{Edit, FusionContext};
use concertina_base::hashing::FastMap;

/// The most bytes of a text in which phrases are sought. The search takes longer than any other fold of lines.
const MAX_BYTES: usize = 1 << 18;

/// The fewest and the most words of a phrase. Marks count as words. Chosen by judgement.
const MIN_WORDS: usize = 6;
const MAX_WORDS: usize = 64;

/// The fewest uses of a phrase, and the most phrases of a text. A reader keeps only a few names in mind.
const MIN_USES: usize = 3;
const MAX_PHRASES: usize = 12;

/// The approximate tokens of a reference, and those that a phrase must save in all.
const REFERENCE_TOKENS: usize = 2;
const MIN_SAVED: usize = 24;

/// The most phrases that are compared, which bounds the time.
const MAX_CANDIDATES: usize = 256;

/// Returns the fold of a part of a text, if it is worth it (see [`is_worth`]).
pub(super) fn edit(context: &FusionContext, stage: &str, part: Range<usize>, worth: (usize, usize)) -> Option<Edit> {
    let text = &context.text[part.clone()];
    let is_free = |mark: &&char| {
        let is_reference = |(at, _)| text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
        !text.match_indices(**mark).any(is_reference)
    };
    // Notes of other stages stay in plain words.
    let is_candidate = text.len() <= MAX_BYTES && !text.contains("[… ");
    let mark = *MARKS.iter().find(is_free).filter(|_| is_candidate)?;
    let phrases = phrases(text);
    let names: Vec<&str> = phrases.iter().map(|places| &text[places[0].clone()]).collect();
    if names.is_empty() {
        return None;
    }
    let mut places: Vec<(&Range<usize>, usize)> =
        phrases.iter().zip(1..).flat_map(|(places, number)| places.iter().map(move |place| (place, number))).collect();
    places.sort_by_key(|(place, _)| place.start);
    let mut body = names.join("\n") + "\n";
    let mut at = 0;
    for (place, number) in places {
        body.push_str(&text[at..place.start]);
        body.push_str(&format!("{mark}{number}"));
        at = place.end;
    }
    body.push_str(&text[at..]);
    let edit = Edit::fold(part, &Fold::new(stage, legend(mark, names.len()), Some(body)));
    is_worth(context, &edit, worth).then_some(edit)
}

/// Returns the places of each phrase, in order and without overlaps.
fn phrases(text: &str) -> Vec<Vec<Range<usize>>> {
    let words = Words::of(text);
    let starts = words.repeated_starts();
    let mut candidates = words.candidates(&starts);
    let mut is_taken = vec![false; words.ranges.len()];
    let mut found = Vec::new();
    while let Some(candidate) = candidates.pop().filter(|_| found.len() < MAX_PHRASES) {
        let places = words.places(&starts[candidate.first..=candidate.last], candidate.length, &is_taken);
        let saved = places.first().map_or(0, |first| saved(words.text_of(first), places.len()));
        if saved == candidate.saved {
            places.iter().for_each(|place| is_taken[place.clone()].fill(true));
            found.push(places.iter().map(|place| words.bytes(place)).collect());
        } else if saved >= MIN_SAVED {
            // Other phrases have taken some of its places, or it overlaps itself.
            candidates.push(Candidate { saved, ..candidate });
        }
    }
    found
}

/// Returns the approximate tokens that a phrase saves if it is used at so many places.
fn saved(phrase: &str, uses: usize) -> usize {
    let tokens = cost(phrase);
    if uses < MIN_USES { 0 } else { (uses * tokens).saturating_sub(uses * REFERENCE_TOKENS + tokens + 1) }
}

/// A repeated phrase, ordered by what it saves.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Approximate tokens.
    saved: usize,
    /// The number of words.
    length: usize,
    /// The first and the last of the sorted starts at which it begins.
    first: usize,
    last: usize,
}

/// The words of a text: runs of letters and digits, and every other character.
struct Words<'t> {
    text: &'t str,
    ranges: Vec<Range<usize>>,
    /// A hash of each word. A line end equals nothing, so that no phrase contains one.
    hashes: Vec<u64>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut is_inside = false;
        for (at, c) in text.char_indices() {
            let is_letter = c.is_ascii_alphanumeric() || c == '_';
            match ranges.last_mut().filter(|_| is_inside && is_letter) {
                Some(word) => word.end = at + 1,
                None => ranges.push(at..at + c.len_utf8()),
            }
            is_inside = is_letter;
        }
        let hash = |(index, word): (usize, &Range<usize>)| match &text[word.clone()] {
            "\n" => index as u64,
            word => xxh3_64(word.as_bytes()),
        };
        let hashes = ranges.iter().enumerate().map(hash).collect();
        Self { text, ranges, hashes }
    }

    fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        self.ranges[words.start].start..self.ranges[words.end - 1].end
    }

    fn text_of(&self, words: &Range<usize>) -> &'t str {
        &self.text[self.bytes(words)]
    }

    fn is_blank(&self, word: usize) -> bool {
        matches!(self.text.as_bytes()[self.ranges[word].start], b' ' | b'\t' | b'\r')
    }

    /// Returns the words whose beginning of [`MIN_WORDS`] occurs often enough, sorted by what follows.
    fn repeated_starts(&self) -> Vec<usize> {
        let mut counts: FastMap<&[u64], usize> = FastMap::default();
        self.hashes.windows(MIN_WORDS).for_each(|words| *counts.entry(words).or_default() += 1);
        let is_start = |(start, words): &(usize, &[u64])| counts[words] >= MIN_USES && !self.is_blank(*start);
        let windows = self.hashes.windows(MIN_WORDS).enumerate();
        let mut starts: Vec<usize> = windows.filter(is_start).map(|(start, _)| start).collect();
        let rest = |start: usize| &self.hashes[start..(start + MAX_WORDS).min(self.hashes.len())];
        starts.sort_unstable_by(|&one, &other| rest(one).cmp(rest(other)).then(one.cmp(&other)));
        starts
    }

    /// Returns the phrases that may save most. `starts` is sorted, so each is shared by a run of neighbours.
    fn candidates(&self, starts: &[usize]) -> BinaryHeap<Candidate> {
        let shared = |one: usize, other: usize| {
            let pairs = self.hashes[one..].iter().zip(&self.hashes[other..]);
            pairs.take(MAX_WORDS).take_while(|(one, other)| one == other).count()
        };
        let mut found = Vec::new();
        // The runs that are not complete yet, each with its first start. The lengths ascend.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for next in 1..=starts.len() {
            let length = if next < starts.len() { shared(starts[next - 1], starts[next]) } else { 0 };
            let mut first = next - 1;
            while let Some((longer, start)) = open.pop_if(|(longer, _)| *longer > length) {
                found.extend(self.candidate(starts, longer, start, next - 1));
                first = start;
            }
            if open.last().is_none_or(|(shorter, _)| *shorter < length) {
                open.push((length, first));
            }
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.truncate(MAX_CANDIDATES);
        found.into()
    }

    fn candidate(&self, starts: &[usize], length: usize, first: usize, last: usize) -> Option<Candidate> {
        let start = starts[first];
        let length = length - usize::from(self.is_before_digit(&(start..start + length)));
        let length = (0..length).rev().find(|word| !self.is_blank(start + word))? + 1;
        let saved = saved(self.text_of(&(start..start + length)), last - first + 1);
        (length >= MIN_WORDS && saved >= MIN_SAVED).then_some(Candidate { saved, length, first, last })
    }

    /// Returns true if a digit follows, which would be read as a part of the reference.
    fn is_before_digit(&self, words: &Range<usize>) -> bool {
        self.text.as_bytes().get(self.bytes(words).end).is_some_and(u8::is_ascii_digit)
    }

    /// Returns the places of a phrase that are free, in order.
    fn places(&self, starts: &[usize], length: usize, is_taken: &[bool]) -> Vec<Range<usize>> {
        let mut starts = starts.to_vec();
        starts.sort_unstable();
        let mut places: Vec<Range<usize>> = Vec::new();
        for start in starts {
            let place = start..start + length;
            let is_open =
                places.last().is_none_or(|last| last.end <= start) && !is_taken[place.clone()].contains(&true);
            if is_open && !self.is_before_digit(&place) {
                places.push(place);
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{ContentType, Segment};

    fn folded(text: &str) -> Option<Fold> {
        let segments = [Segment::whole(text, ContentType::Unknown, None)];
        let edit = edit(&FusionContext::of(text, &segments), "structuralCollapse", 0..text.len(), (85, 1))?;
        let (fold, _) = super::super::fold::parse(&edit.text).expect("a fold");
        assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(text));
        Some(fold)
    }

    #[test]
    fn phrases_of_lines_without_a_common_shape_become_references() {
        let path = "/home/dev/project/third_party/include";
        let line = |n: usize| match n % 3 {
            0 => format!("cc -I{path}/a -o out/{n}.o -O2 -Wall -Wextra -fno-common file{n}.c"),
            1 => format!("ld {path}/b/{n} -lm"),
            _ => format!("  in {path}/c, from {path}/d: $x is \"{n}\" -O2 -Wall -Wextra -fno-common"),
        };
        let text: Vec<String> = (0..30).map(line).collect();
        let fold = folded(&text.join("\n")).expect("a fold");
        assert!(fold.legend.starts_with("$N stands for line N of the first "), "{}", fold.legend);
        assert_eq!(fold.body.expect("a body").matches(path).count(), 1);
    }

    #[test]
    fn a_mark_that_the_text_uses_is_not_taken() {
        let text: Vec<String> = (0..20).map(|n| format!("{n}: $1 of /usr/share/doc/package/of/{}x", n * n)).collect();
        let fold = folded(&text.join("\n")).expect("a fold");
        assert!(fold.legend.starts_with('%'), "{}", fold.legend);
    }

    #[test]
    fn what_repeats_too_little_stays() {
        assert_eq!(folded("one /a/b/c/d/e/f\ntwo /a/b/c/d/e/f\n"), None);
        assert_eq!(folded(""), None);
    }
}
