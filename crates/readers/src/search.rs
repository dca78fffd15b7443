//! Search results: grep hits, file listings and web results.
//!
//! Compiler messages (`src/a.rs:1:2: error`) have the form of hits and are read as such.

use super::lines::head;
use super::log::Stamp;
use super::seen::{Question, Seen};

/// The longest path that is believed, in bytes.
const MAX_PATH: usize = 400;

/// One line of what grep or ripgrep prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchLine<'a> {
    /// `path:line:text`, `path:line:column:text`, `path(line,column): text`.
    Hit(Hit<'a>),
    /// `path-line-text`, a line around a hit.
    Context(Hit<'a>),
    /// `--` between groups.
    Separator,
}

/// The parts of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<'a> {
    /// The file.
    pub path: &'a str,
    /// The line in it.
    pub line: u64,
    /// The column, where one is printed.
    pub column: Option<u64>,
    /// What follows the last separator.
    pub text: &'a str,
}

impl<'a> SearchLine<'a> {
    /// Reads one line; the path must look like one (a `/`, a suffix or a well-known name; no blanks).
    pub fn parse(line: &'a str) -> Option<Self> {
        if line == "--" {
            return Some(Self::Separator);
        }
        if line.starts_with([' ', '\t']) {
            return None;
        }
        hit(line).map(Self::Hit).or_else(|| context(line).map(Self::Context))
    }

    /// Reads `12:text` and `12-text`, as printed below a heading or when one file was searched; the path is empty.
    pub fn parse_headed(line: &'a str) -> Option<Self> {
        if line == "--" {
            return Some(Self::Separator);
        }
        let (number, rest) = number(line)?;
        let text = rest.get(1..).filter(|_| rest.starts_with([':', '-']))?;
        // `2012-01-31`: a date.
        let is_date = rest.starts_with('-') && text.get(2..3) == Some("-");
        let hit = Hit { path: "", line: number, column: None, text };
        (!is_date && Stamp::find(line).is_none()).then_some(if rest.starts_with(':') {
            Self::Hit(hit)
        } else {
            Self::Context(hit)
        })
    }
}

fn hit(line: &str) -> Option<Hit<'_>> {
    let searched = head(line, MAX_PATH).as_bytes();
    // `C:\a.cs:12:`: the colon of a drive is part of the path.
    let drive = if searched.len() > 2 && searched[1] == b':' && matches!(searched[2], b'\\' | b'/') { 2 } else { 0 };
    let is_end = |&byte: &u8| matches!(byte, b':' | b'(') || byte.is_ascii_whitespace();
    let end = drive + searched[drive..].iter().position(is_end)?;
    let (path, rest) = (&line[..end], &line[end + 1..]);
    let (line, column, text) = match searched[end] {
        b'(' => bracketed_place(rest)?,
        b':' => {
            let (line, rest) = number(rest)?;
            let rest = rest.strip_prefix(':')?;
            // With a column the text follows a second number; `12:34` at the start of the text itself reads the same.
            match number_of(rest).and_then(|(column, rest)| Some((column, rest.strip_prefix(':')?))) {
                Some((column, text)) => (line, Some(column), text),
                None => (line, None, rest),
            }
        }
        _ => return None,
    };
    is_path(path).then_some(Hit { path, line, column, text })
}

/// `12,34): text` or `12): text`.
fn bracketed_place(rest: &str) -> Option<(u64, Option<u64>, &str)> {
    let (line, rest) = number(rest)?;
    let (column, rest) = match rest.strip_prefix(',') {
        Some(rest) => number_of(rest).map(|(column, rest)| (Some(column), rest))?,
        None => (None, rest),
    };
    Some((line, column, rest.strip_prefix("):")?))
}

/// `path-12-text`: the path ends with a suffix right before the number.
fn context(line: &str) -> Option<Hit<'_>> {
    let searched = head(line, MAX_PATH).as_bytes();
    let end = searched.iter().position(u8::is_ascii_whitespace).unwrap_or(searched.len());
    let dot = memchr::memchr(b'.', &searched[..end])?;
    memchr::memchr_iter(b'-', &searched[dot..end]).find_map(|at| {
        let dash = dot + at;
        let (number, rest) = number(&line[dash + 1..])?;
        let (path, text) = (&line[..dash], rest.strip_prefix('-')?);
        (has_suffix(path) && is_path(path)).then_some(Hit { path, line: number, column: None, text })
    })
}

fn number(text: &str) -> Option<(u64, &str)> {
    number_of(text).filter(|&(number, _)| number > 0)
}

