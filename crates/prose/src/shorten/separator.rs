//! What stands between two words, what it means to the words around it, and what becomes of two separators when the
//! words between them go.

use std::borrow::Cow;

/// How much two words are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    Blank,
    /// A line end inside a sentence.
    Wrap,
    /// A comma, a bracket, a dash.
    Clause,
    Sentence,
}

/// Blanks and punctuation between two words.
#[derive(Debug)]
pub(crate) struct Separator<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Depends on the word before it, too.
    pub(crate) kind: Break,
}

impl<'a> Separator<'a> {
    /// The separator behind a word; without one it begins a sentence.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, before: Option<&str>) -> Self {
        let text = text.into();
        let kind = before.map_or(Break::Sentence, |before| kind(&text, before));
        Self { text, kind }
    }

    /// Whether a phrase may begin behind it.
    pub(crate) fn opens(&self) -> bool {
        self.text.bytes().next_back().is_none_or(|byte| byte.is_ascii_whitespace() || byte == b'(')
    }

    /// Whether a phrase may end before it.
    pub(crate) fn closes(&self) -> bool {
        self.text.bytes().next().is_none_or(|byte| byte.is_ascii_whitespace() || b".,;:!?)".contains(&byte))
    }

    pub(super) fn has_line_end(&self) -> bool {
        self.kind != Break::Blank && self.text.contains('\n')
    }

    /// Whether a word before it would be the key of a setting, were it alone on its line.
    pub(super) fn sets(&self) -> bool {
        self.text.trim_start_matches([' ', '\t', '.']).starts_with([':', '='])
    }
}

/// Where two separators meet.
#[derive(Clone, Copy)]
pub(super) struct Joint {
    /// No word stands before it on its line.
    pub(super) begins_line: bool,
    /// The words that go begin a sentence.
    pub(super) begins_sentence: bool,
    /// No word follows.
    pub(super) is_end: bool,
}

/// What stands between the words around a place where words go; `None` when they had better stay.
pub(super) fn joined<'a>(left: &Cow<'a, str>, right: &Cow<'a, str>, joint: Joint) -> Option<Cow<'a, str>> {
    let Joint { begins_line, begins_sentence, is_end } = joint;
    let rest = right.trim_start_matches(['.', ',', ';', ':', '!', '?', ')', ' ', '\t', '\r']);
    if begins_line && (rest.starts_with('\n') || rest.is_empty() && is_end) {
        return None;
    }
    if is_blank(right) && !is_end {
        return Some(left.clone());
    }
    if is_blank(left) && !begins_line {
        let joined = right.trim_start_matches([' ', '\t']);
        let closes = joined.is_empty() || joined.starts_with(['.', ',', ';', ':', '!', '?', ')', '\n', '\r']);
        return Some(if closes { without_start(right, right.len() - joined.len()) } else { right.clone() });
    }
    let right_blank = |prefix: char| right.strip_prefix(prefix).is_some_and(is_blank);
    if begins_sentence && (right_blank(',') || right_blank('!') || right_blank('.')) && !is_end {
        return Some(left.clone());
    }
    if left == ", " {
        return if right_blank(',') {
            Some(" ".into())
        } else if right.starts_with(['.', ';', ':', '!', '?', ')', '\n']) || is_end && right.is_empty() {
            Some(right.clone())
        } else {
            None
        };
    }
    // `Done. Thanks!`: the stop before stays, the one behind goes.
    let stop = left.trim_end_matches(' ');
    let behind = right.trim_start_matches(['.', '!', ',']);
    let ends_line = behind.starts_with(['\n', '\r']) || behind.is_empty() && is_end;
    (matches!(stop, "." | "!" | "?") && ends_line && right.len() - behind.len() <= 1)
        .then(|| Cow::Owned(stop.to_owned() + behind))
}

fn without_start<'a>(separator: &Cow<'a, str>, at: usize) -> Cow<'a, str> {
    match separator {
        Cow::Borrowed(separator) => Cow::Borrowed(&separator[at..]),
        Cow::Owned(separator) => Cow::Owned(separator[at..].to_owned()),
    }
}

fn is_blank(separator: &str) -> bool {
    !separator.is_empty() && separator.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn kind(separator: &str, before: &str) -> Break {
    if separator == " " {
        return Break::Blank;
    }
    let mut kind = if separator.is_empty() { Break::Clause } else { Break::Blank };
    let mut has_line_end = false;
    let mut has_stop = false;
    for byte in separator.bytes() {
        match byte {
            b' ' | b'\t' | b'\r' => {
                if has_stop {
                    return Break::Sentence;
                }
            }
            b'\n' => {
                if has_stop {
                    return Break::Sentence;
                }
                has_line_end = true;
                kind = if kind == Break::Blank { Break::Wrap } else { kind };
            }
            // A mark at the start of a line begins a list item.
            _ if has_line_end => return Break::Sentence,
            b'!' | b'?' => has_stop = true,
            b'.' if !matches!(before, "e.g" | "i.e" | "etc" | "vs" | "cf") => has_stop = true,
            b')' | b'"' | b'\'' | b'*' if has_stop => {}
            _ => kind = Break::Clause,
        }
    }
    if has_stop { Break::Sentence } else { kind }
}
