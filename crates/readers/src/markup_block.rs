//! The marks of Markdown: fences, headings, list items, table rows, links, emphasis.

use super::table::is_rule;

/// A fence line of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// The mark: `` ` `` or `~`.
    pub mark: char,
    /// The number of marks, at least three.
    pub length: usize,
    /// The first word of the info string (`rust`), or an empty string.
    pub info: &'a str,
    /// The blanks before the fence.
    pub indent: usize,
}

impl<'a> Fence<'a> {
    /// Parses a line that opens or closes a fence.
    pub fn parse(line: &'a str) -> Option<Self> {
        let bare = line.trim_start_matches([' ', '\t']);
        let mark = bare.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = bare.trim_start_matches(mark);
        let length = bare.len() - rest.len();
        if length < 3 || mark == '`' && rest.contains('`') {
            return None;
        }
        let info = rest.trim().trim_start_matches(['{', '.']).split([' ', ',', '{', '}']).next().unwrap_or_default();
        Some(Self { mark, length, info, indent: line.len() - bare.len() })
    }

    /// Returns true if this line closes a fence that `open` opened.
    pub fn closes(&self, open: &Fence) -> bool {
        self.mark == open.mark && self.length >= open.length && self.info.is_empty()
    }
}

/// Returns true if a line is a row of a Markdown table.
pub fn is_markdown_row(line: &str) -> bool {
    let bare = line.trim();
    bare.len() > 2 && bare.starts_with('|') && bare.ends_with('|')
}

/// Returns true if a line is the rule under a Markdown table's header: `|---|:--:|`.
pub fn is_markdown_rule(line: &str) -> bool {
    line.contains('|') && !line.contains('=') && is_rule(line.trim())
}

/// Returns true if a line contains a Markdown link.
pub fn has_link(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b']', bytes).any(|at| bytes.get(at + 1) == Some(&b'(')) && line.contains('[')
}

/// Returns true if a line contains words emphasised in Markdown.
pub fn has_emphasis(line: &str) -> bool {
    memchr::memchr_iter(b'`', line.as_bytes()).nth(1).is_some()
        || memchr::memchr(b'*', line.as_bytes()).is_some_and(|at| line[at..].matches("**").nth(1).is_some())
}

/// Returns true if a line is a Markdown heading.
pub fn is_heading(line: &str) -> bool {
    let marks = line.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t'])
}

/// Returns a line without `- `, `* `, `12. `, `[ ] ` or `## ` before it.
pub fn without_list_mark(line: &str) -> &str {
    let bare = line.trim_start();
    let item = ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• ", "– "].iter().find_map(|mark| bare.strip_prefix(mark));
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = || {
        (1..=3)
            .contains(&digits)
            .then(|| bare[digits..].strip_prefix(". ").or_else(|| bare[digits..].strip_prefix(") ")))
            .flatten()
    };
    let heading = || is_heading(bare).then(|| bare.trim_start_matches('#').trim_start());
    let quote = || bare.strip_prefix("> ");
    item.or_else(numbered).or_else(heading).or_else(quote).unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_closed_by_one_at_least_as_long() {
        let open = Fence::parse("  ````rust,ignore").expect("a fence");
        assert_eq!((open.mark, open.length, open.info, open.indent), ('`', 4, "rust", 2));
        assert!(!Fence::parse("```").expect("a fence").closes(&open));
        assert!(Fence::parse("`````").expect("a fence").closes(&open));
        assert_eq!(Fence::parse("```inline```"), None);
    }
}
