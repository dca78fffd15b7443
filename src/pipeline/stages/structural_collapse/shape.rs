//! A line -> its atoms: words, which vary, and what stands between them, which makes its shape.
//!
//! What stands between quotes is one word, and so is a dotted name: `a.b.C` and `d` have the same shape.

use xxhash_rust::xxh3::xxh3_64;

/// A longer line has no shape: it is data.
const LINE_MAX_BYTES: usize = 400;

/// A line cut into words and what is between them.
#[derive(Debug)]
pub(super) struct Shape<'t> {
    pub(super) line: &'t str,
    /// Byte ranges of the words in the line.
    pub(super) words: Vec<(usize, usize)>,
    between: u64,
}

impl<'t> Shape<'t> {
    pub(super) fn of(line: &'t str) -> Self {
        let words = if line.len() <= LINE_MAX_BYTES { words(line) } else { Vec::new() };
        let mut between = Vec::with_capacity(line.len());
        let mut at = 0;
        for &(start, end) in &words {
            between.extend_from_slice(&line.as_bytes()[at..start]);
            between.push(0);
            at = end;
        }
        between.extend_from_slice(&line.as_bytes()[at..]);
        Self { line, words, between: xxh3_64(&between) }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.between == other.between && self.words.len() == other.words.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.line.trim().is_empty()
    }

    pub(super) fn word(&self, index: usize) -> &'t str {
        let (start, end) = self.words[index];
        &self.line[start..end]
    }
}

fn words(line: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut characters = line.char_indices().peekable();
    while let Some((start, character)) = characters.next() {
        if matches!(character, '"' | '\'' | '`') {
            if let Some(len) = quoted_len(&line[start + 1..], character) {
                words.push((start + 1, start + 1 + len));
                while characters.next_if(|&(at, _)| at <= start + 1 + len).is_some() {}
            }
        } else if is_word(character) {
            let mut end = start + character.len_utf8();
            while let Some((at, next)) = characters.next_if(|&(_, next)| is_word(next) || next == '.') {
                end = at + next.len_utf8();
            }
            words.push((start, end));
        }
    }
    words
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of what stands before the quote that closes.
fn quoted_len(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in rest.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<&str> {
        let shape = Shape::of(line);
        (0..shape.words.len()).map(|index| shape.word(index)).collect()
    }

    #[test]
    fn words_are_names_numbers_and_what_is_in_quotes() {
        assert_eq!(found("  a.b.C = f(1, \"x \\\" y\");"), ["a.b.C", "f", "1", "x \\\" y"]);
        assert_eq!(found("don't"), ["don", "t"]);
        assert_eq!(found("é = ''"), ["é", ""]);
    }

    #[test]
    fn lines_are_alike_when_only_words_differ() {
        let is_like = |one: &str, other: &str| Shape::of(one).is_like(&Shape::of(other));
        assert!(is_like("import a.b.c;", "import d;"));
        assert!(is_like("x = 'a b'", "y = ''"));
        assert!(!is_like("x = 1", "x =  1"));
        assert!(!is_like("f(a)", "f(a, b)"));
    }
}
