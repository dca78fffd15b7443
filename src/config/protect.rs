//! The option `protect`: patterns of content that is never folded.
//!
//! `docs/spec/*.md`, `tool:browser_*`, `command:git log*`, `content:REGEX`, and each of them after `!` as an exception.
//! The last pattern that fits decides.

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use serde_json::{Value, json};

use super::globs::matches_glob;
use super::value::{OptionValue, shorten};

/// A list of patterns. Two lists are equal if they are written alike.
#[derive(Debug, Clone, Default)]
pub struct Protect {
    written: Vec<String>,
    patterns: Vec<Pattern>,
}

impl PartialEq for Protect {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

#[derive(Debug, Clone)]
struct Pattern {
    is_exception: bool,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Path(GlobMatcher),
    Tool(String),
    Command(String),
    Content(Regex),
}

/// A call or a result, by what patterns can fit. The functions are called only for patterns of their kind.
pub struct Subject<'s> {
    /// The name of the tool, empty if it is unknown; `None` for content of no tool.
    pub tool: Option<&'s str>,
    /// Returns the paths of the files that it reads or writes.
    pub paths: &'s dyn Fn() -> &'s [String],
    /// Returns the command that it runs.
    pub command: &'s dyn Fn() -> Option<&'s str>,
    /// Returns true if its content fits the expression.
    pub has_content: &'s dyn Fn(&Regex) -> bool,
}

/// The pattern that decides on a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is an exception.
    Exempt,
    /// It protects the content of a file.
    File,
    /// It protects any content that fits.
    Content,
}

impl Protect {
    /// Reads patterns.
    ///
    /// # Errors
    /// The first wrong pattern.
    pub fn parse<'p>(written: impl IntoIterator<Item = &'p str>) -> Result<Self, String> {
        let mut read = Self::default();
        for pattern in written {
            read.patterns.push(Pattern::parse(pattern).ok_or_else(|| pattern.to_owned())?);
            read.written.push(pattern.to_owned());
        }
        Ok(read)
    }

    /// Returns the verdict of the last pattern that fits; `None` if none does.
    pub fn verdict(&self, subject: &Subject) -> Option<Verdict> {
        let fits = |pattern: &&Pattern| match &pattern.kind {
            Kind::Path(glob) => (subject.paths)().iter().any(|path| glob.is_match(path)),
            Kind::Tool(glob) => subject.tool.is_some_and(|tool| matches_glob(glob, tool)),
            // Each line of a command is looked at as well.
            Kind::Command(glob) => (subject.command)().is_some_and(|command| {
                std::iter::once(command).chain(command.lines()).any(|line| matches_glob(glob, line.trim()))
            }),
            Kind::Content(regex) => (subject.has_content)(regex),
        };
        let pattern = self.patterns.iter().rev().find(fits)?;
        Some(match pattern.kind {
            _ if pattern.is_exception => Verdict::Exempt,
            Kind::Path(_) => Verdict::File,
            _ => Verdict::Content,
        })
    }

    /// Returns true if every result of a tool is protected, whatever it holds.
    pub fn covers_tool(&self, tool: &str) -> bool {
        let decides = |pattern: &&Pattern| match &pattern.kind {
            Kind::Tool(glob) => matches_glob(glob, tool),
            _ => pattern.is_exception,
        };
        self.patterns.iter().rev().find(decides).is_some_and(|pattern| !pattern.is_exception)
    }
}

impl Pattern {
    fn parse(written: &str) -> Option<Self> {
        let (is_exception, rest) = written.strip_prefix('!').map_or((false, written), |rest| (true, rest));
        let (kind, value) = match rest.split_once(':') {
            // One letter is a drive.
            Some((kind, value)) if kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                (kind, value)
            }
            _ => ("path", rest),
        };
        let kind = match kind {
            _ if value.trim().is_empty() => return None,
            "path" => Kind::Path(path_glob(value)?),
            "tool" => Kind::Tool(value.to_owned()),
            "command" => Kind::Command(value.to_owned()),
            "content" => Kind::Content(Regex::new(value).ok()?),
            _ => return None,
        };
        Some(Self { is_exception, kind })
    }
}

