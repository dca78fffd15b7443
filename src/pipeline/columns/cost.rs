//! A word -> its approximate number of tokens.

/// The kind of each byte. `RUNS` holds the number of bytes of a kind per token.
const KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([5u8; 256], 0);
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'0'..=b'9' => 1,
            b'a'..=b'z' => 2,
            b'A'..=b'Z' => 3,
            128.. => 4,
            b' ' => 0,
            _ => 5,
        };
        byte += 1;
    }
    kinds
};
const RUNS: [u8; 6] = [1, 3, 7, 3, 3, 2];

/// The kind of the previous byte, and the number of bytes of that kind in its token so far.
type State = (u8, u8);

/// Returns the number of a state. A kind has at most seven bytes per token; state 0 is the start.
const fn number_of((kind, run): State) -> usize {
    if kind == NONE { 0 } else { 1 + kind as usize * 7 + run as usize - 1 }
}
const NONE: u8 = 6;
const STATES: usize = 1 + 6 * 7;

/// The next state by state and kind of byte, plus 128 if a token begins there.
const NEXT: [[u8; 6]; STATES] = {
    let mut table = [[0; 6]; STATES];
    let mut state = 0;
    while state < STATES {
        let (kind, run) = if state == 0 { (NONE, 0) } else { ((state as u8 - 1) / 7, (state as u8 - 1) % 7 + 1) };
        let mut next = 0;
        while next < 6 {
            table[state][next as usize] = if next == kind && (run < RUNS[kind as usize] || next == 0 && run > 1) {
                number_of((kind, if run < 7 { run + 1 } else { 7 })) as u8
            } else {
                // A capital and the lower-case letters after it are one token, and a blank belongs to the word after
                // it.
                let is_one = kind == 3 && next == 2 && run == 1 || next == 0 && kind != 0;
                let begins = if is_one { 0 } else { 128 };
                number_of((next, if next == 0 && kind == 0 { 2 } else { 1 })) as u8 | begins
            };
            next += 1;
        }
        state += 1;
    }
    table
};

/// Estimates the tokens of a word after a blank. Exact counting takes a hundred times as long.
pub(in super::super) fn cost(word: &str) -> usize {
    let (mut tokens, mut state) = (0usize, 0usize);
    for &byte in word.as_bytes() {
        let next = NEXT[state][usize::from(KINDS[usize::from(byte)])];
        tokens += usize::from(next >> 7);
        state = usize::from(next & 127);
    }
    tokens + usize::from(word.as_bytes().first().is_some_and(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cost_about_what_their_tokens_do() {
        for (word, tokens) in [
            ("", 0),
            ("word", 1),
            ("Word", 1),
            ("WORD", 2),
            ("abcdefgh", 2),
            ("1234", 3),
            ("a b", 2),
            ("a  b", 3),
            ("a.b", 3),
        ] {
            assert_eq!(cost(word), tokens, "{word:?}");
        }
    }
}
