//! Detects prose and Markdown.
//!
//! When the whole text is judged, fenced code belongs to the Markdown around it: a manual that is half examples is
//! still a text.

use std::sync::LazyLock;

use super::code::is_marker;
use super::page::{PageLine, Question};
use crate::lines::head;
use crate::markup_block::{Fence, is_heading, without_list_mark};
use crate::word_set::{WordSet, is_word_byte};

/// Returns the lines outside of fences. A fence that is never closed is kept.
pub(super) fn without_fences<'p, 't>(lines: &[&'p PageLine<'t>]) -> Vec<&'p PageLine<'t>> {
    let mut kept = Vec::with_capacity(lines.len());
    let mut open: Option<(Fence, usize)> = None;
    for &line in lines {
        kept.push(line);
        let Some(fence) = line.fence() else { continue };
        match open {
            None => open = Some((fence, kept.len() - 1)),
            Some((opened, at)) if fence.closes(&opened) => {
                kept.truncate(at);
                open = None;
            }
            Some(_) => {}
        }
    }
    kept
}

/// The class of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A blank line, or the marker of a comment.
    Nothing,
    /// Words.
    Prose,
    /// A whole sentence.
    Sentence,
    /// A heading, list item, quote, table row or rule.
    Markup,
    /// Code, by its endings and operators.
    Code,
    /// Code that ends with a semicolon or a brace.
    Closed,
    /// Anything else.
    Other,
}

impl Class {
    /// Returns the class of a line, by its first 2,000 bytes.
    pub(super) fn of(line: &str) -> Self {
        let line = shown(line);
        if line.is_empty() || is_marker(line) {
            return Self::Nothing;
        }
        let bare = without_list_mark(line);
        if is_prose(bare) {
            if is_sentence(bare) { Self::Sentence } else { Self::Prose }
        } else if bare.len() < line.len() || is_markup(line) {
            Self::Markup
        } else if line.ends_with([';', '{', '}']) {
            Self::Closed
        } else if is_code(line) {
            Self::Code
        } else {
            Self::Other
        }
    }
}

/// Returns the part of a line that is examined.
pub(super) fn shown(line: &str) -> &str {
    head(line, 2000).trim()
}

/// Counts of the lines of a text, by class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// Lines that are neither blank nor the marker of a comment.
    pub(super) lines: usize,
    /// Lines that read as sentences.
    pub(super) prose: usize,
    /// Prose lines that are whole sentences.
    pub(super) sentences: usize,
    /// Headings, list items, quotes, table rows, rules.
    pub(super) markup: usize,
    /// Lines with the endings and operators of code.
    pub(super) code: usize,
    /// Code lines that end with a semicolon or a brace.
    pub(super) closed: usize,
}

impl Shape {
    /// Counts lines. Fences must be removed before.
    pub(super) fn of(classes: impl IntoIterator<Item = Class>) -> Self {
        let mut shape = Self::default();
        for class in classes {
            shape.lines += usize::from(class != Class::Nothing);
            shape.prose += usize::from(matches!(class, Class::Prose | Class::Sentence));
            shape.sentences += usize::from(class == Class::Sentence);
            shape.markup += usize::from(class == Class::Markup);
            shape.code += usize::from(matches!(class, Class::Code | Class::Closed));
            shape.closed += usize::from(class == Class::Closed);
        }
        shape
    }

    /// Returns true if code prevails.
    pub(super) fn is_code(&self) -> bool {
        self.code * 100 >= self.lines * 35 && self.code >= self.prose
    }

    /// Returns true if nearly everything is code, so that the language need not be detected.
    pub(super) fn is_surely_code(&self) -> bool {
        self.lines >= 4 && self.closed * 100 >= self.lines * 40 && self.code * 100 >= self.lines * 75
    }

    /// Returns true if a text describes code: it has whole sentences outside of comments, which programs do not have.
    pub(super) fn is_told(&self) -> bool {
        self.sentences >= 2 && self.sentences * 100 >= self.lines * 4
    }

    /// Returns true if prose prevails, with lists and headings.
    pub(super) fn is_text(&self) -> bool {
        let readable = self.prose + self.markup;
        self.prose > 0 && readable * 100 >= self.lines * 45 && readable > self.code
    }
}

