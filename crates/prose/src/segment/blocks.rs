//! Lines -> blocks that are protected as a whole, and runs of lines that are read word by word.
//!
//! In doubt a line is prose here: its technical words are still protected one by one.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Kind, Token};
use crate::lexicon::{Class, data_lines, lexicon};
use concertina_readers::markup_block::{Fence, is_heading};

/// The blocks of a text, in order and without gaps. Lines of prose that follow each other are one block.
pub(super) struct Blocks<'a> {
    text: &'a str,
    at: usize,
    /// The block behind the prose that was told last, when it is known already.
    next: Option<Token>,
    /// How many columns the text of the last list item is indented.
    item_indent: Option<usize>,
    /// Whether the line before is blank, indented code or ends with a colon.
    may_be_code: bool,
    /// Whether the line before is one of prose.
    in_paragraph: bool,
    /// Behind `::`, from how many columns on lines are code.
    literal_indent: Option<usize>,
    /// Which ends of [`VERBATIM`] stand nowhere beyond this place, as they were looked for in vain.
    has_no_end: [bool; VERBATIM.len()],
    /// Where the lines stand that may delimit a block, for each of them; read once one is met.
    delimiters: Option<HashMap<&'a str, Vec<usize>>>,
}

/// Text over lines that is shown as it is written: how its first line begins, what its last line holds, and its kind.
const VERBATIM: [(&str, &str, Kind); 7] = [
    ("<!--", "-->", Kind::Html),
    ("<pre", "</pre>", Kind::Html),
    ("<code", "</code>", Kind::Html),
    ("\\begin{verbatim", "\\end{verbatim", Kind::Code),
    ("\\begin{lstlisting", "\\end{lstlisting", Kind::Code),
    ("#+begin_", "#+end_", Kind::Code),
    ("#+BEGIN_", "#+END_", Kind::Code),
];

