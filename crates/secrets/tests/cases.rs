//! Texts with and without secrets: each line of the files in `cases/`, the planted secrets, and keys in all their
//! wrappings.

mod reading;

use std::ops::Range;
use std::path::Path;

use concertina_secrets::{find_secrets, redact};
use reading::{MIXED, lines, noise, read};

fn shown<'t>(text: &'t str, ranges: &[Range<usize>]) -> Vec<&'t str> {
    ranges.iter().map(|range| &text[range.clone()]).collect()
}

fn secrets_in(text: &str) -> Vec<&str> {
    shown(text, &find_secrets(text))
}

#[test]
fn exactly_the_marked_secrets_are_found() {
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).expect("the cases") {
        let path = entry.expect("an entry").path();
        for line in lines(&std::fs::read_to_string(&path).expect("a readable file")) {
            let (text, secrets) = read(line);
            let found = find_secrets(&text);
            count += 1;
            if found != secrets {
                failures.push(format!("{}: {text}: {:?}", path.display(), shown(&text, &found)));
            }
        }
    }
    assert!(failures.is_empty() && count > 250, "of {count}:\n{}", failures.join("\n"));
}

#[test]
fn each_planted_secret_is_found() {
    for line in lines(include_str!("planted.txt")) {
        let (text, secrets) = read(line);
        let found = find_secrets(&text);
        assert_eq!(secrets.len(), 1, "{line}");
        let is_covered = |secret: &Range<usize>| {
            found.iter().any(|range| range.contains(&secret.start) && range.contains(&(secret.end - 1)))
        };
        assert!(secrets.iter().all(is_covered), "{text}: {:?}", shown(&text, &found));
    }
}

fn escapes() -> impl Iterator<Item = String> {
    lines(include_str!("escapes.txt")).map(|line| read(line).0)
}

#[test]
fn each_planted_secret_is_found_behind_each_escape_sequence() {
    let mut missed = Vec::new();
    for (planted, secrets) in lines(include_str!("planted.txt")).map(read) {
        for escape in escapes() {
            let text = format!("{escape}{planted}");
            let moved = secrets[0].start + escape.len();
            let is_found = find_secrets(&text).iter().any(|range| range.contains(&moved));
            missed.extend((!is_found).then_some(text));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn unannounced_secrets_are_found_behind_each_escape_sequence() {
    let web_token = read("eyJ⟨mixed 40⟩.eyJ⟨mixed 40⟩.⟨mixed 40⟩").0;
    let bot_token = read("MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.⟨mixed 6⟩.⟨mixed 38⟩").0;
    for key in [noise(MIXED, 40, 0), web_token, bot_token] {
        for escape in escapes() {
            let text = format!("a{escape}{key}\n");
            assert_eq!(secrets_in(&text), [key.as_str()], "{text}");
        }
    }
}

#[test]
fn a_redacted_text_has_no_secrets() {
    let text = "漢字 password = \"hV7#kq2Lw9\" und AKIAQ3EGRZ5TXL7M2N4P.";
    assert_eq!(secrets_in(text), ["hV7#kq2Lw9", "AKIAQ3EGRZ5TXL7M2N4P"]);
    let redacted = redact(text, &find_secrets(text));
    assert_eq!(redacted, "漢字 password = \"[REDACTED]\" und [REDACTED].");
    assert!(find_secrets(&redacted).is_empty());
    assert_eq!(redact(text, &[]), text);
}

#[test]
fn a_secret_that_two_finders_find_is_one_range() {
    let text = "GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    assert_eq!(find_secrets(text), std::slice::from_ref(&(13..text.len())));
}

#[test]
fn secrets_in_a_megabyte_of_prefixes_are_ranges_of_the_text() {
    for unit in lines(include_str!("beginnings.txt")).map(|line| read(line).0) {
        let text = unit.repeat((1 << 20) / unit.len());
        let found = find_secrets(&text);
        assert!(found.iter().all(|range| text.get(range.clone()).is_some()), "{unit:?}");
    }
}

#[test]
fn forty_random_characters_are_found_in_any_position() {
    let key = noise(MIXED, 40, 0);
    for before in 0..90 {
        let text = format!("{} {key}\n", ".".repeat(before));
        assert_eq!(find_secrets(&text), std::slice::from_ref(&(before + 1..before + 41)), "{text}");
    }
}

#[test]
fn an_unterminated_value_is_not_a_secret() {
    let text = format!("token=\"{}", "a1B2".repeat(100_000));
    assert!(find_secrets(&text).is_empty());
}

#[test]
fn a_private_key_is_found_between_prefixes_and_suffixes_of_tools() {
    let key = |lines: usize| {
        let body = (0..lines).map(|_| noise(MIXED, 64, 0));
        let all = ["-----BEGIN OPENSSH PRIVATE KEY-----".to_owned()].into_iter().chain(body);
        all.chain(["-----END OPENSSH PRIVATE KEY-----".to_owned()]).collect::<Vec<_>>()
    };
    for (before, after, line_end) in [
        ("#:", "", "\n"),
        (".ssh/id_rsa:#:", "", "\n"),
        (".ssh/id_rsa:#:", "", "\\n"),
        ("key.pem:", "", "\n"),
        ("\u{1b}[32m+", "\u{1b}[m", "\n"),
        ("\u{1b}[35mid\u{1b}[m\u{1b}[36m:\u{1b}[m\u{1b}[32m#\u{1b}[m\u{1b}[36m:\u{1b}[m", "", "\n"),
        ("> ", "", "\r\n"),
        ("  # │ ", "", "\n"),
        ("    \"", "\\n\" +", "\n"),
    ] {
        let line = |(number, line): (usize, &String)| {
            format!("{}{line}{after}{line_end}", before.replace('#', &(number + 8).to_string()))
        };
        let key = key(5);
        let text = format!("before{line_end}{}after", key.iter().enumerate().map(line).collect::<String>());
        let found = secrets_in(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].starts_with(&key[0]) && found[0].ends_with(&key[6]), "{text}: {}", found[0]);
    }
    let context = format!("id:1:{}\nid-2-{}\nid-3-{}", key(0)[0], noise(MIXED, 64, 0), noise(MIXED, 64, 0));
    assert_eq!(secrets_in(&context)[0].lines().count(), 3);
    let manual = "key.pem:-----BEGIN PRIVATE KEY-----\nkey.pem:...\nkey.pem:-----END PRIVATE KEY-----\n".repeat(9);
    assert!(find_secrets(&manual).is_empty());
}

#[test]
fn a_private_key_in_base64_is_found_whole_even_if_wrapped() {
    for name in ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let key = format!("-----BEGIN {name}-----\n{}\n-----END {name}-----\n", noise(MIXED, 400, 0));
        let encoded = base64_simd::STANDARD.encode_to_string(&key);
        for (width, line_end) in [(76, "\n"), (64, "\r\n"), (76, "\\n"), (64, "\n    "), (2000, "\n")] {
            let lines: Vec<&str> =
                (0..encoded.len()).step_by(width).map(|at| &encoded[at..encoded.len().min(at + width)]).collect();
            let wrapped = lines.join(line_end);
            let text = format!("tls.key: {wrapped}{line_end}after it");
            assert_eq!(secrets_in(&text), [wrapped.as_str()], "{text}");
        }
    }
    let public = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", noise(MIXED, 400, 0));
    assert!(find_secrets(&base64_simd::STANDARD.encode_to_string(&public)).is_empty());
}
