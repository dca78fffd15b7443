//! Private keys in their armour: PEM, OpenSSH, PGP, PuTTY; also with escaped line ends, cut off, and behind what a tool puts before each line.
//!
//! A key that ends in the middle is still one: whoever cut it kept the first half.

use std::ops::Range;

use super::{is_base64, is_start};

/// What armour begins with.
pub(super) const PEM: &str = "-----BEGIN ";

/// What the key of a PuTTY file begins with.
pub(super) const PUTTY: &str = "Private-Lines: ";

/// A body of fewer characters is the example of a manual.
const LEAST: usize = 40;

/// What armour begins with where the whole key is in base64, as in kubeconfig.
pub(super) const ENCODED: &str = "LS0tLS1CRUdJTi";

/// Longest line that base64 is wrapped at; a longer one is all of it.
const WIDEST: usize = 128;

/// What ends armour.
const END: &[u8] = b"-----END ";

/// Longest line of a key, and longest beginning that its lines have in common.
const LONGEST: usize = 512;

/// Longest end that lines of a key have in common: a quote and a plus, or a colour.
const LONGEST_SUFFIX: usize = 16;

/// A private key in PEM; `start` is behind `-----BEGIN `.
pub(super) fn find_pem(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = start + bytes[start..].iter().take(40).take_while(|&&b| b.is_ascii_uppercase() || b == b' ').count();
    if !text[start..name].contains("PRIVATE KEY") || !bytes[name..].starts_with(b"-----") {
        return None;
    }
    let body = name + "-----".len();
    let lines = |line_end| read_lines(bytes, start - PEM.len(), body, line_end);
    let (count, mut end) = [read_body(bytes, body), lines(b"\n"), lines(b"\\n")].into_iter().max()?;
    if count < LEAST {
        return None;
    }
    if bytes[end..].starts_with(END) {
        let close = end + END.len();
        let close = close
            + bytes[close..].iter().take(45).take_while(|&&b| b.is_ascii_uppercase() || b" -".contains(&b)).count();
        end = close;
    }
    Some(start - PEM.len()..start + text[start..end].trim_end().len())
}

/// A private key whose armour is in base64, on one line or wrapped; `start` is where it begins.
pub(super) fn find_encoded(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, start) {
        return None;
    }
    let run = |from: usize, limit: usize| bytes[from..].iter().take(limit).take_while(|&&byte| is_base64(byte)).count();
    let head = &bytes[start..start + run(start, 64) / 4 * 4];
    let head = base64_simd::STANDARD.decode_to_vec(head).ok()?;
    let name = memchr::memmem::find(&head, b"PRIVATE KEY")? + "PRIVATE KEY".len();
    let width = run(start, usize::MAX);
    let (mut count, mut end) = (width, start + width);
    let (mut length, mut next) = (width, next_line(bytes, end).filter(|_| width <= WIDEST));
    // All lines but the last have the same width.
    while let (true, Some(line)) = (length == width, next) {
        length = run(line, width);
        (count, end) = (count + length, line + length);
        next = next_line(bytes, end);
    }
    (count >= name * 4 / 3 + LEAST).then_some(start..end)
}

/// Behind a line end, real or escaped, and what a line is indented by; `None` where there is no line end.
fn next_line(bytes: &[u8], at: usize) -> Option<usize> {
    let ends: [&[u8]; 4] = [b"\n", b"\r\n", b"\\n", b"\\r\\n"];
    let line = at + ends.iter().find(|end| bytes[at..].starts_with(end))?.len();
    Some(line + bytes[line..].iter().take(LONGEST).take_while(|&&byte| matches!(byte, b' ' | b'\t')).count())
}

/// What stands in a key beside base64: line ends, real or escaped, and the header lines of older files.
fn is_part(byte: &u8) -> bool {
    is_base64(*byte) || byte.is_ascii_whitespace() || matches!(byte, b'\\' | b':' | b',' | b'-')
}

/// How many characters of base64 a key holds that begins at `body`, and where it ends.
fn read_body(bytes: &[u8], body: usize) -> (usize, usize) {
    let mut end = body;
    while bytes.get(end).is_some_and(is_part)
        && ![END, PEM.as_bytes()].iter().any(|armour| bytes[end..].starts_with(armour))
    {
        end += 1;
    }
    (count_base64(&bytes[body..end]), end)
}

