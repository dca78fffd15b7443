//! A passage that stands earlier in the text -> `repeats 12 lines above; line 1: "…"`, with what differs.
//!
//! Exact repeats (whole lines) and near repeats (paragraphs or fences whose 64-bit simhashes differ in at most three bits) become
//! folds: the reference names the earlier place by words that stand there, for the reader as for the inverse, and a near repeat
//! lists every differing line. A repeat that differs only in white space needs the original to be undone.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::repeats::Lines;
use crate::pipeline::restore::quote;
use crate::pipeline::{Edit, FusionContext, Prior, Stage};

/// Shorter texts have no room for a repeat that pays.
const TEXT_MIN_BYTES: usize = 512;

/// Near repeats are looked for among passages of at least this many lines and bytes.
const PASSAGE_MIN: (usize, usize) = (3, 160);

/// How many bits of the simhashes of near repeats may differ.
const HAMMING_MAX: u32 = 3;

/// How many earlier passages with a common band a passage is compared with.
const CANDIDATES_MAX: usize = 8;

const TYPES: &[ContentType] = &[ContentType::Text, ContentType::Html, ContentType::Log, ContentType::Unknown];

/// See the module.
pub(super) struct SemanticDedup;

impl Stage for SemanticDedup {
    fn name(&self) -> &'static str {
        "semanticDedup"
    }

    fn order(&self) -> u32 {
        12
    }

    fn content_types(&self) -> &'static [ContentType] {
        TYPES
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= TEXT_MIN_BYTES && TYPES.contains(&context.content_type)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut text = Passages::new(context);
        let exact = text.exact();
        let near = text.near(&exact);
        let mut edits: Vec<Edit> = exact.iter().map(|(_, edit)| edit.clone()).chain(near).collect();
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn unfold_after(&self, fold: &Fold, before: &mut Prior) -> Option<String> {
        let reference = Reference::parse(&fold.legend)?;
        let quoted = before.find_quoted(reference.quote)?;
        let start = line_back(before.text(), quoted, reference.at)?;
        let earlier = lines_from(before.text(), start, reference.lines)?;
        match &fold.body {
            None => Some(earlier.to_owned()),
            Some(delta) => patch(earlier, delta),
        }
    }

    fn is_canonical(&self, fold: &Fold, text: &str, before: &mut Prior) -> bool {
        let Some(earlier) = self.unfold_after(&Fold { body: None, ..fold.clone() }, before) else { return false };
        let Some(reference) = Reference::parse(&fold.legend) else { return false };
        fold.body == delta(&earlier, text) && reference.to_string() == fold.legend
    }
}

/// `repeats 12 lines above; line 1: "## Installation"`.
struct Reference<'a> {
    lines: usize,
    /// Which of those lines is quoted, from 1.
    at: usize,
    quote: &'a str,
    changed: bool,
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = if self.lines == 1 { "line" } else { "lines" };
        let changed = if self.changed { ", with changes" } else { "" };
        write!(f, "repeats {} {unit} above{changed}; line {}: \"{}\"", self.lines, self.at, self.quote)
    }
}

impl<'a> Reference<'a> {
    fn parse(legend: &'a str) -> Option<Self> {
        let (head, quote) = legend.strip_suffix('"')?.split_once(": \"")?;
        let (head, at) = head.strip_prefix("repeats ")?.split_once("; line ")?;
        let (lines, unit) = head.split_once(' ')?;
        let reference =
            Self { lines: lines.parse().ok()?, at: at.parse().ok()?, quote, changed: unit.ends_with("changes") };
        (reference.at >= 1 && reference.at <= reference.lines && reference.to_string() == legend).then_some(reference)
    }
}

/// Where the line starts that is `at - 1` lines before the one that starts at `start`.
fn line_back(text: &str, start: usize, at: usize) -> Option<usize> {
    let mut start = start;
    for _ in 1..at {
        let end = start.checked_sub(1)?;
        start = text[..end].rfind('\n').map_or(0, |end| end + 1);
    }
    Some(start)
}

