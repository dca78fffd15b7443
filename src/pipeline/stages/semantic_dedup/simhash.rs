//! Fingerprints of passages: equal words give equal hashes, similar words give simhashes that differ in few bits.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// How many bits of the simhashes of near repeats may differ.
pub(super) const HAMMING_MAX: u32 = 3;

/// The key of one of four bands. Simhashes that differ in at most three bits have one band in common.
pub(super) fn key(simhash: u64, band: usize) -> (usize, u16) {
    (band, (simhash >> (16 * band)) as u16)
}

/// A hash of the words of a passage, and the simhash of its shingles of three words. Characters of scripts without spaces are
/// words of their own.
pub(super) fn fingerprints(text: &str) -> (u64, u64) {
    let mut words: Vec<u64> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let spaceless =
                |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}');
            let len = if spaceless(first) { first.len_utf8() } else { rest.find(spaceless).unwrap_or(rest.len()) };
            words.push(xxh3_64(&rest.as_bytes()[..len]));
            rest = &rest[len..];
        }
    }
    let mut all = Xxh3::new();
    text.split_whitespace().for_each(|word| {
        all.update(word.as_bytes());
        all.update(&[0]);
    });
    let mut votes = [0i32; 64];
    for shingle in words.windows(3) {
        let bytes: Vec<u8> = shingle.iter().flat_map(|word| word.to_le_bytes()).collect();
        let hash = xxh3_64(&bytes);
        votes.iter_mut().enumerate().for_each(|(bit, vote)| *vote += if hash >> bit & 1 == 1 { 1 } else { -1 });
    }
    let simhash = votes.iter().enumerate().fold(0, |hash, (bit, &vote)| hash | u64::from(vote > 0) << bit);
    (all.digest(), simhash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manual(section: &str) -> String {
        let steps =
            (1..90).map(|n| format!("{n}. In step {n} of {section}, turn knob {} until the lamp is on.\n", n * 7));
        steps.collect()
    }

    #[test]
    fn simhashes_of_near_passages_are_near_in_any_script() {
        for (text, word, other) in [
            (manual("Setup"), "knob 49", "knob 50"),
            (
                "同じ段落がもう一度現れるとき、参照で置き換えられる。設定を確認してください。".repeat(9) + "終わり",
                "終わり",
                "終了",
            ),
        ] {
            let (hash, changed) = (fingerprints(&text).1, fingerprints(&text.replacen(word, other, 1)).1);
            assert!((hash ^ changed).count_ones() <= HAMMING_MAX, "{word}");
            assert!((hash ^ fingerprints("something else altogether, with words of its own").1).count_ones() > 10);
        }
    }
}
