//! The evidence for the sixteen languages: the clues of `lexicon.txt` and a few tables, scored by [`super::code`].
//!
//! Clues are searched in source whose lines are trimmed, joined by `\n` and stripped of comments (a comment line is
//! reduced to its marker: `//`, `///`, `//!`, `#`, `--`, `/*`). A `\n` at the start of a clue anchors it at the start
//! of a line, and one at its end anchors it at the end of a line. If the first or last character of a clue is a letter,
//! digit or underscore, a word boundary is required there. The number is the weight of the clue: 1 is weak and shared
//! by several languages; 6 is nearly a proof.

use crate::Language;

/// A language that extends another one. Evidence for `base` counts for it too, and it wins over `base` if the weight of
/// its own clues reaches `needs`.
pub(super) struct Dialect {
    /// The extending language.
    pub(super) language: Language,
    /// The language that it extends.
    pub(super) base: Language,
    /// The minimum weight of its own clues.
    pub(super) needs: u32,
}

/// The dialects: TypeScript extends JavaScript, C++ extends C.
pub(super) const DIALECTS: &[Dialect] = &[
    Dialect { language: Language::TypeScript, base: Language::JavaScript, needs: 8 },
    Dialect { language: Language::Cpp, base: Language::C, needs: 9 },
];

/// The weight of `(name: `, a parameter with its type or an argument with its name.
pub(super) const TYPED_PARAMETER: &[(Language, u32)] = &[
    (Language::TypeScript, 5),
    (Language::Kotlin, 2),
    (Language::Swift, 2),
    (Language::Scala, 2),
    (Language::Rust, 1),
    (Language::Python, 1),
];

/// The weight of `.Name(`, a call of a capitalised member.
pub(super) const CAPITAL_CALL: &[(Language, u32)] = &[(Language::CSharp, 3), (Language::Go, 3)];

/// The languages of programs in `#!` lines.
pub(super) const INTERPRETERS: &[(&str, Language)] = &[
    ("python", Language::Python),
    ("node", Language::JavaScript),
    ("deno", Language::TypeScript),
    ("tsx", Language::TypeScript),
    ("ts-node", Language::TypeScript),
    ("bun", Language::TypeScript),
    ("ruby", Language::Ruby),
    ("php", Language::Php),
    ("bash", Language::Shell),
    ("zsh", Language::Shell),
    ("ksh", Language::Shell),
    ("dash", Language::Shell),
    ("bats", Language::Shell),
    ("sh", Language::Shell),
    ("scala", Language::Scala),
    ("kotlin", Language::Kotlin),
    ("swift", Language::Swift),
];

/// Returns the clues, language by language. SQL clues are written in lower case and also matched in upper case.
pub(super) fn clues() -> impl Iterator<Item = (Language, String, u32)> {
    let mut language = None;
    include_str!("lexicon.txt").lines().filter(|line| !line.starts_with('#')).filter_map(move |line| {
        let Some((weight, clue)) = line.split_once(' ') else {
            language = Language::parse(line);
            return None;
        };
        Some((language?, serde_json::from_str(clue).ok()?, weight.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_lexicon_is_read() {
        let text = include_str!("lexicon.txt");
        let names = text.lines().filter(|line| Language::parse(line).is_some()).count();
        let comments = text.lines().filter(|line| line.starts_with('#')).count();
        assert_eq!(names, Language::ALL.len());
        assert_eq!(clues().count(), text.lines().count() - names - comments);
    }
}
