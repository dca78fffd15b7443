//! Checks that each grammar equals the one of its own crate: the same tables byte for byte, the same names, and the
//! same trees of real code.

use std::path::Path;
use std::{fs, slice};

use concertina_grammars as grammars;
use concertina_grammars::Grammar;
use tree_sitter::{Language, Parser};

/// The first fields of the parser's struct in every version, up to the last of its tables.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    counts: [u32; 9],
    longest_alias: u16,
    parse_table: *const u8,
    small_parse_table: *const u8,
    small_parse_table_map: *const u8,
    parse_actions: *const u8,
    names: [*const u8; 8],
    lex_modes: *const u8,
    functions: [*const u8; 10],
    primary_state_ids: *const u8,
}

impl Head {
    fn of(language: &Language) -> Self {
        let raw = language.clone().into_raw();
        // SAFETY: the struct of any version begins with these fields, and all languages here are static.
        unsafe { *raw.cast() }
    }

    /// Returns the tables in the order in which ours are in memory.
    fn tables(&self) -> [*const u8; 6] {
        [
            self.small_parse_table_map,
            self.parse_actions,
            self.parse_table,
            self.small_parse_table,
            self.lex_modes,
            self.primary_state_ids,
        ]
    }
}

/// Returns our grammar, the original, and the folder with code in it below `fixtures/code`.
fn all() -> [(&'static Grammar, Language, &'static str); 17] {
    [
        (&grammars::BASH, tree_sitter_bash::LANGUAGE.into(), "shell"),
        (&grammars::C, tree_sitter_c::LANGUAGE.into(), "c"),
        (&grammars::CPP, tree_sitter_cpp::LANGUAGE.into(), "cpp"),
        (&grammars::C_SHARP, tree_sitter_c_sharp::LANGUAGE.into(), "csharp"),
        (&grammars::GO, tree_sitter_go::LANGUAGE.into(), "go"),
        (&grammars::JAVA, tree_sitter_java::LANGUAGE.into(), "java"),
        (&grammars::JAVASCRIPT, tree_sitter_javascript::LANGUAGE.into(), "javascript"),
        (&grammars::KOTLIN, tree_sitter_kotlin_ng::LANGUAGE.into(), "kotlin"),
        (&grammars::PHP, tree_sitter_php::LANGUAGE_PHP.into(), "php"),
        (&grammars::PYTHON, tree_sitter_python::LANGUAGE.into(), "python"),
        (&grammars::RUBY, tree_sitter_ruby::LANGUAGE.into(), "ruby"),
        (&grammars::RUST, tree_sitter_rust::LANGUAGE.into(), "rust"),
        (&grammars::SCALA, tree_sitter_scala::LANGUAGE.into(), "scala"),
        (&grammars::SQL, tree_sitter_sequel::LANGUAGE.into(), "sql"),
        (&grammars::SWIFT, tree_sitter_swift::LANGUAGE.into(), "swift"),
        (&grammars::TSX, tree_sitter_typescript::LANGUAGE_TSX.into(), "typescript"),
        (&grammars::TYPESCRIPT, tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), "typescript"),
    ]
}

#[test]
fn the_tables_are_those_of_the_original() {
    for (ours, original, name) in all() {
        let (ours, theirs) = (Head::of(ours.language()), Head::of(&original));
        assert_eq!((ours.counts, ours.longest_alias), (theirs.counts, theirs.longest_alias), "{name}");
        let states = ours.counts[5] as usize;
        let end = ours.primary_state_ids.wrapping_add(2 * states);
        let ends = ours.tables().into_iter().skip(1).chain([end]);
        for (n, ((start, end), original)) in ours.tables().into_iter().zip(ends).zip(theirs.tables()).enumerate() {
            let len = end.addr() - start.addr();
            assert!(len >= 2 * states || n < 4, "{name}: table {n} has {len} bytes");
            assert_ne!(start, original, "{name}: ours is not the original itself");
            // SAFETY: our tables are contiguous, and the original's have the same lengths, because both come from the
            // same source.
            let (ours, original) = unsafe { (slice::from_raw_parts(start, len), slice::from_raw_parts(original, len)) };
            assert!(ours == original, "{name}: table {n}");
        }
    }
}

#[test]
fn the_names_are_those_of_the_original() {
    for (ours, original, name) in all() {
        let ours = ours.language();
        for kind in 0..=u16::try_from(original.node_kind_count()).unwrap() {
            assert_eq!(ours.node_kind_for_id(kind), original.node_kind_for_id(kind), "{name}");
            assert_eq!(ours.node_kind_is_named(kind), original.node_kind_is_named(kind), "{name}");
            assert_eq!(ours.node_kind_is_visible(kind), original.node_kind_is_visible(kind), "{name}");
        }
        for field in 0..=u16::try_from(original.field_count()).unwrap() {
            assert_eq!(ours.field_name_for_id(field), original.field_name_for_id(field), "{name}");
        }
    }
}

/// Returns the kinds, fields and positions of all nodes.
fn tree(code: &str, language: &Language) -> Vec<(u16, Option<u16>, usize, usize, bool)> {
    let mut parser = Parser::new();
    parser.set_language(language).expect("a compatible grammar");
    let tree = parser.parse(code, None).expect("no limits are set");
    let mut cursor = tree.walk();
    let mut nodes = Vec::new();
    loop {
        let node = cursor.node();
        let field = cursor.field_id().map(std::num::NonZero::get);
        nodes.push((node.grammar_id(), field, node.start_byte(), node.end_byte(), node.is_missing()));
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

#[test]
fn code_has_the_tree_that_the_original_gives_it() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/code");
    for (ours, original, name) in all() {
        let mut nodes = 0;
        for file in fs::read_dir(fixtures.join(name)).expect("the language has fixtures") {
            let code = fs::read_to_string(file.expect("a file").path()).expect("code is UTF-8");
            // Half of the code, and its lines in reverse order, are full of errors.
            let half = &code[..code.floor_char_boundary(code.len() / 2)];
            let upwards: Vec<&str> = code.lines().rev().collect();
            for code in [&code, half, &upwards.join("\n")] {
                let expected = tree(code, &original);
                assert!(tree(code, ours.language()) == expected, "{name}");
                nodes += expected.len();
            }
        }
        assert!(nodes > 100, "{name}: {nodes} nodes");
    }
}
