//! `[=016-005003007]` -> `[[16,-5],[3,7]]`: a list of points in which every number is one group of three digits.

use std::borrow::Cow;

use super::tree::{Id, Node, Tree, is_number};

/// Reads the text between `[=` and the closing bracket.
pub fn read<'r>(tree: &mut Tree<'r>, mut text: &'r str) -> Option<Vec<Id>> {
    let mut numbers = Vec::new();
    while !text.is_empty() {
        let raw;
        (raw, text) = number(text)?;
        is_number(&raw).then_some(())?;
        numbers.push(tree.push(Node::Scalar { quoted: false, text: raw }));
    }
    Some(numbers.chunks(2).map(|pair| tree.push(Node::Array(pair.to_vec()))).collect())
}

/// Returns the first number and the text after it.
fn number(text: &str) -> Option<(Cow<'_, str>, &str)> {
    if let Some(long) = text.strip_prefix(' ') {
        let (number, rest) = long.split_once(' ')?;
        return Some((Cow::Borrowed(number), rest));
    }
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let digits = rest.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let shown = match digits.trim_start_matches('0') {
        "" => &digits[2..],
        shown => shown,
    };
    let number = if sign.is_empty() { Cow::Borrowed(shown) } else { Cow::Owned(format!("{sign}{shown}")) };
    Some((number, &rest[3..]))
}
