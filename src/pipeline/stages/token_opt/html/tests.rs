use super::*;
use crate::content::{Hints, Segment};
use crate::pipeline::{CompressOptions, FusionEngine, restore};

fn edits_of(text: &str, sealed: &[Range<usize>], preset: Preset) -> Vec<Edit> {
    let content_type = ContentType::Html;
    let segments = [Segment::whole(text, content_type, None)];
    edits(&FusionContext { sealed, preset, ..FusionContext::of(text, &segments) })
}

/// What becomes of the body of a page.
fn body(markup: &str) -> String {
    page::render(&format!("<html><body>{markup}"), 1)
}

#[test]
fn structure_becomes_markdown() {
    for (markup, text) in [
        ("<h2>A <b>b</b></h2><p>c<p>d<br>e", "## A b\n\nc\n\nd\ne"),
        ("<ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul>e", "- a\n  - b\n- c\n\n  d\n\ne"),
        ("<ol start=4><li>a<li>b</ol>", "4. a\n5. b"),
        ("<dl><dt>a<dd>b<dt>c<dd></dl>d", "a\n: b\nc\nd"),
        ("<blockquote><p>a</p></blockquote><blockquote></blockquote>b", "> a\n\nb"),
        ("<pre>\n  a &lt; b\n\n c</pre>d", "```\n  a < b\n\n c\n```\n\nd"),
        ("<pre> a </pre>", "` a`"),
        ("<pre>```\nx</pre>", "````\n```\nx\n````"),
        ("use <code>a</code> and <code>`</code>, <code> </code>.", "use `a` and `` ` ``, ."),
        ("10<sup>6</sup> x<sub>1</sub> <sup>2</sup> <del>no</del>", "10^6 x_1 2 ~~no~~"),
        ("a<span>b</span><i>c</i><x-d>e</x-d><x-d>f</x-d>", "abc e f"),
        ("a&nbsp;&mdash;&#8202;&hearts;&shy;b &copy;&nosuch;", "a — ♥b ©&nosuch;"),
        ("<svg><title>T</title><path d='M1'/></svg>x", "title: T\nx"),
        ("<img alt='A b' src=c.png><img alt='' src=d.png><img src='/e/f.png?g'>", "[image: A b][image: f.png]"),
        ("<iframe src='https://a.example/'></iframe>b", "[iframe](https://a.example/) b"),
        ("<noscript><p>Turn it on</p></noscript>", "Turn it on"),
    ] {
        assert_eq!(body(markup), text, "{markup}");
    }
}

#[test]
fn links_show_where_they_lead_once() {
    for (markup, text) in [
        ("<a href='/a?b=1&amp;c'>d</a> <a href='/a?b=1&amp;c'>d</a> <a href=/e>d</a>", "[d](/a?b=1&c) d [d](/e)"),
        ("<h2>a <a href='#a'>¶</a></h2><a href='#b'>b</a> <a href='javascript:c()'>c</a>", "## a\n\nb c"),
        (
            "<a href='https://a.example/'>https://a.example</a> <a href='mailto:a@b.c'>a@b.c</a>",
            "https://a.example a@b.c",
        ),
        ("<a href=/a title=Edit><svg></svg></a> <a href=/b></a>", "[Edit](/a) /b"),
        ("<a href=/a><div>b</div><div>c</div></a>d", "b\nc (/a)\nd"),
        ("<a href=/a><img alt=b></a><a href=/c><code>d</code></a>", "[image: b](/a)[`d`](/c)"),
        ("<a href='data:text/plain;base64,QUJD'>a</a>", "[a](data:text/plain)"),
    ] {
        assert_eq!(body(markup), text, "{markup}");
    }
}

#[test]
fn cells_stay_in_their_columns() {
    for (rows, text) in [
        ("<tr><th>a<th>b<tr><td>1<td>2", "a | b\n1 | 2"),
        ("<tr><td><td>b<td><tr><td></td></tr><tr><td>c<td><td>d", "| b\nc | | d"),
        ("<tr><td rowspan=2>a<td>b<tr><td>c<tr><td>d<td>e", "a | b\n\" | c\nd | e"),
        ("<tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e", "a | | b\nc | d | e"),
        ("<tr><td><p>a</p><p>b</p><td><ul><li>c<li>d</ul>", "a b | - c - d"),
        ("<tr><td>a|b<td>c", "a\\|b | c"),
        ("<tr><td>a<td><table><tr><td>b<td>c</table><td>d", "a\nb| c\nd"),
        ("<tr><td><pre>3\n4\n5</pre><td><pre>x\ny</pre>", "lines 3-5\n\n```\nx\ny\n```"),
    ] {
        assert_eq!(body(&format!("<table>{rows}</table>")), text, "{rows}");
    }
}

