//! HTML and XML.
//!
//! A few tags make no HTML: Markdown, JSX and log messages have them, too.

use super::lines::{head, lines};
use super::{Hints, hints};

const OPENERS: &[&str] =
    &["<!doctype html", "<html", "<?xml", "<svg", "<rss", "<feed", "<!doctype ", "<head>", "<body"];

/// Whether a text opens as an HTML or XML document.
pub(super) fn is_document(text: &str) -> bool {
    let mut bare = text.trim_start_matches('\u{feff}').trim_start();
    // Comments before the document type.
    while let Some(rest) = bare.strip_prefix("<!--") {
        let Some(close) = rest.find("-->") else { break };
        bare = rest[close + 3..].trim_start();
    }
    let start = head(bare, 20).to_ascii_lowercase();
    OPENERS.iter().any(|opener| start.starts_with(opener))
}

/// Whether most of a text is markup: it opens with a tag, closes several, and its lines begin or end with tags.
pub(super) fn is_markup(text: &str) -> bool {
    if !text.trim_start().starts_with('<') || text.trim_start().starts_with("<?php") {
        return false;
    }
    let (mut total, mut tagged, mut closing) = (0usize, 0usize, 0usize);
    for line in lines(text) {
        let line = line.text.trim();
        if line.is_empty() {
            continue;
        }
        total += 1;
        tagged += usize::from(
            line.starts_with('<') && line[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)),
        );
        closing += line.matches("</").count() + line.matches("/>").count();
    }
    closing >= 3 && tagged * 2 >= total && closing * 3 >= total
}

/// The document that starts at byte `start` of `text`, a line start: the byte where the line of its end tag ends, or the end
/// of the text where there is none.
pub(super) fn block_end(text: &str, start: usize) -> Option<usize> {
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

/// Elements that a piece of a page starts with.
const PIECES: &[&str] = &[
    "a",
    "article",
    "aside",
    "blockquote",
    "button",
    "center",
    "details",
    "div",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "iframe",
    "img",
    "li",
    "link",
    "main",
    "meta",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "span",
    "table",
    "tbody",
    "td",
    "tr",
    "ul",
];

/// What only templates have in their tags: the words of the page are yet to come.
const TEMPLATE_MARKS: &[&str] =
    &["=\"{{", "='{{", "<%", "<?php", "<?=", " v-if=\"", " v-for=\"", " *ngIf=\"", " *ngFor=\""];

/// Whether an HTML text is a page to be read: not data (a feed, a picture, settings), not a template, and not a file that
/// somebody opened to work on it.
pub fn is_page(text: &str, hints: &Hints) -> bool {
    let opening = opening(text);
    let is_piece = PIECES.contains(&opening.as_str());
    let is_page = is_piece || matches!(opening.as_str(), "!doctype html" | "html" | "head" | "body");
    is_page && !is_opened_file(hints) && !TEMPLATE_MARKS.iter().any(|mark| text.contains(mark))
}

/// The document type or the name of the first element, in small letters.
fn opening(text: &str) -> String {
    let mut bare = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(end) = match bare {
        _ if bare.starts_with("<!--") => bare.find("-->").map(|at| at + 3),
        _ if bare.starts_with("<?xml") => bare.find("?>").map(|at| at + 2),
        _ => None,
    } {
        bare = bare[end..].trim_start();
    }
    let Some(tag) = bare.strip_prefix('<') else { return String::new() };
    let start = head(tag, 40).to_ascii_lowercase();
    if let Some(kind) = start.strip_prefix("!doctype") {
        let kind = kind.trim_start();
        let name = kind.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        return format!("!doctype {name}");
    }
    start.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Whether the text is a file of this machine, and not something that was fetched.
fn is_opened_file(hints: &Hints) -> bool {
    let is_file = |path: &str| !path.contains("://") && hints::of_path(path).is_some();
    let fetched = |command: &str| command.contains("://");
    match (&hints.path, &hints.command) {
        (Some(path), _) => is_file(path),
        (None, Some(command)) => !fetched(command) && hints::of_command(command).is_some(),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_known_by_their_opening() {
        for text in
            ["\n<!DOCTYPE html>\n<p>", "<html lang=en>", "<?xml version=\"1.0\"?>\n<a/>", "<!-- c -->\n<!doctype html>"]
        {
            assert!(is_document(text), "{text}");
        }
        for text in ["<p>one", "<div>", "", "< html", "text <html>"] {
            assert!(!is_document(text), "{text}");
        }
    }

    #[test]
    fn markup_needs_closing_tags_on_many_lines() {
        assert!(is_markup("<div>\n<p>a</p>\n<p>b</p>\n</div>\n"));
        assert!(!is_markup("<img src=a>\n\n# Title\n\nSome words.\n\nMore words.\n"));
        assert!(!is_markup("<output>\nline\nline\nline\n</output>\n"));
        assert!(!is_markup("<?php\necho '</a></b></c>';\n"));
    }

    #[test]
    fn a_document_inside_a_text_ends_with_its_end_tag() {
        let text = "x\n<html>\n<p>\n</html> \ny\n";
        assert_eq!(block_end(text, 2), Some(text.len() - 2));
        assert_eq!(block_end(text, 0), None);
        assert_eq!(block_end("<html>", 0), Some(6));
    }
}
