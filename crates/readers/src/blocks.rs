//! Splits Markdown, reStructuredText, AsciiDoc and plain prose into blocks of lines.
//!
//! In doubt, a line is prose.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use crate::markup_block::{Fence, is_heading};

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A fence of ``` or ~~~ with its content; one that is never closed, to the end.
    Fence,
    /// Lines that are indented as code.
    IndentedCode,
    /// A line of a program, or a listing of AsciiDoc.
    Code,
    /// `key: value` or `key = value`, and front matter.
    Setting,
    /// Lines that quote, marked by `>` or, in AsciiDoc, between two `____`.
    BlockQuote,
    /// A heading with its underline.
    Heading,
    /// A line of a table.
    TableRow,
    /// A line that consists of markup, or a comment.
    Html,
    /// A line of SQL.
    Sql,
    /// A shell command.
    Command,
    /// All other lines, with the blank ones.
    Prose,
}

/// A block of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: BlockKind,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// Returns the blocks of a text, in order and without gaps. Consecutive lines of prose are one block.
pub fn blocks(text: &str) -> impl Iterator<Item = Block> {
    Blocks::new(text)
}

const LISTS: &str = include_str!("blocks.txt");

/// Returns the words of a class: `negation`, `modal`, `function`, `tool` or `wordtool`.
///
/// # Panics
/// If there is no such class.
pub fn words_of(class: &str) -> impl Iterator<Item = &'static str> {
    let words = LISTS.lines().find_map(|line| line.strip_prefix(class)?.strip_prefix(": "));
    words.expect("the class has a line in blocks.txt").split(' ')
}

struct Blocks<'a> {
    text: &'a str,
    at: usize,
    /// The block after the prose that was returned last, if it is already known.
    next: Option<Block>,
    /// The indentation of the text of the last list item, in columns.
    item_indent: Option<usize>,
    /// True if the line before is blank, is indented code or ends with a colon.
    may_be_code: bool,
    /// True if the line before is prose.
    in_paragraph: bool,
    /// After `::`, the indentation of code in columns.
    literal_indent: Option<usize>,
    /// For each end of [`VERBATIM`], true if it does not occur after this place.
    has_no_end: [bool; VERBATIM.len()],
    /// The positions of each line that may delimit a block. They are collected when the first one is met.
    delimiters: Option<HashMap<&'a str, Vec<usize>>>,
}

/// Text over several lines that is shown as it is written: the start of its first line, the end mark, and its kind.
const VERBATIM: [(&str, &str, BlockKind); 7] = [
    ("<!--", "-->", BlockKind::Html),
    ("<pre", "</pre>", BlockKind::Html),
    ("<code", "</code>", BlockKind::Html),
    ("\\begin{verbatim", "\\end{verbatim", BlockKind::Code),
    ("\\begin{lstlisting", "\\end{lstlisting", BlockKind::Code),
    ("#+begin_", "#+end_", BlockKind::Code),
    ("#+BEGIN_", "#+END_", BlockKind::Code),
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
    fn new(text: &'a str) -> Self {
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

    /// Returns the kind and the end of the block that starts at a line.
    fn block(&mut self, line: Line<'a>) -> (BlockKind, usize) {
        if line.start == 0
            && line.bare == "---"
            && line.indent == 0
            && let Some(end) = self.front_matter(line)
        {
            return (BlockKind::Setting, end);
        }
        if line.bare.is_empty() {
            return (BlockKind::Prose, line.end);
        }
        let item = item_text(line.bare);
        let literal_indent = self.literal_indent.take();
        if let Some(open) = Fence::parse(item.unwrap_or(line.bare)) {
            return (BlockKind::Fence, self.fence_end(line.end, &open));
        }
        if let Some(indent) = literal_indent.filter(|&indent| line.indent >= indent) {
            return (BlockKind::IndentedCode, self.indented_end(line, indent));
        }
        let code_indent = 4 + self.item_indent.unwrap_or(0);
        if line.indent >= code_indent && self.may_be_code && item.is_none() {
            return (BlockKind::IndentedCode, self.indented_end(line, code_indent));
        }
        if let Some(item) = item {
            self.item_indent = Some(line.indent + line.bare.len() - item.len());
        } else if line.indent == 0 {
            self.item_indent = None;
        }
        if opens_quote(line.bare) {
            return (BlockKind::BlockQuote, self.quote_end(line));
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
            return (BlockKind::Heading, line.end);
        }
        if self.may_be_title()
            && let Some(next) = next.filter(|next| next.indent < 4 && is_underline(next.bare))
        {
            return (BlockKind::Heading, next.end);
        }
        if is_table_row(line.bare) {
            return (BlockKind::TableRow, line.end);
        }
        if is_command(line.bare) {
            return (BlockKind::Command, line.end);
        }
        if let Some(end) = self.settings_end(line, next) {
            return (BlockKind::Setting, end);
        }
        if is_sql(line.bare) {
            return (BlockKind::Sql, line.end);
        }
        if is_code(line.bare) {
            return (BlockKind::Code, line.end);
        }
        if is_tag(line.bare) && line.bare.ends_with('>') {
            return (BlockKind::Html, line.end);
        }
        (BlockKind::Prose, line.end)
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

    /// Returns the end of indented code. It may contain blank lines.
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

    /// Returns the end of a quotation. It includes the lines below that continue its paragraph without a mark.
    fn quote_end(&self, first: Line) -> usize {
        let mut end = first.end;
        while let Some(line) = self.line(end).filter(|line| opens_quote(line.bare) || goes_on(line.bare)) {
            end = line.end;
        }
        end
    }

    /// Returns true if the line below may be an underline. In a list or a paragraph it is a rule.
    fn may_be_title(&self) -> bool {
        self.item_indent.is_none() && !self.in_paragraph
    }

    /// Returns the kind and the end of verbatim text that starts at a line. It ends with the line of its end mark.
    fn verbatim(&mut self, line: Line) -> Option<(BlockKind, usize)> {
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

    /// Returns the kind and the end of a block between two equal lines, as AsciiDoc delimits listings and quotations.
    /// In Markdown, such a line is a rule with a blank line above or below, or underlines a title.
    fn delimited(&mut self, line: Line) -> Option<(BlockKind, usize)> {
        let kind = delimits(line.bare).filter(|_| line.indent == 0 && !self.in_paragraph)?;
        let first = self.line(line.end).filter(|first| !first.bare.is_empty())?;
        let text = self.text;
        let lines = self.delimiters.get_or_insert_with(|| delimiters(text)).get(line.bare)?;
        let close = *lines.get(lines.partition_point(|&start| start <= line.start))?;
        let inside = text[first.start..close].strip_suffix('\n')?;
        let ends_blank = inside.trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        (!ends_blank).then(|| (kind, self.line(close).map_or(close, |line| line.end)))
    }

    /// Returns the end of lines of `key: value`. A single line is one only if its key is not a word of prose.
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
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
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
            self.may_be_code = line.bare.is_empty() || starts_anew(kind) || line.bare.ends_with(':');
            self.in_paragraph = kind == BlockKind::Prose && !line.bare.is_empty() && !may_precede_title(line.bare);
            if end == line.end && opens_literal(line.bare) {
                self.literal_indent = Some(line.indent + 1);
            }
            if kind != BlockKind::Prose {
                let block = Block { kind, range: line.start..end };
                if start == line.start {
                    return Some(block);
                }
                self.next = Some(block);
                return Some(Block { kind: BlockKind::Prose, range: start..line.start });
            }
        }
        (start < self.at).then_some(Block { kind: BlockKind::Prose, range: start..self.at })
    }
}

/// Returns true if a code block can follow directly.
fn starts_anew(kind: BlockKind) -> bool {
    !matches!(kind, BlockKind::Prose | BlockKind::Html | BlockKind::Command)
}

/// Returns true if a line is marked as a quotation, also inside a list item.
fn opens_quote(bare: &str) -> bool {
    let mut text = bare;
    while let Some(item) = item_text(text) {
        text = item;
    }
    text.starts_with('>')
}

/// Returns true if a line without a mark continues the paragraph above it.
fn goes_on(bare: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || "*`\"'(“‘„«".contains(c);
    bare.starts_with(is_word) && item_text(bare).is_none() && Fence::parse(bare).is_none()
}

