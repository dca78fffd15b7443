//! Selects the lines that a fetch asks for: by a regular expression, or by the words of a query.

use regex::{Regex, RegexBuilder};

use super::fetch_request::QUOTED_CHARS;
use crate::error::{Error, Result};
use crate::store::Probes;

/// The maximum size of a compiled pattern, in bytes. Chosen by judgement.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The maximum number of words of a query. Chosen by judgement.
const MAX_WORDS: usize = 16;

/// A selection of lines.
#[derive(Debug, Clone)]
pub(super) enum LineMatcher {
    /// The lines that match a regular expression.
    Pattern(Regex),
    /// The lines with most of the words of a query, at least one.
    Words(Words),
}

/// The words of a query, in any case. A word in quotation marks may contain spaces.
#[derive(Debug, Clone)]
pub(super) struct Words(Vec<(String, Regex)>);

impl LineMatcher {
    /// Returns the selection by a regular expression.
    ///
    /// # Errors
    /// [`Error::BadPattern`].
    pub(super) fn of_pattern(pattern: &str) -> Result<Self> {
        compile(pattern, false).map(Self::Pattern)
    }

    /// Returns the number of words that a line must have: the largest that one of these lines has.
    pub(super) fn most<'l>(&self, lines: impl Iterator<Item = &'l str>) -> usize {
        match self {
            Self::Pattern(_) => 1,
            Self::Words(words) => lines.map(|line| words.count_in(line)).max().unwrap_or(0).max(1),
        }
    }

    /// Returns the offset in a line at which it matches, if it does, with at least that many words.
    pub(super) fn find(&self, line: &str, least: usize) -> Option<usize> {
        match self {
            Self::Pattern(pattern) => pattern.find(line).map(|found| found.start()),
            Self::Words(words) => {
                let found: Vec<usize> = words.starts_in(line).collect();
                found.iter().min().copied().filter(|_| found.len() >= least)
            }
        }
    }

    /// Describes matching lines with at least that many words.
    pub(super) fn describe(&self, least: usize) -> String {
        match self {
            Self::Words(Words(words)) if least < words.len() => {
                format!("lines with {least} of the {} words", words.len())
            }
            _ => "matching lines".to_owned(),
        }
    }

    /// Describes the call for the matching lines of an original from one on.
    pub(super) fn continuation(&self, id: impl std::fmt::Display, line: usize) -> String {
        match self {
            Self::Pattern(_) => format!("{id}:{line}-:/the same pattern/"),
            Self::Words(_) => format!("{id}:{line}- and the same query"),
        }
    }
}

impl Words {
    /// Splits a query at its spaces outside quotation marks.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for a query without words or with more than 16; [`Error::BadPattern`] for a word that is
    /// too long.
    pub(super) fn parse(query: &str) -> Result<Self> {
        let mut words: Vec<&str> = Vec::new();
        for (at, part) in query.split('"').enumerate() {
            // Every second part is in quotation marks. A mark that is never closed is a space.
            match at % 2 == 1 && query.matches('"').count() > at {
                true => words.extend(Some(part.trim()).filter(|word| !word.is_empty())),
                false => words.extend(part.split_whitespace()),
            }
        }
        let mut seen = std::collections::HashSet::new();
        words.retain(|word| seen.insert(word.to_lowercase()));
        if words.is_empty() || words.len() > MAX_WORDS {
            let quoted: String = query.chars().take(QUOTED_CHARS).collect();
            return Err(Error::bad_argument("query", format!("{quoted:?}"), format!("1 to {MAX_WORDS} words")));
        }
        let compiled = |word: &str| Ok((word.to_owned(), compile(&regex::escape(word), true)?));
        Ok(Self(words.into_iter().map(compiled).collect::<Result<_>>()?))
    }

    /// Returns what the signature of a text with all words has.
    pub(super) fn probes(&self) -> Probes {
        Probes::of(self.0.iter().map(|(word, _)| word.as_str()))
    }

    /// Returns true if a text has all words.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.0.iter().all(|(_, word)| word.is_match(text))
    }

    /// Returns the number of words that a line has.
    pub(super) fn count_in(&self, line: &str) -> usize {
        self.starts_in(line).count()
    }

    fn starts_in(&self, line: &str) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(move |(_, word)| Some(word.find(line)?.start()))
    }
}

/// Lists the words: `"a", "b"`.
impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> = self.0.iter().map(|(word, _)| format!("{word:?}")).collect();
        f.write_str(&words.join(", "))
    }
}

fn compile(pattern: &str, ignores_case: bool) -> Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(ignores_case).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| Error::BadPattern {
        pattern: pattern.chars().take(QUOTED_CHARS).collect(),
        reason: error.to_string().lines().last().unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_split_at_spaces_outside_quotation_marks() {
        for (query, words) in [
            ("a", r#""a""#),
            ("  a\tB a  A\n", r#""a", "B""#),
            (r#"one "two three" four"#, r#""one", "two three", "four""#),
            (r#""one two""#, r#""one two""#),
            (r#"one "two three"#, r#""one", "two", "three""#),
            (r#"a"b"c "" ""#, r#""a", "b", "c""#),
            ("C:\\x (y.*", r#""C:\\x", "(y.*""#),
        ] {
            assert_eq!(Words::parse(query).unwrap().to_string(), words, "{query}");
        }
        for bad in ["", " \n", "\"\"", "\" \"", &(0..17).map(|word| format!("w{word} ")).collect::<String>()] {
            assert!(matches!(Words::parse(bad), Err(Error::BadArgument { .. })), "{bad}");
        }
        assert!(matches!(Words::parse(&"x".repeat(1 << 20)), Err(Error::BadPattern { .. })));
    }

    #[test]
    fn the_lines_with_most_of_the_words_match() {
        let lines = ["no", "a Timeout", "the DATABASE", "x timeout of the database", "(timeout."];
        let matching = |query: &str| {
            let matcher = LineMatcher::Words(Words::parse(query).unwrap());
            let least = matcher.most(lines.iter().copied());
            let found: Vec<Option<usize>> = lines.iter().map(|line| matcher.find(line, least)).collect();
            (found, matcher.describe(least))
        };
        let (all, some) = ("matching lines".to_owned(), "lines with 2 of the 3 words".to_owned());
        assert_eq!(matching("timeout"), (vec![None, Some(2), None, Some(2), Some(1)], all.clone()));
        assert_eq!(matching("database timeout"), (vec![None, None, None, Some(2), None], all.clone()));
        assert_eq!(matching("database \"a timeout\" x"), (vec![None, None, None, Some(0), None], some));
        assert_eq!(matching("(timeout."), (vec![None, None, None, None, Some(0)], all));
    }
}