/// Returns true if lines are Markdown: two kinds of its marks (headings, lists, fences, links, emphasis, tables,
/// quotes) or front matter, and more prose than code outside of fences.
pub(super) fn is_markdown(lines: &[&PageLine]) -> bool {
    use Question::{MarkdownEmphasis, MarkdownHeading, MarkdownItem, MarkdownLink, MarkdownQuote, MarkdownRule};
    const MARKS: [Question; 6] =
        [MarkdownHeading, MarkdownItem, MarkdownQuote, MarkdownLink, MarkdownEmphasis, MarkdownRule];
    let (mut total, mut fences, mut counts) = (0usize, 0usize, [0usize; MARKS.len()]);
    let mut open: Option<Fence> = None;
    for line in lines {
        if let Some(fence) = line.fence() {
            open = match open {
                Some(opened) if fence.closes(&opened) => None,
                Some(opened) => Some(opened),
                None => Some(fence),
            };
            fences += 1;
        } else if open.is_none() && !line.is(Question::Blank) {
            total += 1;
            MARKS.iter().zip(&mut counts).for_each(|(mark, count)| *count += usize::from(line.is(*mark)));
        }
    }
    let kinds = counts.iter().filter(|&&count| count > 0).count() + usize::from(fences > 1);
    let marks = counts.iter().sum::<usize>() + fences;
    let is_marked = behind_front_matter(lines).is_some() || kinds >= 2 && marks * 12 >= total;
    let is_readable = || {
        let shape = Shape::of(without_fences(lines).iter().map(|line| line.class()));
        shape.prose + shape.markup > shape.code
    };
    is_marked && (total == 0 || is_readable())
}

/// Returns the lines after the front matter (`---`, some `key: value` lines, `---`), if there is one.
pub(super) fn behind_front_matter<'l, 'p, 't>(lines: &'l [&'p PageLine<'t>]) -> Option<&'l [&'p PageLine<'t>]> {
    let (_, rest) = lines.split_first().filter(|(first, _)| first.text == "---")?;
    let end = rest.iter().take(60).position(|line| line.text == "---")?;
    rest[..end].iter().any(|line| line.text.contains(':')).then(|| &rest[end + 1..])
}

/// Returns true if a line without surrounding blanks is `key: value` or `key = value`.
pub(super) fn is_setting(line: &str) -> bool {
    // `- Hardware: two cards` is an item of prose, because keys are not capitalised.
    let item = line.strip_prefix("- ").filter(|item| !item.starts_with(|c: char| c.is_ascii_uppercase()));
    let bare = item.unwrap_or(line);
    let key = bare
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(*byte, b'_' | b'-' | b'.' | b'/'))
        .count();
    let rest = &bare[key..];
    key > 0 && (rest == ":" || rest.starts_with(": ") || rest.starts_with(" = ") || rest.starts_with('='))
}

fn is_markup(line: &str) -> bool {
    is_heading(line)
        || line.starts_with("> ")
        || line.starts_with('|') && line.ends_with('|')
        || line.starts_with("![")
        || line.starts_with("<!--")
        || line.starts_with("!!! ")
        || line.starts_with(":::")
        || line.starts_with("**")
        || matches!(line, "---" | "***" | "===" | ">")
        || line.starts_with("http")
}

/// Returns true if a line reads as words: mostly letters, or a script without blanks between words.
fn is_prose(line: &str) -> bool {
    if line.ends_with([';', '{', '}', '\\']) {
        return false;
    }
    // At most 2,000 bytes of a line are examined.
    let counted: u32 = line.bytes().map(|byte| SOLID[usize::from(byte)]).sum();
    let (mut solid, symbols, mut wide) = (counted as usize & 0xffff, counted as usize >> 16, 0usize);
    if !line.is_ascii() {
        let visible = || line.chars().filter(|c| !c.is_whitespace());
        (solid, wide) = (visible().count(), visible().filter(|c| !c.is_ascii() && c.is_alphabetic()).count());
    }
    if solid == 0 || symbols * 5 > solid {
        return false;
    }
    if wide * 10 >= solid * 4 {
        return true;
    }
    let (mut words, mut plain) = (0usize, 0usize);
    for word in line.split_whitespace() {
        words += 1;
        plain += usize::from(is_plain(word));
    }
    // `from a import b` is code: a few words that begin as code does and end without a full stop.
    let is_statement = words <= 5 && !line.ends_with(['.', '!', '?', ':', ',']) && starts_as_code(line);
    words >= 3 && plain * 10 >= words * 7 && !is_statement
}

