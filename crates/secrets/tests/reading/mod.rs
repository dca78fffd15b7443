//! Reads the files of lines beside the tests.
//!
//! A line is a test. `«` and `»` stand around each secret. `⏎`, `␍`, `␉`, `␛`, `␀` and `␣` are the characters that a
//! line cannot show, and `⟨mixed 40⟩` is noise of an alphabet and a length, so that no real-looking key stands in a
//! file. A line that begins with `# ` is a comment.

use std::ops::Range;

pub(crate) const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

pub(crate) const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const ALPHABETS: [(&str, &str); 5] = [
    ("mixed", MIXED),
    ("letters", LETTERS),
    ("upper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("hex", "0123456789abcdef"),
    ("digits", "0123456789"),
];

/// Returns this many characters of an alphabet, the same in every run.
pub(crate) fn noise(alphabet: &str, length: usize, seed: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(7919) + 7;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12345) % (1 << 31);
            alphabet[(state >> 8) % alphabet.len()]
        })
        .collect()
}

/// Returns the lines of a file that are not comments.
pub(crate) fn lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Returns the text of a line and its marked secrets. Noise differs from line to line and within a line.
pub(crate) fn read(line: &str) -> (String, Vec<Range<usize>>) {
    let mut seed = line.bytes().fold(0, |sum: usize, byte| (sum * 31 + usize::from(byte)) % 1_000_003);
    let (mut text, mut secrets, mut start) = (String::new(), Vec::new(), 0);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '«' => start = text.len(),
            '»' => secrets.push(start..text.len()),
            '⟨' => {
                let (spec, behind) = rest.split_once('⟩').expect("noise ends");
                let (name, length) = spec.split_once(' ').expect("an alphabet and a length");
                let (_, alphabet) = ALPHABETS.iter().find(|(known, _)| *known == name).expect("a known alphabet");
                text += &noise(alphabet, length.parse().expect("a length"), seed);
                (seed, rest) = (seed + 1, behind);
            }
            '⏎' => text.push('\n'),
            '␍' => text.push('\r'),
            '␉' => text.push('\t'),
            '␛' => text.push('\u{1b}'),
            '␀' => text.push('\0'),
            '␣' => text.push(' '),
            _ => text.push(c),
        }
    }
    (text, secrets)
}