/// Returns the kind of a block between two lines like this one: four or more of one mark.
fn delimits(bare: &str) -> Option<BlockKind> {
    let mark = *bare.as_bytes().first()?;
    let kind = match mark {
        b'-' | b'.' | b'+' | b'/' => BlockKind::Code,
        b'_' => BlockKind::BlockQuote,
        _ => return None,
    };
    (bare.len() >= 4 && bare.bytes().all(|byte| byte == mark)).then_some(kind)
}

/// Returns the positions of each line that may delimit a block.
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

/// Returns the text of the first line of a list item.
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

/// Returns true if the lines indented below a line are code, as in reStructuredText.
fn opens_literal(bare: &str) -> bool {
    const DIRECTIVES: [&str; 8] =
        ["code-block", "code", "sourcecode", "prompt", "doctest", "testcode", "testoutput", "math"];
    let directive = bare.strip_prefix(".. ").and_then(|rest| rest.split_once("::"));
    bare.ends_with("::") || directive.is_some_and(|(name, _)| DIRECTIVES.contains(&name))
}

/// Returns true if the line below may be a title.
fn may_precede_title(bare: &str) -> bool {
    is_bracketed(bare) || bare.starts_with("===")
}

/// Returns true if a line may belong to the block below it, as in AsciiDoc: attributes (`[source,sh]`), a title
/// (`.Title`), or the mark that joins it to a list item (`+`).
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

