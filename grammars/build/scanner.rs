//! A scanner as its authors wrote it -> one that stays within its memory.
//!
//! What can be mended in a few words is mended here; what cannot is a flaw that is named beside the grammar where it is used.

/// Less room for a scanner's state than there is: Ruby's and Python's write up to two bytes more than they look for.
const ROOM: &str = "\
#include \"tree_sitter/parser.h\"
#undef TREE_SITTER_SERIALIZATION_BUFFER_SIZE
#define TREE_SITTER_SERIALIZATION_BUFFER_SIZE 1000
";

/// By grammar: what stands in its scanner, and what should.
const MENDS: &[(&str, &str, &str)] = &[
    // Each tag that no token was found for is forgotten.
    (
        "sql",
        "  LexerState *state = (LexerState *)payload;\n  state->start_tag = NULL;\n",
        "  LexerState *state = (LexerState *)payload;\n  free(state->start_tag);\n  state->start_tag = NULL;\n",
    ),
    // Where the code ends behind a directive, its end is that of the word, and what is behind that word is compared, too.
    (
        "swift",
        "                full_match = dir_idx;\n                lexer->mark_end(lexer);\n",
        "                full_match = dir_idx;\n                lexer->mark_end(lexer);\n                possible_directives[dir_idx] = false;\n                continue;\n",
    ),
];

/// The scanner of a grammar, to be compiled with its own directory among those of headers.
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
