use super::*;
use crate::content::{Hints, Segment};
use crate::pipeline::{CompressOptions, FusionEngine, restore};

fn edits_of(text: &str, sealed: &[Range<usize>], preset: Preset) -> Vec<Edit> {
    let content_type = ContentType::Html;
    let segments = [Segment::whole(text, content_type, None)];
    edits(&FusionContext { sealed, preset, ..FusionContext::of(text, &segments) })
}

#[test]
fn pages_become_markdown() {
    concertina_cases::check!("html", |page, _| page::render(page, 1));
}

#[test]
fn a_page_without_a_visible_word_stays() {
    let text = "<head>\n<meta charset=utf-8>\n<meta name=robots content=noindex>\n</head>\n";
    assert!(edits_of(text, &[], Preset::Max).is_empty());
}

#[test]
fn a_page_about_pages_is_not_read_twice() {
    let about = "<html><body><p>&lt;html&gt; comes first, and a document looks like this when it is all there:</p>\
                 <div class=\"highlight highlight-html notranslate\"><pre>&lt;!doctype html&gt;\n&lt;html&gt;\n\
                 &lt;script&gt;f()&lt;/script&gt;\n&lt;/html&gt;</pre></div><p class=\"last last--small\">That is all.</p>"
        .to_owned()
        + &"<div class=\"filler filler--wide\" data-track-id=\"8842\"></div>".repeat(9);
    let hints = Hints { content_type: Some(ContentType::Html), ..Hints::default() };
    for hints in [hints, Hints::default()] {
        let options = CompressOptions { hints, ..CompressOptions::default() };
        let done = FusionEngine::default().compress(&about, &options, &|| 0.0);
        assert!(done.text.contains("<!doctype html>\n<html>\n<script>f()</script>\n</html>\n```\n"), "{}", done.text);
        assert_eq!(restore(&done.text, &done.originals), about);
        assert_eq!(FusionEngine::default().compress(&done.text, &options, &|| 0.0).text, done.text);
    }
}

#[test]
fn examples_data_and_the_lossless_preset_are_left_alone() {
    let page = "<html><body><p class=a>b</p></body></html>\n";
    assert_eq!(edits_of(page, &[], Preset::Lossless), []);
    assert_eq!(edits_of("<?xml version='1.0'?><rss><p>b</p></rss>", &[], Preset::Max), []);
    assert_eq!(edits_of(page, &[], Preset::Balanced), [Edit::reversible(0..page.len(), "b\n")]);
    let text = format!("```\n{page}```\n{page}");
    let segment = |range: Range<usize>| Segment { range, content_type: ContentType::Html, language: None };
    let segments = [segment(4..4 + page.len()), segment(8 + page.len()..text.len())];
    let context = FusionContext { content_type: ContentType::Text, ..FusionContext::of(&text, &segments) };
    assert_eq!(edits(&context), [Edit::reversible(8 + page.len()..text.len(), "b\n")]);
}

#[test]
fn a_page_with_sealed_parts_stays() {
    let text = "<html><p>a</p><img src=\"SEALED1\" alt=b><p>f SEALED2 g</p>";
    let sealed: Vec<Range<usize>> = text.match_indices("SEALED").map(|(at, found)| at..at + found.len() + 1).collect();
    assert!(edits_of(text, &sealed, Preset::Balanced).is_empty());
}

/// Takes long only if rendering is not linear.
#[test]
#[rustfmt::skip]
fn any_nesting_and_any_length_comes_to_an_end() {
    for unit in [
        "<div>", "<ul><li>", "<table><tr><td>", "<td rowspan=65535 colspan=64>", "<tr><td rowspan=9999>a<td>",
        "<a href=b>c", "<code>`", "<nav><a href=b>c", "</div>", "<b></i>", "<div><span></p>", "<blockquote>", "<pre>",
        "<noscript>", "<svg><title>", "<select><option>", "<", "&", "<!--", "<p a", "\0", "|", "\u{4e00}", "<td>",
        "<td>|", "</table>", "<h1>", "<sup>x", "\r\n",
    ] {
        let page = format!("<html>{}", unit.repeat(20_000));
        let text = page::render(&page, 1);
        assert!(text.len() <= 12 * page.len(), "{unit}: {}", text.len());
        assert_eq!(text, page::render(&page, 1));
    }
}
