//! The envelope of lossless rewrites: `[[FOLD:<stage> <n> <seal>]] <legend>` and then exactly `n` lines of body. Where
//! the header says `below` instead of the seal, the seal is the last of these lines, so that the header does not change
//! with the text.
//!
//! Restoring needs only the output and no encoder: the seal verifies that the restored text is correct. Folds do not
//! nest. They are undone from the first to the last, so a fold may refer to the restored text before it, and a header
//! inside a body is part of that body. A header without a seal comes from outside and is left alone. `docs/format.md`
//! specifies the format.

use std::fmt;

use concertina_base::reference::ContentHash;

/// The text that every fold starts with, at the start of a line.
pub const OPENING: &str = "[[FOLD:";

/// The word that a header has in place of a seal that follows the body.
const BELOW: &str = "below";

/// The letter of the format version that is written.
const VERSION: u8 = b'a';

/// The number of letters of a checksum. Five lower-case letters give 11,881,376 values at less than three tokens.
const CHECKSUM_LETTERS: usize = 5;

/// The format version of a fold and the checksum of its text: six lower-case letters, the first of which is the
/// version.
///
/// The checksum is the first four bytes of the text's SHA-256 as a big-endian number, modulo 26^5, in base 26 with the
/// digits `a` to `z`, the most significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal([u8; 1 + CHECKSUM_LETTERS]);

impl Seal {
    /// Returns the seal of a text in the current version.
    pub fn of(text: &str) -> Self {
        let ContentHash([a, b, c, d, ..]) = ContentHash::of(text.as_bytes());
        let mut rest = u32::from_be_bytes([a, b, c, d]);
        let mut letters = [VERSION; 1 + CHECKSUM_LETTERS];
        for letter in letters[1..].iter_mut().rev() {
            *letter = b'a' + (rest % 26) as u8;
            rest /= 26;
        }
        Self(letters)
    }

    fn parse(letters: &str) -> Option<Self> {
        let letters: [u8; 1 + CHECKSUM_LETTERS] = letters.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_lowercase).then_some(Self(letters))
    }

    /// Returns true if this version of the format is known.
    pub fn is_known(self) -> bool {
        self.0[0] == VERSION
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&letter| write!(f, "{}", char::from(letter)))
    }
}

/// One folded run of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The stage that wrote the fold and can undo it.
    pub stage: String,
    /// The seal of the text that the fold stands for; `None` until the runner accepts the fold.
    pub seal: Option<Seal>,
    /// True if the seal follows the body instead of standing in the header.
    pub is_sealed_below: bool,
    /// The information that a reader needs, on the header line: column names, constants, counts. One line, may be
    /// empty.
    pub legend: String,
    /// The lines, joined by `\n`, without a final one. Zero lines are `None`; an empty string is one empty line.
    pub body: Option<String>,
}

impl Fold {
    /// Returns a fold that has no seal yet.
    ///
    /// # Panics
    /// Panics if the legend has a line end, which would break the envelope.
    pub fn new(stage: &str, legend: impl Into<String>, body: Option<String>) -> Self {
        let legend = legend.into();
        assert!(!legend.contains('\n'), "a legend is one line");
        Self { stage: stage.to_owned(), seal: None, is_sealed_below: false, legend, body }
    }

    /// Returns the fold with the seal of the text that it stands for.
    #[must_use]
    pub fn sealed(self, text: &str) -> Self {
        Self { seal: Some(Seal::of(text)), ..self }
    }

    /// Adds the lines below a header to the fold that was read from it; takes the seal from the last line if the header
    /// says so.
    #[must_use]
    pub fn with_lines(self, lines: Option<&str>) -> Self {
        if !self.is_sealed_below {
            return Self { body: lines.map(str::to_owned), ..self };
        }
        let (body, last) = match lines.map(|lines| lines.rsplit_once('\n')) {
            Some(Some((body, last))) => (Some(body), Some(last)),
            Some(None) => (None, lines),
            None => (None, None),
        };
        Self { seal: last.and_then(Seal::parse), body: body.map(str::to_owned), ..self }
    }

    /// Returns true if the header says that the fold has a seal.
    pub fn claims_a_seal(&self) -> bool {
        self.seal.is_some() || self.is_sealed_below
    }

