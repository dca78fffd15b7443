//! The legend of folded search hits, written for the reader and read by the decoder.

use serde_json::Value;

use super::root::Root;
use super::shared::Shared;

/// The form in which hits are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Legend<'a> {
    /// True if there are context lines around the hits.
    pub context: bool,
    /// True if `--` stood wherever line numbers skip, and only there.
    pub gaps: bool,
    /// The text that many hits begin and end with.
    pub shared: Shared,
    /// The directory that some paths begin with.
    pub root: Root<'a>,
}

const PLAIN: &str = "hits by file: line text";
const CONTEXT: &str = "by file: line:hit; line or tab, then context";
const GAPS: &str = "; -- at gaps";
const START: &str = "; …x is ";
const END: &str = "; x… is ";

/// The legend words by whether hits and context lines begin with the root, in this order.
const ROOTED: [((bool, bool), &str); 4] = [
    ((true, true), "; paths but ~ below "),
    ((true, false), "; hits but ~ below "),
    ((false, true), "; context but ~ below "),
    ((false, false), "; ~ below "),
];

impl<'a> Legend<'a> {
    /// Returns the words of the legend.
    pub fn write(&self) -> String {
        let mut text = String::from(if self.context { CONTEXT } else { PLAIN });
        text.push_str(if self.gaps { GAPS } else { "" });
        for (words, part) in [(START, &self.shared.start), (END, &self.shared.end)] {
            if !part.is_empty() {
                text.push_str(words);
                text.push_str(&Value::from(part.as_str()).to_string());
            }
        }
        if !self.root.directory.is_empty() {
            let rooted = ROOTED.iter().find(|(who, _)| *who == (self.root.hits, self.root.context));
            text.push_str(rooted.map_or("", |(_, words)| words));
            text.push_str(self.root.directory);
        }
        text
    }

    /// Reads the words back.
    pub fn read(text: &'a str) -> Option<Self> {
        let (context, mut rest) = match text.strip_prefix(PLAIN) {
            Some(rest) => (false, rest),
            None => (true, text.strip_prefix(CONTEXT)?),
        };
        let after_gaps = rest.strip_prefix(GAPS);
        let gaps = after_gaps.is_some();
        rest = after_gaps.unwrap_or(rest);
        let mut quoted = |words: &str| match rest.strip_prefix(words) {
            Some(text) => {
                let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
                let part = values.next()?.ok()?;
                rest = &text[values.byte_offset()..];
                Some(part)
            }
            None => Some(String::new()),
        };
        let shared = Shared { start: quoted(START)?, end: quoted(END)? };
        let root = if rest.is_empty() {
            Root::default()
        } else {
            ROOTED.iter().find_map(|&((hits, context), words)| {
                let directory = rest.strip_prefix(words).filter(|directory| !directory.is_empty())?;
                Some(Root { directory, hits, context })
            })?
        };
        Some(Self { context, gaps, shared, root })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_read_back() {
        let roots = [("", false, false), ("/a b; ~ below /", true, false), ("/", false, true), ("~/", true, true)];
        let parts = ["", "\t\"(…; x… is \"\"\\"];
        for index in 0..4 * roots.len() * parts.len() * parts.len() {
            let (directory, hits, rooted) = roots[index / 4 % roots.len()];
            let (start, end) = (parts[index / 16 % 2], parts[index / 32]);
            let legend = Legend {
                context: index & 1 > 0,
                gaps: index & 2 > 0,
                shared: Shared { start: start.into(), end: end.into() },
                root: Root { directory, hits, context: rooted },
            };
            assert_eq!(Legend::read(&legend.write()), Some(legend.clone()), "{}", legend.write());
        }
    }

    #[test]
    fn other_legends_are_not_ours() {
        for text in ["", "hits by file", "hits by file: line text, more", "hits by file: line text; …x is \"a"] {
            assert_eq!(Legend::read(text), None, "{text}");
        }
    }
}
