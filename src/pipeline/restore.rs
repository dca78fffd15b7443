//! A compressed text -> what it was.
//!
//! Folds are undone from the first to the last, and again until none is left, because a text that was folded before it was
//! folded again had folds of its own. A marker resolves only to an original that the caller hands in: markers in text prove
//! nothing.

use std::borrow::Cow;

use memchr::memmem;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::fold::{self, Fold};
use super::hashing::FastMap;
use super::stages::STAGES;
use super::{FusionContext, Stage, prefixes};
use crate::config::{Encoding, Preset};
use crate::content::Segment;
use crate::reference::{Media, Original, RefId};

/// No text is unfolded beyond this many bytes: folds come from outside too, and one may double all text before it.
pub(super) const UNFOLDED_MAX_BYTES: usize = 16 << 20;

/// How often folds inside unfolded text are undone.
const ROUNDS: usize = 8;

/// Undoes [`super::FusionEngine::compress`]: `restore(compress(x)) == x`.
///
/// A final `[[REWIND:sha256:…]]` line that names one of the originals gives that original; folds are undone; everything else,
/// foreign markers and look-alikes of folds included, stays as it is. Where `x` itself holds genuine folds, the lossless way
/// back ends at `restore(x)`: the two cannot be told apart.
pub fn restore(text: &str, originals: &[Original]) -> String {
    rewound(text, originals).unwrap_or_else(|| unfold(text, &built_in).unwrap_or_else(|| text.to_owned()))
}

fn built_in(name: &str) -> Option<&'static dyn Stage> {
    STAGES.iter().copied().find(|stage| stage.name() == name)
}

/// The original that the last line of a text names.
pub(super) fn rewound(text: &str, originals: &[Original]) -> Option<String> {
    let id = RefId::parse(marker_line_id(text.rsplit('\n').next()?)?).ok()?;
    let original = originals.iter().find(|original| original.media == Media::Text && id.matches(original.hash))?;
    String::from_utf8(original.bytes.clone()).ok()
}

/// The line that tells where the original of a text is, and how long it was.
pub(super) fn marker_line(original: &Original, text: &str) -> String {
    let marker = crate::reference::Marker::Rewind(original.hash.to_ref_id(crate::reference::SHORT_ID_DIGITS));
    match text.lines().count() {
        1 => format!("{marker} original: {} characters", text.chars().count()),
        lines => format!("{marker} original: {lines} lines"),
    }
}

/// Whether a line has the form of [`marker_line`]. Whose it is cannot be told.
pub(super) fn is_marker_line(line: &str) -> bool {
    marker_line_id(line).is_some()
}

/// Where a text ends for what folds its lines: the line that leads to the original ends a text, and no fold.
pub(super) fn before_marker(text: &str) -> usize {
    let marker = text.rsplit('\n').next().filter(|line| is_marker_line(line)).map_or(0, |line| line.len() + 1);
    text.len().saturating_sub(marker)
}

fn marker_line_id(line: &str) -> Option<&str> {
    let (id, words) = line.strip_prefix("[[REWIND:sha256:")?.split_once("]]")?;
    let count = words.strip_prefix(" original: ")?;
    let count = count.strip_suffix(" lines").or_else(|| count.strip_suffix(" characters"))?;
    count.bytes().all(|byte| byte.is_ascii_digit()).then_some(id)
}

/// Folds of a text that are known to be genuine where they stand, with what they stand for: what saves undoing them again.
#[derive(Debug, Default)]
pub(super) struct Proofs(FastMap<(u128, usize), usize>);

impl Proofs {
    /// Adds a fold that stands for `len` bytes of the folded text, from `start` on.
    pub(super) fn add(&mut self, fold: &str, start: usize, len: usize) {
        self.0.insert((xxh3_128(fold.as_bytes()), start), len);
    }

    fn len(&self, fold: &str, start: usize) -> Option<usize> {
        if self.0.is_empty() { None } else { self.0.get(&(xxh3_128(fold.as_bytes()), start)).copied() }
    }
}

/// Whether undoing the folds of `folded` gives `text`, of which some are proved already.
pub(super) fn unfolds_to<'a>(
    folded: &str,
    text: &str,
    find: &dyn Fn(&str) -> Option<&'a dyn Stage>,
    proofs: &Proofs,
) -> bool {
    let known = |fold: &str, start: usize| text.get(start..start + proofs.len(fold, start)?);
    unfold_knowing(folded, find, &known).as_deref().unwrap_or(folded) == text
}

