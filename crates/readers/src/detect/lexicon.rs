//! What tells the sixteen languages apart: the clues of `lexicon.txt` and a few tables, scored by [`super::code`].
//!
//! A clue is looked for in source whose lines are trimmed, joined by `\n` and cleared of comments (a comment line is
//! left as its bare marker: `//`, `///`, `//!`, `#`, `--`, `/*`). So `\n` at the start of a clue anchors it at a line's
//! start and `\n` at its end anchors it at a line's end. Where a clue's first or last character is a letter, digit or
//! underscore, a word boundary is required there. The number is its weight: 1 is weak and shared by several languages,
//! 6 proves nearly by itself.

use crate::Language;

/// A language that is another one with additions: what speaks for `base` speaks for it too, and it wins over `base`
/// once its own clues add up to `needs`.
pub(super) struct Dialect {
    /// The richer language.
    pub(super) language: Language,
    /// The one that it extends.
    pub(super) base: Language,
    /// The weight of own clues that it takes.
    pub(super) needs: u32,
}

/// TypeScript over JavaScript, C++ over C.
pub(super) const DIALECTS: &[Dialect] = &[
    Dialect { language: Language::TypeScript, base: Language::JavaScript, needs: 8 },
    Dialect { language: Language::Cpp, base: Language::C, needs: 9 },
];

/// What `(name: ` says, a parameter with its type or an argument with its name.
pub(super) const TYPED_PARAMETER: &[(Language, u32)] = &[
    (Language::TypeScript, 5),
    (Language::Kotlin, 2),
    (Language::Swift, 2),
    (Language::Scala, 2),
    (Language::Rust, 1),
    (Language::Python, 1),
];

/// What `.Name(` says, a call of a capitalised member.
pub(super) const CAPITAL_CALL: &[(Language, u32)] = &[(Language::CSharp, 3), (Language::Go, 3)];

/// Programs named in a `#!` line.
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

/// Returns the clues, language by language. SQL is written in lower case and matched in upper case as well.
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
