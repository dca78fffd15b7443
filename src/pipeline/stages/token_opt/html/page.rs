//! The tags and words of a page, one by one -> its text: headings, links, lists, plain cells.
//!
//! No tree is built. Words are written when they are read; only elements that are marked at their end stay open. A menu
//! without an end may be the whole page, so it is not folded.

use std::mem::{replace, take};
use std::sync::LazyLock;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use indexmap::IndexSet;
use regex::Regex;

use super::tag::Tag;
use crate::pipeline::elided;

/// The minimum number of links in a menu that is folded. The note for a smaller one would hardly be shorter.
const MENU_MIN_LINKS: usize = 4;

/// The minimum share of a menu's words that are inside links, in percent.
const MENU_LINKED: usize = 60;

/// The maximum size in bytes of data with an error that is shown. Larger data becomes a note.
const ERROR_MAX: usize = 4096;

/// Matches a non-empty error in data.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:err|errors?|exception|stack)"\s*:\s*(?:[{\[]\s*["{]|"[^"])"#).expect("the pattern is valid")
});

/// The maximum number of open elements. Every word visits all of them.
const DEPTH_MAX: usize = 64;

/// The maximum indentation of nested lists. Without it the output would grow with the square of their depth.
const INDENT_MAX: usize = 6;

/// The separator before the next words. It is written together with them, so that empty elements leave no trace.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

