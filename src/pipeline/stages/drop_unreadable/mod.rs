//! `data:image/png;base64,iVBORw0…` -> `data:image/png;base64,[… 48213 bytes of image/png in base64, sha256
//! 1a2b3c4d5e6f]`
//!
//! Replaces base64 payloads: `data:` URIs, long blobs, and blocks wrapped to lines of one width (certificates, mail). A
//! model cannot read them, and they cost about one token per one and a half characters. Hashes, short keys, tokens of
//! three parts and code are not payloads. Private keys are kept because whoever reads the text has to notice them.
//! Images that are blocks of a message are handled by [`crate::pipeline::images`].
//!
//! The stage also removes terminal noise ([`terminal_noise`]) in texts of every type, which has to happen before the
//! stages that depend on the type.

mod blob;
mod terminal_noise;

use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::edits::without_overlaps;
use crate::pipeline::line_counter::LineCounter;
use crate::pipeline::{Edit, FusionContext, Stage, elided};
use crate::reference::ContentHash;
use blob::{Blob, blobs};

/// The number of hash digits in a payload's note, enough to tell whether two payloads are equal.
const HASH_DIGITS: usize = 12;

/// The maximum length of a MIME type in a note. Longer ones are replaced by the usual file suffix.
const MIME_MAX_BYTES: usize = 40;

/// The stage `photon`; see the module's documentation.
pub(super) struct Photon;

impl Stage for Photon {
    fn name(&self) -> &'static str {
        "photon"
    }

    fn content_types(&self) -> &'static [ContentType] {
        ContentType::ALL
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.preset != Preset::Lossless && (blob::has_long_run(context.text) || terminal_noise::may_apply(context))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = if blob::has_long_run(context.text) { payload_edits(context) } else { Vec::new() };
        if terminal_noise::may_apply(context) {
            edits.extend(terminal_noise::edits(context));
        }
        without_overlaps(edits, |edit| &edit.range)
    }
}

fn payload_edits(context: &FusionContext) -> Vec<Edit> {
    let mut lines = LineCounter::new(context.text, 1);
    let mut edits = Vec::new();
    for blob in blobs(context.text).into_iter().filter(|blob| context.is_free(&blob.range)) {
        let Some(what) = describe(&blob) else { continue };
        let (line, last) = (lines.line(blob.range.start), lines.line(blob.range.end));
        let note = match last - line + 1 {
            1 => elided(blob.bytes.len(), &what, None),
            lines => elided(lines, &format!("lines {line}-{last}, {} {what}", blob.bytes.len()), None),
        };
        edits.push(Edit::note(blob.range, note));
    }
    edits
}

/// Returns the description of a payload: `bytes of image/png in base64, sha256 1a2b3c4d5e6f`.
fn describe(blob: &Blob) -> Option<String> {
    let kind = match infer::get(&blob.bytes) {
        Some(kind) if kind.mime_type().len() <= MIME_MAX_BYTES => kind.mime_type(),
        Some(kind) => kind.extension(),
        None => match blob.declared {
            Some(mime) if is_mime(mime) => mime,
            _ if std::str::from_utf8(&blob.bytes).is_ok() => "text",
            _ => "binary data",
        },
    };
    let hash = ContentHash::of(&blob.bytes).to_hex();
    Some(format!("bytes of {kind} in base64, sha256 {}", hash.get(..HASH_DIGITS)?))
}

