//! Detects the output of a search: grep hits, file listings, web results.

use super::page::{PageLine, Question};
use crate::hit_line::{Row, has_suffix, is_name, read_line, unnumbered};
use crate::lines::head;

/// Returns true if a line is one of a file listing: one path without blanks, or a branch of a `tree`.
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
    !bare.contains([' ', '\t', ':']) && is_name(bare)
}

/// Returns true if a line that is [listed](is_listed) cannot be anything else.
pub(super) fn is_surely_listed(line: &str) -> bool {
    has_suffix(line) || line.starts_with(['.', '/', '~']) || !line.is_ascii()
}

/// Returns true if a line is a hit without its line number. This is weak evidence.
pub(super) fn is_unnumbered_hit(line: &str) -> bool {
    unnumbered(line).is_some_and(|hit| !hit.text.is_empty() && hit.path.contains('/') && has_suffix(hit.path))
}

/// Counts of lines that indicate search results.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Lines that are not blank.
    pub(super) lines: usize,
    /// Numbered hits, context lines and separators.
    pub(super) hits: usize,
    /// Hits without a number.
    pub(super) unnumbered: usize,
    /// Lines of a file listing.
    pub(super) listed: usize,
    /// Listed lines with a suffix, a leading dot or slash, or the branches of a tree. Any other word may look like a
    /// name.
    pub(super) certain: usize,
    /// Lines `12:text` or `12-text`, as `rg --heading` and a search in one file print them.
    pub(super) headed: usize,
    /// Paths directly above such lines.
    pub(super) headings: usize,
    /// Lines that are a URL, with an optional list mark or label before it.
    pub(super) urls: usize,
    /// True if the text begins like the answer of a web search tool.
    pub(super) web: bool,
}

impl Survey {
    /// Counts lines.
    pub(super) fn of<'p, 't: 'p>(lines: impl IntoIterator<Item = &'p PageLine<'t>>) -> Self {
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

    /// Returns true if the lines are the output of a search, a listing or a web search.
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

/// Returns true if a line is part of the header of a web search tool: the query, or the links that were found.
pub(super) fn is_web_header(line: &str) -> bool {
    line.starts_with("Web search results for ") || line.starts_with("Links: [{")
}

/// Returns true if a line is a hit in the form of a compiler message.
pub(super) fn is_compiler_message(line: &str) -> bool {
    let Row::Hit(hit) = read_line(line) else { return false };
    let text = head(hit.text, 80).trim_start();
    !hit.is_context()
        && (hit.column.is_some() && hit.text.starts_with(' ')
            || ["error", "warning", "note:", "fatal error"].iter().any(|word| text.starts_with(word)))
}

/// Returns true if a line without surrounding blanks is a URL, with an optional list mark or label before it.
pub fn is_url_line(line: &str) -> bool {
    let bare = line.trim_start_matches(['-', '*', '<', '•', ' ']);
    let bare = ["URL: ", "url: ", "Url: ", "Link: ", "link: ", "Source: ", "🔗 "]
        .iter()
        .find_map(|label| bare.strip_prefix(label))
        .unwrap_or(bare)
        .trim_matches(['*', '`', ' ']);
    (bare.starts_with("https://") || bare.starts_with("http://")) && !bare.contains(' ')
}
