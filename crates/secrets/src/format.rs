//! Finds keys by their form: a fixed beginning and so many characters of one alphabet, a sign within, and a few forms of their own.
//!
//! A beginning inside a longer word does not count. That also keeps the search linear: a run of key characters has one start.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::alphabet::Alphabet::{Alnum, Url};
use super::infix::{self, INFIXES};
use super::kinds::{KINDS, Kind};
use super::private_key::{ENCODED, PEM, PUTTY, find_encoded, find_pem, find_putty};
use super::{is_placeholder, is_random, is_start, is_word};

const WEB_TOKEN: &str = "eyJ";
const URL: &str = "://";

/// What a number begins with in base64 when it is written in digits.
const NUMBERS: [&str; 9] = ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];

static BEGINNINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let beginnings = KINDS.iter().map(|kind| kind.beginning);
    let signs = INFIXES.iter().map(|kind| kind.sign);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(beginnings.chain(signs).chain([WEB_TOKEN, PEM, ENCODED, PUTTY, URL]).chain(NUMBERS))
        .expect("the beginnings fit into an automaton")
});

/// Ranges of keys of a known form; they may overlap.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut done = 0;
    for hit in BEGINNINGS.find_iter(text) {
        if hit.start() < done {
            continue;
        }
        let which = hit.pattern().as_usize();
        let range = if let Some(kind) = KINDS.get(which) {
            find_body(text, hit.range(), kind)
        } else if let Some(kind) = INFIXES.get(which - KINDS.len()) {
            infix::find(text, hit.range(), kind)
        } else {
            match &text[hit.range()] {
                WEB_TOKEN => find_web_token(text, hit.start()),
                // Read on within it: the user may be a key of a known form.
                URL => {
                    found.extend(find_password(text, hit.end()));
                    continue;
                }
                PEM => find_pem(text, hit.end()),
                ENCODED => find_encoded(text, hit.start()),
                PUTTY => find_putty(text, hit.end()),
                _ => find_bot_token(text, hit.start()),
            }
        };
        if let Some(range) = range {
            done = range.end;
            found.push(range);
        }
    }
    found
}

fn find_body(text: &str, beginning: Range<usize>, kind: &Kind) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, beginning.start) {
        return None;
    }
    let length = kind.body.run(&bytes[beginning.end..], kind.length.end);
    let body = &text[beginning.end..beginning.end + length];
    let body = body.trim_end_matches('.');
    let is_cut = bytes.get(beginning.end + body.len()).is_some_and(|&next| is_word(next));
    let is_key = kind.length.contains(&body.len())
        && !is_cut
        && !is_placeholder(&without_escapes(body))
        && (!kind.is_common || is_random(body));
    // What follows `=` or a blank is the key itself; a fixed beginning belongs to it.
    let start = if kind.beginning.ends_with(['=', ' ']) { beginning.end } else { beginning.start };
    is_key.then(|| start..beginning.end + body.len())
}

/// A JSON web token: two base64url parts that each begin an object, and a signature.
fn find_web_token(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, start) {
        return None;
    }
    let part = |from: usize| from + Url.run(&bytes[from..], bytes.len());
    let header = part(start);
    let body = bytes[header..].starts_with(b".eyJ").then(|| part(header + 1))?;
    let end = if bytes.get(body) == Some(&b'.') { part(body + 1) } else { return None };
    (header - start >= 16 && body - header >= 16 && end - body >= 20).then_some(start..end)
}

/// The password of `scheme://user:password@host`, or all before the host where the user is the key; `start` is where the user begins.
fn find_password(text: &str, start: usize) -> Option<Range<usize>> {
    const LIMIT: usize = 256;
    const WORDS: [&str; 15] = [
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
        "x-oauth-basic",
    ];
    let bytes = text.as_bytes();
    let is_part =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'@');
    let end = start + bytes[start..].iter().take(LIMIT).take_while(|byte| is_part(byte)).count();
    if bytes.get(end) != Some(&b'@') {
        return None;
    }
    let colon = memchr::memchr(b':', &bytes[start..end]).map(|at| start + at);
    let user = &text[start..colon.unwrap_or(end)];
    if is_user_key(user, &bytes[end + 1..]) {
        return Some(start..end);
    }
    let colon = colon?;
    let password = &text[colon + 1..end];
    let is_word = WORDS.contains(&password.to_ascii_lowercase().as_str()) || password == user;
    let written = without_escapes(password);
    let is_template = written.contains(['{', '(', '[', '*', '$', '%', '\\']) || is_placeholder(&written);
    (password.len() >= 4 && !is_word && !is_template).then_some(colon + 1..end)
}

/// Whether the user of a URL is a key, as GitHub takes its tokens. Those before the hosts of Sentry are public.
fn is_user_key(user: &str, host: &[u8]) -> bool {
    let host = &host[..host.iter().take(64).take_while(|byte| !matches!(byte, b'/' | b' ' | b'\n')).count()];
    user.len() >= 24
        && user.bytes().all(|byte| Url.has(byte))
        && is_random(user)
        && !is_placeholder(user)
        && memchr::memmem::find(host, b"sentry").is_none()
}

/// A part of a URL without the characters in it that are written as `%40`.
fn without_escapes(part: &str) -> String {
    let mut pieces = part.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let is_escape = piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        if is_escape { shown + &piece[2..] } else { shown + "%" + piece }
    })
}

