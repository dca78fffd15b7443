//! Converts the tags and words of a page, one by one, to its text: headings, links, lists, plain cells.
//!
//! No tree is built. Words are written as they are read; an element stays open only if something is written at its end.
//! A menu without an end tag may be the whole page, so it is never folded.

use std::mem::{replace, take};
use std::sync::LazyLock;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use indexmap::IndexSet;
use regex::Regex;

use super::tag::Tag;
use crate::pipeline::elided;

/// The fewest links of a menu that is folded. The note for a smaller menu would be hardly shorter.
const MENU_MIN_LINKS: usize = 4;

/// The least share of a menu's bytes of words that are inside links, in percent.
const MENU_LINKED: usize = 60;

/// The most bytes of a script with data that is kept. A longer one becomes a note.
const DATA_MAX: usize = 4096;

/// A page with fewer bytes of words is only the shell of its scripts: their data are its content.
const SHELL_WORDS: usize = 300;

/// Matches a JSON member that reports an error and is not empty.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:err|errors?|exception|stack)"\s*:\s*(?:[{\[]\s*["{]|"[^"])"#).expect("the pattern is valid")
});

/// Matches a script that only assigns or passes on one value: `window.state = {…};`, `self.__next_f.push([…])`.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?s)^\s*(?:(?:var|let|const)\s+)?[\w$.]+(?:\["\w+"\])?\s*(?:=\s*|\.push\()[{\[].*[}\])];?\s*$"#;
    Regex::new(pattern).expect("the pattern is valid")
});

/// The most elements that are open at once, because each word looks at all of them.
const DEPTH_MAX: usize = 64;

/// The deepest indentation of lists, in levels. Without this limit the output would grow with the square of their
/// depth.
const INDENT_MAX: usize = 6;

/// The separator between the last words and the next ones. It is written together with the next words, so that empty
/// elements leave no trace.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

/// The way in which an element is handled at its end.
enum Kind {
    Block,
    Item,
    /// The number of its last item, if its items are numbered.
    List(Option<usize>),
    Table,
    /// True if a cell has started.
    Row(bool),
    Cell,
    /// Inline markup, which ends with these characters.
    Marked(&'static str),
    /// A link to this target, or no link if that is `None`. The label replaces the text of a link without one.
    Link(Option<String>, String),
    /// A part that is folded if it consists mostly of links: its kind, its first line, and the page's figures before
    /// it.
    Menu(&'static str, usize, Figures),
}

/// Counts of a page: bytes of words, the bytes of those inside links, links, and links that were shown with their
/// targets.
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
    /// The length of the pending mark before this element was opened, in bytes.
    mark: usize,
    /// The byte at which its words start, once there are some.
    start: Option<usize>,
}

/// The state while a page is read.
#[derive(Default)]
struct Page {
    text: String,
    gap: Gap,
    /// The mark that is written before the next words: `- `, `## `, `| `.
    mark: String,
    open: Vec<Open>,
    /// The open element whose text the tokenizer returns as one piece or in which white space is significant, and that
    /// text.
    raw: Option<(Tag, String)>,
    /// The links that were shown with their targets and are not repeated.
    shown: IndexSet<String>,
    figures: Figures,
    /// The scripts with data, which are written at the end, because the end of a menu may remove what is inside.
    data: Vec<String>,
    /// The number of bytes of scripts, styles and comments.
    hidden: usize,
    has_title: bool,
    /// True while a text inside the page is read, whose positions are not those of the page.
    is_inner: bool,
    /// The line of the last tag, and the byte up to which line breaks are counted.
    line: usize,
    counted: usize,
}

/// Returns the text of a page that begins at line `first_line` of its file or output. It is empty if the page shows no
/// words, or if it is the shell of long data.
pub(super) fn render(source: &str, first_line: usize) -> String {
    let mut page = Page { line: first_line, ..Page::default() };
    page.read(source);
    match page.raw.take() {
        Some((tag, text)) if matches!(tag.element(), "script" | "style") => {
            page.apart(Gap::Line, &elided(text.len(), &format!("bytes of a {} without end", tag.element()), None));
        }
        // The element was never closed, so the rest of the page was read as its text.
        Some((tag, text)) if tag.element() != "pre" => page.read_inner(&text),
        raw => page.end_raw(raw),
    }
    page.close_from(Some(0), false);
    let is_shell = page.figures.words < SHELL_WORDS;
    if is_shell && page.data.iter().any(|data| data.len() > DATA_MAX) {
        return String::new();
    }
    for data in take(&mut page.data) {
        let has_error = ERROR.is_match(&data);
        if data.len() <= DATA_MAX && (is_shell || has_error) {
            page.verbatim(&data);
        } else {
            let unit = format!("bytes of data in a script{}", if has_error { " with an error" } else { "" });
            page.apart(Gap::Line, &elided(data.len(), &unit, None));
        }
    }
    if !page.text.is_empty() && page.hidden > 0 {
        page.apart(Gap::Line, &elided(page.hidden, "bytes of scripts, styles and comments", None));
    }
    page.text
}

/// Returns the name under which an element is open. Elements with the same name close each other.
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

    /// Widens the gap before the next words. No gap follows a mark, and a cell stays on one line.
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

