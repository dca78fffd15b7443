//! The values of a field -> their common shape, their pieces, and the rule that predicts each.

use std::borrow::Cow;

pub(super) use concertina_format::lines::rule::Rule;
use concertina_format::lines::rule::Stated;
use concertina_format::steps::Step;

use crate::pipeline::columns::steps::majority;
use crate::pipeline::columns::{cost, tells_verdict};
use concertina_base::hashing::FastMap;

/// The most pieces of a value; the last one is the rest.
const MAX_PIECES: usize = 24;

/// Returns the number of folders to go up from `above` to a common folder with `value`, and the rest of `value`. For
/// `a/b/c` and `a/d` that is one folder, and `d`.
pub(super) fn below<'v>(above: &str, value: &'v str, separator: char) -> Option<(usize, &'v str)> {
    let ends = above.rmatch_indices(separator).map(|(at, _)| at + separator.len_utf8());
    let most = if separator == '/' { MAX_UP } else { 1 };
    ends.take(most).enumerate().find_map(|(up, end)| Some((up, value.strip_prefix(&above[..end])?)))
}

/// The most folders of a path that a reader must go up. Other values have no folders: only their last part differs.
const MAX_UP: usize = 2;

/// The rows that a rule is chosen by, as a number of runs and the rows of each.
const SAMPLE: (usize, usize) = (4, 100);

/// Returns a sample of the rows, spread over all of them.
pub(super) fn sample<T: Copy>(all: &[T]) -> Cow<'_, [T]> {
    let (runs, rows) = SAMPLE;
    if all.len() <= runs * rows {
        return all.into();
    }
    let start = |run: usize| (all.len() - rows) * run / (runs - 1);
    (0..runs).flat_map(|run| &all[start(run)..start(run) + rows]).copied().collect()
}

/// Returns the cheapest rule of a column, and the estimated tokens of its rows.
pub(super) fn rule(column: &[&str], known: &[Vec<&str>]) -> (Rule, usize) {
    if let Some(same) = known.iter().position(|other| other == column) {
        return (Rule::Same(same), 0);
    }
    let all = column.len();
    let column = &*sample(column);
    let (mut best, mut least) = (Rule::Above, spent(column, Rule::Above, usize::MAX));
    // A rule must save enough to be worth reading.
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

/// The shortest value, in bytes, that begins with a digit and has folders: a date with its time.
const STAMP_BYTES: usize = 16;

/// The characters that may separate folders.
const SEPARATORS: [u8; 9] = [b'/', b'.', b':', b'-', b'_', b'[', b'(', b',', b' '];

/// The bit of each byte that is a separator.
const IS_SEPARATOR: [u16; 256] = {
    let (mut bits, mut at) = ([0; 256], 0);
    while at < SEPARATORS.len() {
        bits[SEPARATORS[at] as usize] = 1 << at;
        at += 1;
    }
    bits
};

/// Returns the separators that occur in most values.
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

/// Estimates the tokens that rows spend on a column; counting stops at `most`.
pub(super) fn spent(column: &[&str], rule: Rule, most: usize) -> usize {
    if rule.is_silent() {
        return 0;
    }
    let mut said = Vec::new();
    let mut tokens = cost(column[0]) + if rule == Rule::Above { 0 } else { 3 };
    // Rows that all count on are one line with their number.
    let counts = matches!(rule, Rule::Step(_)) && column.windows(2).all(|pair| rule.is_expected(pair[0], pair[1]));
    let mut stated = Stated::at(0);
    for (row, pair) in (1..).zip(column.windows(2)) {
        if tokens >= most {
            return tokens;
        }
        let is_expected = rule.is_expected(pair[0], pair[1]) && !tells_verdict(pair[1]);
        let below = match rule {
            Rule::Folder(separator) if !is_expected => below(pair[0], pair[1], separator),
            _ => None,
        };
        let after = stated.after(rule.added(below.map_or(0, |(up, _)| up + 1)));
        if is_expected && (counts || after.is_near(row)) {
            (tokens, stated) = (tokens + 1, after);
        } else if let Some((_, rest)) = below.filter(|_| after.is_near(row)) {
            (tokens, stated) = (tokens + 1 + cost(rest), after);
        } else {
            stated = Stated::at(row);
            if matches!(rule, Rule::Folder(_)) { tokens += cost(pair[1]) } else { said.push(pair[1]) }
        }
    }
    let named = |(value, times): (&str, usize)| {
        let each = cost(value);
        (times * each).min(each + 3 + 2 * (times - 1))
    };
    tokens + counted(said).into_iter().map(named).sum::<usize>()
}

/// The most values that are compared pairwise.
const FEW: usize = 12;

/// Returns the distinct values with their counts.
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

/// Returns the number that up to 18 digits spell.
fn number(text: &str) -> Option<i64> {
    let is_number = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Returns the step that most values of a column differ by, if there is one.
fn step(column: &[&str]) -> Option<i64> {
    // A column that grows has a number in one of its first rows.
    if column.iter().take(8).all(|value| number(value).is_none()) {
        return None;
    }
    let numbers: Vec<Option<i64>> = column.iter().map(|value| number(value)).collect();
    let steps = numbers.windows(2).filter_map(|pair| Some(pair[1]? - pair[0]?));
    // A reader who looks for a row must add up the steps, which is easy only for round ones.
    let is_round = |step: u64| step < 10 || 10u64.pow(step.ilog10()) == step;
    majority(steps, column.len()).filter(|&step| step != 0 && is_round(step.unsigned_abs()))
}

/// Cuts the values at the punctuation that all of them begin with. The last piece is the rest. `None` if they share no
/// punctuation.
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

/// One part of each value of a column.
#[derive(Debug)]
pub(super) struct Piece<'t> {
    /// The text before the part, the same in all values.
    pub(super) before: &'t str,
    pub(super) ranges: Vec<(usize, usize)>,
}

impl Piece<'_> {
    pub(super) fn of<'t>(&self, column: &[&'t str]) -> Vec<&'t str> {
        column.iter().zip(&self.ranges).map(|(value, &(start, end))| &value[start..end]).collect()
    }
}

/// Returns the runs of punctuation and blanks within a value. A UUID is not cut, so that a search for it succeeds.
fn punctuation(word: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = word.as_bytes();
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() || *byte == b' ';
    // The end of the last run, and the start of the search for the next one.
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

/// The length of `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` in hexadecimal, in bytes.
const UUID_BYTES: usize = 36;

/// Returns true if a UUID is at the start; `mark` is the position of the first punctuation.
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
