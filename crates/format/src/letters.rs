//! 0, 1, …, 25, 26, … <-> `a`, `b`, …, `z`, `aa`, …: the names of templates and, in capitals, of record classes.

/// Returns the name of a number.
pub fn name(number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        more => name(more - 1) + &letter.to_string(),
    }
}

/// Returns the number that a name of one to three letters stands for.
pub fn number(name: &str) -> Option<usize> {
    let is_name = (1..=3).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then(|| name.bytes().fold(0, |number, byte| number * 26 + usize::from(byte - b'a') + 1) - 1)
}
