//! The envelope of lossless rewrites: `[[FOLD:<stage> <n>]] <legend>` and then exactly `n` lines of body.
//!
//! Restoring needs nothing but the output. Folds do not nest: they are undone from the first to the last, so that one may refer
//! to the restored text before it, and what stands inside a body is body. A text from outside that merely looks like a fold is
//! data: what it undoes to must give the very same fold when folded again, or it is left alone.

use std::fmt;

/// What every fold starts with, at the start of a line.
pub(crate) const OPENING: &str = "[[FOLD:";

/// One folded run of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The stage that wrote it and can undo it.
    pub stage: String,
    /// What a reader needs to know, on the header line: column names, constants, counts. One line, may be empty.
    pub legend: String,
    /// The lines, joined by `\n`, without a final one. Never empty lines only to please the format: zero lines is `None`.
    pub body: Option<String>,
}

impl Fold {
    /// A fold with a body.
    ///
    /// # Panics
    /// When the legend has a line end: it would break the envelope.
    pub fn new(stage: &str, legend: impl Into<String>, body: Option<String>) -> Self {
        let legend = legend.into();
        assert!(!legend.contains('\n'), "a legend is one line");
        Self { stage: stage.to_owned(), legend, body }
    }

    fn lines(&self) -> usize {
        self.body.as_ref().map_or(0, |body| memchr::memchr_iter(b'\n', body.as_bytes()).count() + 1)
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[[FOLD:{} {}]]", self.stage, self.lines())?;
        if !self.legend.is_empty() {
            write!(f, " {}", self.legend)?;
        }
        match &self.body {
            Some(body) => write!(f, "\n{body}"),
            None => Ok(()),
        }
    }
}

/// Reads the fold that starts at the beginning of `text`; returns it and its length in bytes.
pub fn parse(text: &str) -> Option<(Fold, usize)> {
    let (mut fold, header_end, end) = parse_extent(text)?;
    fold.body = (header_end < end).then(|| text[header_end + 1..end].to_owned());
    Some((fold, end))
}

/// [`parse`] without reading the body: returns where the header ends and where the fold does.
pub(crate) fn parse_extent(text: &str) -> Option<(Fold, usize, usize)> {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let header_end = ends.next()?;
    let (fold, lines) = parse_header(&text[..header_end])?;
    let end = if lines == 0 { header_end } else { ends.nth(lines - 1)? };
    Some((fold, header_end, end))
}

/// Reads a header line; returns the fold, still without its body, and how many lines its body has.
pub(crate) fn parse_header(line: &str) -> Option<(Fold, usize)> {
    let (head, legend) = line.strip_prefix(OPENING)?.split_once("]]")?;
    let (stage, lines) = head.split_once(' ')?;
    let legend = match legend {
        "" => "",
        _ => legend.strip_prefix(' ').filter(|legend| !legend.is_empty())?,
    };
    Some((Fold { stage: stage.to_owned(), legend: legend.to_owned(), body: None }, lines.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_print_and_parse_back() {
        for fold in [
            Fold::new("ionizer", "id,name", Some("1,a\n2,b".into())),
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
    fn a_cut_or_foreign_header_is_no_fold() {
        for bad in [
            "",
            "[[FOLD:rle 3]]\na\nb",
            "[[FOLD:rle x]]",
            "[[FOLD:rle]]",
            "[[FOLD:rle 0]]x",
            "[[FOLD:rle 0]] ",
            "a [[FOLD:rle 0]]",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
