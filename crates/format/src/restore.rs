//! A compressed text -> its original.
//!
//! Folds are undone from the first to the last, and again until none is left, because a text may have contained folds
//! before it was folded. A marker resolves only to an original that the caller passes in: markers in text prove
//! nothing.

use std::ops::Range;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use concertina_base::error::{Error, Result};
use concertina_base::hashing::FastMap;
use concertina_base::reference::{Marker, Media, Original, RefId, SHORT_ID_DIGITS};

use crate::fold::{self, Fold, Seal};
use crate::prefixes;

/// The most bytes of an unfolded text. Folds come from outside too, and one may double all text before it.
pub const UNFOLDED_MAX_BYTES: usize = 16 << 20;

/// The number of times that folds inside unfolded text are undone.
const ROUNDS: usize = 8;

/// Returns the text that a compressed one stands for.
///
/// A final `[[REWIND:sha256:…]]` line that names one of the originals returns that original; folds are undone;
/// everything else, including foreign markers and look-alikes of folds, is unchanged. If `x` itself contains valid
/// folds, the lossless round trip ends at `restore(x)`, because these cannot be told from ours.
pub fn restore(text: &str, originals: &[Original]) -> String {
    rewound(text, originals).unwrap_or_else(|| unfold(text).unwrap_or_else(|| text.to_owned()))
}

/// Does the same as [`restore`], but fails if a sealed fold or our marker line is left.
///
/// # Errors
/// [`Error::FoldDamaged`] for the first sealed fold that could not be undone; [`Error::OriginalMissing`] if the last
/// line names an original that was not passed in.
pub fn restore_whole(text: &str, originals: &[Original]) -> Result<String> {
    if let Some(original) = rewound(text, originals) {
        return Ok(original);
    }
    let restored = unfold(text).unwrap_or_else(|| text.to_owned());
    if let Some((at, fold, _)) = sealed_headers(&restored).next() {
        let line = 1 + memchr::memchr_iter(b'\n', &restored.as_bytes()[..at]).count();
        let reason = match fold.seal {
            Some(seal) if !seal.is_known() => "its format version is not known",
            _ => "its lines do not give the text that it was made from",
        };
        return Err(Error::FoldDamaged { stage: fold.stage, line, reason: reason.to_owned() });
    }
    match restored.rsplit('\n').next().and_then(marker_line_id) {
        Some(id) => Err(Error::OriginalMissing { ref_id: id.to_owned() }),
        None => Ok(restored),
    }
}

/// Returns the original that the last line of a text names.
pub fn rewound(text: &str, originals: &[Original]) -> Option<String> {
    let id = RefId::parse(marker_line_id(text.rsplit('\n').next()?)?).ok()?;
    let original = originals.iter().find(|original| original.media == Media::Text && id.matches(original.hash))?;
    String::from_utf8(original.bytes.clone()).ok()
}

/// Returns the line that names the original of a text and its length.
pub fn marker_line(original: &Original, text: &str) -> String {
    let marker = Marker::Rewind(original.hash.to_ref_id(SHORT_ID_DIGITS));
    match text.lines().count() {
        1 => format!("{marker} original: {} characters", text.chars().count()),
        lines => format!("{marker} original: {lines} lines"),
    }
}

/// Returns true if a line has the form of [`marker_line`]. It does not show who wrote the line.
pub fn is_marker_line(line: &str) -> bool {
    marker_line_id(line).is_some()
}

/// Returns where the foldable part of a text ends, in bytes: a final marker line must stay outside folds.
pub fn before_marker(text: &str) -> usize {
    let marker = text.rsplit('\n').next().filter(|line| is_marker_line(line)).map_or(0, |line| line.len() + 1);
    text.len().saturating_sub(marker)
}

fn marker_line_id(line: &str) -> Option<&str> {
    let (id, words) = line.strip_prefix("[[REWIND:sha256:")?.split_once("]]")?;
    let count = words.strip_prefix(" original: ")?;
    let count = count.strip_suffix(" lines").or_else(|| count.strip_suffix(" characters"))?;
    count.bytes().all(|byte| byte.is_ascii_digit()).then_some(id)
}

/// Returns true if undoing the folds of `folded` gives `text`.
pub fn unfolds_to(folded: &str, text: &str) -> bool {
    unfold(folded).as_deref().unwrap_or(folded) == text
}

/// Undoes every fold; `None` if there is none.
pub fn unfold(text: &str) -> Option<String> {
    let mut unfolded = unfold_once(text)?;
    for _ in 1..ROUNDS {
        match unfold_once(&unfolded) {
            Some(again) => unfolded = again,
            None => break,
        }
    }
    Some(unfolded)
}

/// Returns the sealed headers of a text, each with the byte where its line starts and its number of body lines.
fn sealed_headers(text: &str) -> impl Iterator<Item = (usize, Fold, usize)> {
    memmem::find_iter(text.as_bytes(), fold::OPENING).filter_map(|at| {
        let starts_line = at == 0 || text.as_bytes()[at - 1] == b'\n';
        let line = starts_line.then(|| text[at..].split('\n').next()).flatten()?;
        let (fold, lines) = fold::parse_header(line).filter(|(fold, _)| fold.claims_a_seal())?;
        Some((at, fold, lines))
    })
}