fn number_of(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end > 9 {
        return None;
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Whether a word looks like a path: a name with a `/` or `\` inside, a suffix, or one like `Makefile`.
fn is_path(word: &str) -> bool {
    const BARE: &[&str] = &["Makefile", "Dockerfile", "LICENSE", "Rakefile", "Gemfile", "README"];
    is_name(word) && (word.contains(['/', '\\']) || has_suffix(word) || BARE.contains(&word))
}

/// Whether a word may name a file: no longer than a path, no blanks or brackets, at least a letter.
fn is_name(word: &str) -> bool {
    word.len() <= MAX_PATH
        && !(word.contains(':') && (word.contains("://") || word.contains("::")))
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !word.bytes().any(|byte| {
            matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'|' | b';' | b'?' | b'=' | b',' | b'`' | b'{' | b'}')
                || byte.is_ascii_control()
        })
}

/// Whether the last part of a path has a suffix like `.rs`: a dot, then 1 to 10 letters and digits beginning with a letter
/// (or `.7z`-like), or is a dot file.
fn has_suffix(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, suffix)| {
        (1..=16).contains(&suffix.len())
            && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
            && suffix.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// `packages/tui/src/utils.ts:export function ...`: a hit without its line number. Weak evidence.
pub(super) fn is_unnumbered_hit(line: &str) -> bool {
    let line = head(line, MAX_PATH);
    memchr::memchr(b':', line.as_bytes()).is_some_and(|at| {
        let (path, text) = (&line[..at], &line[at + 1..]);
        !text.is_empty() && path.contains('/') && has_suffix(path) && !path.contains([' ', '\t']) && is_path(path)
    })
}

/// Whether a line of a file listing: one path without blanks, or a branch of a `tree`.
pub(super) fn is_listed(line: &str) -> bool {
    let bare = line.trim_end();
    if bare == "." {
        return true;
    }
    if !bare.is_ascii()
        && let Some(at) = bare.find("── ")
    {
        return bare[..at].chars().all(|c| matches!(c, '│' | '├' | '└' | ' ' | '\u{a0}' | '─'));
    }
    !bare.bytes().any(|byte| matches!(byte, b' ' | b'\t' | b':' | b'(')) && is_name(bare)
}

/// Whether a line that is [listed](is_listed) may be nothing else.
pub(super) fn is_surely_listed(line: &str) -> bool {
    has_suffix(line) || line.starts_with(['.', '/', '~']) || !line.is_ascii()
}

/// What a text's lines say about search results.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Lines that are not blank.
    pub(super) lines: usize,
    /// Numbered hits, context lines and separators.
    pub(super) hits: usize,
    /// Hits without a number.
    pub(super) unnumbered: usize,
    /// Lines of a listing.
    pub(super) listed: usize,
    /// Those with a suffix, a leading dot or slash, or the branches of a tree: any other word may look like a name, too.
    pub(super) certain: usize,
    /// Lines `12:text` or `12-text`, as `rg --heading` and a search of one file print.
    pub(super) headed: usize,
    /// Paths right above such lines.
    pub(super) headings: usize,
    /// Lines that are a URL, with a list mark or a label before it.
    pub(super) urls: usize,
    /// Whether the text opens as a web search tool's answer.
    pub(super) web: bool,
}

impl Survey {
    /// Looks at lines.
    pub(super) fn of<'p, 't: 'p>(lines: impl IntoIterator<Item = &'p Seen<'t>>) -> Self {
        let mut survey = Self::default();
        let mut heading = false;
        for line in lines {
            if line.is(Question::Blank) {
                heading = false;
                continue;
            }
            survey.web |= survey.lines == 0 && is_web_header(line.bare);
            survey.lines += 1;
            if line.is(Question::Hit) {
                let is_separator = line.text == "--" && survey.headed > 0;
                *(if is_separator { &mut survey.headed } else { &mut survey.hits }) += 1;
            } else if line.is(Question::Headed) {
                survey.headed += 1;
                survey.headings += usize::from(std::mem::take(&mut heading));
            } else if line.is(Question::Listed) {
                survey.listed += 1;
                survey.certain += usize::from(line.is(Question::SurelyListed));
                heading = true;
            } else if line.is(Question::UnnumberedHit) {
                survey.unnumbered += 1;
            } else {
                survey.urls += usize::from(line.is(Question::Url));
            }
        }
        survey
    }

    /// Whether this is the output of a search, a listing or a web search.
    pub(super) fn is_search(&self) -> bool {
        let share = |count: usize, percent: usize| count > 0 && count * 100 >= self.lines * percent;
        let hits = self.hits + self.unnumbered;
        self.web
            || share(self.hits, 60)
            || hits >= 2 && share(hits, 80)
            || self.headed >= 2 && share(self.headed + self.headings, 80)
            || self.listed >= 3 && share(self.listed, 80) && self.certain * 2 >= self.listed
            || self.urls >= 3 && share(self.urls, 18)
    }
}

