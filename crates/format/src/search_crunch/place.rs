//! The place of a hit: its line, and its column if there is one.

/// Splits a hit: `12:5:text` -> `12:5` and the text; `12:text` -> `12` and the text.
pub fn split_place(line: &str) -> Option<(&str, &str)> {
    let end = line.bytes().position(|byte| byte == b':')?;
    let rest = &line[end + 1..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let has_column = is_column(&rest[..digits]) && rest[digits..].starts_with(':');
    let end = if has_column { end + 1 + digits } else { end };
    Some((&line[..end], &line[end + 1..]))
}

/// Returns true for a number of at most 18 digits without leading zeros.
fn is_column(digits: &str) -> bool {
    digits == "0" || (1..=18).contains(&digits.len()) && !digits.starts_with('0')
}
