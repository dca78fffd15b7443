//! HTML and XML.
//!
//! A few tags make no HTML: Markdown, JSX and log messages have them, too.

use super::lines::{head, lines};

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
