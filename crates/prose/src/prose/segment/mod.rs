//! Text -> protected spans and the prose between them: the one place that says what shortening may not touch.
//!
//! A block of lines is told first (fences, code, headings, tables, settings), then the words of what is left. What is not surely
//! a word of prose is protected; which kind it is called matters less than that it is. One pass, linear.

mod blocks;
mod classify;
mod inline;
mod named;

use std::ops::Range;

use blocks::Blocks;

use super::lexicon::Word;

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// What a part of a text is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kind { $($(#[$meta])* $name),+ }

        impl Kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name as JavaScript sees it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }
        }
    };
}

kinds! {
    /// A fence of ``` or ~~~ with all that is in it; one that is never closed, to the end.
    Fence = "fence",
    /// Code between backticks, as many as it takes.
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
    /// A number, with its unit.
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

impl Kind {
    /// Whether it stands on lines of its own.
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
    /// What it is.
    pub kind: Kind,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

/// A word of prose or a protected span.
#[derive(Debug, Clone)]
pub(crate) struct Atom {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
    /// What is known about a word of prose; nothing about a span.
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

/// Cuts a text into protected spans and prose. Without gaps: the parts in order are the text.
pub fn tokenize(text: &str) -> Vec<Token> {
    joined(atoms(text), text.len())
}

/// [`tokenize`] for text that stands inside a heading, a table row or the like: its words only, no blocks of lines.
pub fn tokenize_inline(text: &str) -> Vec<Token> {
    joined(inline_atoms(text, 0..text.len()), text.len())
}

/// The lines that are protected as a whole, and as prose the runs of lines between them: [`atoms`] without looking at words.
pub fn blocks(text: &str) -> impl Iterator<Item = Token> {
    Blocks::new(text)
}

/// Protected spans and the words between them; blanks and punctuation are left out.
pub(crate) fn atoms(text: &str) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(text.len() / 6);
    for block in blocks(text) {
        match block.kind {
            Kind::Prose => {
                let first = atoms.len();
                inline::scan(text, block.range, &mut atoms);
                named::mark(text, &mut atoms[first..]);
            }
            _ => atoms.push(Atom::span(block)),
        }
    }
    atoms
}

/// [`atoms`] of a range that stands inside a heading, a table row or the like.
pub(crate) fn inline_atoms(text: &str, range: Range<usize>) -> Vec<Atom> {
    let mut atoms = Vec::new();
    inline::scan(text, range, &mut atoms);
    named::mark(text, &mut atoms);
    atoms
}

/// Words and gaps become prose.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(&str, &str)> {
        let tokens = tokenize(text);
        let whole: String = tokens.iter().map(|token| &text[token.range.clone()]).collect();
        assert_eq!(whole, text);
        let spans = tokens.iter().filter(|token| token.kind != Kind::Prose);
        spans.map(|token| (token.kind.as_str(), &text[token.range.clone()])).collect()
    }

    #[test]
    fn every_kind_is_told() {
        for (text, expected) in [
            ("a\n```sh\nthe `x`\n```\nb", vec![("fence", "```sh\nthe `x`\n```\n")]),
            ("a\n~~~~\nthe\n~~~\nend", vec![("fence", "~~~~\nthe\n~~~\nend")]),
            ("the ``a ` b`` is", vec![("inline-code", "``a ` b``")]),
            ("Run:\n\n    the code\n\n    more\n\nend", vec![("indented-code", "    the code\n\n    more\n")]),
            ("see (https://a.b/c_(d)?e=1#f).", vec![("url", "https://a.b/c_(d)?e=1#f")]),
            ("at https://github.com/a/b/pull/12, it", vec![("pr-url", "https://github.com/a/b/pull/12")]),
            ("in /etc/hosts, ../a, ~/b", vec![("path", "/etc/hosts"), ("path", "../a"), ("path", "~/b")]),
            (r"in C:\Users\x, and src\a.rs", vec![("path", r"C:\Users\x"), ("path", r"src\a.rs")]),
            (r"in C:\Users\x and src\a.rs the", vec![("path", r"C:\Users\x and src\a.rs")]),
            ("in \"C:\\Program Files\\the a\" now", vec![("path", "\"C:\\Program Files\\the a\"")]),
            ("$ the --command", vec![("command", "$ the --command")]),
            ("then git push --force origin main to do", vec![("command", "git push --force origin main")]),
            ("pass --dry-run or -x", vec![("flag", "--dry-run"), ("flag", "-x")]),
            ("set NODE_ENV=production then", vec![("env-assignment", "NODE_ENV=production")]),
            ("name: the value\nport: a b\n", vec![("setting", "name: the value\nport: a b\n")]),
            ("since v1.2.3-rc.1 or ^4.0", vec![("version", "v1.2.3-rc.1"), ("version", "^4.0")]),
            (
                "on 2026-11-21T10:00:00Z or May 5, 2024 or 5 March",
                vec![("date", "2026-11-21T10:00:00Z"), ("date", "May 5, 2024"), ("date", "5 March")],
            ),
            ("takes 5 min, 10MB or 20 %", vec![("number", "5 min"), ("number", "10MB"), ("number", "20 %")]),
            (
                "the user_id fooBar re-read os.path MAX",
                vec![
                    ("identifier", "user_id"),
                    ("identifier", "fooBar"),
                    ("identifier", "re-read"),
                    ("identifier", "os.path"),
                    ("identifier", "MAX"),
                ],
            ),
            ("see config.json.", vec![("file-name", "config.json")]),
            ("as text/plain; so", vec![("mime", "text/plain")]),
            ("to jo@example.com.", vec![("email", "jo@example.com")]),
            (
                "from git@github.com:a/b.git at localhost:80",
                vec![("host", "git@github.com:a/b.git"), ("host", "localhost:80")],
            ),
            ("on feature/log-in", vec![("branch", "feature/log-in")]),
            ("per R12 and ABC-123", vec![("row-id", "R12"), ("row-id", "ABC-123")]),
            ("got {\"a\": [1, the]} back", vec![("json", "{\"a\": [1, the]}")]),
            ("a <b class=\"the x\">c</b>", vec![("html", "<b class=\"the x\">"), ("html", "c</b>")]),
            ("run SELECT a FROM the WHERE b IN (1); then", vec![("sql", "SELECT a FROM the WHERE b IN (1);")]),
            ("called \"the name\" and 'a b'", vec![("quoted", "\"the name\""), ("quoted", "'a b'")]),
            (
                "“the a”, ‘the user’s’, « the b »",
                vec![("quoted", "“the a”"), ("quoted", "‘the user’s’"), ("quoted", "« the b »")],
            ),
            ("## The a\ntext", vec![("heading", "## The a\n")]),
            ("The a\n=====\ntext", vec![("heading", "The a\n=====\n")]),
            ("| a | the |\n|---|---|\nb", vec![("table-row", "| a | the |\n"), ("table-row", "|---|---|\n")]),
            ("let x = the; in", vec![("code", "x = the")]),
            ("1. ```sql\n   copy the a\n   ```\nb", vec![("fence", "1. ```sql\n   copy the a\n   ```\n")]),
            ("a\n<pre>\nthe a\n</pre>\nb", vec![("html", "<pre>\nthe a\n</pre>\n")]),
            ("#+BEGIN_SRC sh\nthe a\n#+END_SRC\nb", vec![("code", "#+BEGIN_SRC sh\nthe a\n#+END_SRC\n")]),
            ("So::\n\n  the a\n\nb", vec![("indented-code", "  the a\n")]),
            (" „the a“ b", vec![("quoted", "„the a“")]),
            ("So::\n\n the a\n\nb", vec![("indented-code", " the a\n")]),
            ("Select the a::\n\n  b\n", vec![("sql", "Select the a::\n"), ("indented-code", "  b\n")]),
            (".. sourcecode:: x\n\n  the a\n\nb", vec![("indented-code", "  the a\n")]),
            ("a\n> the\n> > a\nthe b\n\nc", vec![("block-quote", "> the\n> > a\nthe b\n")]),
            ("- a\n  > the\n- > a\n- b", vec![("block-quote", "  > the\n- > a\n")]),
            ("> ```\n> the a\n\nthe b", vec![("block-quote", "> ```\n> the a\n")]),
            ("> the\n```\na\n\n```\nb", vec![("block-quote", "> the\n"), ("fence", "```\na\n\n```\n")]),
            ("[source]\n----\nthe\n\na\n----\nb", vec![("code", "[source]\n----\nthe\n\na\n----\n")]),
            (".The a\n....\nthe\n-----\n....\nb", vec![("code", ".The a\n....\nthe\n-----\n....\n")]),
            (
                "* a\n+\n----\nthe\n----\n+\n----\na\n----\nb",
                vec![("table-row", "+\n"), ("code", "----\nthe\n----\n"), ("code", "+\n----\na\n----\n")],
            ),
            ("a\n\n____\nthe\n\na\n____\nb", vec![("block-quote", "____\nthe\n\na\n____\n")]),
        ] {
            assert_eq!(spans(text), expected, "{text}");
        }
    }

    #[test]
    fn plain_words_are_prose() {
        for text in [
            "It isn't the user's fault, is it? (No, really!)",
            "- the first item\n- another one\n",
            "Don’t touch **the bold words** here.",
            "I think a man and a woman saw it.",
            "- an item\n  that goes on\n---\n",
            "one\n\n-----\ntwo\n\n-----\nthree\n",
            "one\n\n-----\n\ntwo\n\n-----\n",
            "one\nis\n....\ntwo\n....\n",
            "one line\nand another\n---\n",
        ] {
            assert_eq!(spans(text), [], "{text}");
        }
    }

    #[test]
    fn a_quotation_may_be_long() {
        let long = format!("\"{}\"", "the word ".repeat(100).trim_end());
        assert_eq!(spans(&long), [("quoted", long.as_str())]);
    }

    #[test]
    fn a_span_ends_where_the_sentence_goes_on() {
        assert_eq!(spans("use `a` and `b"), [("inline-code", "`a`"), ("inline-code", "`b")]);
        assert_eq!(spans("it's the dog's 'own' bowl"), [("quoted", "'own'")]);
        assert_eq!(spans("\"open and never closed"), []);
        assert_eq!(spans("git is good"), [("command", "git")]);
        assert_eq!(spans("> a quote\n---\nthe b\n"), [("block-quote", "> a quote\n")]);
    }
}
