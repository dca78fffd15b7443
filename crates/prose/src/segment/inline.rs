//! Splits lines of prose into words and protected spans.
//!
//! The scanner goes from blank to blank. A chunk of letters and closing punctuation is a word, and everything else is
//! protected. Searches ahead are remembered, so that a thousand openings without an end cost one search.

use std::collections::HashMap;
use std::ops::Range;

use memchr::{memchr, memmem};

use super::classify::{classify, trimmed};
use super::{Atom, Kind, Token};
use crate::lexicon::{Class, Word, key, lexicon};
use concertina_readers::blocks::is_tag;

const LETTER: u8 = 1;
const SPACE: u8 = 2;
const CLOSING: u8 = 4;

/// The role of each byte in a plain word.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => SPACE,
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b')' | b']' | b'*' | b'"' | b'\'' => CLOSING,
            _ => 0,
        };
        byte += 1;
    }
    table
};

fn is_space(byte: u8) -> bool {
    BYTES[byte as usize] == SPACE
}

/// Appends the words (as [`Kind::Prose`]) and protected spans of a range of the text.
pub(super) fn scan(text: &str, range: Range<usize>, atoms: &mut Vec<Atom>) {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: range.start,
        end: range.end,
        ahead: [None; NEEDLES.len()],
        ticks: None,
        command_is_open: false,
        operator_is_open: false,
        atoms,
    };
    while scanner.skip_blanks() {
        scanner.step();
    }
}

/// The targets of searches ahead, with their texts in [`NEEDLES`].
#[derive(Clone, Copy)]
enum Find {
    LineEnd,
    BlankLine,
    Bracket,
    DoubleQuote,
    CurlyQuote,
    CurlySingleQuote,
    Guillemet,
    HighCurlyQuote,
    SingleQuote,
    TagEnd,
    SqlFrom,
    Semicolon,
    ClosingParenthesis,
    Dollar,
    Dollars,
    MathParenthesis,
    MathBracket,
    EndOfEnvironment,
}

const NEEDLES: [&str; 18] =
    ["\n", "\n\n", "]", "\"", "”", "’", "»", "“", "'", ">", " FROM ", ";", ")", "$", "$$", r"\)", r"\]", r"\end{"];

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    end: usize,
    /// For each target, the result of the last search: its first position at or after the start of the search.
    ahead: [Option<usize>; NEEDLES.len()],
    /// The positions of runs of backticks, by the length of the run.
    ticks: Option<HashMap<usize, Vec<usize>>>,
    /// True if the last atom is a command that may continue.
    command_is_open: bool,
    /// True if the last atom is an expression that ends with its operator.
    operator_is_open: bool,
    atoms: &'a mut Vec<Atom>,
}

impl<'a> Scanner<'a> {
    fn skip_blanks(&mut self) -> bool {
        while self.at < self.end && is_space(self.bytes[self.at]) {
            self.at += 1;
        }
        self.at < self.end
    }

    fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.bytes[at] } else { b'\n' }
    }

    /// Reads one word, span or piece of punctuation.
    fn step(&mut self) {
        let start = self.at;
        let first = self.bytes[start];
        match first {
            byte if BYTES[byte as usize] == LETTER => {
                if !self.word() {
                    self.chunk();
                }
            }
            b'`' => self.code(),
            b'"' => self.quoted(1, Find::DoubleQuote),
            b'\'' => self.quoted(1, Find::SingleQuote),
            0xe2 if self.text[start..].starts_with('“') => self.quoted(3, Find::CurlyQuote),
            0xe2 if self.text[start..].starts_with('‘') => self.quoted(3, Find::CurlySingleQuote),
            0xe2 if self.text[start..].starts_with('„') => self.quoted(3, Find::HighCurlyQuote),
            0xc2 if self.text[start..].starts_with('«') => self.quoted(2, Find::Guillemet),
            b'$' | b'\\' if self.math() => {}
            b'{' => self.braces(),
            b'[' => self.bracket(),
            b'<' if is_tag(&self.text[start..self.end]) => self.tag(),
            b'(' => self.at += 1,
            b'*' if self.byte(start + 1) != b'.' => self.at += 1,
            _ => self.chunk(),
        }
    }

    /// Reads a plain word with closing punctuation. Returns false if there is none.
    fn word(&mut self) -> bool {
        let start = self.at;
        let bytes = &self.bytes[..self.end];
        let mut at = start;
        loop {
            at += bytes[at..].iter().take_while(|&&byte| BYTES[byte as usize] == LETTER).count();
            match bytes.get(at) {
                Some(b'\'') if BYTES[self.byte(at + 1) as usize] == LETTER => at += 1,
                Some(0xe2) if bytes[at..].starts_with("’".as_bytes()) => at += 3,
                _ => break,
            }
        }
        let mut rest = at;
        while BYTES[self.byte(rest) as usize] == CLOSING {
            rest += 1;
        }
        if !is_space(self.byte(rest)) {
            return false;
        }
        let word = &bytes[start..at];
        let is_lower = !word[0].is_ascii_uppercase();
        let is_plain = !word[1..].iter().any(u8::is_ascii_uppercase);
        let known = lexicon().word(key(word));
        self.at = at;
        if !is_plain {
            self.capitals(start..at);
        } else {
            self.plain(start..at, known, is_lower);
        }
        self.close(rest);
        true
    }

    /// Skips closing punctuation. No command continues after it.
    fn close(&mut self, rest: usize) {
        if rest > self.at {
            self.command_is_open = false;
            self.operator_is_open = false;
            self.at = rest;
        }
    }

    fn plain(&mut self, range: Range<usize>, word: Word, is_lower: bool) {
        let classes = word.classes;
        if self.continues(&range, classes.has(Class::Function) || classes.has(Class::Negation)) {
            return;
        }
        if classes.has(Class::Tool) && is_lower {
            self.push(Kind::Command, range);
            self.command_is_open = true;
            return;
        }
        if let Some(last) = self.neighbour(range.start) {
            let joined = match self.atoms[last].kind {
                Kind::Number if classes.has(Class::Unit) => Some(Kind::Number),
                Kind::Number if classes.has(Class::Month) && !is_lower => Some(Kind::Date),
                _ => None,
            };
            if let Some(kind) = joined {
                self.widen(last, kind, range.end);
                return;
            }
        }
        self.push_word(range, word);
    }

    /// Adds a word with capitals inside: an identifier, or a statement of SQL.
    fn capitals(&mut self, range: Range<usize>) {
        let word = &self.text[range.clone()];
        let line_end = self.find(Find::LineEnd, range.end);
        let next = self.text[range.end..line_end.max(range.end)].split(' ').nth(1).unwrap_or_default();
        let end = self.find(Find::Semicolon, range.end).saturating_add(1).min(line_end);
        let is_statement = match word {
            // Words after the statement may be removed, so a FROM there must not decide.
            "SELECT" => self.find(Find::SqlFrom, range.end) < end,
            "INSERT" | "DELETE" | "CREATE" | "ALTER" | "DROP" | "TRUNCATE" => {
                matches!(next, "INTO" | "FROM" | "TABLE" | "INDEX" | "DATABASE" | "VIEW" | "COLUMN" | "UNIQUE")
            }
            _ => false,
        };
        if is_statement {
            self.push(Kind::Sql, range.start..end);
            self.at = end;
        } else if !self.continues(&range, false) {
            let is_unit = lexicon().classes(word).has(Class::Unit);
            match self.neighbour(range.start).filter(|&last| is_unit && self.atoms[last].kind == Kind::Number) {
                Some(last) => self.atoms[last].range.end = range.end,
                None => self.push(Kind::Identifier, range),
            }
        }
    }

    /// Reads everything up to the next blank or backtick that is not a plain word.
    fn chunk(&mut self) {
        let start = self.at;
        let end = self.closed(start, self.chunk_end(start));
        let end = self.windows_path(start, end);
        self.at = end;
        let core = trimmed(&self.text[start..end]);
        let core = start + core.start..start + core.end;
        let text = &self.text[core.clone()];
        let is_followed = core.end < end;
        match text {
            "" => {}
            "&" | "w/" | "w/o" | "b/c" | "b4" => {
                self.plain(core, lexicon().word(key(text.as_bytes())), false);
            }
            _ if !text.contains(|c: char| c.is_alphanumeric()) => self.operator(core),
            _ if !text.is_ascii() && text.chars().all(|c| c.is_alphabetic() || !c.is_ascii()) => {
                if !self.continues(&core, false) {
                    self.push_word(core, lexicon().word(key(text.as_bytes())));
                }
            }
            _ => self.protected(core),
        }
        if is_followed {
            self.command_is_open = false;
            self.operator_is_open = false;
        }
    }

    /// Reads a formula: `$x$`, `$$x$$`, `\(x\)`, `\[x\]` or an environment of TeX. Returns false if there is none.
    fn math(&mut self) -> bool {
        let start = self.at;
        let rest = &self.text[start..self.end];
        let (close, len) = if rest.starts_with("$$") {
            (self.find(Find::Dollars, start + 2), 2)
        } else if rest.starts_with('$') && !is_space(self.byte(start + 1)) {
            let end = self.find(Find::Dollar, start + 1);
            (if end < self.find(Find::LineEnd, start) { end } else { usize::MAX }, 1)
        } else if rest.starts_with(r"\(") {
            (self.find(Find::MathParenthesis, start + 2), 2)
        } else if rest.starts_with(r"\[") {
            (self.find(Find::MathBracket, start + 2), 2)
        } else if rest.starts_with(r"\begin{") {
            (self.find(Find::EndOfEnvironment, start), r"\end{".len())
        } else {
            return false;
        };
        if close == usize::MAX || close >= self.find(Find::BlankLine, start) {
            return false;
        }
        let end = self.chunk_end(close + len);
        let end = start + trimmed(&self.text[start..end]).end.max(close + len - start);
        if !self.continues(&(start..end), false) {
            self.push(Kind::Code, start..end);
        }
        self.at = end;
        true
    }

    /// Returns the end of a Windows path whose first chunk is given. Names in it may contain blanks, so the path ends
    /// with its clause, or with a name that has the suffix of a file.
    fn windows_path(&mut self, start: usize, end: usize) -> usize {
        if !is_windows_path(&self.text[start..end]) {
            return end;
        }
        let line_end = self.find(Find::LineEnd, end);
        let (mut first, mut end) = (start, end);
        loop {
            let chunk = &self.text[first..end];
            let core = trimmed(chunk);
            let is_file = || matches!(classify(&chunk[core.clone()]), Kind::FileName);
            if core.end < chunk.len() || first > start && (core.is_empty() || is_file()) || ends_with_suffix(chunk) {
                return end;
            }
            let Some(blanks) = self.bytes[end..line_end].iter().position(|&byte| !is_space(byte)) else { return end };
            first = end + blanks;
            if self.bytes[first] == b'`' {
                return end;
            }
            end = self.chunk_end(first);
        }
    }

    /// Returns the end of a chunk, which is after the bracket or quotation mark that closes one in it.
    fn closed(&mut self, start: usize, end: usize) -> usize {
        let chunk = &self.bytes[start..end];
        let mut end = end;
        if let Some(at) = memchr(b'(', chunk).filter(|&at| at > 0 && is_name(chunk[at - 1])) {
            let line_end = self.find(Find::LineEnd, end);
            end = end.max(self.behind_partner(start + at, line_end, b')'));
        } else if memchr::memchr_iter(b'"', chunk).count() % 2 == 1 {
            let line_end = self.find(Find::LineEnd, end);
            let close = self.find(Find::DoubleQuote, end);
            if close < line_end {
                end = close + 1;
            }
        }
        self.chunk_end(end)
    }

    /// Returns the position of the first blank or backtick from a place on.
    fn chunk_end(&self, from: usize) -> usize {
        let rest = &self.bytes[from..self.end];
        rest.iter().position(|&byte| is_space(byte) || byte == b'`').map_or(self.end, |len| from + len)
    }

    /// Returns the end of a bracket's partner, or `to` if it has none before that.
    fn behind_partner(&self, from: usize, to: usize, close: u8) -> usize {
        let open = self.bytes[from];
        let mut depth = 0;
        for at in from..to {
            depth += i32::from(self.bytes[at] == open) - i32::from(self.bytes[at] == close);
            if depth == 0 {
                return at + 1;
            }
        }
        to
    }

    fn protected(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        let kind = classify(text);
        if self.continues(&range, false) {
            return;
        }
        if lexicon().classes(text).has(Class::Tool) {
            self.push(Kind::Command, range);
            self.command_is_open = true;
            return;
        }
        if let Some(last) = self.neighbour(range.start) {
            let before = &self.atoms[last];
            let classes = before.word.classes;
            let is_capital = self.bytes[before.range.start].is_ascii_uppercase();
            let joined = match (before.kind, kind) {
                (Kind::Prose, Kind::Flag) if classes.has(Class::WordTool) && !is_capital => Some(Kind::Command),
                (Kind::Prose, Kind::Number) if classes.has(Class::Month) && is_capital => Some(Kind::Date),
                (Kind::Date, Kind::Number) if text.len() == 4 => Some(Kind::Date),
                (Kind::Number, Kind::Number) if text == "%" => Some(Kind::Number),
                _ => None,
            };
            if let Some(kind) = joined {
                self.widen(last, kind, range.end);
                self.command_is_open = kind == Kind::Command;
                return;
            }
        }
        self.push(kind, range);
    }

    /// Handles a sign: `x = y` is one expression. Other signs are punctuation.
    fn operator(&mut self, range: Range<usize>) {
        let sign = &self.text[range.clone()];
        let Some(last) = self.neighbour(range.start) else { return };
        if self.command_is_open {
            self.atoms[last].range.end = range.end;
        } else if matches!(sign, "=" | "==" | "!=" | "+=" | "-=" | ":=" | "=>" | "&&" | "||") {
            self.widen(last, Kind::Code, range.end);
            self.operator_is_open = true;
        } else if sign == "%" && self.atoms[last].kind == Kind::Number {
            self.atoms[last].range.end = range.end;
        }
    }

    /// Adds a range to the command or expression before it if that continues. Returns true if it does.
    fn continues(&mut self, range: &Range<usize>, stops_command: bool) -> bool {
        let goes_on = self.operator_is_open || self.command_is_open && !stops_command;
        let last = if goes_on { self.neighbour(range.start) } else { None };
        self.command_is_open &= last.is_some();
        self.operator_is_open = false;
        if let Some(last) = last {
            self.atoms[last].range.end = range.end;
        }
        last.is_some()
    }

    /// Returns the last atom if only blanks (or a comma in a date) stand between it and a place.
    fn neighbour(&self, start: usize) -> Option<usize> {
        let last = self.atoms.last()?;
        let gap = &self.bytes[last.range.end..start];
        let is_near = gap.iter().all(|byte| matches!(byte, b' ' | b'\t')) || last.kind == Kind::Date && gap == b", ";
        (is_near && gap.len() <= 4 && !last.kind.is_block() | self.operator_is_open).then(|| self.atoms.len() - 1)
    }

    /// Makes a span of an atom and the text after it.
    fn widen(&mut self, atom: usize, kind: Kind, end: usize) {
        let start = self.atoms[atom].range.start;
        self.atoms[atom] = Atom::span(Token { kind, range: start..end });
    }

    fn push(&mut self, kind: Kind, range: Range<usize>) {
        self.command_is_open = false;
        self.operator_is_open = false;
        self.atoms.push(Atom::span(Token { kind, range }));
    }

    fn push_word(&mut self, range: Range<usize>, word: Word) {
        self.command_is_open = false;
        self.operator_is_open = false;
        self.atoms.push(Atom { kind: Kind::Prose, range, word });
    }

    fn find(&mut self, what: Find, from: usize) -> usize {
        if let Some(found) = self.ahead[what as usize].filter(|&found| found >= from) {
            return found;
        }
        let from = from.min(self.end);
        let rest = &self.bytes[from..self.end];
        let needle = NEEDLES[what as usize].as_bytes();
        // An apostrophe closes no quotation, and `$5 and $10` is not a formula.
        let closes = |at: usize| {
            let next = rest.get(at + needle.len());
            at > 0
                && !is_space(rest[at - 1])
                && !next.is_some_and(|byte| byte.is_ascii_digit() || needle != b"$" && byte.is_ascii_alphabetic())
        };
        let at = match what {
            Find::SingleQuote | Find::CurlySingleQuote | Find::Dollar => {
                memmem::find_iter(rest, needle).find(|&at| closes(at))
            }
            _ if needle.len() == 1 => memchr(needle[0], rest),
            _ => memmem::find(rest, needle),
        };
        // A target that does not occur is beyond the end for every later search.
        let found = match (at, what) {
            (Some(at), _) => from + at,
            (None, Find::LineEnd | Find::BlankLine) => self.end,
            (None, _) => usize::MAX,
        };
        self.ahead[what as usize] = Some(found);
        found
    }

    fn code(&mut self) {
        let start = self.at;
        let len = self.bytes[start..self.end].iter().take_while(|&&byte| byte == b'`').count();
        let (text, range) = (self.text, self.at..self.end);
        let ticks = self.ticks.get_or_insert_with(|| runs_of_ticks(text, range));
        let close = ticks.get(&len).and_then(|runs| runs.get(runs.partition_point(|&run| run < start + len))).copied();
        let limit = self.find(Find::BlankLine, start);
        let end = match close {
            Some(close) if close < limit => close + len,
            _ => self.find(Find::LineEnd, start).max(start + len),
        };
        self.push(Kind::InlineCode, start..end);
        self.at = end;
    }

    /// Reads a quotation, unless the mark is an apostrophe or is never closed.
    fn quoted(&mut self, open_len: usize, close: Find) {
        let start = self.at;
        self.at += open_len;
        // French quotation marks have blanks inside.
        if is_space(self.byte(self.at)) && !matches!(close, Find::Guillemet) {
            return;
        }
        let end = self.find(close, self.at);
        if end == usize::MAX || end >= self.find(Find::BlankLine, start) {
            return;
        }
        let inside = &self.text[start + open_len..end];
        let is_path = inside.contains('\\') || inside.contains('/') && !inside.contains("://");
        let range = start..end + NEEDLES[close as usize].len();
        self.at = range.end;
        if !self.continues(&range, false) {
            self.push(if is_path { Kind::Path } else { Kind::Quoted }, range);
        }
    }

    fn braces(&mut self) {
        let start = self.at;
        let line_end = self.find(Find::LineEnd, start);
        self.at = self.behind_partner(start, line_end, b'}');
        self.push(Kind::Json, start..self.at);
    }

    /// Reads `[text](target)` or an array. Any other bracket is punctuation.
    fn bracket(&mut self) {
        let start = self.at;
        let line_end = self.find(Find::LineEnd, start);
        let close = self.find(Find::Bracket, start);
        self.at += 1;
        if close >= line_end {
            return;
        }
        let is_array = matches!(self.byte(start + 1), b'{' | b'"' | b'[' | b'0'..=b'9');
        let end = match self.byte(close + 1) {
            b'(' => Some(self.find(Find::ClosingParenthesis, close)).filter(|&at| at < line_end).map(|at| at + 1),
            _ => is_array.then_some(close + 1),
        };
        if let Some(end) = end {
            self.push(if is_array { Kind::Json } else { Kind::Url }, start..end);
            self.at = end;
        }
    }

    fn tag(&mut self) {
        let start = self.at;
        let end = self.find(Find::TagEnd, start);
        if end >= self.find(Find::LineEnd, start) {
            self.chunk();
            return;
        }
        let kind = if self.text[start..end].contains("://") { Kind::Url } else { Kind::Html };
        self.push(kind, start..end + 1);
        self.at = end + 1;
    }
}

