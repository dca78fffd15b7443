//! `gcc -I /long/path/a …`, `gcc -I /long/path/b …` -> the repeated phrases once, and the lines with references `$1`.
//!
//! Lossless. A phrase is a part of a line. It contains no reference, so nothing has to be looked up twice.

use crate::fold::Fold;
use crate::restore::UNFOLDED_MAX_BYTES;

/// The characters that may mark a reference, the preferred one first. In the text none of them stands before a digit
/// where it is the mark.
pub const MARKS: [char; 4] = ['$', '%', '~', '@'];

/// Returns the legend: the first `count` lines of the body are the phrases.
pub fn legend(mark: char, count: usize) -> String {
    format!("{mark}N stands for line N of the first {count} lines")
}

/// Returns the number of phrases and the mark of a legend; `None` for any other legend.
fn parse(words: &str) -> Option<(char, usize)> {
    let mark = words.chars().next().filter(|mark| MARKS.contains(mark))?;
    let count = words[1..].strip_prefix("N stands for line N of the first ")?.strip_suffix(" lines")?;
    let count = count.parse().ok()?;
    (legend(mark, count) == words && count > 0).then_some((mark, count))
}

/// Returns the text of a fold with repeated phrases; `None` for any other fold, and if a reference names no phrase.
pub fn unfold(fold: &Fold) -> Option<String> {
    let (mark, count) = parse(&fold.legend)?;
    let mut lines = fold.body.as_deref()?.splitn(count + 1, '\n');
    let phrases: Vec<&str> = lines.by_ref().take(count).collect();
    let mut pieces = lines.next()?.split(mark);
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            text.push(mark);
        } else {
            let number: usize = piece[..digits].parse().ok()?;
            text.push_str(phrases.get(number.checked_sub(1)?)?);
        }
        text.push_str(&piece[digits..]);
        if text.len() > UNFOLDED_MAX_BYTES {
            return None;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_and_other_marks_stay() {
        let unfold = |legend: &str, body: &str| unfold(&Fold::new("structuralCollapse", legend, Some(body.into())));
        let two = legend('$', 2);
        assert_eq!(unfold(&two, "a b\nc\n$1-$2$ $x\n$2").as_deref(), Some("a b-c$ $x\nc"));
        assert_eq!(unfold(&two, "a b\nc\n$3"), None);
        assert_eq!(unfold(&two, "a b\nc\n$0"), None);
        assert_eq!(unfold(&two, "a b\nc"), None);
        assert_eq!(unfold("$N stands for line N of the first 02 lines", "a\nb\n$1"), None);
    }
}
