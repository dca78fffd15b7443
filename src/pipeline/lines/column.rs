//! the values of a field -> what all of them share, where they are cut, and what each is expected to be.

use std::borrow::Cow;

pub(super) use concertina_format::lines::rule::Rule;
use concertina_format::steps::Step;

use crate::pipeline::columns::cost;
use crate::pipeline::columns::steps::majority;
use concertina_base::hashing::FastMap;

/// A value is cut so often at most; the rest is one piece.
const MAX_PIECES: usize = 24;

/// Words that say how something went. Read as above, a failure would pass for a success.
const VERDICTS: &[&str] = &[
    "ERROR", "FAIL", "FAILED", "OK", "PASS", "PASSED", "SKIP", "SKIPPED", "XFAIL", "ok", "×", "√", "✓", "✔", "✕", "✖",
    "✗", "✘",
];

/// Whether a word of a value is a verdict: rows always write it.
pub(super) fn tells_verdict(value: &str) -> bool {
    let is_verdict = |word: &str| VERDICTS.contains(&word.trim_matches(['[', ']', '(', ')', ':', ',', '.']));
    value.split(' ').any(is_verdict)
}

/// How many folders up two values part, and what follows there: `a/b/c` and `a/d` part one above the folder of the first.
pub(super) fn below<'v>(above: &str, value: &'v str, separator: char) -> Option<(usize, &'v str)> {
    let ends = above.rmatch_indices(separator).map(|(at, _)| at + separator.len_utf8());
    ends.take(MAX_UP).enumerate().find_map(|(up, end)| Some((up, value.strip_prefix(&above[..end])?)))
}

/// Folders that a reader may be asked to go up.
const MAX_UP: usize = 3;

/// Rows that tell the rule of a column, and what all of them cost: so many runs of so many.
const SAMPLE: (usize, usize) = (4, 100);

/// Some rows, from all over them.
pub(super) fn sample<T: Copy>(all: &[T]) -> Cow<'_, [T]> {
    let (runs, rows) = SAMPLE;
    if all.len() <= runs * rows {
        return all.into();
    }
    let start = |run: usize| (all.len() - rows) * run / (runs - 1);
    (0..runs).flat_map(|run| &all[start(run)..start(run) + rows]).copied().collect()
}

/// The rule that makes a column cheapest, and about how many tokens its rows then spend on it.
pub(super) fn rule(column: &[&str], known: &[Vec<&str>]) -> (Rule, usize) {
    if let Some(same) = known.iter().position(|other| other == column) {
        return (Rule::Same(same), 0);
    }
    let all = column.len();
    let column = &*sample(column);
    let (mut best, mut least) = (Rule::Above, spent(column, Rule::Above, usize::MAX));
    // A rule that saves little is not worth reading.
    let mut most = least * 9 / 10;
    let step = step(column).map(|by| Rule::Step(Step { run: 0, by }));
    for rule in step.into_iter().chain(separators(column).map(Rule::Folder)) {
        let cost = spent(column, rule, most);
        if cost < most {
            (best, least, most) = (rule, cost, cost);
        }
    }
    (best, least * all / column.len())
}

/// A value that begins with a digit has folders if it has so many bytes: a date with its time.
const STAMP_BYTES: usize = 16;

/// What may separate folders.
const SEPARATORS: [u8; 9] = [b'/', b'.', b':', b'-', b'_', b'[', b'(', b',', b' '];

/// For each byte its bit, if it is one of them.
const IS_SEPARATOR: [u16; 256] = {
    let (mut bits, mut at) = ([0; 256], 0);
    while at < SEPARATORS.len() {
        bits[SEPARATORS[at] as usize] = 1 << at;
        at += 1;
    }
    bits
};

