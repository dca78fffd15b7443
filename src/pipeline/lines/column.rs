//! the values of a field -> what all of them share, where they are cut, and what each is expected to be.

use std::borrow::Cow;

use crate::pipeline::hashing::FastMap;

/// A value of more pieces is one value.
const MAX_PIECES: usize = 24;

/// What a value is expected to be, by the value above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The same.
    Above,
    /// More by so much; in hexadecimal with the same number of digits if the second is set.
    Step(i64, bool),
    /// Always more by so much, so that rows leave it out.
    Count(Count),
    /// Always that of another field, so that rows leave it out.
    Same(usize),
    /// The same, and what begins like it says so: up to this separator.
    Folder(char),
}

/// Numbers from the first row to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    first: i64,
    /// Digits of the first number.
    width: usize,
    pub(super) step: i64,
    pub(super) is_hex: bool,
}

impl Count {
    /// `None` where the first value is no number.
    pub(super) fn from(first: &str, step: i64, is_hex: bool) -> Option<Self> {
        let count = Self { first: number(first, is_hex)?, width: first.len(), step, is_hex };
        (count.first() == first).then_some(count)
    }

    pub(super) fn first(self) -> String {
        digits(self.first, self.width, self.is_hex)
    }
}

fn digits(number: i64, width: usize, is_hex: bool) -> String {
    if is_hex { format!("{number:0width$x}") } else { format!("{number:0width$}") }
}

impl Rule {
    /// Whether rows do not mention the value.
    pub(super) fn is_silent(self) -> bool {
        matches!(self, Self::Same(_) | Self::Count(_))
    }

    /// The rule of a column whose values all are as expected, or this one.
    pub(super) fn made_silent(self, column: &[&str]) -> Self {
        let Self::Step(step, is_hex) = self else { return self };
        let count = Count::from(column[0], step, is_hex).map(Self::Count);
        count.filter(|_| column.windows(2).all(|pair| self.expected(pair[0]) == pair[1])).unwrap_or(self)
    }

    /// The value that is expected below another.
    pub(super) fn expected(self, above: &str) -> Cow<'_, str> {
        let (Self::Step(step, is_hex) | Self::Count(Count { step, is_hex, .. })) = self else { return above.into() };
        let next = number(above, is_hex).and_then(|at| at.checked_add(step)).filter(|&at| at >= 0);
        let width = if is_hex || above.starts_with('0') { above.len() } else { 0 };
        next.map_or_else(|| above.into(), |next| digits(next, width, is_hex).into())
    }
}

fn number(text: &str, is_hex: bool) -> Option<i64> {
    let (radix, most) = if is_hex { (16, 15) } else { (10, 18) };
    let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit() || is_hex && matches!(byte, b'a'..=b'f'));
    ((1..=most).contains(&text.len()) && is_canonical).then(|| i64::from_str_radix(text, radix).ok())?
}

/// How many folders up two values part, and what follows there: `a/b/c` and `a/d` part one above the folder of the first.
pub(super) fn below<'v>(above: &str, value: &'v str, separator: char) -> Option<(usize, &'v str)> {
    let ends = above.rmatch_indices(separator).map(|(at, _)| at + separator.len_utf8());
    ends.take(9).enumerate().find_map(|(up, end)| Some((up, value.strip_prefix(&above[..end])?)))
}

/// What `up` folders above a value's own is.
pub(super) fn folder(above: &str, up: usize, separator: char) -> Option<&str> {
    above.rmatch_indices(separator).nth(up).map(|(at, _)| &above[..at + separator.len_utf8()])
}

/// The kinds of bytes that tokens are made of, and how many of a kind make a token.
const KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([5u8; 256], 0);
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'0'..=b'9' => 1,
            b'a'..=b'z' => 2,
            b'A'..=b'Z' => 3,
            128.. => 4,
            b' ' => 0,
            _ => 5,
        };
        byte += 1;
    }
    kinds
};
const RUNS: [u8; 6] = [1, 3, 7, 3, 3, 2];

/// About how many tokens a word costs behind a blank. Counting them takes a hundred times as long.
pub(super) fn cost(word: &str) -> usize {
    let (mut tokens, mut kind, mut run) = (0usize, u8::MAX, 0u8);
    for &byte in word.as_bytes() {
        let next = KINDS[usize::from(byte)];
        if next == kind && (run < RUNS[usize::from(kind)] || next == 0 && run > 1) {
            run = run.saturating_add(1);
        } else {
            // A word with a capital is one token, and a blank belongs to the word behind it.
            let is_one = kind == 3 && next == 2 && run == 1 || next == 0 && kind != 0;
            tokens += usize::from(!is_one);
            (kind, run) = (next, if next == 0 && kind == 0 { 2 } else { 1 });
        }
    }
    tokens + usize::from(word.as_bytes().first().is_some_and(u8::is_ascii_digit))
}

/// Rows that tell the rule of a column, and what all of them cost: so many runs of so many.
const SAMPLE: (usize, usize) = (4, 100);

