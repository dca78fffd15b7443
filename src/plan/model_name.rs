//! The name of a model, as hosts and providers spell it: with or without a provider, a date, dots or dashes.

/// The parts of a model's name, in lower case, without the provider's path and the date of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName(Vec<String>);

impl ModelName {
    /// Reads a name. `None` and the empty name have no parts.
    pub fn of(name: Option<&str>) -> Self {
        let base = name.unwrap_or_default().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let mut parts: Vec<String> =
            base.split(['-', '.', '_', ':', '@', ' ']).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let end = release(&parts);
        parts.truncate(end);
        Self(parts)
    }

    /// Returns the parts.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// Returns true if one of the parts is this word.
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|part| part == word)
    }

    /// Returns the version behind the first of these words, such as `(5, 1)` for `fable` in `claude-fable-5-1`.
    pub fn version_of(&self, words: &[&str]) -> Option<(u64, u64)> {
        let word = self.0.iter().position(|part| words.contains(&part.as_str()))?;
        let number = |at: usize| self.0.get(at).filter(|part| is_number(part)).and_then(|part| part.parse().ok());
        Some((number(word + 1)?, number(word + 2).unwrap_or(0)))
    }
}

/// Returns true if a part is a number, such as that of a version.
pub fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the index of the parts that only state the release: `latest`, `2024-08-06`, or `20250514` and what follows
/// it.
fn release(parts: &[String]) -> usize {
    let is_date = |part: &String| part.len() >= 6 && is_number(part);
    match parts {
        [.., last] if last == "latest" => parts.len() - 1,
        [_, .., year, month, day] if [year, month, day].iter().all(|part| is_number(part)) && year.len() == 4 => {
            parts.len() - 3
        }
        _ => parts.iter().position(is_date).unwrap_or(parts.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_may_have_a_prefix_and_a_date_and_no_other_name() {
        let is_same = |a, b| ModelName::of(Some(a)) == ModelName::of(Some(b));
        for (a, b) in [
            ("claude-opus-4-6", "anthropic/claude-opus-4-6"),
            ("claude-opus-4-6", "openrouter/anthropic/Claude-Opus-4.6"),
            ("claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("gpt-4o-2024-08-06", "GPT-4o"),
            ("claude-sonnet-4@20250514", "claude-sonnet-4"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
        ] {
            assert!(is_same(a, b), "{a} {b}");
        }
        for (a, b) in [("gpt-5.4", "gpt-5.4-mini"), ("claude-sonnet-4", "claude-sonnet-4-6"), ("grok-4", "grok-4-fast")]
        {
            assert!(!is_same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn a_version_stands_behind_the_name_of_the_line() {
        for (name, word, version) in [
            ("anthropic/claude-opus-5-5-20260901", "opus", Some((5, 5))),
            ("us.anthropic.claude-opus-5-20260901-v1:0", "opus", Some((5, 0))),
            ("claude-opus-5-20260901", "opus", Some((5, 0))),
            ("gpt-6.2-sol", "gpt", Some((6, 2))),
            ("gpt-6", "gpt", Some((6, 0))),
            ("gpt-4o", "gpt", None),
            ("claude-3-7-sonnet", "sonnet", None),
            ("mock", "gpt", None),
        ] {
            assert_eq!(ModelName::of(Some(name)).version_of(&[word]), version, "{name}");
        }
        assert_eq!(ModelName::of(None).version_of(&["gpt"]), None);
    }
}
