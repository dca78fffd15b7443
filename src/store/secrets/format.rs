//! Keys that show by their form what they are: a fixed beginning and so many characters of one alphabet.
//!
//! A beginning inside a longer word does not count. That also keeps the search linear: a run of key characters has one start.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{is_placeholder, is_random, is_word};

/// The characters of a key's body.
#[derive(Clone, Copy)]
enum Alphabet {
    Hex,
    /// Letters and digits.
    Alnum,
    /// Those of base64url.
    Url,
    /// Those of base64url, and dots.
    Dotted,
    /// Those of base64.
    Base64,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || matches!(byte, b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// One kind of key.
struct Format {
    beginning: &'static str,
    body: Alphabet,
    /// Length of the body in bytes.
    length: Range<usize>,
    /// Whether words have this form too, so that the body must look random.
    is_common: bool,
}

const fn format(beginning: &'static str, body: Alphabet, length: Range<usize>) -> Format {
    Format { beginning, body, length, is_common: false }
}

const fn common(beginning: &'static str, body: Alphabet, length: Range<usize>) -> Format {
    Format { beginning, body, length, is_common: true }
}

use Alphabet::{Alnum, Base64, Dotted, Hex, Url};

/// All kinds, by issuer.
const FORMATS: [Format; 72] = [
    // AWS
    format("AKIA", Alnum, 16..17),
    format("ASIA", Alnum, 16..17),
    format("ABIA", Alnum, 16..17),
    format("ACCA", Alnum, 16..17),
    // GitHub
    format("ghp_", Alnum, 36..256),
    format("gho_", Alnum, 36..256),
    format("ghu_", Alnum, 36..256),
    format("ghs_", Alnum, 36..256),
    format("ghr_", Alnum, 36..256),
    format("github_pat_", Url, 60..256),
    // GitLab
    format("glpat-", Dotted, 20..300),
    format("gldt-", Url, 20..60),
    format("glrt-", Dotted, 20..300),
    format("glptt-", Hex, 40..41),
    format("glcbt-", Url, 20..80),
    // Slack
    format("xoxb-", Url, 20..256),
    format("xoxp-", Url, 20..256),
    format("xoxa-", Url, 20..256),
    format("xoxr-", Url, 20..256),
    format("xoxs-", Url, 20..256),
    format("xoxe-", Url, 20..256),
    format("xoxe.", Dotted, 20..300),
    common("xapp-", Url, 20..256),
    common("https://hooks.slack.com/services/", Base64, 40..90),
    // Google
    format("AIza", Url, 35..36),
    format("GOCSPX-", Url, 28..29),
    format("ya29.", Dotted, 30..2048),
    // Stripe
    format("sk_live_", Alnum, 16..256),
    format("rk_live_", Alnum, 16..256),
    common("sk_test_", Alnum, 16..256),
    common("rk_test_", Alnum, 16..256),
    common("whsec_", Base64, 24..128),
    // OpenAI, Anthropic, OpenRouter, DeepSeek and others
    common("sk-", Url, 20..512),
    format("gsk_", Alnum, 40..128),
    common("xai-", Alnum, 40..128),
    common("pplx-", Alnum, 40..128),
    format("r8_", Alnum, 37..38),
    common("hf_", Alnum, 34..64),
    common("tvly-", Url, 20..64),
    format("jina_", Url, 40..128),
    // Package registries
    format("npm_", Alnum, 36..37),
    format("pypi-AgE", Url, 50..1024),
    format("rubygems_", Hex, 48..49),
    common("cio", Alnum, 32..33),
    format("dckr_pat_", Url, 27..28),
    format("oy2", Alnum, 43..44),
    // Hosting and tools
    format("dop_v1_", Hex, 64..65),
    format("doo_v1_", Hex, 64..65),
    common("dapi", Hex, 32..35),
    common("hvs.", Url, 24..256),
    format("sbp_", Hex, 40..41),
    format("lin_api_", Alnum, 40..41),
    common("ntn_", Alnum, 40..60),
    format("figd_", Url, 40..60),
    format("glsa_", Url, 32..64),
    format("NRAK-", Alnum, 27..28),
    format("PMAK-", Url, 59..60),
    format("shpat_", Hex, 32..33),
    format("shpss_", Hex, 32..33),
    format("pscale_tkn_", Dotted, 32..64),
    format("pscale_pw_", Dotted, 32..64),
    format("ATATT3", Base64, 150..256),
    format("sntrys_", Base64, 60..512),
    format("AGE-SECRET-KEY-1", Alnum, 58..59),
    // Mail and messages
    common("SG.", Dotted, 60..80),
    common("key-", Hex, 32..33),
    common("SK", Hex, 32..33),
    // Azure
    format("AccountKey=", Base64, 86..90),
    format("SharedAccessKey=", Base64, 43..46),
    common("sig=", Base64, 43..80),
    // Headers
    common("Bearer ", Dotted, 20..2048),
    common("Basic ", Base64, 16..1024),
];

const WEB_TOKEN: &str = "eyJ";
const PEM: &str = "-----BEGIN ";
const URL: &str = "://";
const TELEGRAM: &str = ":AA";

static BEGINNINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(FORMATS.iter().map(|format| format.beginning).chain([WEB_TOKEN, PEM, URL, TELEGRAM]))
        .expect("the beginnings fit into an automaton")
});