#[test]
fn form_fields_show_their_names_and_values() {
    let form = "<label for=a>A</label><input id=a name=a value='b c'><input name=q placeholder=Find>\
                <input type=hidden name=csrf value=1><input type=checkbox checked> on \
                <select name=s><option>x<option selected>y</select><textarea name=t>z</textarea>\
                <input type=submit value=Go>";
    assert_eq!(body(form), "A [a: b c] [q: Find] [x] on\n[s]\n- x\n- (selected) y\n[t] z [Go]");
}

#[test]
fn what_nobody_sees_or_can_use_says_so() {
    for (markup, text) in [
        ("<button type=submit disabled>Pay</button> now", "(disabled) Pay now"),
        (
            "<input name=a disabled><p class=error hidden>Bad address</p>b",
            "[a] (disabled)\n\n(hidden) Bad address\n\nb",
        ),
        ("<ul><li hidden>a<li>b</ul>", "- (hidden) a\n- b"),
        ("<table><tr><td>a<tr hidden><td>b<td>c</table>", "a\n(hidden)\nb | c"),
        ("<input type=hidden name=csrf disabled><svg hidden></svg>a", "a"),
    ] {
        assert_eq!(body(markup), text, "{markup}");
    }
}

#[test]
fn data_with_an_error_stay() {
    let page =
        |data: &str| body(&format!("<p>Sorry</p><script id=__NEXT_DATA__ type=application/json>{data}</script>"));
    let error = r#"{"page":"/_error","err":{"name":"TypeError","message":"no total"}}"#;
    assert_eq!(page(error), format!("Sorry\n\n`{error}`"));
    let long = error.replace("no total", &"no ".repeat(2000));
    assert_eq!(page(&long), format!("Sorry\n\n[… {} bytes of a script with an error]", long.len()));
    let data = r#"{"page":"/","err":null,"errors":[]}"#;
    assert_eq!(page(data), format!("Sorry\n\n[… {} bytes of data in a script]", data.len()));
}

#[test]
fn a_page_without_a_visible_word_stays() {
    let text = "<head>\n<meta charset=utf-8>\n<meta name=robots content=noindex>\n</head>\n";
    assert!(edits_of(text, &[], Preset::Max).is_empty());
}

#[test]
fn menus_become_notes_with_their_lines() {
    let link = |n: usize| format!("<li><a href=/{n}>page {n}</a></li>\n");
    let links: String = (1..6).map(link).collect();
    let page = format!("<html>\n<nav>\n<ul>\n{links}</ul></nav>\n<p>a</p><footer>{links}<p>b</p></footer>");
    let text = page::render(&page, 11);
    assert_eq!(text, "[… 8 lines 12-19: navigation, 5 links]\n\na\n\n[… 6 lines 20-25: footer, 5 links]");
    // One line has no lines to point to.
    assert_eq!(body(&format!("<nav>{}</nav>a", links.replace('\n', ""))), "[… 5 links: navigation]\na");
    // A menu that never ends may be the whole page, and few links or many words are no menu.
    let open = body(&format!("<nav><ul>{links}</ul>words"));
    assert!(open.contains("[page 5](/5)") && open.ends_with("words"), "{open}");
    assert!(body(&format!("<footer>{links}{}</footer>", "words ".repeat(20))).contains("[page 5](/5)"));
    assert_eq!(body("<nav><a href=/>Home</a></nav>"), "[Home](/)");
}

#[test]
fn what_is_cut_is_kept_or_counted() {
    assert_eq!(body("a<script>let b = '</p>';"), "a\n[… 15 bytes of a script without end]");
    assert_eq!(body("<svg><title/></svg><p>a</p>"), "a");
    assert_eq!(body("<p>a <a href=/b>c"), "a [c](/b)");
    assert_eq!(body("<pre>a\n b"), "```\na\n b\n```");
}

#[test]
fn words_that_look_like_markup_do_not_become_markup() {
    assert_eq!(body("<p>&lt;html&gt; is the root</p><p>```x</p>"), "\\<html> is the root\n\n\\```x");
    // A page about pages, taken for a page by whoever insists on it.
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

/// Slow only where it is not linear.
#[test]
fn any_nesting_and_any_length_comes_to_an_end() {
    let n = 100_000;
    for unit in [
        "<div>",
        "<ul><li>",
        "<table><tr><td>",
        "<td rowspan=65535 colspan=64>",
        "<tr><td rowspan=9999>a<td>",
        "<a href=b>c",
        "<code>`",
        "<nav><a href=b>c",
        "</div>",
        "<b></i>",
        "<div><span></p>",
        "<blockquote>",
        "<pre>",
        "<noscript>",
        "<svg><title>",
        "<select><option>",
        "<",
        "&",
        "<!--",
        "<p a",
        "\0",
        "|",
        "\u{4e00}",
        "<td>",
        "<td>|",
        "</table>",
        "<h1>",
        "<sup>x",
        "\r\n",
    ] {
        let page = format!("<html>{}", unit.repeat(n));
        let text = page::render(&page, 1);
        assert!(text.len() <= 12 * page.len(), "{unit}: {}", text.len());
        assert_eq!(text, page::render(&page, 1));
    }
}