/// The action at the end of an element.
enum Kind {
    Block,
    Item,
    /// A list, with the number of its last item if it is numbered.
    List(Option<usize>),
    Table,
    /// A table row. True if a cell has started.
    Row(bool),
    Cell,
    /// An element whose end is written as these characters.
    Marked(&'static str),
    /// A link with its target, if it has one, and the words to use if it has no text.
    Link(Option<String>, String),
    /// A part that is folded if it consists mostly of links: its description, its line, and the counters before it.
    Menu(&'static str, usize, Figures),
}

/// Counters of a page: bytes of words, bytes inside links, links, and links that were shown.
#[derive(Clone, Copy, Default)]
struct Figures {
    words: usize,
    linked: usize,
    links: usize,
    shown: usize,
}

struct Open {
    name: String,
    kind: Kind,
    /// The length of the mark before the next words.
    mark: usize,
    /// The offset at which its words start, once there are some.
    start: Option<usize>,
}

/// A page, as far as it was read.
#[derive(Default)]
struct Page {
    text: String,
    gap: Gap,
    /// The mark before the next words: `- `, `## `, `| `.
    mark: String,
    open: Vec<Open>,
    /// The open element with raw text or significant white space, and its text.
    raw: Option<(Tag, String)>,
    /// The targets of links that were shown. They are not repeated.
    shown: IndexSet<String>,
    figures: Figures,
    /// The number of bytes of scripts, styles and comments.
    hidden: usize,
    has_title: bool,
    /// True for a text inside the page, whose offsets are not the page's.
    is_inner: bool,
    /// The line of the last tag, and the offset up to which lines were counted.
    line: usize,
    counted: usize,
}

/// Returns the text of a page that begins at line `first_line`.
pub(super) fn render(source: &str, first_line: usize) -> String {
    let mut page = Page { line: first_line, ..Page::default() };
    page.read(source);
    match page.raw.take() {
        Some((tag, text)) if matches!(tag.element(), "script" | "style") => {
            page.apart(Gap::Line, &elided(text.len(), &format!("bytes of a {} without end", tag.element()), None));
        }
        // The tokenizer took all of the rest for the text of an unclosed element.
        Some((tag, text)) if tag.element() != "pre" => page.read_inner(&text),
        raw => page.end_raw(raw),
    }
    page.close_from(Some(0), false);
    if !page.text.is_empty() && page.hidden > 0 {
        page.apart(Gap::Line, &elided(page.hidden, "bytes of scripts, styles and comments", None));
    }
    page.text
}

/// Returns the name under which an element is opened. Elements with the same name end each other.
fn opened(name: &str) -> &str {
    match name {
        "option" => "li",
        "th" => "td",
        "dt" => "dd",
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "h",
        _ => name,
    }
}

/// Returns the gap around an element.
#[rustfmt::skip]
fn gap_of(name: &str) -> Gap {
    match opened(name) {
        "p" | "h" | "blockquote" => Gap::Paragraph,
        "address" | "article" | "aside" | "body" | "br" | "caption" | "center" | "dd" | "details" | "dialog" | "div"
        | "dl" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "head" | "header" | "hr" | "html"
        | "legend" | "li" | "main" | "menu" | "nav" | "ol" | "optgroup" | "search" | "section"
        | "summary" | "table" | "tbody" | "tfoot" | "thead" | "tr" | "ul" => Gap::Line,
        "button" | "desc" | "label" | "math" | "output" | "rt" | "svg" | "td" | "text" => Gap::Space,
        name => if name.contains('-') { Gap::Space } else { Gap::None },
    }
}

impl Page {
    fn read(&mut self, source: &str) {
        let mut emitter = DefaultEmitter::<usize>::new_with_span();
        emitter.naively_switch_states(true);
        for Ok(token) in Tokenizer::new_with_emitter(source, emitter) {
            match token {
                Token::StartTag(tag) => {
                    self.count_lines(source, tag.span.start);
                    self.start(Tag::of(&tag));
                }
                Token::EndTag(tag) => {
                    self.count_lines(source, tag.span.end);
                    self.end(&String::from_utf8_lossy(&tag.name));
                }
                Token::String(text) => match (String::from_utf8_lossy(&text), &mut self.raw) {
                    (text, Some((_, held))) => held.push_str(&text),
                    (text, None) => self.words(&text),
                },
                Token::Comment(text) => self.hidden += text.len(),
                Token::Doctype(_) | Token::Error(_) => {}
            }
        }
    }

    fn count_lines(&mut self, source: &str, at: usize) {
        if !self.is_inner {
            let at = at.clamp(self.counted, source.len());
            self.line += memchr::memchr_iter(b'\n', &source.as_bytes()[self.counted..at]).count();
            self.counted = at;
        }
    }

    /// Reads a text inside the page that the tokenizer returned as one piece.
    fn read_inner(&mut self, source: &str) {
        if replace(&mut self.is_inner, true) {
            return self.words(source);
        }
        self.read(source);
        self.is_inner = false;
    }

    /// Widens the gap before the next words. There is no gap after a mark, and a cell stays on one line.
    fn gap(&mut self, gap: Gap) {
        if self.mark.is_empty() {
            self.gap = self.gap.max(if self.is_in_cell() { gap.min(Gap::Space) } else { gap });
        }
    }

    /// Opens an element with a mark before its words.
    fn open(&mut self, name: &str, kind: Kind, mark: &str) {
        let is_open = self.open.len() < DEPTH_MAX;
        let (name, length) = (opened(name).to_owned(), self.mark.len());
        self.mark.push_str(if is_open { mark } else { "" });
        self.open.extend(is_open.then_some(Open { name, kind, mark: length, start: None }));
    }

    /// Returns true inside a cell, which must stay on one line.
    fn is_in_cell(&self) -> bool {
        let mut kinds = self.open.iter().rev().map(|open| &open.kind);
        kinds.find(|kind| matches!(kind, Kind::Cell | Kind::Table)).is_some_and(|kind| matches!(kind, Kind::Cell))
    }

    /// Writes a text with the gap and the mark before it. Code of several lines is not indented. Words at the start of
    /// a line that would be read as markup or as a fence are escaped.
    fn push(&mut self, text: &str) {
        let gap = take(&mut self.gap);
        let (starts_line, is_code) = (self.text.is_empty() || gap >= Gap::Line, text.contains('\n'));
        if !self.text.is_empty() {
            self.text.push_str(["", " ", "\n", "\n\n"][gap as usize]);
        }
        if starts_line && !is_code {
            let around = self.open.iter().filter(|open| matches!(open.kind, Kind::Item) && open.start.is_some());
            self.text.extend(around.take(INDENT_MAX).map(|_| "  "));
        }
        if starts_line
            && !is_code
            && self.mark.is_empty()
            && ["<", "```", "~~~"].iter().any(|open| text.starts_with(open))
        {
            self.text.push('\\');
        }
        let (before, mark) = (self.text.len(), take(&mut self.mark));
        self.text.push_str(&mark);
        for open in self.open.iter_mut().rev().take_while(|open| open.start.is_none()) {
            // An element's text includes the marks inside it, but not its own mark.
            let is_marked = matches!(open.kind, Kind::Marked(_));
            open.start = Some(if is_marked { self.text.len() } else { before + open.mark.min(mark.len()) });
        }
        self.text.push_str(text);
    }

    /// Writes a text with a gap on both sides.
    fn apart(&mut self, gap: Gap, text: &str) {
        if !text.is_empty() {
            self.gap(gap);
            self.push(text);
            self.gap(gap);
        }
    }

    /// Writes the words of a text and replaces white space by single blanks. Soft hyphens and a lone `¶`, which is an
    /// anchor for the mouse, are omitted.
    fn words(&mut self, text: &str) {
        let is_linked = self.open.iter().any(|open| matches!(open.kind, Kind::Link(..)));
        for (index, word) in text.replace('\u{ad}', "").split(char::is_whitespace).enumerate() {
            if index > 0 {
                self.gap(Gap::Space);
            }
            if matches!(word, "" | "¶") {
                continue;
            }
            self.figures.words += word.len();
            self.figures.linked += if is_linked { word.len() } else { 0 };
            if self.is_in_cell() { self.push(&word.replace('|', "\\|")) } else { self.push(word) }
        }
    }

    /// Writes text with significant white space.
    fn verbatim(&mut self, text: &str) {
        let text = text.trim_end().trim_start_matches('\n');
        self.figures.words += text.len();
        if text.trim().is_empty() {
        } else if text.contains(['\n', '`']) {
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            // A fence starts its line, even in a cell.
            self.mark.clear();
            self.gap = Gap::Paragraph;
            self.push(&format!("{fence}\n{text}\n{fence}"));
            self.gap = Gap::Paragraph;
        } else {
            self.apart(Gap::Paragraph, &format!("`{text}`"));
        }
    }

    /// Returns the innermost open element of this name. The search ends at the enclosing table, and for an item at its
    /// list.
    fn find(&self, name: &str) -> Option<usize> {
        let is_item = matches!(name, "li" | "dd");
        let at = self.open.iter().rposition(|open| {
            open.name == name || matches!(open.kind, Kind::Table) || is_item && matches!(open.kind, Kind::List(_))
        })?;
        (self.open[at].name == name).then_some(at)
    }

    fn start(&mut self, tag: Tag) {
        let name = tag.element();
        if let Some((_, text)) = &mut self.raw {
            text.push_str(if name == "br" { "\n" } else { "" });
            return;
        }
        self.apart(Gap::Space, &tag.media());
        if matches!(name, "script" | "style" | "title" | "noscript" | "iframe" | "noembed" | "noframe" | "xmp" | "pre")
        {
            self.raw = Some((tag, String::new()));
            return;
        }
        if matches!(opened(name), "li" | "dd" | "td" | "tr" | "h" | "a") {
            self.close_from(self.find(opened(name)), false);
        }
        self.gap(gap_of(name));
        let touches = self.gap == Gap::None && self.mark.is_empty() && !self.text.is_empty();
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.open(name, Kind::Block, &format!("{} ", "#".repeat(usize::from(name.as_bytes()[1] - b'0'))));
            }
            "dd" => self.open(name, Kind::Block, ": "),
            "blockquote" => self.open(name, Kind::Block, "> "),
            "ol" => self.open(name, Kind::List(Some(tag.number("start").unwrap_or(1).saturating_sub(1))), ""),
            "ul" | "menu" | "dl" => self.open(name, Kind::List(None), ""),
            "li" | "option" => self.item(&tag),
            "table" => self.open(name, Kind::Table, ""),
            "tr" if self.find("table").is_some() => self.open(name, Kind::Row(false), ""),
            "td" | "th" if self.find("table").is_some() => self.cell(&tag),
            "a" => {
                self.figures.links += usize::from(tag.get("href").is_some());
                let target = tag.url("href").map(str::to_owned);
                self.open(name, Kind::Link(target, tag.label().to_owned()), "");
            }
            "code" | "kbd" | "samp" | "tt" => self.open(name, Kind::Marked("`"), "`"),
            "del" | "s" | "strike" => self.open(name, Kind::Marked("~~"), "~~"),
            "q" => self.open(name, Kind::Marked("\""), "\""),
            "sup" if touches => self.open(name, Kind::Marked(""), "^"),
            "sub" if touches => self.open(name, Kind::Marked(""), "_"),
            "img" if self.find("a").is_some() => self.words(tag.image().trim_matches(['[', ']'])),
            "img" => self.words(&tag.image()),
            "select" => {
                self.apart(Gap::Space, &tag.field());
                self.open(name, Kind::List(None), "");
            }
            "input" | "textarea" => self.apart(Gap::Space, &tag.field()),
            _ => self.menu(&tag),
        }
        self.apart(Gap::Space, tag.state());
    }