/// Undoes every fold of the stages that `find` knows by name; `None` when there is none.
pub(super) fn unfold<'a>(text: &str, find: &dyn Fn(&str) -> Option<&'a dyn Stage>) -> Option<String> {
    unfold_knowing(text, find, &|_, _| None)
}

fn unfold_knowing<'a, 'k>(
    text: &str,
    find: &dyn Fn(&str) -> Option<&'a dyn Stage>,
    known: &dyn Fn(&str, usize) -> Option<&'k str>,
) -> Option<String> {
    let mut unfolded = unfold_once(text, find, known)?;
    for _ in 1..ROUNDS {
        match unfold_once(&unfolded, find, &|_, _| None) {
            Some(again) => unfolded = again,
            None => break,
        }
    }
    Some(unfolded)
}

/// `known` says what a fold stands for that is proved where the text so far has come to.
fn unfold_once<'a, 'k>(
    text: &str,
    find: &dyn Fn(&str) -> Option<&'a dyn Stage>,
    known: &dyn Fn(&str, usize) -> Option<&'k str>,
) -> Option<String> {
    let mut headers = memmem::find_iter(text.as_bytes(), fold::OPENING).peekable();
    headers.peek()?;
    let line_ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]).collect();
    let mut before = Prior::default();
    // Look-alikes may claim the same long body again and again; real folds do not overlap.
    let mut patience = 4 * text.len();
    let (mut copied, mut found) = (0, false);
    for at in headers {
        if at < copied || (at > 0 && text.as_bytes()[at - 1] != b'\n') {
            continue;
        }
        let line = line_ends.partition_point(|&end| end < at);
        let Some((mut fold, lines)) = fold::parse_header(&text[at..line_ends[line]]) else { continue };
        let Some(&end) = line.checked_add(lines).and_then(|last| line_ends.get(last)) else { continue };
        let Some(stage) = find(&fold.stage) else { continue };
        let Some(left) = patience.checked_sub(end - at) else { continue };
        patience = left;
        before.push(&text[copied..at]);
        copied = at;
        let replaced = known(&text[at..end], before.text.len()).map(Cow::Borrowed).or_else(|| {
            fold.body = (lines > 0).then(|| text[line_ends[line] + 1..end].to_owned());
            let is_fold = fold.to_string() == text[at..end];
            is_fold.then(|| genuine(stage, &fold, &mut before, false).map(Cow::Owned))?
        });
        if let Some(replaced) = replaced {
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

/// What a fold replaced, when it is genuine, or `is_sure` to be.
pub(super) fn genuine(stage: &dyn Stage, fold: &Fold, before: &mut Prior, is_sure: bool) -> Option<String> {
    let mut replaced = |fold: &Fold| {
        let replaced = stage.unfold_after(fold, before)?;
        (is_sure || stage.is_canonical(fold, &replaced, before)).then_some(replaced)
    };
    replaced(fold).or_else(|| {
        let (prefixes, bare) = prefixes::told(fold)?;
        (is_sure || prefixes.is_canonical()).then(|| prefixes.put(&replaced(&bare)?))?
    })
}

/// Whether a stage, applied to a text of one of its types, folds all of it into this fold.
pub(super) fn refolds<S: Stage + ?Sized>(stage: &S, fold: &Fold, text: &str) -> bool {
    let expected = fold.to_string();
    let refolds = |content_type, encoding, preset| {
        let segments = [Segment::whole(text, content_type, None)];
        let context = FusionContext { preset, encoding, ..FusionContext::of(text, &segments) };
        stage.apply(&context).iter().any(|edit| edit.range == (0..text.len()) && edit.text == expected)
    };
    [Preset::Lossless, Preset::Max].into_iter().any(|preset| {
        Encoding::ALL
            .into_iter()
            .any(|encoding| stage.content_types().iter().any(|&kind| refolds(kind, encoding, preset)))
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
    /// A text up to the start of a line.
    pub fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Where the first line with this [`quote`] starts.
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

/// The words that a line is quoted by: its first 48 characters at most, cut between words where that is possible.
pub(in crate::pipeline) fn quote(line: &str) -> &str {
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
        for text in ["[[FOLD:rle 2]]\na\nb", "[[FOLD:nobody 0]] x", "[[FOLD:semanticDedup 99999999999999999999]]"] {
            assert_eq!(restore(text, &[]), text);
        }
        let many = "[[FOLD:semanticDedup 20000]] x\n".repeat(40_000);
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
