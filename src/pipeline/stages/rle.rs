//! `the same again and again` -> the line once and a count: folds plain text of which next to nothing is left.
//!
//! The folds are lossless, use the notation of [`lines`] and compete with the other codecs. Lines that differ in more
//! than their numbers are left to those codecs.

use crate::content::ContentType;
use crate::pipeline::restore::before_marker;
use crate::pipeline::{Edit, FusionContext, Stage, lines};

/// The minimum length of a text in bytes. A fold of less text cannot pay for its header.
const MIN_BYTES: usize = 120;

/// The most tokens that a fold may leave, in percent of the text, and the fewest tokens that it has to save.
const WORTH: (usize, usize) = (25, 1);

/// The stage `rle`.
#[derive(Debug)]
pub(super) struct Rle;

impl Stage for Rle {
    fn name(&self) -> &'static str {
        "rle"
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Text, ContentType::Unknown]
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= MIN_BYTES && context.has(self.content_types())
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = Vec::new();
        let end = before_marker(context.text);
        for segment in context.segments.iter().filter(|segment| self.content_types().contains(&segment.content_type)) {
            let text = context.text.get(segment.range.start..segment.range.end.min(end)).unwrap_or_default();
            let text = text.strip_suffix('\n').unwrap_or(text);
            if text.len() >= MIN_BYTES && context.is_free(&segment.range) && goes_on(text) {
                let part = segment.range.start..segment.range.start + text.len();
                edits.extend(lines::worthy_edits(context, self.name(), part, WORTH));
            }
        }
        edits
    }
}

/// Returns true if at least three quarters of the lines equal the line above up to the first digit. This is a cheap
/// check before a fold is planned.
fn goes_on(text: &str) -> bool {
    let start = |line: &str| line.bytes().position(|byte| byte.is_ascii_digit()).unwrap_or(line.len());
    let (mut pairs, mut alike, mut above) = (0, 0, None);
    for line in text.split('\n') {
        let start = &line[..start(line)];
        pairs += 1;
        alike += usize::from(above.replace(start) == Some(start));
    }
    alike * 4 >= pairs * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Segment;
    use crate::pipeline::fold;

    fn edits(text: &str) -> Vec<Edit> {
        let segments = [Segment::whole(text, ContentType::Text, None)];
        Rle.apply(&FusionContext::of(text, &segments))
    }

    #[test]
    fn what_repeats_or_counts_is_said_once_and_comes_back() {
        let same = "the very same line as above and below\n".repeat(30);
        let count: String = (0..40).map(|n| format!("module {n:02} of 40 was built\n")).collect();
        for text in [&same, &count] {
            let edits = edits(text);
            assert_eq!(edits.len(), 1);
            let (fold, len) = fold::parse(&edits[0].text).expect("a fold");
            assert_eq!(len, edits[0].text.len());
            assert_eq!(concertina_format::unfold(&fold).as_deref(), text.strip_suffix('\n'));
        }
    }

    #[test]
    fn the_line_that_leads_to_the_original_ends_the_text() {
        let count: String = (0..40).map(|n| format!("module {n:02} of 40 was built\n")).collect();
        let text = format!("{count}[[REWIND:sha256:0b398f916f2672c1]] original: 40 lines");
        let edits = edits(&text);
        assert_eq!(edits.len(), 1);
        assert_eq!(edits[0].range, 0..count.len() - 1);
    }

    #[test]
    fn what_only_looks_alike_is_for_the_stages_behind() {
        let text: String = (0..40).map(|n| format!("{} stands here for {n}\n", "abcdefgh".repeat(n % 5 + 1))).collect();
        assert_eq!(edits(&text), []);
        assert_eq!(edits("short\nshort\nshort\n"), []);
    }
}
