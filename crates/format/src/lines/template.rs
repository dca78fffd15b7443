//! The parts of a template, and how they are filled up.

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// This text.
    Text(String),
    /// The bytes that the line has in hexadecimal, as text.
    Shown,
    /// The value with this index.
    Value(usize, Pad),
}

/// How a field is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pad {
    /// Not at all.
    #[default]
    None,
    /// Blanks behind it, up to so many characters.
    Behind(usize),
    /// Blanks before it, up to so many characters.
    Before(usize),
    /// Tabs behind it, up to this column.
    Tabs(usize),
}

/// How wide a tab is.
const TAB: usize = 8;

/// How many tabs lead from one column to another.
pub fn tabs(from: usize, to: usize) -> usize {
    (to.saturating_sub(from / TAB * TAB)).div_ceil(TAB)
}

/// The column that a text leads to.
pub fn column_after(column: usize, text: &str) -> usize {
    text.chars().fold(column, |column, c| if c == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}

/// The bytes that a line has in hexadecimal behind its first word, as text, and where they end.
pub fn shown(line: &str) -> Option<(usize, String)> {
    let start = line.len() - line.trim_start().len();
    let address = line[start..].find(' ')?;
    let (mut at, mut head) = (start + address, 0);
    let mut text = String::new();
    for word in line[at..].split(' ') {
        let is_hex = word.len() % 2 == 0 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        // One blank more than usual parts the bytes in two halves; two end them.
        if !is_hex || word.is_empty() && line[..at].ends_with("  ") {
            break;
        }
        for pair in word.as_bytes().chunks(2) {
            let byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
            text.push(if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '.' });
        }
        at += word.len();
        if !word.is_empty() {
            head = at;
        }
        at = (at + 1).min(line.len());
    }
    (text.len() >= 4).then_some((head, text))
}
