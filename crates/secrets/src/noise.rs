//! Deterministic noise for tests, so that no real-looking key stands in these files.

/// Letters and digits.
pub(super) const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Letters alone.
pub(super) const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// So many characters of an alphabet, the same in every run.
pub(super) fn noise(alphabet: &str, length: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 7_usize;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12345) % (1 << 31);
            alphabet[(state >> 8) % alphabet.len()]
        })
        .collect()
}
