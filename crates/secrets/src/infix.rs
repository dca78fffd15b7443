//! The kinds of keys that show by a sign in their middle or at their end what they are, by issuer.
//!
//! Any text may hold such a sign. So both parts beside it must have the length that the issuer gives them.

use std::ops::Range;

use super::alphabet::Alphabet::{self, Alnum, Base64, Digit, Dotted, Hex, Tilde, Unpadded, Url};
use super::{is_escape, is_placeholder, is_start, is_word};

/// The characters of a part of a key, and its length in bytes.
type Part = (Alphabet, Range<usize>);

/// One kind of key.
pub(super) struct Infix {
    pub(super) sign: &'static str,
    before: Part,
    after: Part,
}

const fn infix(before: Part, sign: &'static str, after: Part) -> Infix {
    Infix { sign, before, after }
}

/// All kinds, by issuer.
pub(super) const INFIXES: &[Infix] = &[
    // Telegram
    infix((Digit, 8..11), ":AA", (Url, 33..34)),
    // Terraform Cloud
    infix((Alnum, 14..15), ".atlasv1.", (Url, 60..71)),
    // Salesforce
    infix((Alnum, 15..19), "!AQ", (Dotted, 80..260)),
    // Mailchimp, New Relic, MaxMind, Tableau
    infix((Hex, 32..33), "-us", (Digit, 1..3)),
    infix((Alnum, 32..33), "FFFFNRAL", (Alnum, 0..1)),
    infix((Url, 36..37), "_mmk", (Alnum, 0..1)),
    infix((Unpadded, 22..23), "==:", (Alnum, 32..33)),
    // Microsoft Entra
    infix((Tilde, 4..5), "Q~", (Tilde, 31..35)),
    // Azure: AI services, DevOps and others; storage, Batch, Machine Learning, Cosmos DB, API Management; Service Bus, Event Hubs,
    // Relay, IoT, Redis; registry, search; functions
    infix((Alnum, 52..53), "JQQJ99", (Base64, 26..31)),
    infix((Unpadded, 76..77), "+ASt", (Base64, 8..9)),
    infix((Unpadded, 76..77), "+ABa", (Base64, 8..9)),
    infix((Unpadded, 76..77), "+AMC", (Base64, 8..9)),
    infix((Unpadded, 76..77), "ACDb", (Base64, 8..9)),
    infix((Unpadded, 76..77), "APIM", (Base64, 8..9)),
    infix((Unpadded, 33..34), "+ASb", (Base64, 7..8)),
    infix((Unpadded, 33..34), "+AEh", (Base64, 7..8)),
    infix((Unpadded, 33..34), "+ARm", (Base64, 7..8)),
    infix((Unpadded, 33..34), "AIoT", (Base64, 7..8)),
    infix((Unpadded, 33..34), "AzCa", (Base64, 7..8)),
    infix((Unpadded, 42..43), "+ACR", (Base64, 6..7)),
    infix((Alnum, 42..43), "AzSe", (Alnum, 6..7)),
    infix((Url, 44..45), "AzFu", (Base64, 8..9)),
];

/// A key of this kind, whose sign stands at `sign`.
pub(super) fn find(text: &str, sign: Range<usize>, kind: &Infix) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (before, first) = &kind.before;
    let start = sign.start - before.run_back(&bytes[..sign.start], first.end);
    let start = start + usize::from(is_escape(bytes, start));
    let (after, last) = &kind.after;
    let rest = &text[sign.end..sign.end + after.run(&bytes[sign.end..], last.end)];
    let length = rest.trim_end_matches('.').len();
    let end = sign.end + length;
    // In URLs the token of a Telegram bot follows the word.
    let is_whole = is_start(bytes, start) || bytes[..start].ends_with(b"bot");
    let is_cut = bytes.get(end).is_some_and(|&next| is_word(next));
    let is_key = first.contains(&(sign.start - start)) && last.contains(&length) && is_whole && !is_cut;
    (is_key && !is_placeholder(&text[start..end])).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::super::format;
    use super::super::noise::{MIXED, noise};
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        format::find(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn each_kind_is_found_at_its_shortest_and_not_where_a_part_is_too_short_or_too_long() {
        for kind in INFIXES {
            let part = |alphabet: Alphabet, length: usize| match alphabet {
                Digit => noise("0123456789", length),
                Hex => noise("0123456789abcdef", length),
                _ => noise(MIXED, length),
            };
            let write = |first: usize, last: usize| part(kind.before.0, first) + kind.sign + &part(kind.after.0, last);
            let (first, last) = (&kind.before.1, &kind.after.1);
            let key = write(first.start, last.start);
            for text in
                [key.clone(), format!("key: {key}\n"), format!("{{\"key\":\"{key}\"}}"), format!("a\\n{key}\\n")]
            {
                assert_eq!(found(&text), [key.as_str()], "{text}");
            }
            let shorter = last.start.checked_sub(1).map(|last| write(first.start, last));
            for other in
                [write(first.start - 1, last.start), write(first.end, last.start), write(first.start, last.end)]
                    .into_iter()
                    .chain(shorter)
            {
                assert!(found(&other).is_empty(), "{other}");
            }
        }
    }

    #[test]
    fn signs_in_words_and_in_hashes_are_of_no_key() {
        for text in [
            "2024-01-01T10:00:00:AAPL closed at 182.31",
            "app.terraform.io/v2: tokens hold .atlasv1. between two parts",
            "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d-us-east-1 and 1a2b-us12",
            "wow!AQUARIUM.opened.in.2024",
            "ends with FFFFNRAL, or with _mmk",
            "iVBORw0KGgoAAAANSUhEUgAAAAUA==:9a8b7c6d5e4f",
            "~/.cache/FAQ~old/readme.txt",
            "APIM, AIoT and AzSearch in the names of AzFunctions",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