/// The token of a Discord bot: the bot's number in base64, the time in six characters, and a signature.
fn find_bot_token(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, start) {
        return None;
    }
    let number = start + Alnum.run(&bytes[start..], 28);
    let time = number + 1 + Url.run(bytes.get(number + 1..)?, 7);
    let signature = Url.run(bytes.get(time + 1..)?, 44);
    let has_parts = [number, time].map(|dot| bytes[dot]) == *b".." && time - number == 7;
    let is_number = || {
        let digits = base64_simd::STANDARD_NO_PAD.decode_to_vec(&bytes[start..number]);
        digits.is_ok_and(|digits| digits.len() >= 17 && digits.iter().all(u8::is_ascii_digit))
    };
    (has_parts && (27..44).contains(&signature) && is_number()).then_some(start..time + 1 + signature)
}

#[cfg(test)]
mod tests {
    use super::super::alphabet::Alphabet::{Hex, Uuid};
    use super::super::noise::{LETTERS, MIXED, noise};
    use super::*;

    /// Noise in which letters and digits take turns, as `is_random` wants it of short keys.
    fn mixed(length: usize) -> String {
        noise("ABCDEFGHJKLMNPQRSTUVWXYZ", length)
            .chars()
            .zip(noise("0123456789", length).chars())
            .flat_map(|(a, b)| [a, b])
            .take(length)
            .collect()
    }

    #[test]
    fn each_format_is_found_at_its_shortest_and_not_a_character_shorter() {
        for kind in KINDS {
            let length = kind.length.start;
            let body = match kind.body {
                Hex | Uuid => noise("0123456789abcdef", length),
                _ if kind.is_common => mixed(length),
                _ => noise(MIXED, length),
            };
            let key = format!("{}{body}", kind.beginning);
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
        let letters = noise(LETTERS, 34);
        let bot = format!("123456789:AA{}", noise(MIXED, 33));
        let number = base64_simd::STANDARD_NO_PAD.encode_to_string("1234567890123456789");
        let discord = format!("{number}.{}.{}", noise(MIXED, 6), noise(MIXED, 38));
        for (text, expected) in [
            (format!("jwt eyJ{part}.eyJ{part}.{part}!"), format!("eyJ{part}.eyJ{part}.{part}")),
            (format!("/bot{bot}/getMe"), bot.clone()),
            (format!("token {bot}"), bot),
            (format!("client.login(\"{discord}\")"), discord.clone()),
            (format!("{{\"c\":\"discord:\\n{discord}\\n\"}}"), discord),
            (format!("ghs_123456_eyJ{part}.eyJ{part}.{part}!"), format!("ghs_123456_eyJ{part}.eyJ{part}.{part}")),
            (format!("fly auth: FlyV1 fm2_{part}{part}"), format!("fm2_{part}{part}")),
            ("postgres://app:s3cr3tPw@db:5432/x".into(), "s3cr3tPw".into()),
            ("redis://:longpassword@cache".into(), "longpassword".into()),
            ("postgres://app:p%40ss9word%21Qz@db/x".into(), "p%40ss9word%21Qz".into()),
            ("postgres://app:%23summer@db/x".into(), "%23summer".into()),
            (format!("https://{part}@github.com/a/b"), part.clone()),
            (format!("https://{part}:x-oauth-basic@github.com/a/b"), format!("{part}:x-oauth-basic")),
            (format!("https://hf_{letters}:x-oauth-basic@h.co/a"), format!("hf_{letters}")),
            (format!("?sv=2023-11-03&sig=%2B{part}%2Fx%3D"), format!("%2B{part}%2Fx%3D")),
        ] {
            let found: Vec<&str> = find(&text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [expected.as_str()], "{text}");
        }
        let sentry = format!("https://{part}@o1.ingest.sentry.io/2");
        for template in ["postgres://%s:%s@db/x", "http://u:%(password)s@h/", "http://u:a%%41@h/", &sentry] {
            assert!(find(template).is_empty(), "{template}");
        }
    }

    #[test]
    fn what_only_begins_or_is_built_like_a_key_is_none() {
        let hash = noise("0123456789abcdef", 40);
        for text in [
            // Names of code.
            "napi_create_string_utf8 napi_get_value_bigint_uint64 nfc_llcp_sock_recvmsg_v2_compat_ioctl32",
            "vci_port0_base1_ctl2 vcp_h264_enc1 re_compile_fastmap_iter_utf8_v2 rpa_v2 cog_1 apk_v3_signing_block",
            "xai-grok-4-fast-reasoning-2025-09-01-with-a-name-of-many-words pa-1234-fix-utf8-in-3-files as-prefix-2",
            "ghs_token = octokit.auth({ type: 'installation' })",
            "path.to.the.Pattern2 pat.test(x1) sat.solve(y2) sl.append(z3) dose=20mg API-GATEWAY-2 API-KEY-ROTATION-V2",
            // Names of files, versions and numbers.
            "v1.0-beta.12 v1.0-1a2b3c4d 1000.50 sdk-35 sdk-tools-linux-4333796 A3-landscape-2 ops_events.v2.json",
            "https://hooks.slack.com/triggers/ https://acme.webhook.office.com/webhookb2/",
            // Keys that are public.
            &format!("pk_live_{} pk_test_{}", noise(MIXED, 24), noise(MIXED, 24)),
            &format!("sb_publishable_{} phc_{}", noise(MIXED, 31), noise(MIXED, 43)),
            // Hashes and numbers in base64.
            &format!("sha256:{hash} da2-{hash} pul-{hash}0 4b1d{hash} dtn_{hash} squ_{hash}_v2"),
            &format!("{}.123456.{}", base64_simd::STANDARD_NO_PAD.encode_to_string("1234567890"), noise(MIXED, 38)),
            &format!("MTAbcdefghijklmnopqrstuvwx.123456.{}", noise(MIXED, 38)),
            "MTEyMjMz NT AUTHORITY\\SYSTEM OTEL_EXPORTER.version.1.2.3",
        ] {
            let found: Vec<&str> = find(text).into_iter().map(|range| &text[range]).collect();
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
