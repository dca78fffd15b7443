//! The signature of a text: a small Bloom filter of its trigrams, which rules out most texts that lack a word.
//!
//! A trigram is three bytes of the text in one case. A text that contains a word has all bits of the word's trigrams,
//! so a signature never hides a text. It may have these bits by chance; whoever searches therefore reads the text.

/// The number of bytes of the largest signature. A text with more trigrams than it has room for matches more words by
/// chance.
const MAX_BYTES: usize = 8 << 10;

/// The largest share of set bits, in percent. A word of eight letters then matches a text by chance once in 250 times.
const MAX_FILL: usize = 40;

/// The maximum number of bits that a search looks up. More would hardly rule out more texts.
pub const MAX_PROBES: usize = 24;

/// The signature of a text. Its number of bytes is a power of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(Vec<u8>);

/// The bits that a text has if it contains the words of a search; at most [`MAX_PROBES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probes(Vec<u16>);

impl Signature {
    /// Returns the signature of a text.
    pub fn of(text: &str) -> Self {
        // A text has no more trigrams than bytes, so this is large enough.
        let mut bits = vec![0; text.len().next_power_of_two().min(MAX_BYTES)];
        let last = bits.len() * 8 - 1;
        each_trigram(text, |bit| bits[(usize::from(bit) & last) / 8] |= 1 << (bit % 8));
        while let Some(half) = halved(&bits) {
            bits = half;
        }
        Self(bits)
    }

    /// Returns the signature of an original without text, which contains no word.
    pub fn of_no_text() -> Self {
        Self(vec![0])
    }

    /// Returns the signature of an original that cannot be read now, which may contain every word.
    pub fn of_unknown() -> Self {
        Self(vec![u8::MAX])
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Probes {
    /// Returns the bits of some words. A word of fewer than three bytes has none.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut bits: Vec<u16> = Vec::new();
        words.into_iter().for_each(|word| each_trigram(word, |bit| bits.push(bit)));
        // Bits from everywhere rule out more texts than the first ones, which may be those of a common word.
        let step = bits.len().div_ceil(MAX_PROBES).max(1);
        Self(bits.into_iter().step_by(step).collect())
    }

    /// Returns true if the text with this signature may contain the words.
    pub fn may_match(&self, signature: &[u8]) -> bool {
        let is_set = |bit: u16| {
            let bit = usize::from(bit) % (signature.len() * 8);
            signature[bit / 8] >> (bit % 8) & 1 == 1
        };
        !signature.is_empty() && self.0.iter().all(|bit| is_set(*bit))
    }

    /// Returns the numbers of the bits.
    pub fn bits(&self) -> &[u16] {
        &self.0
    }
}

/// Returns a signature of half the size, unless too many of its bits would be set. The numbers of its bits are the
/// lower digits of the numbers of these.
fn halved(bits: &[u8]) -> Option<Vec<u8>> {
    let (low, high) = bits.split_at(bits.len() / 2);
    let half: Vec<u8> = low.iter().zip(high).map(|(low, high)| low | high).collect();
    let ones: usize = half.iter().map(|byte| byte.count_ones() as usize).sum();
    (!half.is_empty() && ones * 100 <= half.len() * 8 * MAX_FILL).then_some(half)
}

/// Calls `take` with the number of the bit of each trigram, in the largest signature.
fn each_trigram(text: &str, mut take: impl FnMut(u16)) {
    let (mut trigram, mut missing) = (0, 3_u8);
    let mut push = |byte: u8| {
        trigram = (trigram << 8 | u32::from(byte)) & 0x00ff_ffff;
        missing = missing.saturating_sub(1);
        if missing == 0 {
            take(bit_of(trigram));
        }
    };
    for one in text.chars() {
        if one.is_ascii() {
            push(one.to_ascii_lowercase() as u8);
        } else {
            // Letters that a search takes for equal, such as both small sigmas, share their capital.
            let mut upper = one.to_uppercase();
            let capital = upper.next().filter(|_| upper.next().is_none()).unwrap_or(one);
            capital.to_lowercase().for_each(|lower| lower.encode_utf8(&mut [0; 4]).bytes().for_each(&mut push));
        }
    }
}

/// Mixes a trigram as MurmurHash3 finishes its hashes. Stored signatures depend on it.
fn bit_of(trigram: u32) -> u16 {
    let mut mixed = trigram.wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    (mixed ^ mixed >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_contain(text: &str, words: &[&str]) -> bool {
        Probes::of(words.iter().copied()).may_match(Signature::of(text).as_bytes())
    }

    #[test]
    fn a_text_may_contain_each_of_its_parts_in_any_case() {
        let text = "Error: ECONNREFUSED 127.0.0.1:5432\n  at Größe.ÄNDERN (漢字.rs:12)\nİstanbul 𝒳𝒴 ok\n".repeat(3);
        let chars: Vec<char> = text.chars().collect();
        for length in 1..20 {
            for part in chars.windows(length) {
                let part: String = part.iter().collect();
                assert!(may_contain(&text, &[&part]), "{part:?}");
                assert!(may_contain(&text.to_ascii_uppercase(), &[&part.to_ascii_lowercase()]), "{part:?}");
            }
        }
        for (text, word) in [("ΔΙΚΤΥΟΣ", "δικτυος"), ("δίκτυος", "ΔΊΚΤΥΟΣ"), ("5 µsec", "μsec"), ("ſecret", "SECRET")]
        {
            assert!(may_contain(text, &[word]), "{text} has {word}");
        }
        assert!(may_contain(&text, &["größe", "ändern", "REFUSED"]));
        assert!(!may_contain(&text, &["größe", "timeout"]));
    }

    #[test]
    fn the_size_follows_the_text_and_few_words_match_by_chance() {
        let line = |at: u64| format!("{at:08} unit_{:x} took {} ms\n", at * 2_654_435_761 % 1_000_003, at % 977);
        let text: String = (0..160).map(line).collect();
        let signature = Signature::of(&text);
        assert!(signature.as_bytes().len() * 8 <= text.len(), "{}", signature.as_bytes().len());
        let word = |at: u64| format!("w{:x}", (at + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let by_chance = (0..10_000).filter(|at| Probes::of([word(*at).as_str()]).may_match(signature.as_bytes()));
        assert!(by_chance.count() < 10);
        assert_eq!(Signature::of("").as_bytes().len(), 1);
        let varied: String = ('\u{4e00}'..'\u{9fff}').collect();
        assert_eq!(Signature::of(&varied).as_bytes().len(), MAX_BYTES);
    }

    #[test]
    fn short_words_rule_nothing_out() {
        assert!(may_contain("abc", &["x", "yz"]));
        assert!(Probes::of(["漢"]).bits().len() == 1);
        assert!(!Probes::of(["abc"]).may_match(Signature::of_no_text().as_bytes()));
        assert!(Probes::of(["abc"]).may_match(Signature::of_unknown().as_bytes()));
        assert!(!Probes::of(["abc"]).may_match(&[]));
    }

    #[test]
    fn bits_never_change() {
        assert_eq!(Probes::of(["error"]).bits(), [25725, 9139, 31481]);
    }
}
