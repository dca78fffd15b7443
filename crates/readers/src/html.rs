//! Recognises HTML and XML.
//!
//! A few tags are not enough: Markdown, JSX and log messages have them, too.

use super::Hints;
use super::lines::head;
use super::markup::{Piece, pieces};

/// Returns true if a text begins as an HTML or XML document and continues as one: it ends with a tag, or a tenth of its
/// lines have one.
pub(crate) fn is_document(text: &str) -> bool {
    let (is_xml, opening) = opening(text);
    let is_known =
        opening.starts_with("!doctype ") || ["html", "svg", "rss", "feed", "head", "body"].contains(&&*opening);
    (is_xml || is_known) && goes_on(text)
}

fn goes_on(text: &str) -> bool {
    let has_tag = |line: &str| memchr::memchr2(b'<', b'>', line.as_bytes()).is_some();
    if text.lines().next_back().is_some_and(has_tag) {
        return true;
    }
    let (tagged, total) =
        text.lines().fold((0usize, 0usize), |(tagged, total), line| (tagged + usize::from(has_tag(line)), total + 1));
    tagged * 10 >= total
}

/// Returns true if most of a text is markup: it begins with a tag, closes several, and its lines begin or end with
/// tags.
pub(crate) fn is_markup<'t>(lines: &(impl Iterator<Item = &'t str> + Clone)) -> bool {
    let filled = || lines.clone().map(str::trim).filter(|line| !line.is_empty());
    let first = filled().next().unwrap_or_default();
    if !first.starts_with('<') || first.starts_with("<?php") {
        return false;
    }
    let (mut total, mut tagged, mut closing) = (0usize, 0usize, 0usize);
    for line in filled() {
        total += 1;
        tagged += usize::from(
            line.starts_with('<') && line[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)),
        );
        closing += line.matches("</").count() + line.matches("/>").count();
    }
    closing >= 3 && tagged * 2 >= total && closing * 3 >= total
}

/// Returns the end of the document that starts at byte `start` of `text`, a line start. It is the end of the line with
/// the document's end tag, or the end of the text if there is none.
pub(crate) fn block_end(text: &str, start: usize) -> Option<usize> {
    let first = head(&text[start..], 20).trim_start().to_ascii_lowercase();
    let opens = first.starts_with("<!doctype html") || first.starts_with("<html");
    if !opens {
        return None;
    }
    let close = memchr::memmem::find(&text.as_bytes()[start..], b"</html>").map(|at| start + at);
    Some(close.map_or(text.len(), |at| {
        memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |newline| at + newline + 1)
    }))
}

/// The elements of web pages.
#[rustfmt::skip]
const ELEMENTS: &[&str] = &[
    "a", "abbr", "address", "article", "aside", "b", "blockquote", "body", "br", "button", "caption", "center",
    "circle", "code", "col", "colgroup", "dd", "del", "details", "div", "dl", "dt", "em", "fieldset", "figcaption",
    "figure", "font", "footer", "form", "g", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i",
    "iframe", "img", "input", "ins", "kbd", "label", "legend", "li", "link", "main", "mark", "meta", "nav",
    "noscript", "ol", "option", "p", "path", "picture", "pre", "q", "rect", "s", "samp", "script", "section",
    "select", "small", "source", "span", "strong", "style", "sub", "summary", "sup", "svg", "table", "tbody", "td",
    "textarea", "tfoot", "th", "thead", "time", "title", "tr", "tt", "u", "ul", "use", "var", "video", "wbr",
];

/// Marks that only templates have in their tags. The words of such a page are not filled in yet.
const TEMPLATE_MARKS: &[&str] =
    &["=\"{{", "='{{", "<%", "<?php", "<?=", " v-if=\"", " v-for=\"", " *ngIf=\"", " *ngFor=\""];

/// Marks that a fragment of a page does not have, but JSX and Markdown have.
const OTHER_MARKS: &[&str] = &["className=", "={", "\n```", "\n~~~", "\n# ", "\n## ", "\n### ", "\n- ", "\n* ", "\n| "];

/// Programs that pass a page through a pipeline unchanged. Other programs search in its markup.
const SHOWING: &[&str] = &["head", "tail", "cat", "tee", "less", "more", "gunzip", "iconv"];

/// Programs that print the content of an address.
const FETCHERS: &[&str] = &["curl", "wget", "http", "https", "xh", "lynx", "w3m"];

/// Parts of the names of tools that print the content of an address.
const FETCHING: &[&str] = &["fetch", "crawl", "scrape"];

