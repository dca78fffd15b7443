//! The table of the sixteen supported languages: grammars, comment markers, and node kinds that have a body.
//!
//! To add a language, add a grammar and a row. Node kinds are those of the grammar's `node-types.json`.

use std::sync::LazyLock;

use super::grammar::{Flaw, Grammar};
use super::scan::Rules;
use crate::content::Language;

/// The syntax of a language.
pub(in crate::pipeline) struct Syntax {
    /// The language.
    pub language: Language,
    /// The grammars to try in turn. The others are tried if the first finds errors (TSX, C++ in a `.h`).
    pub(super) grammars: &'static [&'static LazyLock<Grammar>],
    /// The text that must precede a fragment so that the grammar parses it as code.
    pub(super) prelude: &'static str,
    /// The marker of a comment that ends with the line.
    pub line_comment: &'static str,
    /// The markers that open and close a block comment.
    pub block_comment: Option<(&'static str, &'static str)>,
    /// The rules to tell comments from strings if there is no tree.
    pub(super) scan: Option<Rules>,
    /// True if `if (0)` never runs.
    pub zero_is_false: bool,
    /// Node kinds whose body the outline omits. Empty if bodies are delimited neither by braces nor by indentation.
    pub functions: &'static [&'static str],
}

impl Syntax {
    /// Returns the row of a language.
    pub(in crate::pipeline) fn of(language: Language) -> &'static Self {
        SYNTAXES.iter().find(|syntax| syntax.language == language).expect("every language has a row")
    }
}

macro_rules! grammars {
    ($($name:ident, $flaw:expr;)*) => {
        $(static $name: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(concat!("grammar ", stringify!($name)), concertina_grammars::$name.language(), $flaw, is_function));)*
    };
}

grammars! {
    BASH, Some(Flaw::Narrow);
    C, None;
    CPP, None;
    C_SHARP, None;
    GO, None;
    JAVA, None;
    JAVASCRIPT, None;
    KOTLIN, Some(Flaw::Endless);
    PHP, None;
    PYTHON, None;
    RUBY, Some(Flaw::ShortWords);
    RUST, None;
    SCALA, None;
    SQL, None;
    SWIFT, None;
    TSX, None;
    TYPESCRIPT, None;
}

/// Returns true if nodes of a kind are functions in some language.
fn is_function(kind: &str) -> bool {
    SYNTAXES.iter().any(|syntax| syntax.functions.contains(&kind))
}

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
        grammars: &[&PYTHON],
        line_comment: "#",
        block_comment: None,
        zero_is_false: true,
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::JavaScript,
        grammars: &[&JAVASCRIPT, &TSX],
        zero_is_false: true,
        functions: SCRIPT_FUNCTIONS,
        ..SLASHES
    },
    Syntax {
        language: Language::TypeScript,
        grammars: &[&TYPESCRIPT, &TSX],
        zero_is_false: true,
        functions: SCRIPT_FUNCTIONS,
        ..SLASHES
    },
    Syntax {
        language: Language::Java,
        grammars: &[&JAVA],
        functions: &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::C,
        grammars: &[&C, &CPP],
        scan: Some(Rules::C),
        zero_is_false: true,
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::Cpp,
        grammars: &[&CPP],
        scan: Some(Rules::C),
        zero_is_false: true,
        functions: &["function_definition"],
        ..SLASHES
    },
    Syntax {
        language: Language::CSharp,
        grammars: &[&C_SHARP],
        functions: &["method_declaration", "constructor_declaration", "local_function_statement"],
        ..SLASHES
    },
    Syntax {
        language: Language::Go,
        grammars: &[&GO],
        functions: &["function_declaration", "method_declaration"],
        ..SLASHES
    },
    Syntax { language: Language::Rust, grammars: &[&RUST], functions: &["function_item"], ..SLASHES },
    Syntax { language: Language::Ruby, grammars: &[&RUBY], line_comment: "#", block_comment: None, ..SLASHES },
    Syntax {
        language: Language::Php,
        grammars: &[&PHP],
        prelude: "<?php\n",
        zero_is_false: true,
        functions: &["function_definition", "method_declaration"],
        ..SLASHES
    },
    Syntax {
        language: Language::Swift,
        grammars: &[&SWIFT],
        functions: &["function_declaration", "init_declaration", "deinit_declaration"],
        ..SLASHES
    },
    Syntax { language: Language::Kotlin, grammars: &[&KOTLIN], functions: &["function_declaration"], ..SLASHES },
    Syntax { language: Language::Scala, grammars: &[&SCALA], functions: &["function_definition"], ..SLASHES },
    Syntax { language: Language::Shell, grammars: &[&BASH], line_comment: "#", block_comment: None, ..SLASHES },
    Syntax { language: Language::Sql, grammars: &[&SQL], line_comment: "--", scan: Some(Rules::SQL), ..SLASHES },
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
                tree_sitter::Parser::new().set_language(grammar.loaded).expect("a compatible grammar");
                for kind in syntax.functions {
                    assert_ne!(grammar.loaded.id_for_node_kind(kind, true), 0, "{language:?}: {kind}");
                }
            }
        }
    }
    #[test]
    fn every_grammar_has_comments_and_texts() {
        for &language in Language::ALL {
            for grammar in Syntax::of(language).grammars {
                let kinds = grammar.kinds();
                assert!(kinds.iter().any(|kind| kind.is_comment), "{language:?}");
                assert!(kinds.iter().any(|kind| kind.is_atomic && !kind.is_comment), "{language:?}");
            }
        }
    }

    #[test]
    fn what_a_scanner_does_not_bear_is_letters_to_it() {
        assert_eq!(BASH.harmless("é 世 {🚀"), "é xxx {xxxx");
        assert_eq!(KOTLIN.harmless("@A\n@A x@B"), "@A\nxA xxB");
        assert_eq!(PYTHON.harmless("@世"), "@世");
        let word = "a".repeat(61);
        assert_eq!(RUBY.harmless(&format!("x <<~{word}\ny << z")), format!("x x<~{word}\ny << z"));
        assert_eq!(RUBY.harmless(&format!("<<-'{word}'")), format!("x<-'{word}'"));
        assert_eq!(RUBY.harmless(&format!("<<{}", &word[1..])), format!("<<{}", &word[1..]));
    }
}
