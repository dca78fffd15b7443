//! The legend of folded hits, for the reader and for the way back.

use super::root::Root;

/// How hits are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Legend<'a> {
    /// Whether there are lines around the hits.
    pub(super) context: bool,
    /// Whether paths stood above their hits, a blank line before each but the first.
    pub(super) headings: bool,
    /// Whether `--` stood where lines do not follow each other, and only there.
    pub(super) gaps: bool,
    pub(super) root: Root<'a>,
}

const PLAIN: &str = "hits by file: line text";
const CONTEXT: &str = "by file: line:hit; line or tab, then context";
const HEADINGS: &str = "; headings";
const GAPS: &str = "; -- at gaps";

/// Who has the root in front, by (hits, context).
const ROOTED: [((bool, bool), &str); 4] = [
    ((true, true), "; paths but ~ below "),
    ((true, false), "; hits below "),
    ((false, true), "; context below "),
    ((false, false), "; ~ below "),
];

impl<'a> Legend<'a> {
    pub(super) fn write(&self) -> String {
        let mut text = String::from(if self.context { CONTEXT } else { PLAIN });
        text.push_str(if self.headings { HEADINGS } else { "" });
        text.push_str(if self.gaps { GAPS } else { "" });
        if !self.root.directory.is_empty() {
            let rooted = ROOTED.iter().find(|(who, _)| *who == (self.root.hits, self.root.context));
            text.push_str(rooted.map_or("", |(_, words)| words));
            text.push_str(self.root.directory);
        }
        text
    }

    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (context, mut rest) = match text.strip_prefix(PLAIN) {
            Some(rest) => (false, rest),
            None => (true, text.strip_prefix(CONTEXT)?),
        };
        let mut take = |words: &str| {
            let taken = rest.strip_prefix(words);
            rest = taken.unwrap_or(rest);
            taken.is_some()
        };
        let (headings, gaps) = (take(HEADINGS), take(GAPS));
        let root = if rest.is_empty() {
            Root::default()
        } else {
            ROOTED.iter().find_map(|&((hits, context), words)| {
                let directory = rest.strip_prefix(words).filter(|directory| !directory.is_empty())?;
                Some(Root { directory, hits, context })
            })?
        };
        Some(Self { context, headings, gaps, root })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_read_back() {
        for context in [false, true] {
            for (headings, gaps) in [(false, false), (true, false), (false, true), (true, true)] {
                for (hits, rooted) in [(false, false), (true, false), (false, true), (true, true)] {
                    for directory in ["", "/a b; ~ below /"] {
                        let root = if directory.is_empty() {
                            Root::default()
                        } else {
                            Root { directory, hits, context: rooted }
                        };
                        let legend = Legend { context, headings, gaps, root };
                        assert_eq!(Legend::read(&legend.write()), Some(legend), "{}", legend.write());
                    }
                }
            }
        }
        assert_eq!(Legend::read("hits by file"), None);
        assert_eq!(Legend::read("hits by file: line text, more"), None);
    }
}