/// Programs whose names are not English words, programs whose names are, and words that never follow a program.
static COMMAND_WORDS: LazyLock<[HashSet<&str>; 3]> = LazyLock::new(|| {
    let connecting = ["function", "modal", "negation"].into_iter().flat_map(words_of);
    [words_of("tool").collect(), words_of("wordtool").collect(), connecting.collect()]
});

fn is_command(bare: &str) -> bool {
    let prompted = ["$ ", "% ", "PS> ", "sudo "].iter().find_map(|prompt| bare.strip_prefix(prompt));
    if let Some(command) = prompted {
        return command.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/' | '_' | '~'));
    }
    let [tools, word_tools, connecting] = &*COMMAND_WORDS;
    let first = bare.split(' ').next().unwrap_or_default();
    let is_tool = tools.contains(first);
    if !is_tool && !word_tools.contains(first) {
        return false;
    }
    let has_shell_signs = || {
        let signs = [" -", " /", " ./", " ~/", " && ", " | ", " > ", " >> ", "; ", " $", " \"$"];
        signs.iter().any(|sign| memchr::memmem::find(bare.as_bytes(), sign.as_bytes()).is_some())
    };
    let second = bare.split(' ').nth(1).unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?']);
    if connecting.contains(&*second.to_ascii_lowercase().replace('’', "'")) {
        return false;
    }
    let ends_a_sentence = bare.ends_with(['.', '!', '?', ':', ',']);
    // Nothing here may depend on the length of the line, because shortening prose changes it.
    !ends_a_sentence && (is_tool || has_shell_signs())
}

#[derive(PartialEq)]
enum Setting {
    Sure,
    /// `Note: …` may be a sentence.
    Maybe,
}

/// Parses `key: value`, `key = value` or `- key: value`.
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

/// The beginnings of statements of SQL, of their clauses, and of lines of code.
static LINE_STARTS: LazyLock<[Vec<String>; 3]> = LazyLock::new(|| {
    ["statement", "clause", "code"].map(|name| words_of(name).map(|start| start.replace('_', " ")).collect())
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

/// Returns true if a text begins with a tag or a markup declaration.
pub fn is_tag(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first() == Some(&b'<')
        && match bytes.get(1) {
            Some(b'/') => bytes.get(2).is_some_and(u8::is_ascii_alphabetic),
            Some(byte) => byte.is_ascii_alphabetic() || *byte == b'!',
            None => false,
        }
}
