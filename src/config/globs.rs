//! Matches tools and commands against the globs in the options.

use super::table::Config;

impl Config {
    /// Returns true if results of this tool may be replaced or rewritten at all (`onlyTools`, `skipTools`).
    pub fn can_touch_tool(&self, tool_name: &str) -> bool {
        (self.only_tools.is_empty() || matches_any(&self.only_tools, tool_name))
            && !matches_any(&self.skip_tools, tool_name)
    }

    /// Returns true if the output of this command line may be replaced or rewritten at all (`skipCommands`).
    pub fn can_touch_command(&self, command: &str) -> bool {
        !matches_any(&self.skip_commands, command.trim())
    }

    /// Returns true if all results of this tool stay exact while fresh (`exactTools`).
    pub fn is_exact_tool(&self, tool_name: &str) -> bool {
        matches_any(&self.exact_tools, tool_name)
    }
}

fn matches_any(globs: &[String], name: &str) -> bool {
    globs.iter().any(|glob| matches_glob(glob, name))
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