/// Compiles a glob of paths. `*` stays within a directory, `**` does not. A relative glob fits at any depth, because
/// hosts name files by absolute paths.
fn path_glob(written: &str) -> Option<GlobMatcher> {
    let glob = written.replace('\\', "/");
    let glob = glob.strip_prefix("./").unwrap_or(&glob);
    let is_drive = matches!(glob.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let start = if is_drive || glob.starts_with(['/', '~']) || glob.starts_with("**/") { "" } else { "**/" };
    let end = if glob.ends_with('/') { "**" } else { "" };
    let glob = format!("{start}{glob}{end}");
    GlobBuilder::new(&glob)
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .ok()
        .map(|glob| glob.compile_matcher())
}

impl OptionValue for Protect {
    fn schema() -> Value {
        Vec::<String>::schema()
    }
    fn type_script() -> String {
        Vec::<String>::type_script()
    }
    fn read(value: &Value) -> Option<Self> {
        Self::parse(Vec::<String>::read(value)?.iter().map(String::as_str)).ok()
    }
    fn fault(value: &Value) -> Option<(String, &'static str)> {
        let wrong = Self::parse(Vec::<String>::read(value)?.iter().map(String::as_str)).err()?;
        Some((
            shorten(&json!(wrong)),
            "a glob of paths, tool:NAME, command:LINE or content:REGEX, or one of them after !",
        ))
    }
    fn write(&self) -> Value {
        json!(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(patterns: &[&str], [tool, path, command, content]: [&str; 4]) -> Option<Verdict> {
        let paths: Vec<String> = path.split(' ').map(str::to_owned).collect();
        Protect::parse(patterns.iter().copied()).unwrap().verdict(&Subject {
            tool: Some(tool),
            paths: &|| &paths,
            command: &|| Some(command).filter(|command| !command.is_empty()),
            has_content: &|regex| regex.is_match(content),
        })
    }

    /// Each line of an input is a glob and a path.
    #[test]
    fn a_glob_of_paths_fits_at_any_depth_unless_it_has_a_root() {
        concertina_cases::check!("path_globs", |input, _| {
            let fits = |line: &str| {
                let (glob, path) = line.split_once(' ').expect("a glob and a path");
                format!("{}: {line}\n", verdict(&[glob], ["read", path, "", ""]) == Some(Verdict::File))
            };
            input.lines().map(fits).collect()
        });
    }

    #[test]
    fn the_last_pattern_that_fits_decides() {
        let patterns = ["tool:*", "!tool:exec", "command:git log*", "content:^DO NOT FORGET", "!docs/*"];
        for (subject, expected) in [
            (["", "", "", ""], Some(Verdict::Content)),
            (["Read", "a.md", "", ""], Some(Verdict::Content)),
            (["Exec", "", "ls", ""], Some(Verdict::Exempt)),
            (["exec", "", "cd /w\n git log -3", ""], Some(Verdict::Content)),
            (["exec", "", "ls", "DO NOT FORGET"], Some(Verdict::Content)),
            (["read", "docs/a", "", "DO NOT FORGET"], Some(Verdict::Exempt)),
            (["read", "a.md docs/a b.md", "", ""], Some(Verdict::Exempt)),
        ] {
            assert_eq!(verdict(&patterns, subject), expected, "{subject:?}");
        }
        assert_eq!(verdict(&patterns[1..2], ["read", "", "", ""]), None);
    }

    #[test]
    fn a_tool_is_covered_unless_a_later_pattern_could_make_an_exception() {
        for (patterns, expected) in [
            (&["tool:ex*"][..], true),
            (&["tool:*", "!tool:exec"], false),
            (&["tool:*", "!docs/*"], false),
            (&["!docs/*", "tool:*"], true),
            (&["docs/*", "content:x"], false),
        ] {
            assert_eq!(Protect::parse(patterns.iter().copied()).unwrap().covers_tool("exec"), expected, "{patterns:?}");
        }
    }
}
