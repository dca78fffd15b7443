//! Patches a scanner so that it stays within its memory.
//!
//! Flaws that can be fixed in a few words are fixed here. The others are documented next to the grammar where it is
//! used.

/// A reduced buffer size for a scanner's state: Ruby's and Python's scanners write up to two bytes more than they check
/// for.
const ROOM: &str = "\
#include \"tree_sitter/parser.h\"
#undef TREE_SITTER_SERIALIZATION_BUFFER_SIZE
#define TREE_SITTER_SERIALIZATION_BUFFER_SIZE 1000
";

/// The fixes, as grammar, original code and replacement.
const MENDS: &[(&str, &str, &str)] = &[
    // A tag for which no token was found is discarded.
    (
        "sql",
        "  LexerState *state = (LexerState *)payload;\n  state->start_tag = NULL;\n",
        "  LexerState *state = (LexerState *)payload;\n  free(state->start_tag);\n  state->start_tag = NULL;\n",
    ),
    // If the code ends after a directive, the end is that of the word, and what follows the word would be compared too.
    (
        "swift",
        "                full_match = dir_idx;\n                lexer->mark_end(lexer);\n",
        "                full_match = dir_idx;\n                lexer->mark_end(lexer);\n                possible_directives[dir_idx] = false;\n                continue;\n",
    ),
];

/// Returns the patched scanner of a grammar. Its own directory must be among the include directories.
pub(crate) fn mended(text: &str, grammar: &str) -> String {
    let mends = MENDS.iter().filter(|(of, ..)| *of == grammar);
    mends.fold(format!("{ROOM}{text}"), |text, (_, flawed, mended)| {
        assert_eq!(
            text.matches(flawed).count(),
            1,
            "the scanner of {grammar} is another: does it still have the flaw?"
        );
        text.replace(flawed, mended)
    })
}