/// So many lines from a line start on, without the last line end.
fn lines_from(text: &str, start: usize, lines: usize) -> Option<&str> {
    let text = &text[start..];
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines - 1)?;
    Some(&text[..end])
}

/// The differing lines: `@5,2` for two lines from line 5 of the earlier text on, then what stands there instead, each after `+`.
fn delta(earlier: &str, later: &str) -> Option<String> {
    if earlier == later {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (earlier.split('\n').collect(), later.split('\n').collect());
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut lines = Vec::new();
    for hunk in Diff::compute(Algorithm::Histogram, &input).hunks() {
        lines.push(format!("@{},{}", hunk.before.start + 1, hunk.before.len()));
        lines.extend(new[hunk.after.start as usize..hunk.after.end as usize].iter().map(|line| format!("+{line}")));
    }
    Some(lines.join("\n"))
}

/// The inverse of [`delta`].
fn patch(earlier: &str, delta: &str) -> Option<String> {
    let old: Vec<&str> = earlier.split('\n').collect();
    let (mut new, mut at) = (Vec::new(), 0);
    for line in delta.split('\n') {
        if let Some(line) = line.strip_prefix('+') {
            new.push(line);
        } else {
            let (start, len) = line.strip_prefix('@')?.split_once(',')?;
            let (start, len): (usize, usize) = (start.parse::<usize>().ok()?.checked_sub(1)?, len.parse().ok()?);
            new.extend(old.get(at..start)?);
            at = start.checked_add(len).filter(|&end| end <= old.len())?;
        }
    }
    new.extend(&old[at..]);
    Some(new.join("\n"))
}

/// The lines of a text, and which of them may be quoted.
struct Passages<'a> {
    context: &'a FusionContext<'a>,
    lines: Lines<'a>,
    /// For each line, whether no earlier one has its quote.
    is_first: Vec<bool>,
    /// For each line, whether it may be replaced.
    is_free: Vec<bool>,
}

impl<'a> Passages<'a> {
    fn new(context: &'a FusionContext<'a>) -> Self {
        let mut lines = Lines::default();
        let all = lines.add(context.text);
        let mut quotes: HashSet<u64> = HashSet::new();
        let is_first = all.clone().map(|line| {
            let quote = quote(lines.line(line));
            !quote.is_empty() && quotes.insert(xxh3_64(quote.as_bytes()))
        });
        let is_first = is_first.collect();
        let is_free = all.map(|line| {
            // With its line end, so that an empty line inside a fold counts too.
            let range = lines.range(&(line..line + 1));
            context.is_free(&(range.start..(range.end + 1).min(context.text.len())))
        });
        let is_free = is_free.collect();
        Self { context, lines, is_first, is_free }
    }

    fn all_lines(&self) -> impl Iterator<Item = &str> {
        (0..self.lines.len()).map(|line| self.lines.line(line))
    }

