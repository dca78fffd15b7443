//! The text between two words: the break that it makes, and the separator that remains when the words between two
//! separators are removed.

/// The degree to which two words are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    Blank,
    /// A line end inside a sentence.
    Wrap,
    /// A comma, a bracket, a dash.
    Clause,
    Sentence,
}

/// Returns true if a phrase may begin after this text.
pub(crate) fn opens(before: &str) -> bool {
    before.bytes().next_back().is_none_or(|byte| byte.is_ascii_whitespace() || byte == b'(')
}

/// Returns true if a phrase may end before this text.
pub(crate) fn closes(behind: &str) -> bool {
    behind.bytes().next().is_none_or(|byte| byte.is_ascii_whitespace() || b".,;:!?)".contains(&byte))
}

/// The place where two separators meet.
#[derive(Clone, Copy)]
pub(super) struct Joint {
    /// True if no word stands before it on its line.
    pub(super) begins_line: bool,
    /// True if the removed words begin a sentence.
    pub(super) begins_sentence: bool,
    /// True if no word follows.
    pub(super) is_end: bool,
}

/// Returns the separator that replaces two separators and the words between them, or `None` if the words must stay.
pub(super) fn joined(left: &str, right: &str, joint: Joint) -> Option<String> {
    let Joint { begins_line, begins_sentence, is_end } = joint;
    let rest = right.trim_start_matches(['.', ',', ';', ':', '!', '?', ')', ' ', '\t', '\r']);
    if begins_line && (rest.starts_with('\n') || rest.is_empty() && is_end) {
        return None;
    }
    if is_blank(right) && !is_end {
        return Some(left.to_owned());
    }
    if is_blank(left) && !begins_line {
        let joined = right.trim_start_matches([' ', '\t']);
        let closes = joined.is_empty() || joined.starts_with(['.', ',', ';', ':', '!', '?', ')', '\n', '\r']);
        return Some(if closes { joined } else { right }.to_owned());
    }
    let right_blank = |prefix: char| right.strip_prefix(prefix).is_some_and(is_blank);
    if begins_sentence && (right_blank(',') || right_blank('!') || right_blank('.')) && !is_end {
        return Some(left.to_owned());
    }
    if left == ", " {
        let ends = right.starts_with(['.', ';', ':', '!', '?', ')', '\n']) || is_end && right.is_empty();
        return if right_blank(',') { Some(" ".to_owned()) } else { ends.then(|| right.to_owned()) };
    }
    // `Done. Thanks!` keeps the stop before the removed words and loses the one after them.
    let stop = left.trim_end_matches(' ');
    let behind = right.trim_start_matches(['.', '!', ',']);
    let ends_line = behind.starts_with(['\n', '\r']) || behind.is_empty() && is_end;
    (matches!(stop, "." | "!" | "?") && ends_line && right.len() - behind.len() <= 1).then(|| stop.to_owned() + behind)
}

fn is_blank(separator: &str) -> bool {
    !separator.is_empty() && separator.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Returns how far a separator separates the word before it from the next one.
pub(super) fn breaks(separator: &str, before: &str) -> Break {
    if separator == " " {
        return Break::Blank;
    }
    let mut found = if separator.is_empty() { Break::Clause } else { Break::Blank };
    let mut has_line_end = false;
    let mut has_stop = false;
    for byte in separator.bytes() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' if has_stop => return Break::Sentence,
            b' ' | b'\t' | b'\r' => {}
            b'\n' => {
                has_line_end = true;
                found = if found == Break::Blank { Break::Wrap } else { found };
            }
            // A mark at the start of a line begins a list item.
            _ if has_line_end => return Break::Sentence,
            b'!' | b'?' => has_stop = true,
            b'.' if !matches!(before, "e.g" | "i.e" | "etc" | "vs" | "cf") => has_stop = true,
            b')' | b'"' | b'\'' | b'*' if has_stop => {}
            _ => found = Break::Clause,
        }
    }
    if has_stop { Break::Sentence } else { found }
}
