//! The segments of a text -> its segments after edits.
//!
//! A segment keeps its type if an edit changes only a part of it. A replacement of whole segments, or a sealed
//! replacement of whole lines, becomes a segment of unknown type, so that later stages can still use the lines around
//! it.

use super::Edit;
use crate::content::{ContentType, Segment};

/// Maps the segments of `before` to the segments of `after`, which is `before` with the edits applied.
pub(super) fn map_segments(segments: &[Segment], edits: &[Edit], before: &str, after: &str) -> Vec<Segment> {
    let mut pieces = Pieces { segments: Vec::new(), end: 0 };
    let mut edits = edits.iter().peekable();
    let mut at = 0;
    for (index, segment) in segments.iter().enumerate() {
        let kind = Some((index, segment));
        at = at.max(segment.range.start);
        while let Some(edit) = edits.next_if(|edit| edit.range.start < segment.range.end) {
            pieces.push(kind, edit.range.start.saturating_sub(at));
            let inside = segment.range.start <= edit.range.start
                && edit.range.end <= segment.range.end
                && edit.range != segment.range
                && !(edit.sealed && super::edits::is_whole_lines(before, &edit.range));
            pieces.push(kind.filter(|_| inside), edit.text.len());
            at = at.max(edit.range.end);
        }
        pieces.push(kind, segment.range.end.saturating_sub(at));
        at = at.max(segment.range.end);
    }
    let last = segments.last().map(|segment| (segments.len() - 1, segment));
    edits.for_each(|edit| pieces.push(last, edit.text.len()));
    pieces.at_line_starts(after)
}

struct Pieces {
    segments: Vec<(Option<usize>, Segment)>,
    end: usize,
}

impl Pieces {
    fn push(&mut self, kind: Option<(usize, &Segment)>, len: usize) {
        if len == 0 {
            return;
        }
        let (start, index) = (self.end, kind.map(|(index, _)| index));
        self.end += len;
        match self.segments.last_mut() {
            Some((last, segment)) if *last == index => segment.range.end = self.end,
            _ => {
                let unknown = (ContentType::Unknown, None);
                let (content_type, language) =
                    kind.map_or(unknown, |(_, segment)| (segment.content_type, segment.language));
                self.segments.push((index, Segment { range: start..self.end, content_type, language }));
            }
        }
    }

    /// Moves the line end after a fold into the fold's segment. A fold's range excludes its last line end, which would
    /// otherwise start the next segment.
    fn at_line_starts(self, text: &str) -> Vec<Segment> {
        let bytes = text.as_bytes();
        let mut segments: Vec<Segment> = Vec::with_capacity(self.segments.len());
        for (_, mut segment) in self.segments {
            if let Some(last) = segments.last_mut() {
                let start = segment.range.start;
                if bytes[start] == b'\n' && bytes[start - 1] != b'\n' {
                    segment.range.start += 1;
                    last.range.end += 1;
                }
            }
            if !segment.range.is_empty() {
                segments.push(segment);
            }
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn kinds(edits: &[Edit]) -> Vec<(Range<usize>, ContentType)> {
        use ContentType::{Code, Log, Text};
        let before = "text line\nsome code\nlog lines\n";
        let segment = |range, content_type| Segment { range, content_type, language: None };
        let segments = [segment(0..10, Text), segment(10..20, Code), segment(20..30, Log)];
        let mut after = before.to_owned();
        edits.iter().rev().for_each(|edit| after.replace_range(edit.range.clone(), &edit.text));
        let mapped = map_segments(&segments, edits, before, &after);
        assert_eq!(mapped.last().map(|segment| segment.range.end), Some(after.len()));
        mapped.into_iter().map(|segment| (segment.range, segment.content_type)).collect()
    }

    #[test]
    fn segments_keep_their_type_unless_they_are_replaced() {
        use ContentType::{Code, Log, Text, Unknown};
        assert_eq!(kinds(&[]), [(0..10, Text), (10..20, Code), (20..30, Log)]);
        assert_eq!(kinds(&[Edit::reversible(12..15, "")]), [(0..10, Text), (10..17, Code), (17..27, Log)]);
        assert_eq!(kinds(&[Edit::note(10..20, "xx")]), [(0..10, Text), (10..12, Unknown), (12..22, Log)]);
        assert_eq!(kinds(&[Edit::note(5..25, "x")]), [(0..5, Text), (5..6, Unknown), (6..11, Log)]);
        assert_eq!(kinds(&[Edit::reversible(30..30, "x")]), [(0..10, Text), (10..20, Code), (20..31, Log)]);
        assert_eq!(
            kinds(&[Edit::reversible(10..10, "x"), Edit::reversible(20..20, "y")]),
            [(0..10, Text), (10..21, Code), (21..32, Log)]
        );
    }

    #[test]
    fn sealed_lines_stand_alone_with_their_line_end() {
        use ContentType::{Code, Log, Text, Unknown};
        assert_eq!(kinds(&[Edit::note(10..19, "xx")]), [(0..10, Text), (10..13, Unknown), (13..23, Log)]);
        assert_eq!(kinds(&[Edit::note(0..9, "xx")]), [(0..3, Unknown), (3..13, Code), (13..23, Log)]);
        assert_eq!(kinds(&[Edit::note(12..15, "x")]), [(0..10, Text), (10..18, Code), (18..28, Log)]);
    }
}