/// The separators that are in most values.
fn separators(column: &[&str]) -> impl Iterator<Item = char> {
    let mut with = [0; SEPARATORS.len()];
    let is_number =
        |value: &&&str| value.len() < STAMP_BYTES && value.as_bytes().first().is_some_and(u8::is_ascii_digit);
    for value in column.iter().filter(|value| !is_number(value)) {
        let found = value.bytes().fold(0, |found, byte| found | IS_SEPARATOR[usize::from(byte)]);
        for (at, with) in with.iter_mut().enumerate() {
            *with += usize::from(found >> at & 1);
        }
    }
    let most = column.len() / 2;
    with.into_iter().zip(SEPARATORS).filter(move |(with, _)| *with > most).map(|(_, separator)| char::from(separator))
}

/// About how many tokens rows spend on a column; counting ends at `most`.
pub(super) fn spent(column: &[&str], rule: Rule, most: usize) -> usize {
    if rule.is_silent() {
        return 0;
    }
    let mut said = Vec::new();
    let mut tokens = cost(column[0]) + if rule == Rule::Above { 0 } else { 3 };
    for pair in column.windows(2) {
        if tokens >= most {
            return tokens;
        }
        if rule.is_expected(pair[0], pair[1]) {
            tokens += if tells_verdict(pair[1]) { cost(pair[1]) } else { 1 };
            continue;
        }
        match rule {
            Rule::Folder(separator) => match below(pair[0], pair[1], separator) {
                Some((_, rest)) => tokens += 1 + cost(rest),
                None => tokens += cost(pair[1]),
            },
            _ => said.push(pair[1]),
        }
    }
    let named = |(value, times): (&str, usize)| {
        let each = cost(value);
        (times * each).min(each + 3 + 2 * (times - 1))
    };
    tokens + counted(said).into_iter().map(named).sum::<usize>()
}

/// So few values are compared with each other.
const FEW: usize = 12;

/// Each of some values once, and how often it is there.
fn counted(values: Vec<&str>) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::with_capacity(values.len());
    if values.len() <= FEW {
        for value in values {
            match found.iter_mut().find(|(known, _)| *known == value) {
                Some((_, times)) => *times += 1,
                None => found.push((value, 1)),
            }
        }
        return found;
    }
    let mut numbers: FastMap<&str, usize> = FastMap::with_capacity_and_hasher(values.len(), <_>::default());
    for value in values {
        let number = *numbers.entry(value).or_insert(found.len());
        match found.get_mut(number) {
            Some((_, times)) => *times += 1,
            None => found.push((value, 1)),
        }
    }
    found
}

/// The number that some digits are, at most 18.
fn number(text: &str) -> Option<i64> {
    let is_number = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The step that a column mostly grows by, if it is one.
fn step(column: &[&str]) -> Option<i64> {
    // A column that grows mostly does so in one of its first rows.
    if column.iter().take(8).all(|value| number(value).is_none()) {
        return None;
    }
    let numbers: Vec<Option<i64>> = column.iter().map(|value| number(value)).collect();
    let steps = numbers.windows(2).filter_map(|pair| Some(pair[1]? - pair[0]?));
    // Whoever looks for a row has to add up the steps to it: that is for round ones.
    let is_round = |step: u64| step < 10 || 10u64.pow(step.ilog10()) == step;
    majority(steps, column.len()).filter(|&step| step != 0 && is_round(step.unsigned_abs()))
}

/// Byte ranges of the pieces of the values between the punctuation with which all of them begin, each with what stands before it;
/// the last one is the rest. `None` where they share none.
pub(super) fn pieces<'t>(column: &[&'t str]) -> Option<Vec<Piece<'t>>> {
    let first = column[0];
    let mut shape: Vec<(usize, usize)> = punctuation(first).take(MAX_PIECES).collect();
    for value in &column[1..] {
        let is_shared =
            |&(&(start, end), (from, to)): &(&(usize, usize), (usize, usize))| value[from..to] == first[start..end];
        let shared = shape.iter().zip(punctuation(value)).take_while(is_shared).count();
        shape.truncate(shared);
    }
    if shape.is_empty() {
        return None;
    }
    let before = std::iter::once("").chain(shape.iter().map(|&(start, end)| &first[start..end]));
    let mut pieces: Vec<Piece> =
        before.map(|before| Piece { before, ranges: Vec::with_capacity(column.len()) }).collect();
    for value in column {
        let (rest, leading) = pieces.split_last_mut()?;
        let mut start = 0;
        for (piece, (from, to)) in leading.iter_mut().zip(punctuation(value)) {
            piece.ranges.push((start, from));
            start = to;
        }
        rest.ranges.push((start, value.len()));
    }
    Some(pieces)
}

