//! The sixteen languages as data: grammars, comment markers, and the kinds of node that have a body.
//!
//! Adding a language is adding a row. Node kinds are those of the grammar's `node-types.json`.

use tree_sitter::Language as Grammar;

use super::scan::Rules;
use crate::content::Language;

/// What a language looks like.
pub(in crate::pipeline) struct Syntax {
    /// The language.
    pub language: Language,
    /// Grammars to try in turn: the first, and others for where it finds errors (TSX, C++ in a `.h`).
    pub(super) grammars: &'static [fn() -> Grammar],
    /// What has to stand before a fragment for the grammar to take it for code.
    pub(super) prelude: &'static str,
    /// Starts a comment that ends with the line.
    pub line_comment: &'static str,
    /// Opens and closes a comment that may end within a line.
    pub block_comment: Option<(&'static str, &'static str)>,
    /// How comments are told from strings where there is no tree.
    pub(super) scan: Option<Rules>,
    /// Whether `if (0)` never runs.
    pub zero_is_false: bool,
    /// Nodes whose body the outline leaves out; none where a body is not a block by braces or by indentation.
    pub functions: &'static [&'static str],
}

impl Syntax {
    /// The row of a language.
    pub(in crate::pipeline) fn of(language: Language) -> &'static Self {
        SYNTAXES.iter().find(|syntax| syntax.language == language).expect("every language has a row")
    }
}

/// Nodes that are comments, in any of the grammars.
pub(super) const COMMENTS: &[&str] = &["comment", "line_comment", "block_comment", "multiline_comment", "marginalia"];

const SLASHES: Syntax = Syntax {
    language: Language::JavaScript,
    grammars: &[],
    prelude: "",
    line_comment: "//",
    block_comment: Some(("/*", "*/")),
    scan: None,
    zero_is_false: false,
    functions: &[],
};

const SCRIPT_FUNCTIONS: &[&str] = &[
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "method_definition",
    "arrow_function",
];

static SYNTAXES: &[Syntax] = &[
    Syntax {
        language: Language::Python,
        grammars: &[|| tree_sitter_python::LANGUAGE.into()],
        line_comment: "#",
        block_comment: None,
        zero_is_false: true,
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::JavaScript,
        grammars: &[|| tree_sitter_javascript::LANGUAGE.into(), || tree_sitter_typescript::LANGUAGE_TSX.into()],
        zero_is_false: true,
        functions: SCRIPT_FUNCTIONS,
        ..SLASHES
    },
    Syntax {
        language: Language::TypeScript,
        grammars: &[
            || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            || tree_sitter_typescript::LANGUAGE_TSX.into(),
        ],
        zero_is_false: true,
        functions: SCRIPT_FUNCTIONS,
        ..SLASHES
    },
    Syntax {
        language: Language::Java,
        grammars: &[|| tree_sitter_java::LANGUAGE.into()],
        functions: &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::C,
        grammars: &[|| tree_sitter_c::LANGUAGE.into(), || tree_sitter_cpp::LANGUAGE.into()],
        scan: Some(Rules::C),
        zero_is_false: true,
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::Cpp,
        grammars: &[|| tree_sitter_cpp::LANGUAGE.into()],
        scan: Some(Rules::C),
        zero_is_false: true,
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::CSharp,
        grammars: &[|| tree_sitter_c_sharp::LANGUAGE.into()],
        functions: &["method_declaration", "constructor_declaration", "local_function_statement"],
        ..SLASHES
    },
    Syntax {
        language: Language::Go,
        grammars: &[|| tree_sitter_go::LANGUAGE.into()],
        functions: &["function_declaration", "method_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::Rust,
        grammars: &[|| tree_sitter_rust::LANGUAGE.into()],
        functions: &["function_item"],
        ..SLASHES
    },
    Syntax {
        language: Language::Ruby,
        grammars: &[|| tree_sitter_ruby::LANGUAGE.into()],
        line_comment: "#",
        block_comment: None,
        ..SLASHES
    },
    Syntax {
        language: Language::Php,
        grammars: &[|| tree_sitter_php::LANGUAGE_PHP.into()],
        prelude: "<?php\n",
        zero_is_false: true,
        functions: &["function_definition", "method_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::Swift,
        grammars: &[|| tree_sitter_swift::LANGUAGE.into()],
        functions: &["function_declaration", "init_declaration", "deinit_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::Kotlin,
        grammars: &[|| tree_sitter_kotlin_ng::LANGUAGE.into()],
        functions: &["function_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::Scala,
        grammars: &[|| tree_sitter_scala::LANGUAGE.into()],
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::Shell,
        grammars: &[|| tree_sitter_bash::LANGUAGE.into()],
        line_comment: "#",
        block_comment: None,
        ..SLASHES
    },
    Syntax {
        language: Language::Sql,
        grammars: &[|| tree_sitter_sequel::LANGUAGE.into()],
        line_comment: "--",
        scan: Some(Rules::SQL),
        ..SLASHES
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_grammars_that_load_and_know_their_kinds() {
        for &language in Language::ALL {
            let syntax = Syntax::of(language);
            assert!(!syntax.grammars.is_empty(), "{language:?}");
            for grammar in syntax.grammars {
                let grammar = grammar();
                tree_sitter::Parser::new().set_language(&grammar).expect("a compatible grammar");
                assert!(COMMENTS.iter().any(|kind| grammar.id_for_node_kind(kind, true) != 0), "{language:?}");
                for kind in syntax.functions {
                    assert_ne!(grammar.id_for_node_kind(kind, true), 0, "{language:?}: {kind}");
                }
            }
        }
    }
}
