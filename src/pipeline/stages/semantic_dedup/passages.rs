//! A text cut into lines and passages, and the edits for those that repeat.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::NAME;
use super::reference::{Reference, delta};
use super::simhash::{HAMMING_MAX, fingerprints, key};
use crate::config::Preset;
use crate::content::html::is_page;
use crate::content::{ContentType, Segment};
use crate::pipeline::fold::Fold;
use crate::pipeline::hashing::{FastMap, FastSet};
use crate::pipeline::repeats::Lines;
use crate::pipeline::restore::quote;
use crate::pipeline::{Edit, FusionContext};

/// Near repeats are looked for among passages of at least this many bytes, however many lines they are.
const PASSAGE_MIN_BYTES: usize = 160;

/// How many earlier passages with a common band a passage is compared with.
const CANDIDATES_MAX: usize = 8;

/// The lines of a text, and which of them may be quoted.
pub(super) struct Passages<'a> {
    context: &'a FusionContext<'a>,
    lines: Lines<'a>,
    /// For each line, whether no earlier one has its quote.
    is_first: Vec<bool>,
    /// For each line, whether it may be replaced.
    is_free: Vec<bool>,
}

/// The segments where a later stage does better: logs, whose lines repeat as templates, and pages whose markup goes anyhow, so
/// that repeated tags are no repeat to a reader.
fn left_alone(context: &FusionContext) -> Vec<Range<usize>> {
    let is_left_alone = |segment: &&Segment| match segment.content_type {
        ContentType::Log => true,
        ContentType::Html if context.preset != Preset::Lossless => {
            is_page(&context.text[segment.range.clone()], context.hints)
        }
        _ => false,
    };
    context.segments.iter().filter(is_left_alone).map(|segment| segment.range.clone()).collect()
}

impl<'a> Passages<'a> {
    pub(super) fn new(context: &'a FusionContext<'a>) -> Self {
        let mut lines = Lines::default();
        let all = lines.add(context.text);
        let mut quotes: FastSet<u64> = FastSet::default();
        let is_first = all.clone().map(|line| {
            let quote = quote(lines.line(line));
            !quote.is_empty() && quotes.insert(xxh3_64(quote.as_bytes()))
        });
        let is_first = is_first.collect();
        let left_alone = left_alone(context);
        let is_free = all.map(|line| {
            // With its line end, so that an empty line inside a fold counts too.
            let range = lines.range(&(line..line + 1));
            let next = left_alone.partition_point(|segment| segment.end <= range.start);
            left_alone.get(next).is_none_or(|segment| range.start < segment.start)
                && context.is_free(&(range.start..(range.end + 1).min(context.text.len())))
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
    pub(super) fn exact(&mut self) -> Vec<(Range<usize>, Edit)> {
        let is_free = &self.is_free;
        let repeats = self.lines.repeats(|line| is_free[line]);
        let mut edits = Vec::new();
        for repeat in repeats {
            let earlier = repeat.earlier..repeat.earlier + repeat.lines.len();
            if let Some(reference) = self.reference(&earlier, false) {
                let fold = Fold::new(NAME, reference.to_string(), None);
                edits.push((repeat.lines.clone(), Edit::fold(self.lines.range(&repeat.lines), &fold)));
            }
        }
        edits
    }

    /// Paragraphs and fences outside the exact repeats against those before them.
    pub(super) fn near(&self, exact: &[(Range<usize>, Edit)]) -> Vec<Edit> {
        let mut gone = exact.iter().map(|(lines, _)| lines).peekable();
        let mut bands: FastMap<(usize, u16), Vec<usize>> = FastMap::default();
        let mut by_words: FastMap<u64, usize> = FastMap::default();
        let mut kept: Vec<(Range<usize>, u64)> = Vec::new();
        let mut edits = Vec::new();
        for lines in self.passages() {
            while gone.next_if(|gone| gone.end <= lines.start).is_some() {}
            let touches_exact = gone.peek().is_some_and(|gone| gone.start < lines.end);
            let too_small = self.lines.range(&lines).len() < PASSAGE_MIN_BYTES;
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
        let fold = Fold::new(NAME, self.reference(earlier, true)?.to_string(), Some(delta));
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