/// Endings of names that are not public hosts.
const PRIVATE_ENDS: &[&str] =
    &["arpa", "corp", "home", "internal", "invalid", "lan", "local", "localdomain", "localhost", "test"];

/// Returns true if an HTML text is a page or a fragment of one, and not data such as a feed, a picture or settings.
pub fn is_hypertext(text: &str) -> bool {
    let (_, opening) = opening(text);
    let is_piece = || {
        let starts_apart = !matches!(opening.as_str(), "svg" | "path" | "g" | "title" | "script" | "style");
        starts_apart && ELEMENTS.contains(&opening.as_str()) && !has(text, OTHER_MARKS) && has_page_elements(text)
    };
    matches!(opening.as_str(), "!doctype html" | "html" | "head" | "body") || is_piece()
}

/// Returns true if an HTML text is a page for reading, or a fragment of one. Data and templates are not, nor is a page
/// that somebody opened, rendered, requested from their own server or filtered in order to work on it.
pub fn is_page(text: &str, hints: &Hints) -> bool {
    is_fetched(hints) && is_hypertext(text) && !has(text, TEMPLATE_MARKS)
}

fn has(text: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| text.contains(mark))
}

/// Returns true if nearly all elements are those of web pages.
fn has_page_elements(text: &str) -> bool {
    let (mut all, mut known) = (0, 0);
    for piece in pieces(text) {
        if let Piece::Open(name, _) = piece {
            all += 1;
            known += usize::from(ELEMENTS.contains(&word(name).as_str()));
        }
    }
    known * 10 >= all * 9
}

/// Returns true for a text with the declaration of XML, and its document type or the name of its first element, in
/// lower case.
fn opening(text: &str) -> (bool, String) {
    let mut is_xml = false;
    for piece in pieces(text.trim_start_matches('\u{feff}')) {
        match piece {
            Piece::Words(words) if words.trim().is_empty() => {}
            Piece::Declaration(words) if words.starts_with("?xml") => is_xml = true,
            Piece::Declaration(words) => {
                let kind = head(words, 40).to_ascii_lowercase();
                return (is_xml, kind.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
            }
            Piece::Open(name, _) => return (is_xml, word(name)),
            _ => break,
        }
    }
    (is_xml, String::new())
}

/// Returns the letters and digits at the start of a text, in lower case.
fn word(text: &str) -> String {
    text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns true unless the hints show that the text was filtered or did not come from a public address.
fn is_fetched(hints: &Hints) -> bool {
    match (&hints.path, &hints.command, &hints.tool_name) {
        (Some(path), ..) => is_public(path),
        (None, Some(command), _) => fetches(command) && is_public(command) && is_shown(command),
        (None, None, Some(tool)) => has(&tool.to_ascii_lowercase(), FETCHING),
        (None, None, None) => true,
    }
}

fn fetches(command: &str) -> bool {
    let mut words = command.split_whitespace().map(|word| word.trim_start_matches(['$', '(', '`', '"', '\'']));
    words.any(|word| FETCHERS.contains(&program(word)))
}

/// Returns true if no command of a pipeline searches in the markup.
fn is_shown(command: &str) -> bool {
    let first = |filter: &str| filter.split_whitespace().next().map(|word| program(word).to_owned());
    let command = command.replace("||", ";");
    command.split('|').skip(1).all(|filter| first(filter).is_some_and(|program| SHOWING.contains(&program.as_str())))
}

fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns true if there are addresses and all of them are public.
fn is_public(source: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "/?#\"'`)|;&<>\\".contains(c);
    let mut hosts = source.split("://").skip(1).map(|rest| {
        let authority = rest.split(ends).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or(authority)
    });
    hosts.clone().next().is_some() && hosts.all(is_public_host)
}

/// Returns true if a host has a public name and the usual port: no number, no variable, no name of a local network.
fn is_public_host(host: &str) -> bool {
    let is_name = host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-'));
    let is_end =
        |end: &str| end.chars().all(char::is_alphabetic) && !PRIVATE_ENDS.contains(&end.to_lowercase().as_str());
    is_name && host.rsplit_once('.').is_some_and(|(name, end)| !name.is_empty() && end.len() > 1 && is_end(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_inside_a_text_ends_with_its_end_tag() {
        let text = "x\n<html>\n<p>\n</html> \ny\n";
        assert_eq!(block_end(text, 2), Some(text.len() - 2));
        assert_eq!(block_end(text, 0), None);
        assert_eq!(block_end("<html>", 0), Some(6));
    }
}