/// Returns true if a chunk begins a path of Windows: a drive, a share, or names with a backslash between them.
fn is_windows_path(chunk: &str) -> bool {
    let bytes = trimmed(chunk);
    let bytes = &chunk.as_bytes()[bytes];
    let is_drive = matches!(bytes, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
        && bytes.get(3).is_none_or(|byte| *byte != b'/');
    let is_share = matches!(bytes, [b'\\', b'\\', name, ..] if is_name(*name));
    let is_part = |byte: u8| is_name(byte) || matches!(byte, b'.' | b'%' | b'~' | b'-' | b':' | b')' | b'(');
    // `snake\_case` and `1\.` are Markdown.
    let joins =
        |three: &[u8]| three[1] == b'\\' && is_part(three[0]) && (three[2].is_ascii_alphanumeric() || three[2] == b'%');
    is_drive || is_share || bytes.windows(3).any(joins)
}

/// Returns true if a chunk of a path ends with the suffix of a file.
fn ends_with_suffix(chunk: &str) -> bool {
    let name = chunk.rsplit(['\\', '/']).next().unwrap_or_default();
    !name.is_empty() && classify(name) == Kind::FileName
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn runs_of_ticks(text: &str, range: Range<usize>) -> HashMap<usize, Vec<usize>> {
    let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
    let bytes = &text.as_bytes()[..range.end];
    let mut at = range.start;
    while let Some(found) = memchr(b'`', &bytes[at..]) {
        let start = at + found;
        let len = bytes[start..].iter().take_while(|&&byte| byte == b'`').count();
        runs.entry(len).or_default().push(start);
        at = start + len;
    }
    runs
}