/// [`read_body`] of a key whose lines all begin and end as its first one does, which has `-----BEGIN ` at `armour`.
fn read_lines(bytes: &[u8], armour: usize, body: usize, line_end: &[u8]) -> (usize, usize) {
    let find = |at: usize, reach: usize| memchr::memmem::find(&bytes[at..bytes.len().min(at + reach)], line_end);
    let Some(length) = find(body, LONGEST_SUFFIX) else { return (0, body) };
    let suffix = &bytes[body..body + length];
    let before = &bytes[armour.saturating_sub(LONGEST)..armour];
    let prefix = memchr::memmem::rfind(before, line_end).map_or(before, |at| &before[at + line_end.len()..]);
    let (mut count, mut end) = (0, body);
    let mut line = body + length + line_end.len();
    while line < bytes.len() {
        let (length, next) = match find(line, LONGEST) {
            Some(length) => (length, line + length + line_end.len()),
            None => (LONGEST.min(bytes.len() - line), bytes.len().min(line + LONGEST)),
        };
        let shown = &bytes[line..line + length];
        let start = skip_prefix(prefix, shown);
        if shown[start..].starts_with(END) {
            return (count, line + start);
        }
        let part = shown[start..].strip_suffix(suffix).unwrap_or(&shown[start..]);
        if !part.iter().all(is_part) || memchr::memmem::find(part, PEM.as_bytes()).is_some() {
            break;
        }
        count += count_base64(part);
        end = line + length;
        line = next;
    }
    (count, end)
}

/// Behind what a line has in common with the beginning of another one, whose numbers and blanks may be others: `key.pem:12:`.
fn skip_prefix(prefix: &[u8], line: &[u8]) -> usize {
    let is_count = |byte: &&u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    let (mut expected, mut at) = (prefix, 0);
    while let Some((&first, rest)) = expected.split_first() {
        match line.get(at) {
            _ if is_count(&&first) => {
                expected = &rest[rest.iter().take_while(is_count).count()..];
                at += line[at..].iter().take_while(is_count).count();
            }
            // `key.pem-13-` stands behind `key.pem:12:`.
            Some(&byte) if byte == first || (first, byte) == (b':', b'-') => (expected, at) = (rest, at + 1),
            _ => break,
        }
    }
    at
}

fn count_base64(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_base64(byte)).count()
}

/// The base64 lines behind `Private-Lines: 14`.
pub(super) fn find_putty(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let body = start + bytes[start..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let is_part = |byte: &u8| is_base64(*byte) || matches!(byte, b'\r' | b'\n' | b'\\');
    let mut end = body;
    while bytes.get(end).is_some_and(is_part) && !bytes[end..].starts_with(b"Private-MAC") {
        end += 1;
    }
    (end - body >= LEAST).then(|| body..body + text[body..end].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::super::noise::{MIXED, noise};
    use super::super::{find_secrets, secrets_in};

    #[test]
    fn a_private_key_is_found_whole_escaped_and_cut() {
        let line = noise(MIXED, 64);
        for name in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            let whole = format!("-----BEGIN {name}-----\n{line}\n{line}\n-----END {name}-----");
            let escaped = whole.replace('\n', "\\n");
            let cut = format!("-----BEGIN {name}-----\n{line}\n{line}");
            for key in [whole, escaped, cut] {
                let text = format!("before \"{key}\"\nafter");
                assert_eq!(find_secrets(&text), std::slice::from_ref(&(8..8 + key.len())), "{text}");
            }
        }
    }

    #[test]
    fn a_private_key_is_found_behind_what_a_tool_puts_before_and_behind_its_lines() {
        let key = |lines: usize| {
            let body = (0..lines).map(|_| noise(MIXED, 64));
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
        let context = format!("id:1:{}\nid-2-{}\nid-3-{}", key(0)[0], noise(MIXED, 64), noise(MIXED, 64));
        assert_eq!(secrets_in(&context)[0].lines().count(), 3);
        let manual = "key.pem:-----BEGIN PRIVATE KEY-----\nkey.pem:...\nkey.pem:-----END PRIVATE KEY-----\n".repeat(9);
        assert!(find_secrets(&manual).is_empty());
    }

    #[test]
    fn a_private_key_in_base64_is_found_whole_also_where_it_is_wrapped() {
        for name in ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            let key = format!("-----BEGIN {name}-----\n{}\n-----END {name}-----\n", noise(MIXED, 400));
            let encoded = base64_simd::STANDARD.encode_to_string(&key);
            for (width, line_end) in [(76, "\n"), (64, "\r\n"), (76, "\\n"), (64, "\n    "), (2000, "\n")] {
                let lines: Vec<&str> =
                    (0..encoded.len()).step_by(width).map(|at| &encoded[at..encoded.len().min(at + width)]).collect();
                let wrapped = lines.join(line_end);
                let text = format!("tls.key: {wrapped}{line_end}after it");
                assert_eq!(secrets_in(&text), [wrapped.as_str()], "{text}");
            }
        }
        let public = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", noise(MIXED, 400));
        assert!(find_secrets(&base64_simd::STANDARD.encode_to_string(&public)).is_empty());
    }

    #[test]
    fn of_a_putty_file_the_private_lines_are_a_secret() {
        let line = noise(MIXED, 64);
        let text = format!("Public-Lines: 1\n{line}\nPrivate-Lines: 2\n{line}\n{line}\nPrivate-MAC: 00\n");
        let found = find_secrets(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].clone()], format!("\n{line}\n{line}"));
    }
}
