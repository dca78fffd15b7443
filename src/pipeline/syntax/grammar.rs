//! A tree-sitter grammar, the known flaw of its scanner, and the meaning of its node kinds.

use std::borrow::Cow;

use tree_sitter::{Language as Loaded, Node};

/// The node kinds of comments in all grammars.
const COMMENTS: &[&str] = &["comment", "line_comment", "block_comment", "multiline_comment", "marginalia"];

/// Parts of the names of literal nodes. Comments and blank lines must not be looked for inside such nodes.
const TEXTS: &[&str] = &["string", "heredoc", "nowdoc", "regex"];

/// Node kinds that stages examine, in addition to the functions of each language.
const TELLING: &[&str] =
    &["if_statement", "if_expression", "preproc_if", "function_definition", "class_definition", "assignment"];

/// A grammar, loaded for parsing.
pub(super) struct Grammar {
    /// The name under which crashes of its scanner are recorded.
    pub(super) name: &'static str,
    /// The language that the parser loads.
    pub(super) loaded: &'static Loaded,
    flaw: Option<Flaw>,
    /// The meaning of each node kind, indexed by its number.
    kinds: Vec<Kind>,
}

/// A known bug of a grammar's scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The scanner looks characters up in a C table that ends at U+00FF, and reads out of bounds beyond it.
    Narrow,
    /// The scanner looks for a blank after an `@` and does not stop at the end of the code.
    Endless,
    /// The scanner stores the length of a word after `<<` in one byte, so the length of a long word is truncated.
    ShortWords,
}

/// The maximum length of a word after `<<`, in characters. Several words on one line have to fit into a kilobyte.
const WORD_CHARS: usize = 60;

/// Returns true if a text begins with `<<` and a word, bare or quoted, of more than [`WORD_CHARS`] characters.
fn opens_long_word(text: &str) -> bool {
    let Some(word) = text.strip_prefix("<<") else { return false };
    let word = word.strip_prefix(['-', '~']).unwrap_or(word);
    let quote = word.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'));
    let is_inside = |c: &char| match quote {
        Some(quote) => *c != quote,
        None => c.is_alphanumeric() || *c == '_',
    };
    word.chars().skip(usize::from(quote.is_some())).take_while(is_inside).take(WORD_CHARS + 1).count() > WORD_CHARS
}

/// The meaning of a node kind. It is computed once, because comparing a kind's name, which is a C string, costs as much
/// as walking to the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kind {
    /// True for a comment.
    pub(super) is_comment: bool,
    /// True for a comment or literal, whose children are not visited.
    pub(super) is_atomic: bool,
    /// True if stages examine nodes of this kind.
    pub(super) is_telling: bool,
}

impl Grammar {
    /// Creates a grammar. The parser is never given code that triggers `flaw`. `is_function` decides by name which node
    /// kinds are functions.
    pub(super) fn new(
        name: &'static str,
        loaded: &'static Loaded,
        flaw: Option<Flaw>,
        is_function: fn(&str) -> bool,
    ) -> Self {
        let numbers = 0..u16::try_from(loaded.node_kind_count()).unwrap_or(u16::MAX);
        let kinds = numbers.map(|number| Kind::of(loaded, number, is_function)).collect();
        Self { name, loaded, flaw, kinds }
    }

    /// Returns the meaning of a node's kind.
    pub(super) fn kind(&self, node: Node) -> Kind {
        // The number of the error kind is larger than all others.
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or_default()
    }

    /// Returns the meanings of all node kinds.
    #[cfg(test)]
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the code with every character that triggers the flaw replaced by letters of the same length in bytes.
    pub(super) fn harmless<'a>(&self, code: &'a str) -> Cow<'a, str> {
        let last_line = code.rfind('\n').map_or(0, |at| at + 1);
        let is_harmful = |(at, c): (usize, char)| match self.flaw {
            None => false,
            Some(Flaw::Narrow) => c > '\u{ff}',
            Some(Flaw::Endless) => c == '@' && at >= last_line,
            Some(Flaw::ShortWords) => c == '<' && opens_long_word(&code[at..]),
        };
        if self.flaw.is_none() || !code.char_indices().any(is_harmful) {
            return Cow::Borrowed(code);
        }
        let mut harmless = String::with_capacity(code.len());
        for (at, c) in code.char_indices() {
            if is_harmful((at, c)) {
                harmless.extend(std::iter::repeat_n('x', c.len_utf8()));
            } else {
                harmless.push(c);
            }
        }
        Cow::Owned(harmless)
    }
}

impl Kind {
    fn of(loaded: &Loaded, number: u16, is_function: fn(&str) -> bool) -> Self {
        let Some(name) = loaded.node_kind_for_id(number).filter(|_| loaded.node_kind_is_named(number)) else {
            return Self::default();
        };
        let is_comment = COMMENTS.contains(&name);
        Self {
            is_comment,
            is_atomic: is_comment || TEXTS.iter().any(|text| name.contains(text)),
            is_telling: TELLING.contains(&name) || is_function(name),
        }
    }
}