fn is_mime(word: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'/');
    word.len() <= MIME_MAX_BYTES && word.contains('/') && word.bytes().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{CompressOptions, Compressed, FusionEngine, FusionPipeline, StageOptions, restore};

    fn compress(text: &str) -> Compressed {
        let pipeline = FusionPipeline::only(vec![Box::new(Photon)], &StageOptions::default()).unwrap();
        FusionEngine::new(pipeline).compress(text, &CompressOptions::default(), &|| 0.0)
    }

    /// Returns bytes without a pattern.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn base64(bytes: &[u8]) -> String {
        base64_simd::STANDARD.encode_to_string(bytes)
    }

    fn png(len: usize) -> Vec<u8> {
        [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &noise(len - 16)].concat()
    }

    fn wrapped(text: &str, width: usize, joint: &str) -> String {
        let lines: Vec<&str> = text.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
        lines.join(joint)
    }

    /// Returns the replacement of the payload in `before + payload + after`.
    fn shown(before: &str, payload: &str, after: &str) -> String {
        let text = format!("{before}{payload}{after}");
        let compressed = compress(&text);
        assert_eq!(restore(&compressed.text, &compressed.originals), text);
        assert_eq!(compress(&compressed.text).text, compressed.text);
        let rest = compressed.text.strip_prefix(before).unwrap_or_else(|| panic!("{}", compressed.text));
        let end = rest.rfind("[[REWIND:").map_or(rest.len(), |end| end);
        let after = after.trim_end_matches('\n');
        let rest = rest[..end].trim_end_matches('\n');
        rest.strip_suffix(after).unwrap_or_else(|| panic!("{}", compressed.text)).trim_end_matches('\n').to_owned()
    }

    #[test]
    fn payloads_become_notes_in_every_setting() {
        let image = png(3_000);
        let hash = &ContentHash::of(&image).to_hex()[..12];
        let note = format!("[… 3000 bytes of image/png in base64, sha256 {hash}]");
        let plain = base64(&image);
        for (before, after) in [
            ("<img src=\"data:image/png;base64,", "\" alt=\"x\">"),
            ("background: url(data:image/jpeg;charset=x;base64,", ") no-repeat;"),
            ("{\"type\": \"image\", \"data\": \"", "\"}\n"),
            ("out:\n", "\ndone\n"),
            ("", ""),
        ] {
            assert_eq!(shown(before, &plain, after), note, "{before}");
        }
        let lines = |count: usize, first: usize| {
            let last = first + count - 1;
            format!("[… {count} lines {first}-{last}, 3000 bytes of image/png in base64, sha256 {hash}]")
        };
        assert_eq!(shown("", &wrapped(&plain, 76, "\r\n"), "\r\n\r\n--bound--\r\n"), lines(53, 1));
        assert_eq!(shown("a:\n  b: |\n    ", &wrapped(&plain, 64, "\n    "), "\n  c: 1\n"), lines(63, 3));
        assert_eq!(shown("{\"content\": \"", &wrapped(&plain, 60, "\\n"), "\\n\", \"x\": 1}"), note);
        let url = base64_simd::URL_SAFE_NO_PAD.encode_to_string(&image);
        assert_eq!(shown("p=", &url, "&q=1"), note);
    }

    #[test]
    fn the_kind_is_read_from_the_bytes_else_declared_else_guessed() {
        for (bytes, uri, kind) in [
            (png(600), "data:text/html;base64,", "image/png"),
            (noise(600), "data:font/woff2;base64,", "font/woff2"),
            (noise(600), "data:;base64,", "binary data"),
            (noise(600), "data:a b]c\u{e9};base64,", "binary data"),
            ("plain words ".repeat(50).into_bytes(), "data:;base64,", "text"),
        ] {
            let text = shown(uri, &base64(&bytes), "\n");
            assert!(text.contains(&format!(" bytes of {kind} in base64, ")), "{uri}: {text}");
        }
    }

    #[test]
    fn certificates_go_and_private_keys_stay() {
        let body = wrapped(&base64(&[&b"\x30\x82\x04\xbc"[..], &noise(1_212)].concat()), 64, "\n");
        let pem = |label: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
        let certificate = compress(&pem("CERTIFICATE")).text;
        assert!(
            certificate.starts_with("-----BEGIN CERTIFICATE-----\n[… 26 lines 2-27, 1216 bytes of "),
            "{certificate}"
        );
        assert!(certificate.contains("]\n-----END CERTIFICATE-----\n"), "{certificate}");
        for label in
            ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
        {
            let key = pem(label);
            let json = format!("{{\"private_key\": \"{}\"}}", key.replace('\n', "\\n"));
            let headless = key[key.find('\n').unwrap() + 1..].to_owned();
            let cut = key[..key.len() - 40].to_owned();
            for text in [&key, &json, &headless, &cut] {
                assert_eq!(compress(text).text, *text);
            }
            for both in [pem("CERTIFICATE") + &key, key.clone() + &pem("CERTIFICATE")] {
                let shown = compress(&both).text;
                assert!(shown.contains(&key) && shown.contains("[… 26 lines "), "{shown}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_a_payload_stays() {
        let payload = base64(&noise(3_000));
        let hex: String = noise(3_000).iter().map(|byte| format!("{byte:02x}")).collect();
        let path: String = (0..300).map(|n| format!("/Dir{n}/sub")).collect();
        let jwt = format!("eyJhbGciOiJSUzI1NiJ9.eyJ{payload}.{payload}").replace(['=', '+', '/'], "x");
        for text in [
            "a".repeat(5_000),
            "AAAA".repeat(2_000),
            "-".repeat(5_000),
            "_x".repeat(3_000),
            hex,
            path,
            jwt,
            payload[..payload.len() - 1].to_owned() + "…",
            payload[..1_001].to_owned(),
            format!("data:image/png;base64,{}", &payload[..1_001]),
            format!("data:image/png;base64,{}", &payload[..100]),
            format!("data:image/png;base64,{}", "=".repeat(1_000)),
            "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3C/svg%3E".repeat(20),
            (0..200).map(|n| format!("\"integrity\": \"sha512-{}\",\n", base64(&noise(64 + n % 3)))).collect(),
            "function aB1(cD2){return eF3[gH4(iJ5)]}var kL6=mN7?oP8:qR9;".repeat(100),
            format!("ssh-rsa {} me@host\n", &payload[..716]),
            "the words of a sentence are no payload, Whatever Their Case 123 ".repeat(100),
        ] {
            assert_eq!(compress(&text).text, text, "{}", &text[..text.floor_char_boundary(80)]);
        }
    }

    #[test]
    fn the_word_after_a_block_stays() {
        let body = wrapped(&base64(&noise(64 * 30 / 4 * 3)), 64, "\n");
        let text = format!("{body}\nDone\nnext line\n");
        let shown = compress(&text).text;
        assert!(shown.contains("]\nDone\nnext line\n"), "{shown}");
    }

    #[test]
    fn blobs_of_hostile_texts_end_at_characters() {
        let line = base64(&noise(57));
        for unit in [
            "data:;base64,",
            "data:",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "\\n",
            "aB1/",
            "aB1/\n",
            &format!("{line}\n"),
            &format!("{line}\r\n {line}\n"),
            &line,
            "=",
            "\n",
            "漢",
            "\0",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            for blob in blobs(&text) {
                assert!(text.is_char_boundary(blob.range.start) && text.is_char_boundary(blob.range.end), "{unit:?}");
            }
        }
    }
}