/// Ranges of keys of a known form; they may overlap.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut done = 0;
    for hit in BEGINNINGS.find_iter(text) {
        if hit.start() < done {
            continue;
        }
        let range = match FORMATS.get(hit.pattern().as_usize()) {
            Some(format) => find_body(text, hit.range(), format),
            None => match &text[hit.range()] {
                WEB_TOKEN => find_web_token(text, hit.start()),
                URL => find_password(text, hit.end()),
                TELEGRAM => find_bot_token(bytes, hit.start()),
                _ => find_private_key(text, hit.end()),
            },
        };
        if let Some(range) = range {
            done = range.end;
            found.push(range);
        }
    }
    found
}

/// Whether a key can start here.
fn is_start(bytes: &[u8], start: usize) -> bool {
    start == 0 || !(is_word(bytes[start - 1]) || bytes[start - 1] == b'-')
}

/// Length of the run of an alphabet at the beginning of `bytes`, at most `limit`.
fn run(bytes: &[u8], alphabet: Alphabet, limit: usize) -> usize {
    bytes.iter().take(limit).take_while(|&&byte| alphabet.has(byte)).count()
}

fn find_body(text: &str, beginning: Range<usize>, format: &Format) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, beginning.start) {
        return None;
    }
    let length = run(&bytes[beginning.end..], format.body, format.length.end);
    let body = &text[beginning.end..beginning.end + length];
    let body = body.trim_end_matches('.');
    let is_cut = bytes.get(beginning.end + body.len()).is_some_and(|&next| is_word(next));
    let is_key = format.length.contains(&body.len())
        && !is_cut
        && !is_placeholder(body)
        && (!format.is_common || is_random(body));
    // What follows `=` or a blank is the key itself; a fixed beginning belongs to it.
    let start = if format.beginning.ends_with(['=', ' ']) { beginning.end } else { beginning.start };
    is_key.then(|| start..beginning.end + body.len())
}

/// A JSON web token: two base64url parts that each begin an object, and a signature.
fn find_web_token(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, start) {
        return None;
    }
    let part = |from: usize| from + run(&bytes[from..], Url, bytes.len());
    let header = part(start);
    let body = bytes[header..].starts_with(b".eyJ").then(|| part(header + 1))?;
    let end = if bytes.get(body) == Some(&b'.') { part(body + 1) } else { return None };
    (header - start >= 16 && body - header >= 16 && end - body >= 20).then_some(start..end)
}

/// The password of `scheme://user:password@host`; `start` is where the user begins.
fn find_password(text: &str, start: usize) -> Option<Range<usize>> {
    const LIMIT: usize = 256;
    const WORDS: [&str; 14] = [
        "pass",
        "passwd",
        "password",
        "pwd",
        "secret",
        "user",
        "username",
        "test",
        "root",
        "admin",
        "guest",
        "token",
        "postgres",
        "mysecretpassword",
    ];
    let bytes = text.as_bytes();
    let is_part =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'@');
    let end = start + bytes[start..].iter().take(LIMIT).take_while(|byte| is_part(byte)).count();
    if bytes.get(end) != Some(&b'@') {
        return None;
    }
    let colon = start + memchr::memchr(b':', &bytes[start..end])?;
    let (user, password) = (&text[start..colon], &text[colon + 1..end]);
    let is_word = WORDS.contains(&password.to_ascii_lowercase().as_str()) || password == user;
    let is_template = password.contains(['{', '(', '[', '*', '$', '%', '\\']) || is_placeholder(password);
    (password.len() >= 4 && !is_word && !is_template).then_some(colon + 1..end)
}

