//! Expectations from hints of the host: file suffixes, commands and tool names -> the expected kind of text.
//!
//! An expectation is not a finding: a `cat foo.rs` that printed `No such file` is no Rust code. [`super::detect()`]
//! checks it against the text.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{ContentType, Hints, Language};

/// The expected type of a text, and the language if it is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// The kind of text.
    pub content_type: ContentType,
    /// The language, if it is one of the sixteen.
    pub language: Option<Language>,
    /// The name of another language or format that has no type of its own.
    pub name: Option<&'static str>,
}

impl Hints {
    /// Returns the source of a text for display, for example `exec: npm test` or `read: src/lib.rs`.
    pub fn label(&self) -> String {
        let source = self.path.as_deref().or(self.command.as_deref());
        match (self.tool_name.as_deref(), source) {
            (Some(tool), Some(source)) => format!("{tool}: {source}"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) => "text".to_owned(),
        }
    }
}

const fn code(language: Language) -> Expected {
    Expected { content_type: ContentType::Code, language: Some(language), name: None }
}

const fn kind(content_type: ContentType) -> Expected {
    Expected { content_type, language: None, name: None }
}

const fn other(content_type: ContentType, name: &'static str) -> Expected {
    Expected { content_type, language: None, name: Some(name) }
}

/// The expectation for each suffix in `suffixes.txt`.
static SUFFIXES: LazyLock<HashMap<&str, Expected>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let (group, row) = line.split_once(' ')?;
        let (name, suffixes) = row.split_once(": ")?;
        let expected = match group {
            "language" => code(Language::parse(name)?),
            "type" => kind(ContentType::parse(name)?),
            "code" => other(ContentType::Code, name),
            _ => other(ContentType::Unknown, name),
        };
        Some(suffixes.split(' ').map(move |suffix| (suffix, expected)))
    };
    include_str!("suffixes.txt").lines().filter(|line| !line.starts_with('#')).filter_map(row).flatten().collect()
});

/// Names in fences and shebangs that are neither suffixes nor the languages' own names.
const ALIASES: &[(&str, Language)] = &[
    ("python3", Language::Python),
    ("golang", Language::Go),
    ("c#", Language::CSharp),
    ("node", Language::JavaScript),
    ("shell-session", Language::Shell),
    ("postgresql", Language::Sql),
    ("mysql", Language::Sql),
    ("plpgsql", Language::Sql),
];

/// Returns the expectation for a file name.
pub fn of_path(path: &str) -> Option<Expected> {
    let name = path.trim_end_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or(path);
    match name {
        "Gemfile" | "Rakefile" | "Podfile" | "Vagrantfile" => return Some(code(Language::Ruby)),
        ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | "PKGBUILD" => return Some(code(Language::Shell)),
        "README" | "LICENSE" | "CHANGELOG" | "NOTICE" => return Some(kind(ContentType::Text)),
        "CMakeLists.txt" => return Some(other(ContentType::Code, "CMake")),
        "Makefile" | "GNUmakefile" => return Some(other(ContentType::Code, "Makefile")),
        "Dockerfile" | "Containerfile" => return Some(other(ContentType::Unknown, "Dockerfile")),
        "Cargo.lock" | "poetry.lock" | "uv.lock" => return Some(other(ContentType::Unknown, "TOML")),
        _ => {}
    }
    let suffix = name.rsplit_once('.')?.1.to_ascii_lowercase();
    SUFFIXES.get(suffix.as_str()).copied()
}

/// Returns the expectation for a suffix if that is one of the sixteen languages or a type.
fn of_suffix(suffix: &str) -> Option<Expected> {
    SUFFIXES.get(suffix).copied().filter(|expected| expected.name.is_none())
}

/// Returns the expectation for the info string of a fence (`rust`, `py`, `json`, `diff`).
pub(crate) fn of_info(info: &str) -> Option<Expected> {
    let info = info.to_ascii_lowercase();
    let named = Language::parse(&info)
        .or_else(|| ALIASES.iter().find(|(alias, _)| *alias == info).map(|&(_, language)| language));
    named.map(code).or_else(|| of_suffix(&info)).or(match info.as_str() {
        "text" | "plain" | "plaintext" | "mermaid" => Some(kind(ContentType::Text)),
        _ => None,
    })
}

/// Returns the expectation for all hints together: the path outranks the command, and the command outranks the tool.
/// Lines that a search found in a file of another language or format are not such a file.
pub fn expected(hints: &Hints) -> Option<Expected> {
    let of_this_tool = hints.tool_name.as_deref().and_then(of_tool);
    let searches = of_this_tool.is_some_and(|expected| expected.content_type == ContentType::Search);
    let of_this_path = hints.path.as_deref().and_then(of_path).filter(|expected| !searches || expected.name.is_none());
    of_this_path.or_else(|| hints.command.as_deref().and_then(of_command)).or(of_this_tool)
}

