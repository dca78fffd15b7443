//! Matches names of tools and models, and commands, against the globs in the options. Paths have globs of their own
//! ([`super::protect`]).

use super::table::Config;

impl Config {
    /// Returns true if all results of this tool stay exact while fresh (`exactTools`).
    pub fn is_exact_tool(&self, tool_name: &str) -> bool {
        self.exact_tools.iter().any(|glob| matches_glob(glob, tool_name))
    }
}

/// Matches a name against a glob of `*` (any run) and `?` (one character), ignoring ASCII case, without recursion.
pub(super) fn matches_glob(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) =
        (glob.to_ascii_lowercase().chars().collect(), name.to_ascii_lowercase().chars().collect());
    let (mut g, mut n) = (0, 0);
    let mut retry = None;
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                retry = Some((g, n));
                g += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                g += 1;
                n += 1;
            }
            _ => match retry {
                Some((star, start)) => {
                    retry = Some((star, start + 1));
                    g = star + 1;
                    n = start + 1;
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|&c| c == '*')
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