/// A Telegram bot token; `colon` stands between the bot's number and the key.
fn find_bot_token(bytes: &[u8], colon: usize) -> Option<Range<usize>> {
    let digits = bytes[..colon].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let key = run(&bytes[colon + 1..], Url, 36);
    let start = colon - digits;
    // In URLs the token follows the word.
    let is_whole = is_start(bytes, start) || bytes[..start].ends_with(b"bot");
    ((8..=10).contains(&digits) && is_whole && key == 35).then_some(start..colon + 1 + key)
}

/// A private key in PEM, also with escaped line ends and also cut off; `start` is behind `-----BEGIN `.
fn find_private_key(text: &str, start: usize) -> Option<Range<usize>> {
    const END: &str = "-----END ";
    const LEAST: usize = 40;
    let bytes = text.as_bytes();
    let name = start + bytes[start..].iter().take(40).take_while(|&&b| b.is_ascii_uppercase() || b == b' ').count();
    if !text[start..name].contains("PRIVATE KEY") || !bytes[name..].starts_with(b"-----") {
        return None;
    }
    let body = name + "-----".len();
    // Base64, line ends real or escaped, and the header lines of older files.
    let is_part =
        |byte: &u8| Base64.has(*byte) || byte.is_ascii_whitespace() || matches!(byte, b'\\' | b':' | b',' | b'-');
    let mut end = body;
    while bytes.get(end).is_some_and(is_part) && !bytes[end..].starts_with(END.as_bytes()) {
        if bytes[end..].starts_with(PEM.as_bytes()) {
            break;
        }
        end += 1;
    }
    let key = text[body..end].bytes().filter(|&byte| Base64.has(byte)).count();
    if key < LEAST {
        return None;
    }
    if bytes[end..].starts_with(END.as_bytes()) {
        let close = end + END.len();
        let close = close
            + bytes[close..].iter().take(45).take_while(|&&b| b.is_ascii_uppercase() || b" -".contains(&b)).count();
        end = close;
    }
    Some(start - PEM.len()..start + text[start..end].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise, so that no real-looking key stands in this file.
    fn noise(alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 7_usize;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12345) % (1 << 31);
                alphabet[(state >> 8) % alphabet.len()]
            })
            .collect()
    }

    /// Noise in which letters and digits take turns, as `is_random` wants it of short keys.
    fn mixed(length: usize) -> String {
        noise("ABCDEFGHJKLMNPQRSTUVWXYZ", length)
            .chars()
            .zip(noise("0123456789", length).chars())
            .flat_map(|(a, b)| [a, b])
            .take(length)
            .collect()
    }

    const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

    #[test]
    fn each_format_is_found_at_its_shortest_and_not_a_character_shorter() {
        for format in &FORMATS {
            let length = format.length.start;
            let body = match format.body {
                Hex => noise("0123456789abcdef", length),
                _ if format.is_common => mixed(length),
                _ => noise(MIXED, length),
            };
            let key = format!("{}{body}", format.beginning);
            for text in [key.clone(), format!("key: {key}\n"), format!("\"{key}\"")] {
                let found = find(&text);
                assert_eq!(found.len(), 1, "{text}");
                assert!(key.ends_with(&text[found[0].clone()]), "{text}");
            }
            assert!(find(&key[..key.len() - 1]).is_empty(), "{key}");
            assert!(find(&format!("x{key}")).is_empty(), "{key}");
        }
    }

    #[test]
    fn web_tokens_bots_and_urls_are_found() {
        let part = noise(MIXED, 40);
        let bot = format!("123456789:AA{}", noise(MIXED, 33));
        for (text, expected) in [
            (format!("jwt eyJ{part}.eyJ{part}.{part}!"), format!("eyJ{part}.eyJ{part}.{part}")),
            (format!("/bot{bot}/getMe"), bot.clone()),
            (format!("token {bot}"), bot),
            ("postgres://app:s3cr3tPw@db:5432/x".into(), "s3cr3tPw".into()),
            ("redis://:longpassword@cache".into(), "longpassword".into()),
        ] {
            let found: Vec<&str> = find(&text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [expected.as_str()], "{text}");
        }
    }

    #[test]
    fn a_private_key_is_found_whole_escaped_and_cut() {
        let line = noise(MIXED, 64);
        for name in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            let whole = format!("-----BEGIN {name}-----\n{line}\n{line}\n-----END {name}-----");
            let escaped = whole.replace('\n', "\\n");
            let cut = format!("-----BEGIN {name}-----\n{line}\n{line}");
            for key in [whole, escaped, cut] {
                let text = format!("before \"{key}\"\nafter");
                assert_eq!(find(&text), std::slice::from_ref(&(8..8 + key.len())), "{text}");
            }
        }
    }
}
