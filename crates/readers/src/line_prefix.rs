//! Line prefixes that name who printed a line, or when: `web-1  | `, `[1/3] `, `stdout: `, `> `.

use super::lines::head;
use super::log::level;
use super::time_stamp::Stamp;

/// The maximum length of a prefix, in bytes.
const REACH: usize = 160;
/// The maximum length of a name in a prefix, in bytes.
const MAX_NAME: usize = 80;

/// A form of prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `web-1  | `, as `docker compose` prints it.
    Bar,
    /// `[1/3] `, `[pod/web-1/app] `.
    Tag,
    /// `stdout: `, `web-1: `.
    Label,
    /// `> `, `>> `, `| `, `│ `.
    Quote,
    /// `#7 0.123 `, as an image build prints it.
    Step,
    /// `web-7f9c-x2 app `: a pod and optionally its container.
    Pod,
    /// `2026-11-22T10:00:00Z `, `2026-11-22T10:00:00Z stdout F `, before a value or another prefix.
    Stamp,
}

/// All forms, in the order in which they are tried.
pub(crate) const FORMS: &[Form] = &[Form::Bar, Form::Tag, Form::Label, Form::Quote, Form::Step, Form::Stamp, Form::Pod];

impl Form {
    /// Returns the name in the prefix of a line, and the end of the prefix.
    pub(crate) fn parse(self, line: &str) -> Option<(&str, usize)> {
        let searched = head(line, REACH);
        let (name, end) = match self {
            Self::Bar => {
                let at = searched.find(" | ").map(|at| (at, at + 3)).or_else(|| {
                    searched
                        .strip_suffix(" |")
                        .filter(|_| searched.len() == line.len())
                        .map(|name| (name.len(), line.len()))
                })?;
                (searched[..at.0].trim_end(), at.1)
            }
            Self::Tag => {
                let inner = searched.strip_prefix('[')?;
                let at = inner.find(']')?;
                let rest = &inner[at + 1..];
                let end = 1 + at + 1 + if rest.is_empty() { 0 } else { rest.strip_prefix(' ').map(|_| 1)? };
                let is_told = level(&searched[..at + 2]).is_some()
                    || Stamp::find(searched).is_some_and(|stamp| stamp.range.start <= at);
                (&inner[..at], (!is_told).then_some(end)?)
            }
            Self::Label => {
                let at = searched.find(':')?;
                let rest = &searched[at + 1..];
                let end = at + 1 + if rest.is_empty() { 0 } else { rest.strip_prefix(' ').map(|_| 1)? };
                (&searched[..at], end)
            }
            Self::Quote => {
                let mark = ["> ", ">> ", "| ", "│ ", "┃ "]
                    .iter()
                    .find(|mark| searched.starts_with(**mark) || line == mark.trim_end())?;
                return Some(("", mark.len().min(line.len())));
            }
            Self::Step => {
                let number = searched.strip_prefix('#')?;
                let digits = number.bytes().take_while(u8::is_ascii_digit).count();
                let rest = number[digits..].strip_prefix(' ').filter(|_| digits > 0)?;
                let seconds = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
                let has_seconds = rest[..seconds].contains('.') && rest[seconds..].starts_with(' ');
                return Some(("", digits + 2 + if has_seconds { seconds + 1 } else { 0 }));
            }
            Self::Pod => {
                let at = searched.find(' ')?;
                let pod = &searched[..at];
                let rest = &searched[at + 1..];
                let second = rest
                    .find(' ')
                    .filter(|&end| is_name(&rest[..end]) && rest[..end].starts_with(|c: char| c.is_ascii_lowercase()));
                let is_pod = pod.contains('-') && pod.bytes().any(|byte| byte.is_ascii_digit());
                (
                    is_pod.then_some(pod)?,
                    at + 1 + second.filter(|_| !rest.starts_with(['{', '['])).map_or(0, |end| end + 1),
                )
            }
            Self::Stamp => {
                let stamp = Stamp::find(searched).filter(|stamp| stamp.range.start <= 1)?;
                let mut end = stamp.range.end + usize::from(line[stamp.range.end..].starts_with([']', ')', ',']));
                for stream in [" stdout F", " stderr F", " stdout P", " stderr P"] {
                    end += if line[end..].starts_with(stream) { stream.len() } else { 0 };
                }
                return line[end..].starts_with([' ', '\t']).then_some(("", end + 1));
            }
        };
        is_name(name).then_some((name, end))
    }

    /// Returns the maximum number of different names in prefixes of this form on `lines` lines.
    pub(crate) fn names(self, lines: usize) -> usize {
        match self {
            // In settings, `key: value`, there are as many keys as lines.
            Self::Label | Self::Pod | Self::Bar => (lines / 3).clamp(1, 12),
            _ => lines,
        }
    }
}

/// Returns true if a word names a program, a container or a step.
fn is_name(word: &str) -> bool {
    (1..=MAX_NAME).contains(&word.len())
        && word.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'%' | b'@' | b'#')
        })
}

/// A prefix that nearly all lines of a text have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// The form of the prefix.
    pub(crate) form: Form,
    /// The number of further blanks after the prefix that all lines have.
    pub(crate) blanks: usize,
}

impl Prefix {
    /// Returns true if the prefix is a time stamp.
    pub(crate) fn is_stamp(self) -> bool {
        self.form == Form::Stamp
    }

    /// Returns true if the prefix is a name and a bar.
    pub(crate) fn is_bar(self) -> bool {
        self.form == Form::Bar
    }

    /// Returns the end of the prefix in a line; 0 if the line has none.
    pub(crate) fn end(self, line: &str) -> usize {
        self.form.parse(line).map_or(0, |(_, end)| end + blanks(&line[end..]).min(self.blanks))
    }
}

/// Returns the number of blanks at the start of a line.
pub(crate) fn blanks(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ' || *byte == b'\t').count()
}