    fn item(&mut self, tag: &Tag) {
        let list = self.open.iter_mut().rev().find_map(|open| match &mut open.kind {
            Kind::List(number) => number.as_mut(),
            _ => None,
        });
        let mark = list.map_or("-".to_owned(), |number| {
            *number = number.saturating_add(1);
            format!("{number}.")
        });
        let chosen = if tag.get("selected").is_some() { " (selected) " } else { " " };
        self.open("li", Kind::Item, &(mark + chosen));
    }

    /// Opens a cell. All but the first of a row begin with a bar.
    fn cell(&mut self, tag: &Tag) {
        if self.find("tr").is_none() {
            self.open("tr", Kind::Row(false), "");
        }
        let row = self.find("tr").map(|at| &mut self.open[at].kind);
        let is_next = row.is_some_and(|kind| matches!(replace(kind, Kind::Row(true)), Kind::Row(true)));
        self.open("td", Kind::Cell, if is_next { "| " } else { "" });
        self.apart(Gap::Space, &tag.span());
    }

    /// Opens a part that may be a menu.
    fn menu(&mut self, tag: &Tag) {
        let name = tag.element();
        let what = match (tag.get("role").unwrap_or_default(), name) {
            ("navigation", _) | (_, "nav") => "navigation",
            ("contentinfo", _) | (_, "footer") => "footer",
            (_, "aside") => "aside",
            _ if self.find(name).is_some() => return self.open(name, Kind::Block, ""),
            _ => return,
        };
        self.open(name, Kind::Menu(what, self.line, Figures { shown: self.shown.len(), ..self.figures }), "");
    }

