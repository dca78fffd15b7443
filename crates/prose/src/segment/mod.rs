//! Splits a text into protected spans and the prose between them. Only this module decides which parts shortening may
//! not change.
//!
//! Blocks of lines are found first (fences, code, headings, tables, settings), then the words of the other lines.
//! Everything that may not be a word of prose is protected; its kind matters less. One pass suffices, in linear time.

mod classify;
mod inline;
mod mentions;

use std::ops::Range;

use concertina_readers::blocks::BlockKind;

use crate::lexicon::Word;

named! {
    /// The kind of a part of a text.
    pub Kind {
        /// A fence of ``` or ~~~ with its content; one that is never closed, to the end.
        Fence = "fence",
        /// Code between any number of backticks.
        InlineCode = "inline-code",
        /// Lines that are indented as code.
        IndentedCode = "indented-code",
        /// A line or an expression of a program.
        Code = "code",
        /// `https://…` and the like.
        Url = "url",
        /// A URL of a pull request, a merge request or an issue.
        PrUrl = "pr-url",
        /// POSIX, relative, `~` or Windows.
        Path = "path",
        /// A shell command with its arguments.
        Command = "command",
        /// `--force`, `-x`.
        Flag = "flag",
        /// `NAME=value`.
        EnvAssignment = "env-assignment",
        /// `key: value` or `key = value` on a line of its own, and front matter.
        Setting = "setting",
        /// `v1.2.3`, `^4.0`.
        Version = "version",
        /// A date or a time.
        Date = "date",
        /// A number with its unit.
        Number = "number",
        /// snake_case, camelCase, kebab-case, dotted.name, ALL_CAPS.
        Identifier = "identifier",
        /// `config.json`.
        FileName = "file-name",
        /// `text/plain`.
        Mime = "mime",
        /// An e-mail address.
        Email = "email",
        /// `localhost:6379`, `example.com`, `git@github.com:a/b.git`.
        Host = "host",
        /// `feature/login`.
        Branch = "branch",
        /// `R12`, `ABC-123`.
        RowId = "row-id",
        /// An object or array in braces or brackets.
        Json = "json",
        /// Tags and comments.
        Html = "html",
        /// A statement.
        Sql = "sql",
        /// Words in quotation marks.
        Quoted = "quoted",
        /// Words that are named and not used: `the words really or just`.
        Named = "named",
        /// Lines that quote, marked by `>` or, in AsciiDoc, between two `____`.
        BlockQuote = "block-quote",
        /// A heading's whole line.
        Heading = "heading",
        /// A line of a table.
        TableRow = "table-row",
        /// Everything else.
        Prose = "prose",
    }
}

impl From<BlockKind> for Kind {
    fn from(kind: BlockKind) -> Self {
        match kind {
            BlockKind::Fence => Self::Fence,
            BlockKind::IndentedCode => Self::IndentedCode,
            BlockKind::Code => Self::Code,
            BlockKind::Setting => Self::Setting,
            BlockKind::BlockQuote => Self::BlockQuote,
            BlockKind::Heading => Self::Heading,
            BlockKind::TableRow => Self::TableRow,
            BlockKind::Html => Self::Html,
            BlockKind::Sql => Self::Sql,
            BlockKind::Command => Self::Command,
            BlockKind::Prose => Self::Prose,
        }
    }
}

impl Kind {
    /// Returns true if it consists of whole lines.
    pub fn is_block(self) -> bool {
        matches!(
            self,
            Self::Fence
                | Self::IndentedCode
                | Self::Setting
                | Self::BlockQuote
                | Self::Heading
                | Self::TableRow
                | Self::Code
                | Self::Sql
        )
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// A word of prose or a protected span.
#[derive(Debug, Clone)]
pub(crate) struct Atom {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
    /// The properties of a word of prose; the default for a span.
    pub(crate) word: Word,
}

impl Atom {
    fn span(token: Token) -> Self {
        Self { kind: token.kind, range: token.range, word: Word::default() }
    }

    fn token(self) -> Token {
        Token { kind: self.kind, range: self.range }
    }
}

/// Splits a text into protected spans and prose, without gaps.
pub fn tokenize(text: &str) -> Vec<Token> {
    joined(atoms(text), text.len())
}

/// Does the same as [`tokenize`] for a text inside a heading or a table row, in which there are no blocks of lines.
pub fn tokenize_inline(text: &str) -> Vec<Token> {
    joined(inline_atoms(text, 0..text.len()), text.len())
}

/// Returns the blocks of lines of a text. Consecutive lines of prose are one block.
pub(crate) fn blocks(text: &str) -> impl Iterator<Item = Token> {
    concertina_readers::blocks::blocks(text).map(|block| Token { kind: block.kind.into(), range: block.range })
}

/// Returns the protected spans and the words between them, without blanks and punctuation.
pub(crate) fn atoms(text: &str) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(text.len() / 6);
    for block in blocks(text) {
        match block.kind {
            Kind::Prose => {
                let first = atoms.len();
                inline::scan(text, block.range, &mut atoms);
                mentions::mark(text, &mut atoms[first..]);
            }
            _ => atoms.push(Atom::span(block)),
        }
    }
    atoms
}

/// Returns the atoms of a range inside a heading or a table row.
pub(crate) fn inline_atoms(text: &str, range: Range<usize>) -> Vec<Atom> {
    let mut atoms = Vec::new();
    inline::scan(text, range, &mut atoms);
    mentions::mark(text, &mut atoms);
    atoms
}

/// Joins atoms to tokens: words and gaps become prose.
fn joined(atoms: Vec<Atom>, len: usize) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    for atom in atoms.into_iter().filter(|atom| atom.kind != Kind::Prose) {
        if atom.range.start > at {
            tokens.push(Token { kind: Kind::Prose, range: at..atom.range.start });
        }
        at = atom.range.end;
        tokens.push(atom.token());
    }
    if at < len {
        tokens.push(Token { kind: Kind::Prose, range: at..len });
    }
    tokens
}
