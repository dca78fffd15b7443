//! Lengths and cuts in UTF-16 code units, JavaScript's unit. Users' thresholds and the numbers in placeholders have
//! this unit.
//!
//! A cut never splits a character: a cut in the middle of a surrogate pair moves back by one unit.

/// Returns the length of a text in UTF-16 code units.
pub fn len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns true if a text has more than `limit` units. Reads no further than needed.
pub fn exceeds(text: &str, limit: usize) -> bool {
    // A unit takes one to three bytes of UTF-8.
    text.len() > limit && (text.len() > limit.saturating_mul(3) || len(text) > limit)
}

/// Returns the longest prefix of a text with at most `limit` units.
pub fn head(text: &str, limit: usize) -> &str {
    text.char_indices().find(is_beyond(limit)).map_or(text, |(at, _)| &text[..at])
}

/// Returns the longest suffix of a text with at most `limit` units.
pub fn tail(text: &str, limit: usize) -> &str {
    let start = text.char_indices().rev().find(is_beyond(limit));
    start.map_or(text, |(at, character)| &text[at + character.len_utf8()..])
}

/// Returns a test of consecutive characters that the first one to exceed `limit` units in all passes.
fn is_beyond(limit: usize) -> impl FnMut(&(usize, char)) -> bool {
    let mut units = 0;
    move |(_, character)| {
        units += character.len_utf16();
        units > limit
    }
}

/// Returns a number with commas between thousands, in any locale.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_javascript() {
        for (text, units) in [("", 0), ("abc", 3), ("é世", 2), ("😀", 2), ("a😀b", 4)] {
            assert_eq!(len(text), units, "{text}");
            for limit in 0..6 {
                assert_eq!(exceeds(text, limit), units > limit, "{text} {limit}");
            }
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!((head("a😀b", 1), head("a😀b", 2), head("a😀b", 3), head("a😀b", 9)), ("a", "a", "a😀", "a😀b"));
        assert_eq!((tail("a😀b", 1), tail("a😀b", 2), tail("a😀b", 3), tail("a😀b", 9)), ("b", "b", "😀b", "a😀b"));
        assert_eq!((head("abc", 0), tail("abc", 0), head("", 3), tail("", 3)), ("", "", "", ""));
    }

    #[test]
    fn numbers_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12345, "12,345"), (1234567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }
}