    fn end(&mut self, name: &str) {
        match &self.raw {
            Some((tag, _)) if tag.element() == name => {
                let raw = self.raw.take();
                self.end_raw(raw);
            }
            Some(_) => {}
            None => {
                self.close_from(self.find(opened(name)).filter(|_| name != "dt"), true);
                self.gap(gap_of(name));
            }
        }
    }

    fn end_raw(&mut self, raw: Option<(Tag, String)>) {
        let Some((tag, text)) = raw else { return };
        let is_data = tag.get("type").is_some_and(|kind| kind.contains("json"));
        match tag.element() {
            "title" => {
                let is_first = !self.has_title && !text.trim().is_empty();
                self.has_title |= is_first;
                let (gap, label) = if is_first { (Gap::Line, "title: ") } else { (Gap::Space, "") };
                self.gap(gap);
                self.words(&format!("{label}{text}"));
                self.gap(gap);
            }
            "xmp" | "pre" => self.verbatim(&text),
            "script" if is_data && text.len() <= ERROR_MAX && ERROR.is_match(&text) => self.verbatim(&text),
            "script" if is_data => {
                let has_error = if ERROR.is_match(&text) { " with an error" } else { "" };
                self.apart(Gap::Line, &elided(text.len(), &format!("bytes of data in a script{has_error}"), None));
            }
            "script" | "style" => self.hidden += text.len(),
            _ => self.read_inner(&text),
        }
    }

