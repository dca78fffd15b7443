//! Prose and Markdown.
//!
//! Fenced code belongs to the Markdown around it when the whole is judged: a manual that is half examples is still a text.

use std::sync::LazyLock;

use super::code::is_marker;
use super::lines::{head, lines, sample};
use super::table::is_markdown_rule;
use super::words::Words;

/// A fence line of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// `` ` `` or `~`.
    pub mark: char,
    /// How many of them, at least three.
    pub length: usize,
    /// The info string's first word (`rust`), or nothing.
    pub info: &'a str,
    /// Blanks before it.
    pub indent: usize,
}

impl<'a> Fence<'a> {
    /// Reads a line that opens or closes a fence.
    pub fn parse(line: &'a str) -> Option<Self> {
        let bare = line.trim_start_matches([' ', '\t']);
        let mark = bare.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = bare.trim_start_matches(mark);
        let length = bare.len() - rest.len();
        if length < 3 || mark == '`' && rest.contains('`') {
            return None;
        }
        let info = rest.trim().trim_start_matches(['{', '.']).split([' ', ',', '{', '}']).next().unwrap_or_default();
        Some(Self { mark, length, info, indent: line.len() - bare.len() })
    }

    /// Whether this line closes a fence that `open` opened.
    pub fn closes(&self, open: &Fence) -> bool {
        self.mark == open.mark && self.length >= open.length && self.info.is_empty()
    }
}

/// A text without its fences and what they hold. A fence that is never closed is left as it is.
pub(super) fn without_fences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut open: Option<(Fence, usize)> = None;
    let mut from = 0;
    for line in lines(text) {
        let Some(fence) = Fence::parse(line.text) else { continue };
        match open {
            None => open = Some((fence, line.start)),
            Some((opened, start)) if fence.closes(&opened) => {
                kept.push_str(&text[from..start]);
                from = line.end;
                open = None;
            }
            Some(_) => {}
        }
    }
    kept.push_str(&text[from..]);
    kept
}

/// What the lines of a text look like.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// Lines that are not blank (nor a comment's marker).
    pub(super) lines: usize,
    /// Lines that read as sentences.
    pub(super) prose: usize,
    /// Those among them that are whole sentences.
    pub(super) sentences: usize,
    /// Headings, list items, quotes, table rows, rules.
    pub(super) markup: usize,
    /// Lines with the endings and operators of code.
    pub(super) code: usize,
    /// Those among them that end with a semicolon or a brace.
    pub(super) closed: usize,
}

impl Shape {
    /// Counts; expects fences to be cut out, and the lines of [`super::code::skeleton`] do as well.
    pub(super) fn of(text: &str) -> Self {
        let mut shape = Self::default();
        for line in lines(text) {
            let line = head(line.text, 2000).trim();
            if line.is_empty() || is_marker(line) {
                continue;
            }
            shape.lines += 1;
            let bare = without_list_mark(line);
            if is_prose(bare) {
                shape.prose += 1;
                shape.sentences += usize::from(is_sentence(bare));
            } else if bare.len() < line.len() || is_markup(line) {
                shape.markup += 1;
            } else {
                shape.code += usize::from(is_code(line));
                shape.closed += usize::from(line.ends_with([';', '{', '}']));
            }
        }
        shape
    }

    /// Whether code prevails.
    pub(super) fn is_code(&self) -> bool {
        self.code * 100 >= self.lines * 35 && self.code >= self.prose
    }

    /// Whether nearly everything is code, so that it need not be told which.
    pub(super) fn is_surely_code(&self) -> bool {
        self.lines >= 4 && self.closed * 100 >= self.lines * 40 && self.code * 100 >= self.lines * 75
    }

    /// Whether someone writes about the code: a few whole sentences outside of comments, which programs do not have.
    pub(super) fn is_told(&self) -> bool {
        self.sentences >= 2 && self.sentences * 100 >= self.lines * 4
    }

    /// Whether prose prevails, with lists and headings.
    pub(super) fn is_text(&self) -> bool {
        let readable = self.prose + self.markup;
        self.prose > 0 && readable * 100 >= self.lines * 45 && readable > self.code
    }
}

/// Whether a text is Markdown: two kinds of its marks (headings, lists, fences, links, emphasis, tables, quotes), or front
/// matter, and more prose than code outside of fences. Looks at up to 40 KB.
pub fn is_markdown(text: &str) -> bool {
    let text = sample(text);
    let (mut total, mut headings, mut items, mut quotes, mut links, mut emphasis, mut rules, mut fences) =
        (0usize, 0, 0, 0, 0, 0, 0, 0);
    let mut open: Option<Fence> = None;
    for line in lines(&text) {
        if let Some(fence) = Fence::parse(line.text) {
            open = match open {
                Some(opened) if fence.closes(&opened) => None,
                Some(opened) => Some(opened),
                None => Some(fence),
            };
            fences += 1;
            continue;
        }
        let line = head(line.text, 2000).trim();
        if open.is_some() || line.is_empty() {
            continue;
        }
        total += 1;
        headings += usize::from(is_heading(line));
        items += usize::from(without_list_mark(line).len() < line.len());
        quotes += usize::from(line.starts_with("> "));
        links += usize::from(line.contains("](") && line.contains('['));
        emphasis += usize::from(line.matches("**").count() >= 2 || line.matches('`').count() >= 2);
        rules += usize::from(is_markdown_rule(line));
    }
    let kinds =
        [headings, items, quotes, links, emphasis, rules, fences / 2].iter().filter(|&&count| count > 0).count();
    let marks = headings + items + quotes + links + emphasis + rules + fences;
    let shape = Shape::of(&without_fences(&text));
    let readable = shape.prose + shape.markup > shape.code;
    (has_front_matter(&text) || kinds >= 2 && marks * 12 >= total) && (readable || total == 0)
}

