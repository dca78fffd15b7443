//! 0, 1, …, 25, 26, … <-> `a`, `b`, …, `z`, `aa`, …: the names of templates and, in capitals, of record classes.

/// Returns the name of a number.
pub fn name(number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        more => name(more - 1) + &letter.to_string(),
    }
}

/// Returns the number that a name stands for, or the largest one for a longer name.
pub fn number(name: &str) -> Option<usize> {
    let add = |number: usize, byte: u8| number.saturating_mul(26).saturating_add(usize::from(byte - b'a') + 1);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then(|| name.bytes().fold(0, add) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_read_back() {
        for value in (0..20_000).chain([475_253, 475_254, 12_356_629, 12_356_630]) {
            assert_eq!(number(&name(value)), Some(value));
        }
        assert_eq!(number(&"z".repeat(40)), Some(usize::MAX - 1));
        assert_eq!([number(""), number("A"), number("a1")], [None; 3]);
    }
}