    /// Ends the element at index `at` and all after it. `is_ended` is true if a tag of its own ends it.
    fn close_from(&mut self, at: Option<usize>, is_ended: bool) {
        while let Some(at) = at.filter(|at| *at < self.open.len()) {
            self.close(is_ended && at + 1 == self.open.len());
        }
    }

    fn close(&mut self, is_ended: bool) {
        let Some(Open { name, kind, mark, start }) = self.open.pop() else { return };
        // Removes a mark without words. An empty cell keeps its mark, so that the other cells of the row stay in their
        // columns.
        if !matches!(kind, Kind::Cell) {
            self.mark.truncate(if start.is_some() { 0 } else { mark });
        }
        match (kind, start) {
            (Kind::Marked("`"), Some(start)) if self.text[start..].contains('`') => {
                let words = self.text.split_off(start);
                self.text.push_str(&format!("` {words} ``"));
            }
            (Kind::Marked(end), Some(_)) => self.text.push_str(end),
            // The gap after the last words does not apply after the element itself.
            (Kind::Item | Kind::Row(_), Some(_)) => self.gap = Gap::None,
            (Kind::Link(Some(target), label), None) => {
                let link = self.link(&label, &target);
                self.push(&link);
            }
            (Kind::Link(Some(target), _), Some(start)) => {
                let words = self.text.split_off(start);
                let link = self.link(&words, &target);
                self.text.push_str(&link);
            }
            (Kind::Menu(what, line, before), Some(start)) if is_ended => {
                let links = self.figures.links - before.links;
                let (words, linked) = (self.figures.words - before.words, self.figures.linked - before.linked);
                if links >= MENU_MIN_LINKS && linked * 100 >= words * MENU_LINKED {
                    // Targets that were shown only in the folded menu are no longer shown.
                    self.shown.truncate(before.shown);
                    self.text.truncate(start);
                    self.text.push_str(&folded(what, line, self.line, links));
                }
            }
            _ => {}
        }
        self.gap(gap_of(&name));
    }

    /// Returns `[words](target)`, or only the words if the target was shown before.
    fn link(&mut self, words: &str, target: &str) -> String {
        let words = if words.is_empty() { target } else { words };
        let bare = target.trim_start_matches("mailto:").trim_end_matches('/');
        let link = if words.contains('\n') { format!("{words} ({target})") } else { format!("[{words}]({target})") };
        let is_said = words.trim_matches('`').trim_end_matches('/') == bare || !self.shown.insert(link.clone());
        if is_said { words.to_owned() } else { link }
    }
}

/// Returns the note for a folded menu: `[… 8 lines 12-19: navigation, 5 links]`.
fn folded(what: &str, line: usize, last: usize, links: usize) -> String {
    if last <= line {
        return elided(links, &format!("links: {what}"), None);
    }
    let lines = elided(last - line + 1, "lines", Some((line, last)));
    format!("{}: {what}, {links} links]", lines.trim_end_matches(']'))
}