#[derive(Clone, Copy)]
struct Line<'a> {
    start: usize,
    end: usize,
    /// Without indentation and line end.
    bare: &'a str,
    /// In columns.
    indent: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            next: None,
            item_indent: None,
            may_be_code: true,
            in_paragraph: false,
            literal_indent: None,
            has_no_end: [false; VERBATIM.len()],
            delimiters: None,
        }
    }

    fn line(&self, start: usize) -> Option<Line<'a>> {
        if start >= self.text.len() {
            return None;
        }
        let rest = &self.text[start..];
        let len = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let line = &rest[..len];
        let bare = line.trim_start_matches([' ', '\t']);
        let indent = line[..line.len() - bare.len()].bytes().map(|byte| if byte == b'\t' { 4 } else { 1 }).sum();
        Some(Line { start, end: start + len, bare: bare.trim_end_matches([' ', '\t', '\r', '\n']), indent })
    }

    /// The kind of the block that starts at a line, and where it ends.
    fn block(&mut self, line: Line<'a>) -> (Kind, usize) {
        if line.start == 0
            && line.bare == "---"
            && line.indent == 0
            && let Some(end) = self.front_matter(line)
        {
            return (Kind::Setting, end);
        }
        if line.bare.is_empty() {
            return (Kind::Prose, line.end);
        }
        let item = item_text(line.bare);
        let literal_indent = self.literal_indent.take();
        if let Some(open) = Fence::parse(item.unwrap_or(line.bare)) {
            return (Kind::Fence, self.fence_end(line.end, &open));
        }
        if let Some(indent) = literal_indent.filter(|&indent| line.indent >= indent) {
            return (Kind::IndentedCode, self.indented_end(line, indent));
        }
        let code_indent = 4 + self.item_indent.unwrap_or(0);
        if line.indent >= code_indent && self.may_be_code && item.is_none() {
            return (Kind::IndentedCode, self.indented_end(line, code_indent));
        }
        if let Some(item) = item {
            self.item_indent = Some(line.indent + line.bare.len() - item.len());
        } else if line.indent == 0 {
            self.item_indent = None;
        }
        if opens_quote(line.bare) {
            return (Kind::BlockQuote, self.quote_end(line));
        }
        if let Some(block) = self.verbatim(line).or_else(|| self.delimited(line)) {
            return block;
        }
        let next = self.line(line.end);
        if let Some(next) = next.filter(|_| leads_block(line.bare))
            && let Some(block) = self.delimited(next)
        {
            return block;
        }
        if is_heading(line.bare) {
            return (Kind::Heading, line.end);
        }
        if self.may_be_title()
            && let Some(next) = next.filter(|next| next.indent < 4 && is_underline(next.bare))
        {
            return (Kind::Heading, next.end);
        }
        if is_table_row(line.bare) {
            return (Kind::TableRow, line.end);
        }
        if is_command(line.bare) {
            return (Kind::Command, line.end);
        }
        if let Some(end) = self.settings_end(line, next) {
            return (Kind::Setting, end);
        }
        if is_sql(line.bare) {
            return (Kind::Sql, line.end);
        }
        if is_code(line.bare) {
            return (Kind::Code, line.end);
        }
        if is_tag(line.bare) && line.bare.ends_with('>') {
            return (Kind::Html, line.end);
        }
        (Kind::Prose, line.end)
    }

    fn front_matter(&self, first: Line) -> Option<usize> {
        let mut line = self.line(first.end)?;
        // Real front matter is short.
        for _ in 0..200 {
            if line.bare == "---" && line.indent == 0 {
                return Some(line.end);
            }
            line = self.line(line.end)?;
        }
        None
    }

    fn fence_end(&self, start: usize, open: &Fence) -> usize {
        let mut at = start;
        while let Some(line) = self.line(at) {
            at = line.end;
            if Fence::parse(line.bare).is_some_and(|close| close.closes(open)) {
                break;
            }
        }
        at
    }

    /// Blank lines in the middle belong to it.
    fn indented_end(&self, first: Line, code_indent: usize) -> usize {
        let (mut end, mut at) = (first.end, first.end);
        while let Some(line) = self.line(at) {
            at = line.end;
            match line.bare.is_empty() {
                true if at - end > 400 => break,
                true => {}
                false if line.indent >= code_indent => end = line.end,
                false => break,
            }
        }
        end
    }

    /// Lines below it that go on with its words belong to it, marked or not.
    fn quote_end(&self, first: Line) -> usize {
        let mut end = first.end;
        while let Some(line) = self.line(end).filter(|line| opens_quote(line.bare) || goes_on(line.bare)) {
            end = line.end;
        }
        end
    }

    /// In a list or a paragraph the line below is a rule, and no underline.
    fn may_be_title(&self) -> bool {
        self.item_indent.is_none() && !self.in_paragraph
    }

    /// What a line opens that is shown as it is written, to the end of the line that closes it.
    fn verbatim(&mut self, line: Line) -> Option<(Kind, usize)> {
        let which = VERBATIM.iter().position(|(open, ..)| line.bare.starts_with(open))?;
        let (open, close, kind) = VERBATIM[which];
        let rest = &self.text.as_bytes()[line.start..];
        let found = if self.has_no_end[which] { None } else { memchr::memmem::find(rest, close.as_bytes()) };
        let is_comment = open == "<!--";
        let Some(at) = found else {
            self.has_no_end[which] = true;
            return is_comment.then_some((kind, line.end));
        };
        if !is_comment && line.start + at < line.end {
            return None;
        }
        let from = line.start + at;
        Some((kind, self.text[from..].find('\n').map_or(self.text.len(), |at| from + at + 1)))
    }

    /// What stands between two equal lines, as AsciiDoc delimits listings and quotations. In Markdown such a line is a
    /// rule, with a blank line above or below, or underlines a title.
    fn delimited(&mut self, line: Line) -> Option<(Kind, usize)> {
        let kind = delimits(line.bare).filter(|_| line.indent == 0 && !self.in_paragraph)?;
        let first = self.line(line.end).filter(|first| !first.bare.is_empty())?;
        let text = self.text;
        let lines = self.delimiters.get_or_insert_with(|| delimiters(text)).get(line.bare)?;
        let close = *lines.get(lines.partition_point(|&start| start <= line.start))?;
        let inside = text[first.start..close].strip_suffix('\n')?;
        let ends_blank = inside.trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        (!ends_blank).then(|| (kind, self.line(close).map_or(close, |line| line.end)))
    }

    /// Lines of `key: value`: one alone when the key is no word of prose, several one below the other always.
    fn settings_end(&self, line: Line<'a>, next: Option<Line<'a>>) -> Option<usize> {
        let setting = setting(line.bare)?;
        let in_company = || next.is_some_and(|next| self::setting(next.bare).is_some());
        (setting == Setting::Sure || in_company()).then(|| {
            let mut end = line.end;
            while let Some(line) = self.line(end).filter(|line| self::setting(line.bare).is_some()) {
                end = line.end;
            }
            end
        })
    }
}