/// A part of each value of a column.
#[derive(Debug)]
pub(super) struct Piece<'t> {
    /// What stands before it in all of them.
    pub(super) before: &'t str,
    pub(super) ranges: Vec<(usize, usize)>,
}

impl Piece<'_> {
    pub(super) fn of<'t>(&self, column: &[&'t str]) -> Vec<&'t str> {
        column.iter().zip(&self.ranges).map(|(value, &(start, end))| &value[start..end]).collect()
    }
}

/// The runs of punctuation and blanks within a value. The signs of a UUID belong to it: whoever looks for it has it whole.
fn punctuation(word: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = word.as_bytes();
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() || *byte == b' ';
    // Where the last run ended, and where the next one is looked for.
    let (mut begin, mut at) = (0, 0);
    std::iter::from_fn(move || {
        let mut start = at + bytes[at..].iter().position(is_mark)?;
        if is_uuid(&bytes[begin..], start - begin) {
            at = begin + UUID_BYTES;
            start = at + bytes[at..].iter().position(is_mark)?;
        }
        at = bytes[start..].iter().position(|byte| !is_mark(byte)).map_or(bytes.len(), |len| start + len);
        begin = at;
        Some((start, at))
    })
}

/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, in hexadecimal.
const UUID_BYTES: usize = 36;

/// Whether a UUID stands at the start, where the first punctuation is found at `mark`.
fn is_uuid(bytes: &[u8], mark: usize) -> bool {
    mark == 8
        && bytes.get(UUID_BYTES).is_none_or(|next| !next.is_ascii_alphanumeric())
        && bytes.get(..UUID_BYTES).is_some_and(|uuid| {
            let fits = |(at, byte): (usize, &u8)| match at {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            };
            uuid.iter().enumerate().all(fits)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_expected_exactly_where_it_is_what_is_expected() {
        let values = ["0", "3", "7", "8", "9", "09", "9a", "9b", "0a", "10", "099", "100", "ff", "100x", "", "-1", "é"];
        let long =
            ["99999999999999", "100000000000000", "999999999999999999", "1000000000000000000", "fffffffffffffff"];
        let values: Vec<&str> = values.into_iter().chain(long).collect();
        let mut expected = 0;
        let steps = [1, -1, -5].map(|by| Rule::Step(Step { run: 0, by }));
        for rule in steps.into_iter().chain([Rule::Above]) {
            for (above, value) in values.iter().flat_map(|above| values.iter().map(move |value| (above, value))) {
                let is_it = rule.expected(above) == *value;
                assert_eq!(rule.is_expected(above, value), is_it, "{rule:?}: {above} {value}");
                expected += usize::from(is_it && above != value);
            }
        }
        assert!(expected > 10);
    }

    #[test]
    fn a_column_grows_by_the_step_that_most_of_its_values_have() {
        assert_eq!(step(&["1", "2", "3", "9", "10", "11"]), Some(1));
        assert_eq!(step(&["1", "2", "4", "8", "9", "20"]), None);
        assert_eq!(step(&["5", "5", "5", "5"]), None);
        assert_eq!(step(&["5", "40", "75", "110"]), None);
        assert_eq!(step(&["5", "105", "205", "305"]), Some(100));
    }

    #[test]
    fn values_are_counted_the_same_whether_few_or_many() {
        let many: Vec<&str> = ["a", "b", "a", "c"].into_iter().cycle().take(40).collect();
        assert_eq!(counted(many[..8].to_vec()), [("a", 4), ("b", 2), ("c", 2)]);
        assert_eq!(counted(many), [("a", 20), ("b", 10), ("c", 10)]);
    }
}
