//! Matches names of tools and models, and commands, against the globs in the options. Paths have globs of their own
//! ([`super::protect`]).

use super::table::Config;

impl Config {
    /// Returns true if all results of this tool stay exact while fresh (`exactTools`).
    pub fn is_exact_tool(&self, tool_name: &str) -> bool {
        self.exact_tools.iter().any(|glob| matches_glob(glob, tool_name))
    }
}

/// Matches a name against a glob of `*` (any run) and `?` (one character), ignoring ASCII case. The time is at most the
/// product of their lengths.
pub(super) fn matches_glob(glob: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // True for each length of a beginning of the name that the read part of the glob matches.
    let mut matched = vec![false; name.len() + 1];
    matched[0] = true;
    for wanted in glob.chars() {
        if wanted == '*' {
            let first = matched.iter().position(|matched| *matched).unwrap_or(matched.len());
            matched[first..].fill(true);
            continue;
        }
        for (at, c) in name.iter().enumerate().rev() {
            matched[at + 1] = matched[at] && (wanted == '?' || wanted.eq_ignore_ascii_case(c));
        }
        matched[0] = false;
    }
    matched[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names_in_any_case() {
        for (glob, name, expected) in [
            ("read", "Read", true),
            ("read", "reader", false),
            ("*read*", "thread_pool", true),
            ("mcp__*__get?", "mcp__git__gets", true),
            ("mcp__*__get?", "mcp__git__get", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_glob(glob, name), expected, "{glob} {name}");
        }
    }
}