impl Iterator for Blocks<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if let Some(block) = self.next.take() {
            return Some(block);
        }
        let start = self.at;
        loop {
            let blank = self.text.as_bytes()[self.at..].iter().take_while(|&&byte| byte == b'\n').count();
            self.at += blank;
            self.may_be_code |= blank > 0;
            self.in_paragraph &= blank == 0;
            let Some(line) = self.line(self.at) else { break };
            let (kind, end) = self.block(line);
            self.at = end;
            self.may_be_code = line.bare.is_empty() || kind.is_block() || line.bare.ends_with(':');
            self.in_paragraph = kind == Kind::Prose && !line.bare.is_empty() && !may_precede_title(line.bare);
            if end == line.end && opens_literal(line.bare) {
                self.literal_indent = Some(line.indent + 1);
            }
            if kind != Kind::Prose {
                let block = Token { kind, range: line.start..end };
                if start == line.start {
                    return Some(block);
                }
                self.next = Some(block);
                return Some(Token { kind: Kind::Prose, range: start..line.start });
            }
        }
        (start < self.at).then_some(Token { kind: Kind::Prose, range: start..self.at })
    }
}

/// Whether a line is marked as a quotation, in a list item too.
fn opens_quote(bare: &str) -> bool {
    let mut text = bare;
    while let Some(item) = item_text(text) {
        text = item;
    }
    text.starts_with('>')
}

/// Whether a line without a mark goes on with the paragraph above it.
fn goes_on(bare: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || "*`\"'(“‘„«".contains(c);
    bare.starts_with(is_word) && item_text(bare).is_none() && Fence::parse(bare).is_none()
}

/// What stands between two lines that are this one: four or more of one mark.
fn delimits(bare: &str) -> Option<Kind> {
    let mark = *bare.as_bytes().first()?;
    let kind = match mark {
        b'-' | b'.' | b'+' | b'/' => Kind::Code,
        b'_' => Kind::BlockQuote,
        _ => return None,
    };
    (bare.len() >= 4 && bare.bytes().all(|byte| byte == mark)).then_some(kind)
}

/// The lines that may delimit a block, with where each of them stands.
fn delimiters(text: &str) -> HashMap<&str, Vec<usize>> {
    let mut delimiters: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches([' ', '\t', '\r', '\n']);
        if delimits(bare).is_some() {
            delimiters.entry(bare).or_default().push(at);
        }
        at += line.len();
    }
    delimiters
}

/// The text of a list item's line.
fn item_text(bare: &str) -> Option<&str> {
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match bare.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=4).contains(&digits) => digits + 1,
        _ => return None,
    };
    let text = bare[mark..].strip_prefix([' ', '\t'])?;
    Some(text.trim_start_matches(' '))
}

/// Whether a line says that what is indented below it is code, as in reStructuredText.
fn opens_literal(bare: &str) -> bool {
    const DIRECTIVES: [&str; 8] =
        ["code-block", "code", "sourcecode", "prompt", "doctest", "testcode", "testoutput", "math"];
    let directive = bare.strip_prefix(".. ").and_then(|rest| rest.split_once("::"));
    bare.ends_with("::") || directive.is_some_and(|(name, _)| DIRECTIVES.contains(&name))
}

/// Whether a line is a title in brackets or a line above one.
fn may_precede_title(bare: &str) -> bool {
    is_bracketed(bare) || bare.starts_with("===")
}

/// Whether a line may belong to the block below it, as in AsciiDoc: its attributes (`[source,sh]`), its title
/// (`.Title`), or what joins it to a list item (`+`).
fn leads_block(bare: &str) -> bool {
    is_bracketed(bare) || bare == "+" || bare.starts_with('.') && !bare.starts_with("..") && !bare.starts_with(". ")
}

fn is_bracketed(bare: &str) -> bool {
    bare.starts_with('[') && bare.ends_with(']')
}

fn is_underline(bare: &str) -> bool {
    bare.len() >= 3 && (bare.bytes().all(|byte| byte == b'=') || bare.bytes().all(|byte| byte == b'-'))
}

fn is_table_row(bare: &str) -> bool {
    bare.starts_with('|')
        || bare.starts_with(['│', '┌', '├', '└', '+']) && bare.ends_with(['│', '┐', '┤', '┘', '+'])
        || memchr::memchr(b'|', bare.as_bytes()).is_some()
            && memchr::memmem::find_iter(bare.as_bytes(), b" | ").nth(1).is_some()
}

