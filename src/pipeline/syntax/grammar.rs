//! A grammar of tree-sitter, with what is wrong with its scanner, and what its kinds of node mean here.

use std::borrow::Cow;

use tree_sitter::{Language as Loaded, Node};

/// Nodes that are comments, in any of the grammars.
const COMMENTS: &[&str] = &["comment", "line_comment", "block_comment", "multiline_comment", "marginalia"];

/// Parts of the names of nodes that are text: what looks like a comment or a blank line in them is something else.
const TEXTS: &[&str] = &["string", "heredoc", "nowdoc", "regex"];

/// Nodes that a stage may want to look into, beside the functions of each language.
const TELLING: &[&str] =
    &["if_statement", "if_expression", "preproc_if", "function_definition", "class_definition", "assignment"];

/// A grammar.
pub(super) struct Grammar {
    /// What crashes in its scanner are remembered by.
    pub(super) name: &'static str,
    /// What the parser loads.
    pub(super) loaded: &'static Loaded,
    flaw: Option<Flaw>,
    /// By the number of the kind.
    kinds: Vec<Kind>,
}

/// What is wrong with a grammar's scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It looks characters up in C's table of them, which ends at U+00FF; beyond it is other memory, or none.
    Narrow,
    /// It looks for a blank after an `@` and never sees that the code ends before one.
    Endless,
    /// It keeps the length of a word after `<<` in one byte, and reads what it kept by that length.
    ShortWords,
}

/// Most characters of a word after `<<`. Several on one line have to fit into a kilobyte.
const WORD_CHARS: usize = 60;

/// Whether a text begins as `<<` with a word, bare or in quotes, of more than [`WORD_CHARS`].
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

/// What a kind of node means here. Its name is a C string: to look at it costs as much as to walk to the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kind {
    /// A comment.
    pub(super) is_comment: bool,
    /// A comment or a text, which is taken as a whole.
    pub(super) is_atomic: bool,
    /// Whether a stage may want to look into it.
    pub(super) is_telling: bool,
}

impl Grammar {
    /// A grammar, whose parser is not to meet what its flaw does not bear; `is_function` says by their names what kinds
    /// of node are functions.
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

    /// What the kind of a node means.
    pub(super) fn kind(&self, node: Node) -> Kind {
        // The kind of errors has a number beyond all others.
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or_default()
    }

    /// What each kind of node means.
    #[cfg(test)]
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The code with letters, as many as there are bytes, for the characters that the scanner does not bear.
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