    fn text(&self, lines: &Range<usize>) -> &'a str {
        &self.context.text[self.lines.range(lines)]
    }

    /// The reference to earlier lines, when one of them can be quoted. All of them must be in sight.
    fn reference(&self, earlier: &Range<usize>, changed: bool) -> Option<Reference<'_>> {
        if !self.is_free[earlier.clone()].iter().all(|&free| free) {
            return None;
        }
        let line = earlier.clone().find(|&line| self.is_first[line])?;
        let quote = quote(self.lines.line(line));
        Some(Reference { lines: earlier.len(), at: line - earlier.start + 1, quote, changed })
    }

    /// The exact repeats, with the lines that go.
    fn exact(&mut self) -> Vec<(Range<usize>, Edit)> {
        let is_free = &self.is_free;
        let repeats = self.lines.repeats(|line| is_free[line]);
        let mut edits = Vec::new();
        for repeat in repeats {
            let earlier = repeat.earlier..repeat.earlier + repeat.lines.len();
            if let Some(reference) = self.reference(&earlier, false) {
                let fold = Fold::new("semanticDedup", reference.to_string(), None);
                edits.push((repeat.lines.clone(), Edit::fold(self.lines.range(&repeat.lines), &fold)));
            }
        }
        edits
    }

    /// Paragraphs and fences outside the exact repeats against those before them.
    fn near(&self, exact: &[(Range<usize>, Edit)]) -> Vec<Edit> {
        let mut gone = exact.iter().map(|(lines, _)| lines).peekable();
        let mut bands: HashMap<(usize, u16), Vec<usize>> = HashMap::new();
        let mut by_words: HashMap<u64, usize> = HashMap::new();
        let mut kept: Vec<(Range<usize>, u64)> = Vec::new();
        let mut edits = Vec::new();
        for lines in self.passages() {
            while gone.next_if(|gone| gone.end <= lines.start).is_some() {}
            let touches_exact = gone.peek().is_some_and(|gone| gone.start < lines.end);
            let too_small = lines.len() < PASSAGE_MIN.0 || self.lines.range(&lines).len() < PASSAGE_MIN.1;
            if touches_exact || too_small || !self.is_free[lines.clone()].iter().all(|&free| free) {
                continue;
            }
            let (words, simhash) = fingerprints(self.text(&lines));
            if let Some(&equal) = by_words.get(&words)
                && let Some(edit) = self.spaced_repeat(&kept[equal].0, &lines)
            {
                edits.push(edit);
                continue;
            }
            let in_band = (0..4).flat_map(|band| bands.get(&key(simhash, band)).into_iter().flatten());
            let candidate = in_band.copied().find(|&index| (kept[index].1 ^ simhash).count_ones() <= HAMMING_MAX);
            if let Some(edit) = candidate.and_then(|index| self.changed_repeat(&kept[index].0, &lines)) {
                edits.push(edit);
                continue;
            }
            by_words.entry(words).or_insert(kept.len());
            for band in 0..4 {
                let bucket = bands.entry(key(simhash, band)).or_default();
                if bucket.len() < CANDIDATES_MAX {
                    bucket.push(kept.len());
                }
            }
            kept.push((lines, simhash));
        }
        edits
    }

    fn changed_repeat(&self, earlier: &Range<usize>, later: &Range<usize>) -> Option<Edit> {
        let delta = delta(self.text(earlier), self.text(later))?;
        let fold = Fold::new("semanticDedup", self.reference(earlier, true)?.to_string(), Some(delta));
        let edit = Edit::fold(self.lines.range(later), &fold);
        (edit.text.len() < edit.range.len()).then_some(edit)
    }

    fn spaced_repeat(&self, earlier: &Range<usize>, later: &Range<usize>) -> Option<Edit> {
        if self.context.preset == Preset::Lossless {
            return None;
        }
        let reference = self.reference(earlier, false)?;
        let (first, last) = (later.start + 1, later.end);
        let note = format!(
            "[… {} lines {first}-{last} but for spaces like those above from \"{}\"]",
            later.len(),
            reference.quote
        );
        Some(Edit::note(self.lines.range(later), note))
    }

    /// Paragraphs, and fences with all that is in them.
    fn passages(&self) -> Vec<Range<usize>> {
        let (mut passages, mut start, mut fence) = (Vec::new(), None, None);
        for (index, line) in self.all_lines().enumerate() {
            let line = line.trim();
            let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
            let ends_fence = fence.is_some() && mark == fence;
            let starts_fence = fence.is_none() && mark.is_some();
            if fence.is_none()
                && (line.is_empty() || starts_fence)
                && let Some(start) = start.take()
            {
                passages.push(start..index);
            }
            if starts_fence {
                (start, fence) = (Some(index), mark);
            } else if ends_fence {
                passages.extend(start.take().map(|start| start..index + 1));
                fence = None;
            } else if !line.is_empty() {
                start = start.or(Some(index));
            }
        }
        passages.extend(start.map(|start| start..self.lines.len()));
        passages
    }
}