/// Some rows of a column, from all over it.
fn sample<'c, 't>(column: &'c [&'t str]) -> Cow<'c, [&'t str]> {
    let (runs, rows) = SAMPLE;
    if column.len() <= runs * rows {
        return column.into();
    }
    let start = |run: usize| (column.len() - rows) * run / (runs - 1);
    (0..runs).flat_map(|run| &column[start(run)..start(run) + rows]).copied().collect()
}

/// The rule that makes a column cheapest, and about how many tokens its rows then spend on it.
pub(super) fn rule(column: &[&str], known: &[Vec<&str>]) -> (Rule, usize) {
    if let Some(same) = known.iter().position(|other| other == column) {
        return (Rule::Same(same), 0);
    }
    let all = column.len();
    let column = &*sample(column);
    let mut rules = vec![Rule::Above];
    rules.extend(step(column, false).map(|step| Rule::Step(step, false)));
    rules.extend(step(column, true).map(|step| Rule::Step(step, true)));
    rules.extend(separator(column).map(Rule::Folder));
    let costs = rules.into_iter().map(|rule| (rule, spent(column, rule) * all / column.len()));
    // A rule that saves little is not worth reading.
    let worth = |&(rule, cost): &(Rule, usize)| if rule == Rule::Above { cost * 9 / 10 } else { cost };
    costs.min_by_key(worth).expect("there is one rule at least")
}

/// What separates the folders of most values, if they have some.
fn separator(column: &[&str]) -> Option<char> {
    const SEPARATORS: [u8; 4] = [b'/', b'.', b':', b'-'];
    let mut with = [0; SEPARATORS.len()];
    for value in column.iter().filter(|value| !value.as_bytes().first().is_some_and(u8::is_ascii_digit)) {
        for (with, separator) in with.iter_mut().zip(SEPARATORS) {
            *with += usize::from(memchr::memchr(separator, value.as_bytes()).is_some());
        }
    }
    let most = with.iter().position(|&with| with * 2 > column.len())?;
    Some(char::from(SEPARATORS[most]))
}

/// About how many tokens rows spend on a column.
fn spent(column: &[&str], rule: Rule) -> usize {
    if rule.is_silent() {
        return 0;
    }
    let mut said: FastMap<&str, usize> = FastMap::default();
    let mut tokens = cost(column[0]) + if rule == Rule::Above { 0 } else { 3 };
    for pair in column.windows(2) {
        if rule.expected(pair[0]) == pair[1] {
            tokens += 1;
            continue;
        }
        match rule {
            Rule::Folder(separator) => match below(pair[0], pair[1], separator) {
                Some((_, rest)) => tokens += 1 + cost(rest),
                None => tokens += cost(pair[1]),
            },
            _ => *said.entry(pair[1]).or_default() += 1,
        }
    }
    let named = |(value, times): (&str, usize)| {
        let each = cost(value);
        (times * each).min(each + 3 + 2 * (times - 1))
    };
    tokens + said.into_iter().map(named).sum::<usize>()
}

/// The step that a column mostly grows by, if it is one.
fn step(column: &[&str], is_hex: bool) -> Option<i64> {
    let is_wide = |value: &&str| value.len() == column[0].len();
    if is_hex && !(column[0].len() >= 2 && column.iter().all(is_wide)) {
        return None;
    }
    // A column that grows mostly does so in one of its first rows.
    if column.iter().take(8).all(|value| number(value, is_hex).is_none()) {
        return None;
    }
    let mut steps: FastMap<i64, usize> = FastMap::default();
    let mut before = number(column[0], is_hex);
    for value in &column[1..] {
        let after = number(value, is_hex);
        if let Some((before, after)) = before.zip(after) {
            *steps.entry(after - before).or_default() += 1;
        }
        before = after;
    }
    let (step, times) = steps.into_iter().max_by_key(|&(step, times)| (times, std::cmp::Reverse(step)))?;
    (step != 0 && times * 2 > column.len()).then_some(step)
}

/// Byte ranges of the pieces of the values between punctuation that all of them share, each with what stands before it; `None`
/// where they share none.
pub(super) fn pieces<'t>(column: &[&'t str]) -> Option<Vec<Piece<'t>>> {
    let shape: Vec<(usize, usize)> = punctuation(column[0]).collect();
    if shape.is_empty() || shape.len() > MAX_PIECES {
        return None;
    }
    let mut pieces = vec![Piece { before: "", ranges: Vec::with_capacity(column.len()) }];
    pieces.extend(
        shape
            .iter()
            .map(|&(start, end)| Piece { before: &column[0][start..end], ranges: Vec::with_capacity(column.len()) }),
    );
    for value in column {
        let (mut start, mut at) = (0, 0);
        for (from, to) in punctuation(value) {
            if value[from..to] != *pieces.get(at + 1)?.before {
                return None;
            }
            pieces[at].ranges.push((start, from));
            (start, at) = (to, at + 1);
        }
        if at != shape.len() {
            return None;
        }
        pieces[at].ranges.push((start, value.len()));
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

/// The runs of punctuation and blanks within a value.
fn punctuation(word: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = word.as_bytes();
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() || *byte == b' ';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(is_mark)?;
        at = bytes[start..].iter().position(|byte| !is_mark(byte)).map_or(bytes.len(), |len| start + len);
        Some((start, at))
    })
}