/// The weight of each byte as a visible character (lower 16 bits) and as a symbol of code (upper 16 bits).
static SOLID: [u32; 256] = {
    let mut solid = [1; 256];
    let (blanks, symbols) = (b" \t\n\r\x0b\x0c", b"{}=<>;$\\|&+[]()_\"");
    let mut at = 0;
    while at < symbols.len() {
        if at < blanks.len() {
            solid[blanks[at] as usize] = 0;
        }
        solid[symbols[at] as usize] = 1 + (1 << 16);
        at += 1;
    }
    solid
};

/// Returns true if a word consists of letters, ignoring punctuation around it.
fn is_plain(word: &str) -> bool {
    if word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return true;
    }
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    !bare.is_empty()
        && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '-' | '\u{2019}' | '/'))
        && !word.ends_with('(')
}

/// Returns true if a line of prose begins and ends like a sentence and has at least five words.
fn is_sentence(line: &str) -> bool {
    line.starts_with(char::is_uppercase)
        && line.ends_with(['.', '!', '?', ':'])
        && line.split_whitespace().nth(4).is_some()
}

/// Returns true if a line has the endings or operators of code.
fn is_code(line: &str) -> bool {
    static OPERATORS: LazyLock<WordSet> = LazyLock::new(|| {
        WordSet::of([" = ", "==", "!=", "=>", "->", "::", "&&", "||", "+=", "()", ":=", ".(", "${", "$(", "</"])
    });
    line.ends_with([';', '{', '}', '(', ')', '[', ']', '\\', '&', '|', ',', '='])
        || ["=>", "->", "):", "else:", "try:"].iter().any(|end| line.ends_with(end))
        || line.starts_with(['@', '}', ')', ']', '{', '$', '.', '#', '(', '<', '"', '&'])
        || OPERATORS.are_in(line)
        || starts_as_code(line)
        || is_call(line)
}

fn starts_as_code(line: &str) -> bool {
    let word = line.split([' ', ':', '(', ';']).next().unwrap_or_default();
    CODE_STARTS.contains(&word)
}

#[rustfmt::skip]
const CODE_STARTS: &[&str] = &[
    "import", "from", "return", "if", "else", "elif", "for", "while", "def", "class", "end", "fi", "done", "esac",
    "then", "do", "case", "func", "fn", "let", "var", "const", "val", "package", "use", "using", "require", "include",
    "module", "begin", "BEGIN", "END", "SELECT", "FROM", "WHERE", "AND", "CREATE", "ALTER", "INSERT", "select",
    "where", "local", "echo", "export", "public", "private", "protected", "static", "try", "catch", "switch", "break",
    "continue", "default", "rescue", "ensure", "when", "unless", "yield", "raise", "throw", "assert", "pass", "goto",
    "namespace", "extension", "struct", "enum", "interface", "trait", "impl", "type", "async", "await", "not",
    "elsif",
];

/// Returns true if a line has a word with its bracket: `name(`, `a.b(`.
fn is_call(line: &str) -> bool {
    line.find('(').is_some_and(|at| {
        let before = &line.as_bytes()[..at];
        before.last().is_some_and(|&byte| is_word_byte(byte)) && !before.contains(&b' ')
    })
}

#[cfg(test)]
mod tests {
    use super::super::page::Page;
    use super::*;

    #[test]
    fn a_fence_and_what_it_holds_go_where_it_is_closed() {
        let page = Page::of("a\n```\nb\n```\nc\n```\nd\n");
        let kept = without_fences(&page.view().lines.iter().collect::<Vec<_>>());
        assert_eq!(kept.iter().map(|line| line.text).collect::<Vec<_>>(), ["a", "c", "```", "d"]);
    }
}