/// Returns the sealed folds of a text with their places. Look-alikes may overlap.
pub(crate) fn sealed_folds(text: &str) -> impl Iterator<Item = (Range<usize>, Fold)> {
    sealed_headers(text).filter_map(|(at, ..)| {
        let (fold, len) = fold::parse(&text[at..])?;
        Some((at..at + len, fold))
    })
}

fn unfold_once(text: &str) -> Option<String> {
    let mut headers = sealed_headers(text).peekable();
    headers.peek()?;
    let line_ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]).collect();
    let mut before = Prior::default();
    // Look-alikes may claim the same long body again and again; real folds do not overlap.
    let mut patience = 4 * text.len();
    let (mut copied, mut found) = (0, false);
    for (at, fold, lines) in headers {
        if at < copied {
            continue;
        }
        let line = line_ends.partition_point(|&end| end < at);
        let Some(&end) = line.checked_add(lines).and_then(|last| line_ends.get(last)) else { continue };
        if crate::decoder(&fold.stage).is_none() {
            continue;
        }
        let Some(left) = patience.checked_sub(end - at) else { continue };
        patience = left;
        before.push(&text[copied..at]);
        copied = at;
        let fold = fold.with_lines((lines > 0).then(|| &text[line_ends[line] + 1..end]));
        if let Some(replaced) = undone(&fold, &mut before) {
            if before.text.len() + replaced.len() + (text.len() - end) > UNFOLDED_MAX_BYTES {
                break;
            }
            before.push(&replaced);
            copied = end;
            found = true;
        }
    }
    found.then(|| before.text + &text[copied..])
}

/// Returns the text of a sealed fold; `None` if its stage cannot read it or the checksum does not match.
pub fn undone(fold: &Fold, before: &mut Prior) -> Option<String> {
    let seal = fold.seal?;
    let is_whole = |text: &String| Seal::of(text) == seal;
    crate::unfold_after(fold, before).filter(is_whole).or_else(|| {
        let (prefixes, bare) = prefixes::told(fold)?;
        prefixes.put(&crate::unfold_after(&bare, before)?).filter(is_whole)
    })
}

/// The restored text before a fold, for folds that refer to it.
#[derive(Debug, Default)]
pub struct Prior {
    text: String,
    first_lines: FastMap<u64, usize>,
    indexed: usize,
}

impl Prior {
    /// Starts with a text that ends at the start of a line.
    pub fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text that follows.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Returns where the first complete line with this [`quote`] starts, in bytes.
    pub fn find_quoted(&mut self, words: &str) -> Option<usize> {
        while let Some(len) = memchr::memchr(b'\n', &self.text.as_bytes()[self.indexed..]) {
            let key = xxh3_64(quote(&self.text[self.indexed..self.indexed + len]).as_bytes());
            self.first_lines.entry(key).or_insert(self.indexed);
            self.indexed += len + 1;
        }
        let start = *self.first_lines.get(&xxh3_64(words.as_bytes()))?;
        (quote(self.text[start..].split('\n').next()?) == words).then_some(start)
    }
}

/// Returns the words that a line is quoted by: at most its first 48 characters, cut between words if possible.
pub fn quote(line: &str) -> &str {
    let line = line.trim();
    match line.char_indices().nth(48) {
        None => line,
        Some((end, _)) => match line[..end].rfind(' ') {
            Some(space) if space >= 24 => line[..space].trim_end(),
            _ => &line[..end],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_final_line_of_ours_with_its_original_rewinds() {
        let original = Original::text("one\ntwo\n", "x");
        let marker = marker_line(&original, "one\ntwo\n");
        assert!(marker.ends_with("]] original: 2 lines"), "{marker}");
        let originals = [original];
        assert_eq!(restore(&format!("short\n{marker}"), &originals), "one\ntwo\n");
        for foreign in [format!("short\n{marker}\nmore"), format!("short {marker}"), format!("short\n{marker}!")] {
            assert_eq!(restore(&foreign, &originals), foreign);
        }
        let unknown = format!("short\n{marker}");
        assert_eq!(restore(&unknown, &[]), unknown);
        assert_eq!(restore(&unknown, &[Original::text("other", "x")]), unknown);
    }

    #[test]
    fn look_alikes_of_folds_stay() {
        for text in [
            "[[FOLD:rle 2]]\na\nb",
            "[[FOLD:rle 2 abcdef]]\na\nb",
            "[[FOLD:nobody 0 abcdef]] x",
            "[[FOLD:semanticDedup 99999999999999999999 abcdef]]",
        ] {
            assert_eq!(restore(text, &[]), text);
        }
        let many = "[[FOLD:semanticDedup 20000 abcdef]] x\n".repeat(40_000);
        assert_eq!(restore(&many, &[]), many);
    }

    #[test]
    fn the_first_line_with_a_quote_is_found() {
        let mut before = Prior::default();
        before.push("a\n  two words \nunfinished");
        assert_eq!(before.find_quoted("two words"), Some(2));
        assert_eq!(before.find_quoted("unfinished"), None);
        before.push("\ntwo words\n");
        assert_eq!(before.find_quoted("unfinished"), Some(15));
        assert_eq!(before.find_quoted("two words"), Some(2));
        assert_eq!(quote(&"long word ".repeat(9)), "long word long word long word long word long");
    }
}
