//! `[[16,-5],[3,7]]` -> `[#16,-5 3,7]`, and in long lists of points `[=016-005003007]`: every number one group of three
//! digits.
//!
//! A vocabulary has a token for every three digits, so a group needs no mark before the next. Only whole numbers as
//! JSON writers spell them are packed, and only where a text has many: a few are easier to read with their commas.

use std::borrow::Cow;

use super::tree::{Id, Node, Tree, is_number};

/// Reads what follows `[#` or `[=`, up to the closing bracket.
pub fn read<'r>(tree: &mut Tree<'r>, text: &'r str, packed: bool) -> Option<Vec<Id>> {
    let rows: Vec<Vec<Cow<'r, str>>> = if packed {
        let numbers = unpack(text)?;
        numbers.chunks(2).map(<[_]>::to_vec).collect()
    } else {
        text.split(' ').map(|row| row.split(',').map(Cow::Borrowed).collect()).collect()
    };
    let mut found = Vec::new();
    for row in rows {
        let mut items = Vec::new();
        for raw in row {
            if !is_number(&raw) {
                return None;
            }
            items.push(tree.push(Node::Scalar { quoted: false, text: raw }));
        }
        found.push(tree.push(Node::Array(items)));
    }
    Some(found)
}

fn unpack(mut text: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut found = Vec::new();
    while !text.is_empty() {
        if let Some(long) = text.strip_prefix(' ') {
            let (number, rest) = long.split_once(' ')?;
            found.push(Cow::Borrowed(number));
            text = rest;
            continue;
        }
        let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
        let digits = rest.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let shown = match digits.trim_start_matches('0') {
            "" => &digits[2..],
            shown => shown,
        };
        found.push(if sign.is_empty() { Cow::Borrowed(shown) } else { Cow::Owned(format!("{sign}{shown}")) });
        text = &rest[3..];
    }
    Some(found)
}