fn of_tool(tool: &str) -> Option<Expected> {
    let tool = tool.to_ascii_lowercase().replace(['_', '-', '.'], "");
    match tool.as_str() {
        "grep" | "rg" | "glob" | "find" | "ls" | "search" | "websearch" | "codesearch" | "searchfiles"
        | "listfiles" | "listdir" => Some(kind(ContentType::Search)),
        "webfetch" | "fetch" | "think" => Some(kind(ContentType::Text)),
        _ => None,
    }
}

/// Subcommands that query package managers. They print lists and records.
const ASKING: &[&str] =
    &["list", "ls", "show", "view", "info", "outdated", "freeze", "tree", "metadata", "env", "why", "--version"];

/// Programs that run the one behind them, and their subcommands.
const LAUNCHERS: &[&str] = &[
    "sudo", "time", "env", "nohup", "exec", "npx", "bunx", "pnpx", "uvx", "pipx", "poetry", "pipenv", "pdm", "hatch",
    "uv", "run",
];

/// Returns the expectation for the output of a shell command: of a list, the last command counts; of a pipeline, the
/// first.
pub fn of_command(command: &str) -> Option<Expected> {
    let last = command
        .split([';', '\n'])
        .rev()
        .flat_map(|part| part.rsplit("&&"))
        .map(str::trim)
        .find(|part| !part.is_empty())?;
    let mut pipeline = last.split('|').map(str::trim);
    let first = pipeline.next()?;
    let filters: Vec<&str> = pipeline.collect();
    if filters.iter().any(|filter| filter.starts_with("jq")) {
        return Some(kind(ContentType::Json));
    }
    if filters
        .iter()
        .any(|filter| ["wc", "awk", "cut", "xargs", "sort", "uniq"].iter().any(|word| filter.starts_with(word)))
    {
        return None;
    }
    let mut words = first
        .split_whitespace()
        .skip_while(|word| word.contains('=') || word.starts_with('-') || LAUNCHERS.contains(word));
    let program = words.next()?.rsplit('/').next()?;
    let arguments: Vec<&str> = words.map(|word| word.trim_matches(['"', '\''])).collect();
    let has = |wanted: &str| arguments.contains(&wanted);
    let file = || arguments.iter().rev().find_map(|argument| of_path(argument));
    match program {
        "cat" | "head" | "tail" | "sed" | "less" | "more" | "bat" | "nl" | "type" => file(),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ls" | "find" | "fd" | "tree" => {
            Some(kind(ContentType::Search))
        }
        "git" => match arguments.iter().find(|argument| !argument.starts_with('-')).copied()? {
            "show" if arguments.iter().any(|argument| argument.contains(':')) => file(),
            "diff" | "show" | "format-patch" => Some(kind(ContentType::Diff)),
            "log" if has("-p") || has("--patch") || has("--stat") => Some(kind(ContentType::Diff)),
            "grep" | "ls-files" | "ls-tree" => Some(kind(ContentType::Search)),
            _ => None,
        },
        "diff" => Some(kind(ContentType::Diff)),
        "jq" | "gh" if program == "jq" || has("api") || has("--json") => Some(kind(ContentType::Json)),
        "kubectl" | "oc" | "docker" | "podman" | "helm" | "aws" | "gcloud" | "az" => {
            let json = arguments.windows(2).any(|pair| matches!(pair, ["-o" | "--output", "json"]))
                || has("-ojson")
                || has("--output=json")
                || has("-o=json")
                || has("inspect");
            match arguments.first().copied() {
                _ if json => Some(kind(ContentType::Json)),
                Some("logs") => Some(kind(ContentType::Log)),
                Some("get" | "ps" | "images" | "top") if !has("-o") && !has("yaml") => Some(kind(ContentType::Table)),
                _ => None,
            }
        }
        "ps" | "df" | "du" | "top" | "netstat" | "ss" | "lsof" => Some(kind(ContentType::Table)),
        // The output of a query about packages is not the log of a run.
        "npm" | "pnpm" | "yarn" | "cargo" | "go" | "pip" | "pip3" | "apt" | "dotnet"
            if arguments.iter().any(|argument| ASKING.contains(argument)) =>
        {
            None
        }
        "journalctl" | "dmesg" => Some(kind(ContentType::Log)),
        "npm" | "pnpm" | "yarn" | "cargo" | "go" | "pytest" | "make" | "mvn" | "gradle" | "gradlew" | "pip"
        | "pip3" | "tsc" | "jest" | "vitest" | "mocha" | "jasmine" | "playwright" | "webpack" | "ctest" | "phpunit"
        | "bundle" | "rspec" | "dotnet" | "sbt" | "swift" | "tox" | "cmake" | "ninja" | "bazel" | "apt-get" | "apt" => {
            Some(kind(ContentType::Log))
        }
        _ => None,
    }
}