    fn lines(&self) -> usize {
        let body = self.body.as_ref().map_or(0, |body| memchr::memchr_iter(b'\n', body.as_bytes()).count() + 1);
        body + usize::from(self.is_sealed_below)
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPENING}{} {}", self.stage, self.lines())?;
        match self.seal {
            _ if self.is_sealed_below => write!(f, " {BELOW}")?,
            Some(seal) => write!(f, " {seal}")?,
            None => {}
        }
        write!(f, "]]")?;
        if !self.legend.is_empty() {
            write!(f, " {}", self.legend)?;
        }
        if let Some(body) = &self.body {
            write!(f, "\n{body}")?;
        }
        match self.seal {
            Some(seal) if self.is_sealed_below => write!(f, "\n{seal}"),
            _ => Ok(()),
        }
    }
}

/// Reads the fold that starts at the beginning of `text`; returns it and its length in bytes.
pub fn parse(text: &str) -> Option<(Fold, usize)> {
    let (fold, header_end, end) = parse_extent(text)?;
    Some((fold.with_lines((header_end < end).then(|| &text[header_end + 1..end])), end))
}

/// Reads the same as [`parse`] without the body: returns the fold, the end of its header and the end of the fold, in
/// bytes.
pub fn parse_extent(text: &str) -> Option<(Fold, usize, usize)> {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let header_end = ends.next()?;
    let (fold, lines) = parse_header(&text[..header_end])?;
    let end = if lines == 0 { header_end } else { ends.nth(lines - 1)? };
    Some((fold, header_end, end))
}

/// Reads a header line; returns the fold without its body, and the number of lines below the header.
pub fn parse_header(line: &str) -> Option<(Fold, usize)> {
    let (head, legend) = line.strip_prefix(OPENING)?.split_once("]]")?;
    let (stage, lines) = head.split_once(' ')?;
    let (lines, seal, is_sealed_below) = match lines.split_once(' ') {
        Some((lines, BELOW)) => (lines, None, true),
        Some((lines, seal)) => (lines, Some(Seal::parse(seal)?), false),
        None => (lines, None, false),
    };
    let legend = match legend {
        "" => "",
        _ => legend.strip_prefix(' ').filter(|legend| !legend.is_empty())?,
    };
    Some((
        Fold { stage: stage.to_owned(), seal, is_sealed_below, legend: legend.to_owned(), body: None },
        lines.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_print_and_parse_back() {
        for fold in [
            Fold::new("ionizer", "id,name", Some("1,a\n2,b".into())).sealed("id,name\n1,a\n2,b"),
            Fold::new("ionizer", "id,name", Some("1,a\n2,b".into())),
            Fold { is_sealed_below: true, ..Fold::new("quantumLock", "", Some("b\na".into())).sealed("a\nb") },
            Fold { is_sealed_below: true, ..Fold::new("quantumLock", "", None).sealed("") },
            Fold::new("rle", "", Some(String::new())),
            Fold::new("rle", "all of it", None),
        ] {
            for tail in ["", "\nmore"] {
                let text = format!("{fold}{tail}");
                assert_eq!(parse(&text), Some((fold.clone(), text.len() - tail.len())));
            }
        }
    }

    #[test]
    fn a_seal_is_the_version_and_the_checksum_of_the_text() {
        // SHA-256 of the empty text begins with e3b0c442, which is 6,090,914 modulo 26^5.
        assert_eq!(Seal::of("").to_string(), "aniofy");
        assert!(Seal::of("").is_known());
        assert_ne!(Seal::of("a"), Seal::of("b"));
        assert!(!Seal::parse("banana").unwrap().is_known());
    }

    #[test]
    fn a_cut_or_foreign_header_is_no_fold() {
        for bad in [
            "",
            "[[FOLD:rle 3]]\na\nb",
            "[[FOLD:rle x]]",
            "[[FOLD:rle]]",
            "[[FOLD:rle 0 abcde]]",
            "[[FOLD:rle 0 abcdeF]]",
            "[[FOLD:rle 0 abcdefg]]",
            "[[FOLD:rle 0 ]]",
            "[[FOLD:rle 0]]x",
            "[[FOLD:rle 0]] ",
            "a [[FOLD:rle 0]]",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
