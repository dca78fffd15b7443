//! `\x1b[32mok\x1b[0m` -> `§ok¶` with `§=\e[32m ¶=\e[0m`: replaces the few colours of a text by names.
//!
//! This is lossless. A name is a rare character that does not occur in the text, so restoring needs no escaping.

use std::collections::HashMap;
use std::ops::Range;

use concertina_format::photon::{ESCAPE, NAMED_MAX_BYTES, NAMES};

use crate::config::Encoding;
use crate::content::escapes::{Control, control};
use crate::content::{ContentType, Segment};
use crate::pipeline::fold::Fold;
use crate::pipeline::measure::saving;
use crate::pipeline::{Edit, FusionContext, lines};
use crate::tokens;

/// The name of the stage that writes these folds.
pub(crate) const NAME: &str = "photon";

/// The tokens of a legend entry, besides the sequence that it names.
const ENTRY_TOKENS: usize = 3;

/// Returns the folds of a text. Each covers the lines from the first to the last colour between sealed ranges. Logs are
/// excluded, and so are lines of which codecs can save more, because a fold is sealed and would leave nothing for them.
pub(super) fn folds(context: &FusionContext) -> Vec<Edit> {
    let mut edits = Vec::new();
    let may_fold = |segment: &Segment| segment.content_type != ContentType::Log && context.is_free(&segment.range);
    for range in context.runs(may_fold) {
        let text = &context.text[range.clone()];
        let (Some(first), Some(last)) = (text.find('\x1b'), text.rfind('\x1b')) else { continue };
        let start = text[..first].rfind('\n').map_or(0, |end| end + 1);
        let end = text[last..].find('\n').map_or(text.len(), |len| last + len);
        let lines = range.start + start..range.start + end;
        let Some(fold) = fold(&text[start..end], context.encoding) else { continue };
        let edit = Edit::fold(lines.clone(), &fold);
        let saved = |edit: &Edit| saving(context.text, edit, context.encoding);
        if saved(&edit) >= lines::worthy_edits(context, NAME, lines, lines::WORTH).iter().map(saved).sum() {
            edits.push(edit);
        }
    }
    edits
}

fn fold(text: &str, encoding: Encoding) -> Option<Fold> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    sequences(text).for_each(|range| *times.entry(&text[range]).or_default() += 1);
    let gain = |sequence: &str, times: usize| {
        let cost = tokens::count(sequence, encoding);
        (times * cost.saturating_sub(1)).saturating_sub(cost + ENTRY_TOKENS)
    };
    let mut worth: Vec<(usize, &str)> =
        times.into_iter().map(|(sequence, times)| (gain(sequence, times), sequence)).collect();
    worth.retain(|(gain, _)| *gain > 0);
    worth.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let names = NAMES.into_iter().filter(|&name| !text.contains(name));
    let named: Vec<(&str, char)> = worth.into_iter().map(|(_, sequence)| sequence).zip(names).collect();
    if named.is_empty() {
        return None;
    }
    let name_of: HashMap<&str, char> = named.iter().copied().collect();
    let mut body = String::with_capacity(text.len());
    let mut copied = 0;
    for range in sequences(text) {
        if let Some(&name) = name_of.get(&text[range.clone()]) {
            body.push_str(&text[copied..range.start]);
            body.push(name);
            copied = range.end;
        }
    }
    body.push_str(&text[copied..]);
    let legend: Vec<String> =
        named.iter().map(|(sequence, name)| format!("{name}={}", sequence.replace('\x1b', ESCAPE))).collect();
    Some(Fold::new(NAME, legend.join(" "), Some(body)))
}

/// Returns the ranges of adjacent control sequences that can be written in a legend.
fn sequences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'\x1b', &bytes[at..])?;
            let mut end = start;
            while let Some((_, len)) = control(&bytes[end..]).filter(|(_, len)| end + len - start <= NAMED_MAX_BYTES) {
                if !bytes[end + 1..end + len].iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\') {
                    break;
                }
                end += len;
            }
            at = end.max(start + 1);
            if end > start {
                return Some(start..end);
            }
        }
    })
}

/// Returns true if a part of a line is red or green.
pub(super) fn has_red_or_green(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'\x1b', bytes).any(|at| match control(&bytes[at..]) {
        Some((Control::Colour, len)) => {
            let mut parameters = bytes[at + 2..at + len - 1].split(|byte| *byte == b';');
            parameters.any(|parameter| matches!(parameter, b"31" | b"32" | b"91" | b"92"))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use concertina_format::photon::unfold;

    use super::*;

    #[test]
    fn frequent_colours_get_names_and_come_back() {
        let text = "\x1b[1m\x1b[32mok\x1b[0m one\x1b]0;a title\x07\r\n".repeat(9) + "a \\e[0m b 100%\x1b[K\rend";
        let folded = fold(&text, Encoding::O200kBase).unwrap();
        assert_eq!(folded.legend, "§=\\e[1m\\e[32m ¶=\\e[0m");
        assert!(folded.body.as_ref().unwrap().starts_with("§ok¶ one\x1b]0;"), "{folded}");
        assert_eq!(unfold(&folded).as_deref(), Some(text.as_str()));
        assert_eq!(fold("\x1b[32mok\x1b[0m\n", Encoding::O200kBase), None);
    }

    #[test]
    fn a_name_that_the_text_holds_is_not_used() {
        let text = "\x1b[1;32mok\x1b[0m § 1\n".repeat(9);
        let folded = fold(&text, Encoding::O200kBase).unwrap();
        assert!(folded.legend.starts_with("¶="), "{folded}");
        assert_eq!(unfold(&folded).as_deref(), Some(text.as_str()));
    }

    #[test]
    fn foreign_legends_are_not_followed() {
        for legend in ["", "x=\\e[0m", "§", "§=a §=b", "§§=a", &format!("§={}", "a".repeat(500))] {
            assert_eq!(unfold(&Fold::new(NAME, legend, Some("§".into()))), None, "{legend}");
        }
    }
}