/// Whether a line is one of those above a web search tool's summary: what was searched for, and the links that were found.
pub(super) fn is_web_header(line: &str) -> bool {
    line.starts_with("Web search results for ") || line.starts_with("Links: [{")
}

/// Whether a line is a hit that is a compiler's message.
pub(super) fn is_compiler_message(line: &str) -> bool {
    matches!(SearchLine::parse(line), Some(SearchLine::Hit(hit)) if is_message(&hit))
}

fn is_message(hit: &Hit) -> bool {
    let text = head(hit.text, 80).trim_start();
    hit.column.is_some() && hit.text.starts_with(' ')
        || ["error", "warning", "note:", "fatal error"].iter().any(|word| text.starts_with(word))
}

/// Whether a line, without blanks around it, is a URL, with a list mark or a label before it.
pub(super) fn is_url_line(line: &str) -> bool {
    let bare = line.trim_start_matches(['-', '*', '<', '•', ' ']);
    let bare = ["URL: ", "url: ", "Link: ", "link: ", "Source: ", "🔗 "]
        .iter()
        .find_map(|label| bare.strip_prefix(label))
        .unwrap_or(bare);
    (bare.starts_with("https://") || bare.starts_with("http://")) && !bare.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::super::seen::Page;
    use super::*;

    fn is_search(text: &str) -> bool {
        Survey::of(Page::of(text).view().lines).is_search()
    }

    fn parsed(line: &str) -> (&'static str, &str, u64, Option<u64>, &str) {
        match SearchLine::parse(line) {
            Some(SearchLine::Hit(hit)) => ("hit", hit.path, hit.line, hit.column, hit.text),
            Some(SearchLine::Context(hit)) => ("context", hit.path, hit.line, hit.column, hit.text),
            Some(SearchLine::Separator) => ("separator", "", 0, None, ""),
            None => ("none", "", 0, None, ""),
        }
    }

    #[test]
    fn hits_context_and_separators_are_read() {
        assert_eq!(parsed("src/a.rs:12:    let x = 1;"), ("hit", "src/a.rs", 12, None, "    let x = 1;"));
        assert_eq!(parsed("src/a.rs:12:5:let x"), ("hit", "src/a.rs", 12, Some(5), "let x"));
        assert_eq!(parsed("../t/a.ts(28,2): error TS2739: x"), ("hit", "../t/a.ts", 28, Some(2), " error TS2739: x"));
        assert_eq!(parsed("C:\\a\\b.cs:3:x"), ("hit", "C:\\a\\b.cs", 3, None, "x"));
        assert_eq!(parsed("Makefile:3:all:"), ("hit", "Makefile", 3, None, "all:"));
        assert_eq!(parsed("/a-1-b/x_test.go-20-// 2. User"), ("context", "/a-1-b/x_test.go", 20, None, "// 2. User"));
        assert_eq!(parsed("a.md-31-"), ("context", "a.md", 31, None, ""));
        assert_eq!(parsed("--"), ("separator", "", 0, None, ""));
    }

    #[test]
    fn times_urls_and_indented_places_are_no_hits() {
        for line in [
            "",
            "12:30:45 up",
            "http://a.b:80:x",
            "    a_test.go:131: x",
            "note: a",
            "std::x:1:2",
            "2024-01-02-03 x",
            "a b.rs:1:x",
        ] {
            assert_eq!(parsed(line).0, "none", "{line}");
        }
    }

    #[test]
    fn ripgrep_headings_listings_and_trees_are_search_results() {
        for text in [
            "src/a.rs\n1:use x;\n22:fn a() {}\n\nsrc/b.rs\n4:fn b() {}\n",
            "src/a.rs\nsrc/b.rs\nREADME.md\n.gitignore\n",
            ".\n├── a.rs\n│   └── b.rs\n└── c.rs\n",
            "a/b.ts:import x\na/c.ts:import y\na/d.ts:import z\n",
            "Title\nURL: https://a.b/c\nsnippet\n\nTitle\nURL: https://a.b/d\nsnippet\n\nTitle\nURL: https://a.b/e\nsnippet\n",
        ] {
            assert!(is_search(text), "{text}");
        }
    }

    #[test]
    fn words_and_code_are_no_search_results() {
        for text in [
            "one\ntwo\nthree\n",
            "fn main() {\n    a::b();\n}\n",
            "QUJD/REVG+0hJ\nSktMTU5P/FF+RS\nVFVWV1hZ/WjAx\nx\n",
            "",
        ] {
            assert!(!is_search(text), "{text}");
        }
    }
}
