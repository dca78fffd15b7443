//! Private keys in their armour: PEM, OpenSSH, PGP, PuTTY; also with escaped line ends, and cut off.
//!
//! A key that ends in the middle is still one: whoever cut it kept the first half.

use std::ops::Range;

use super::is_base64;

/// What armour begins with.
pub(super) const PEM: &str = "-----BEGIN ";

/// What the key of a PuTTY file begins with.
pub(super) const PUTTY: &str = "Private-Lines: ";

/// A body of fewer characters is the example of a manual.
const LEAST: usize = 40;

/// A private key in PEM; `start` is behind `-----BEGIN `.
pub(super) fn find_pem(text: &str, start: usize) -> Option<Range<usize>> {
    const END: &str = "-----END ";
    let bytes = text.as_bytes();
    let name = start + bytes[start..].iter().take(40).take_while(|&&b| b.is_ascii_uppercase() || b == b' ').count();
    if !text[start..name].contains("PRIVATE KEY") || !bytes[name..].starts_with(b"-----") {
        return None;
    }
    let body = name + "-----".len();
    // Base64, line ends real or escaped, and the header lines of older files.
    let is_part =
        |byte: &u8| is_base64(*byte) || byte.is_ascii_whitespace() || matches!(byte, b'\\' | b':' | b',' | b'-');
    let mut end = body;
    while bytes.get(end).is_some_and(is_part) && !bytes[end..].starts_with(END.as_bytes()) {
        if bytes[end..].starts_with(PEM.as_bytes()) {
            break;
        }
        end += 1;
    }
    if text[body..end].bytes().filter(|&byte| is_base64(byte)).count() < LEAST {
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
    use super::super::find_secrets;
    use super::super::noise::{MIXED, noise};

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
    fn of_a_putty_file_the_private_lines_are_a_secret() {
        let line = noise(MIXED, 64);
        let text = format!("Public-Lines: 1\n{line}\nPrivate-Lines: 2\n{line}\n{line}\nPrivate-MAC: 00\n");
        let found = find_secrets(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].clone()], format!("\n{line}\n{line}"));
    }
}