/// `---`, some `key: value` lines, `---`.
pub(super) fn has_front_matter(text: &str) -> bool {
    behind_front_matter(text).is_some()
}

/// What follows front matter, where there is any.
pub(super) fn behind_front_matter(text: &str) -> Option<&str> {
    let mut head = lines(text);
    head.next().filter(|line| line.text == "---")?;
    let mut has_key = false;
    for line in head.take(60) {
        if line.text == "---" {
            return has_key.then(|| &text[line.end..]);
        }
        has_key |= line.text.contains(':');
    }
    None
}

fn is_heading(line: &str) -> bool {
    let marks = line.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&marks) && line[marks..].starts_with(' ')
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

/// A line without `- `, `* `, `12. `, `[ ] ` or `## ` before it.
fn without_list_mark(line: &str) -> &str {
    let bare = line.trim_start();
    let item = ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• ", "– "].iter().find_map(|mark| bare.strip_prefix(mark));
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = || {
        (1..=3)
            .contains(&digits)
            .then(|| bare[digits..].strip_prefix(". ").or_else(|| bare[digits..].strip_prefix(") ")))
            .flatten()
    };
    let heading = || is_heading(bare).then(|| bare.trim_start_matches('#').trim_start());
    let quote = || bare.strip_prefix("> ");
    item.or_else(numbered).or_else(heading).or_else(quote).unwrap_or(bare)
}

/// Whether a line reads as words: mostly letters, or script without blanks between words.
fn is_prose(line: &str) -> bool {
    if line.ends_with([';', '{', '}', '\\']) {
        return false;
    }
    let (mut wide, mut symbols, mut solid) = (0usize, 0usize, 0usize);
    for c in line.chars().filter(|c| !c.is_whitespace()) {
        solid += 1;
        wide += usize::from(!c.is_ascii() && c.is_alphabetic());
        symbols += usize::from(is_symbol(c));
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
    // `from a import b`: a few words that begin as code does and end without a stop.
    let is_statement = words <= 5 && !line.ends_with(['.', '!', '?', ':', ',']) && starts_as_code(line);
    words >= 3 && plain * 10 >= words * 7 && !is_statement
}

fn is_symbol(c: char) -> bool {
    matches!(c, '{' | '}' | '=' | '<' | '>' | ';' | '$' | '\\' | '|' | '&' | '+' | '[' | ']' | '(' | ')' | '_' | '"')
}

/// Whether a word is of letters, but for what stands around it.
fn is_plain(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    !bare.is_empty()
        && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '-' | '\u{2019}' | '/'))
        && !word.ends_with('(')
}

/// Whether a line of prose begins and ends as a sentence does, with five words at least.
fn is_sentence(line: &str) -> bool {
    line.starts_with(char::is_uppercase)
        && line.ends_with(['.', '!', '?', ':'])
        && line.split_whitespace().nth(4).is_some()
}

/// Whether a line ends or is joined as code is.
fn is_code(line: &str) -> bool {
    static OPERATORS: LazyLock<Words> = LazyLock::new(|| {
        Words::of([" = ", "==", "!=", "=>", "->", "::", "&&", "||", "+=", "()", ":=", ".(", "${", "$(", "</"])
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

/// `name(`, `a.b(`: a word with its bracket.
fn is_call(line: &str) -> bool {
    line.find('(').is_some_and(|at| {
        let before = &line.as_bytes()[..at];
        before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') && !before.contains(&b' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_has_marks_and_prose() {
        for text in [
            "# Title\n\nSome words about the thing.\n\n- one item\n- another item\n",
            "---\nname: dev\n---\n\nYou are a developer.\n",
            "Use it like this:\n\n```rust\nfn main() {}\nfn a() {}\nfn b() {}\n```\n\nThat is `all` of `it`.\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n\n## More\n",
        ] {
            assert!(is_markdown(text), "{text}");
        }
        for text in [
            "",
            "Just a sentence here.",
            "# a comment\nimport os\n# another\nx = f(1)\ny = g(2)\n",
            "fn main() {\n    // - no\n}\n",
        ] {
            assert!(!is_markdown(text), "{text}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_one_at_least_as_long() {
        let open = Fence::parse("  ````rust,ignore").expect("a fence");
        assert_eq!((open.mark, open.length, open.info, open.indent), ('`', 4, "rust", 2));
        assert!(!Fence::parse("```").expect("a fence").closes(&open));
        assert!(Fence::parse("`````").expect("a fence").closes(&open));
        assert_eq!(Fence::parse("```inline```"), None);
        assert_eq!(without_fences("a\n```\nb\n```\nc\n```\nd\n"), "a\nc\n```\nd\n");
    }

    #[test]
    fn prose_in_any_script_is_prose() {
        for line in [
            "The quick brown fox jumps.",
            "这是一个关于折叠的说明。",
            "Это обычное предложение.",
            "cat: foo.rs: No such file or directory",
        ] {
            assert!(Shape::of(line).is_text(), "{line}");
        }
        for line in ["let x = foo(bar);", "if (a && b) {", "return self.value"] {
            assert!(Shape::of(line).is_code(), "{line}");
        }
    }
}
