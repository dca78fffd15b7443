//! `diff --git a/x b/x`, `index`, `---`, `+++`, `@@ -1,7 +1,9 @@` -> `diff x`, `@@ -1 +1`; context is cut to three
//! lines.
//!
//! Changed lines are kept with their signs and places. Shortened hashes and removed context need the original to be
//! restored; shortened headers do not.

mod hunk;
mod recut;
mod short;

use std::borrow::Cow;
use std::ops::Range;

use concertina_format::diff_crunch::{LEGEND, unfold};

use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};

use hunk::Hunk;

const NAME: &str = "diffCrunch";

/// The number of digits that is kept of a commit's hash, enough for git.
const HASH_DIGITS: usize = 12;

/// The stage `diffCrunch`, which folds diffs.
pub(super) struct DiffCrunch;

impl Stage for DiffCrunch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Diff]
    }

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.free_segments(ContentType::Diff).next().is_some()
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let edits = |(segment, text): (&crate::content::Segment, &str)| {
            let start = segment.range.start;
            let at = |range: Range<usize>| start + range.start..start + range.end;
            let text = text.trim_end_matches('\n');
            let changes = changes(text, context.preset);
            if !changes.is_empty() {
                return changes.into_iter().map(|(range, text)| Edit::reversible(at(range), text)).collect();
            }
            folded(text).map(|fold| vec![Edit::fold(at(0..text.len()), &fold)]).unwrap_or_default()
        };
        context.free_segments(ContentType::Diff).flat_map(edits).collect()
    }
}

/// Returns the changes that need the original to be restored, sorted.
fn changes(text: &str, preset: Preset) -> Vec<(Range<usize>, String)> {
    let context = match preset {
        Preset::Lossless => return Vec::new(),
        Preset::Balanced => 3,
        Preset::Max => 1,
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let mut changes = Vec::new();
    let (mut at, mut start) = (0, 0);
    while at < lines.len() {
        let line = lines[at];
        let taken = match Hunk::read(&lines[at..]) {
            Some(hunk) => {
                let taken = 1 + hunk.lines.len();
                let end = start + lines[at..at + taken].iter().map(|line| line.len() + 1).sum::<usize>() - 1;
                changes.extend(recut::recut(&hunk, context).map(|text| (start..end, text)));
                taken
            }
            None => {
                if let Some(hash) = commit_hash(line) {
                    changes.push((start + hash.start + HASH_DIGITS..start + hash.end, String::new()));
                } else if at + 1 < lines.len() && is_plain_index(&lines[..at], line, lines[at + 1]) {
                    changes.push((start..start + line.len() + 1, String::new()));
                }
                1
            }
        };
        start += lines[at..at + taken].iter().map(|line| line.len() + 1).sum::<usize>();
        at += taken;
    }
    changes
}

/// Returns the range of the hash in `commit 0123…`, if it is a long one.
fn commit_hash(line: &str) -> Option<Range<usize>> {
    let rest = line.strip_prefix("commit ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    let is_end = rest[digits..].is_empty() || rest[digits..].starts_with([' ', '\r']);
    (is_end && matches!(digits, 40 | 64)).then_some("commit ".len().."commit ".len() + digits)
}

/// Returns true for a line such as `index 0123456..789abcd 100644` below a file's header, which names two versions by
/// git's hashes, if it may be omitted. An unusual mode must stay, and a binary patch needs the hashes.
fn is_plain_index(above: &[&str], line: &str, below: &str) -> bool {
    let Some((old, rest)) = line.strip_prefix("index ").and_then(|rest| rest.split_once("..")) else { return false };
    let (new, mode) = rest.split_once(' ').unwrap_or((rest, "100644"));
    let is_hash = |hash: &str| hash.len() >= 4 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_header = above.iter().rev().take(4).any(|line| line.starts_with("diff --git "));
    is_header && is_hash(old) && is_hash(new) && mode == "100644" && !below.starts_with("GIT binary patch")
}

fn folded(text: &str) -> Option<Fold> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut body: Vec<Cow<str>> = Vec::with_capacity(lines.len());
    let mut author = None;
    let (mut at, mut is_shorter) = (0, false);
    while at < lines.len() {
        let rest = &lines[at..];
        if let Some((short, taken)) = short::file(rest) {
            body.extend(short);
            at += taken;
        } else if let Some((short, taken, by)) = short::commit(rest, author) {
            author = Some(by);
            body.push(Cow::Owned(short));
            at += taken;
        } else if let Some(hunk) = Hunk::read(rest) {
            let end = at + 1 + hunk.lines.len();
            let Some(short) = short::hunk(&hunk, lines.get(end).copied()) else {
                body.push(short::escape(lines[at]));
                at += 1;
                continue;
            };
            body.push(Cow::Owned(short));
            body.extend(hunk.lines.iter().map(|line| Cow::Borrowed(*line)));
            at = end;
        } else {
            body.push(short::escape(lines[at]));
            at += 1;
            continue;
        }
        is_shorter = true;
    }
    let fold = Fold::new(NAME, LEGEND, Some(body.join("\n")));
    (is_shorter && unfold(&fold).as_deref() == Some(text)).then_some(fold)
}