fn is_command(bare: &str) -> bool {
    let prompted = ["$ ", "% ", "PS> ", "sudo "].iter().find_map(|prompt| bare.strip_prefix(prompt));
    if let Some(command) = prompted {
        return command.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/' | '_' | '~'));
    }
    let first = bare.split(' ').next().unwrap_or_default();
    let classes = lexicon().classes(first);
    if !classes.has_any(&[Class::Tool, Class::WordTool]) || !first.starts_with(|c: char| c.is_ascii_lowercase()) {
        return false;
    }
    let has_shell_signs = || {
        let signs = [" -", " /", " ./", " ~/", " && ", " | ", " > ", " >> ", "; ", " $", " \"$"];
        signs.iter().any(|sign| memchr::memmem::find(bare.as_bytes(), sign.as_bytes()).is_some())
    };
    let second = bare.split(' ').nth(1).unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?']);
    if lexicon().classes(second).has_any(&[Class::Function, Class::Modal, Class::Negation]) {
        return false;
    }
    let ends_a_sentence = bare.ends_with(['.', '!', '?', ':', ',']);
    // Nothing here may depend on the length of the line: it changes when words go.
    !ends_a_sentence && (classes.has(Class::Tool) || has_shell_signs())
}

#[derive(PartialEq)]
enum Setting {
    Sure,
    /// `Note: …` may be a sentence.
    Maybe,
}

/// Whether a line sets something: `key: value`, `key = value`, `- key: value`.
fn setting(bare: &str) -> Option<Setting> {
    let (bare, is_item) = match bare.strip_prefix("- ") {
        Some(item) => (item.trim_start(), true),
        None => (bare, false),
    };
    let bytes = bare.as_bytes();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let len = bytes.iter().take_while(|byte| is_key(byte)).count();
    if len == 0 || !bytes[0].is_ascii_alphabetic() && bytes[0] != b'_' || bytes[len - 1] == b'.' {
        return None;
    }
    let rest = &bytes[len..];
    let is_lower = bytes[0].is_ascii_lowercase();
    if rest.starts_with(b" = ") || rest.starts_with(b"=") && bytes[..len].iter().all(|byte| *byte != b'.') {
        return Some(Setting::Sure);
    }
    if !rest.starts_with(b": ") && rest != b":" {
        return None;
    }
    match (is_lower, is_item) {
        (true, _) => Some(Setting::Sure),
        (false, false) => Some(Setting::Maybe),
        (false, true) => None,
    }
}

/// How statements of SQL, their clauses and lines of code begin.
static LINE_STARTS: LazyLock<[Vec<String>; 3]> = LazyLock::new(|| {
    let mut lines = data_lines(include_str!("../lexicon/line_starts.txt"));
    ["statement: ", "clause: ", "code: "].map(|name| {
        let starts = lines.next().and_then(|line| line.strip_prefix(name)).expect("the line of this name");
        starts.split(' ').map(|start| start.replace('_', " ")).collect()
    })
});

fn is_sql(bare: &str) -> bool {
    let [statements, clauses, _] = &*LINE_STARTS;
    let is_statement = |start: &String| {
        let (start, then) = start.split_once("..").unwrap_or((start, ""));
        bare.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
            && (then.is_empty() || bare.to_ascii_lowercase().contains(then))
    };
    statements.iter().any(is_statement) || clauses.iter().any(|clause| bare.starts_with(clause))
}

fn is_code(bare: &str) -> bool {
    bare.ends_with([';', '{', '}', '\\', '(', '['])
        || LINE_STARTS[2].iter().any(|start| bare.starts_with(start))
        || bare.ends_with("):")
        || is_import(bare)
        || bare.starts_with(['{', '}', '[', ']', ')']) && bare.len() < 3
}

/// `import a`, `from a import b`, `use a::b`.
fn is_import(bare: &str) -> bool {
    if !["import ", "from ", "use "].iter().any(|start| bare.starts_with(start)) {
        return false;
    }
    let words: Vec<&str> = bare.split(' ').take(5).collect();
    match words[..] {
        ["import", name] | ["import", name, "as", _] => !name.ends_with('.'),
        ["from", _, "import", ..] => true,
        ["use", name] => name.contains("::"),
        _ => false,
    }
}

pub(super) fn is_tag(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first() == Some(&b'<')
        && match bytes.get(1) {
            Some(b'/') => bytes.get(2).is_some_and(u8::is_ascii_alphabetic),
            Some(byte) => byte.is_ascii_alphabetic() || *byte == b'!',
            None => false,
        }
}