fn key(simhash: u64, band: usize) -> (usize, u16) {
    (band, (simhash >> (16 * band)) as u16)
}

/// A hash of the words of a passage, and the simhash of its shingles of three words. Characters of scripts without spaces are
/// words of their own.
fn fingerprints(text: &str) -> (u64, u64) {
    let mut words: Vec<u64> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let spaceless =
                |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}');
            let len = if spaceless(first) { first.len_utf8() } else { rest.find(spaceless).unwrap_or(rest.len()) };
            words.push(xxh3_64(&rest.as_bytes()[..len]));
            rest = &rest[len..];
        }
    }
    let mut all = Xxh3::new();
    text.split_whitespace().for_each(|word| {
        all.update(word.as_bytes());
        all.update(&[0]);
    });
    let mut votes = [0i32; 64];
    for shingle in words.windows(3) {
        let bytes: Vec<u8> = shingle.iter().flat_map(|word| word.to_le_bytes()).collect();
        let hash = xxh3_64(&bytes);
        votes.iter_mut().enumerate().for_each(|(bit, vote)| *vote += if hash >> bit & 1 == 1 { 1 } else { -1 });
    }
    let simhash = votes.iter().enumerate().fold(0, |hash, (bit, &vote)| hash | u64::from(vote > 0) << bit);
    (all.digest(), simhash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Encoding;
    use crate::content::{Hints, Segment};
    use crate::pipeline::Role;

    fn edits(text: &str, preset: Preset) -> Vec<Edit> {
        let content_type = ContentType::Text;
        let context = FusionContext {
            text,
            content_type,
            language: None,
            segments: &[Segment { range: 0..text.len(), content_type, language: None }],
            sealed: &[],
            role: Role::Tool,
            hints: &Hints::default(),
            original_len: text.len(),
            preset,
            encoding: Encoding::O200kBase,
            max_tokens: None,
        };
        assert!(SemanticDedup.should_apply(&context));
        SemanticDedup.apply(&context)
    }

    /// The only edit of a text, undone.
    fn folded(text: &str) -> Fold {
        let edits = edits(text, Preset::Lossless);
        assert_eq!(edits.len(), 1, "{edits:#?}");
        let (fold, _) = crate::pipeline::fold::parse(&edits[0].text).unwrap();
        let mut before = Prior::of(&text[..edits[0].range.start]);
        let undone = SemanticDedup.unfold_after(&fold, &mut before).unwrap();
        assert_eq!(undone, text[edits[0].range.clone()]);
        assert!(SemanticDedup.is_canonical(&fold, &undone, &mut before));
        fold
    }

    fn manual(section: &str) -> String {
        let steps =
            (1..30).map(|n| format!("{n}. In step {n} of {section}, turn knob {} until the lamp is on.\n", n * 7));
        format!("## {section}\n\nFollow the steps below with care, one after the other.\n{}", steps.collect::<String>())
    }

    #[test]
    fn a_passage_that_comes_again_refers_to_the_first() {
        let text = format!("# Manual\n\n{}\nSomething else.\n\n{}", manual("Setup"), manual("Setup"));
        let fold = folded(&text);
        assert_eq!((fold.legend.as_str(), fold.body), ("repeats 32 lines above; line 1: \"## Setup\"", None));
    }

    #[test]
    fn the_reference_quotes_a_line_that_stands_nowhere_before() {
        let fence = format!(
            "```sh\n{}```\n",
            (1..12).map(|n| format!("run --step {n} --wait {}\n", n * 3)).collect::<String>()
        );
        let text = format!(
            "```sh\nls\n```\n\n{fence}\nAnd again, after a while, the very same commands:\n\n{fence}{}",
            "x\n".repeat(9)
        );
        assert_eq!(folded(&text).legend, "repeats 13 lines above; line 2: \"run --step 1 --wait 3\"");
    }

    #[test]
    fn a_near_repeat_lists_every_differing_line() {
        let long = manual("Setup") + &manual("Use").replace("## Use\n\n", "");
        let first = long.replace("\n\n", "\n");
        let second = first.replace("knob 49 until", "knob 50 until");
        let (fold, text) = (|text: &str| edits(text, Preset::Lossless), format!("{first}\nother\n\n{second}"));
        let edits = fold(&text);
        let shown: Vec<&str> = edits.iter().map(|edit| edit.text.as_str()).collect();
        // As exact runs around the changed line, or as one passage with its change: the new line is in sight either way.
        let mut seen = text.clone();
        for edit in edits.iter().rev() {
            seen.replace_range(edit.range.clone(), &edit.text);
        }
        assert!(seen.contains("knob 50 until") && seen.len() < first.len() + 400, "{shown:#?}");
    }

    #[test]
    fn deltas_patch_back() {
        let earlier = "a\nb\nc\nd";
        for later in [
            "a\nb\nc\nd",
            "a\nX\nc\nd",
            "b\nc\nd",
            "a\nb\nc\nd\ne\nf",
            "new\na\nb\nc\nd",
            "",
            "a\n\n+b\n@c",
            "d\nc\nb\na",
        ] {
            match delta(earlier, later) {
                Some(delta) => assert_eq!(patch(earlier, &delta).as_deref(), Some(later)),
                None => assert_eq!(earlier, later),
            }
        }
        for foreign in ["@9,1", "@1,9", "@2,1\n+x\n@1,1", "x", "@0,1", "@1"] {
            assert_eq!(patch(earlier, foreign), None, "{foreign}");
        }
    }

    #[test]
    fn spaces_alone_are_a_reversible_repeat() {
        let first = "Some words that stand here in three lines,\nso that they are a passage worth to be looked at twice,\nand then some more words to make it long enough for that, indeed.\n";
        let second = first.replace(", ", ",  ").replace("\n", " \n");
        let text = format!("{first}\n{}\n{second}", (0..30).map(|n| format!("filler {n}\n")).collect::<String>());
        assert_eq!(edits(&text, Preset::Lossless), []);
        let edits = edits(&text, Preset::Balanced);
        assert_eq!(edits.len(), 1, "{edits:?}");
        assert!(
            edits[0].text.starts_with("[… 3 lines 36-38 but for spaces like those above from \"Some words that"),
            "{}",
            edits[0].text
        );
    }

    #[test]
    fn simhashes_of_near_passages_are_near_in_any_script() {
        for (text, word, other) in [
            (manual("Setup").repeat(3), "knob 49", "knob 50"),
            (
                "同じ段落がもう一度現れるとき、参照で置き換えられる。設定を確認してください。".repeat(9) + "終わり",
                "終わり",
                "終了",
            ),
        ] {
            let (hash, changed) = (fingerprints(&text).1, fingerprints(&text.replacen(word, other, 1)).1);
            assert!((hash ^ changed).count_ones() <= HAMMING_MAX, "{word}");
            assert!((hash ^ fingerprints("something else altogether, with words of its own").1).count_ones() > 10);
        }
    }

    #[test]
    fn foreign_references_do_not_resolve() {
        let mut before = Prior::of("one\ntwo\nthree\n");
        for legend in [
            "repeats 2 lines above; line 1: \"four\"",
            "repeats 9 lines above; line 1: \"one\"",
            "repeats 0 lines above; line 0: \"one\"",
            "repeats 3 lines above; line 3: \"two\"",
            "repeats 02 lines above; line 1: \"one\"",
            "repeats 1 lines above; line 1: \"one\"",
            "",
        ] {
            assert_eq!(
                SemanticDedup.unfold_after(&Fold::new("semanticDedup", legend, None), &mut before),
                None,
                "{legend}"
            );
        }
    }
}