    /// Returns true inside a cell, which takes one line.
    fn is_in_cell(&self) -> bool {
        let mut kinds = self.open.iter().rev().map(|open| &open.kind);
        kinds.find(|kind| matches!(kind, Kind::Cell | Kind::Table)).is_some_and(|kind| matches!(kind, Kind::Cell))
    }

    /// Writes a text with the gap and the mark before it. Code of several lines is not indented. Words at the start of
    /// a line are escaped if they would be read as markup or open a fence.
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
            // An element's start includes the marks of the elements inside it. For inline markup it excludes the
            // element's own mark.
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

    /// Writes the words of a text with single spaces between them. Soft hyphens are removed, and so is a lone `¶`, the
    /// permalink of a heading.
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

    /// Writes text in which white space is significant.
    fn verbatim(&mut self, text: &str) {
        let text = text.trim_end().trim_start_matches('\n');
        self.figures.words += text.len();
        if text.trim().is_empty() {
        } else if text.contains(['\n', '`']) {
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            // A fence has to start a line, even in a cell.
            self.mark.clear();
            self.gap = Gap::Paragraph;
            self.push(&format!("{fence}\n{text}\n{fence}"));
            self.gap = Gap::Paragraph;
        } else {
            self.apart(Gap::Paragraph, &format!("`{text}`"));
        }
    }

    /// Returns the index of the innermost open element of this name. The search ends at a table, and for an item at its
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
            "li" | "option" => self.item(),
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
            "sup" if touches => self.open(name, Kind::Marked(""), "^"),
            "sub" if touches => self.open(name, Kind::Marked(""), "_"),
            "img" if self.find("a").is_some() => self.words(tag.image().trim_matches(['[', ']'])),
            "img" => self.words(&tag.image()),
            "select" => self.open(name, Kind::List(None), ""),
            "input" => self.apart(Gap::Space, tag.tick()),
            _ => self.menu(&tag),
        }
        self.apart(Gap::Space, tag.state());
    }

    fn item(&mut self) {
        let list = self.open.iter_mut().rev().find_map(|open| match &mut open.kind {
            Kind::List(number) => number.as_mut(),
            _ => None,
        });
        let mark = list.map_or("-".to_owned(), |number| {
            *number = number.saturating_add(1);
            format!("{number}.")
        });
        self.open("li", Kind::Item, &(mark + " "));
    }

    /// Opens a cell, with a bar before it unless it is the first of its row.
    fn cell(&mut self, tag: &Tag) {
        if self.find("tr").is_none() {
            self.open("tr", Kind::Row(false), "");
        }
        let row = self.find("tr").map(|at| &mut self.open[at].kind);
        let is_next = row.is_some_and(|kind| matches!(replace(kind, Kind::Row(true)), Kind::Row(true)));
        self.open("td", Kind::Cell, if is_next { "| " } else { "" });
        self.apart(Gap::Space, &tag.span());
    }

    /// Opens a part that may be a menu, or an element of the same name inside one.
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
            "script" if is_data(&tag, &text) => self.data.push(text),
            "script" | "style" => self.hidden += text.len(),
            _ => self.read_inner(&text),
        }
    }

    /// Closes the elements from index `at` on, if there is one. `is_ended` is true if the element at `at` has an end
    /// tag of its own.
    fn close_from(&mut self, at: Option<usize>, is_ended: bool) {
        while let Some(at) = at.filter(|at| *at < self.open.len()) {
            self.close(is_ended && at + 1 == self.open.len());
        }
    }

    fn close(&mut self, is_ended: bool) {
        let Some(Open { name, kind, mark, start }) = self.open.pop() else { return };
        // A mark without words after it is dropped. An empty cell keeps its bar, so that the other cells stay in their
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
            // The gap after the last words inside is not repeated after the element.
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
                    // Links that were shown only in this menu are no longer shown.
                    self.shown.truncate(before.shown);
                    self.text.truncate(start);
                    self.text.push_str(&folded(what, line, self.line, links));
                }
            }
            _ => {}
        }
        self.gap(gap_of(&name));
    }

    /// Returns `[words](target)`, or only the words if they equal the target or the same link was shown before.
    fn link(&mut self, words: &str, target: &str) -> String {
        let words = if words.is_empty() { target } else { words };
        let bare = target.trim_start_matches("mailto:").trim_end_matches('/');
        let link = if words.contains('\n') { format!("{words} ({target})") } else { format!("[{words}]({target})") };
        let is_said = words.trim_matches('`').trim_end_matches('/') == bare || !self.shown.insert(link.clone());
        if is_said { words.to_owned() } else { link }
    }
}

/// Returns true if a script holds data and no code.
fn is_data(script: &Tag, text: &str) -> bool {
    script.get("type").is_some_and(|kind| kind.contains("json")) || ASSIGNED.is_match(text)
}

/// Returns the note that replaces a menu: `[… 8 lines 12-19: navigation, 5 links]`.
fn folded(what: &str, line: usize, last: usize, links: usize) -> String {
    if last <= line {
        return elided(links, &format!("links: {what}"), None);
    }
    let lines = elided(last - line + 1, "lines", Some((line, last)));
    format!("{}: {what}, {links} links]", lines.trim_end_matches(']'))
}
