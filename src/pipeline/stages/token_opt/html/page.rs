//! The tags and words of a page, one by one -> its text.
//!
//! No tree is built: an element that is written in its own way is a [`Frame`], whose text goes into the frame around it
//! at its end. Other tags only set words apart. A menu that never ends may be the whole page, so it is never folded.

use std::convert::Infallible;
use std::mem::take;
use std::sync::LazyLock;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use indexmap::IndexSet;
use regex::Regex;

use super::follow;
use super::frame::{Frame, Gap, Kind, Menu};
use super::tag::Tag;
use crate::content::markup_block::Fence;
use crate::pipeline::elided;
use crate::pipeline::line_counter::LineCounter;

/// A menu with fewer links stays as it is: its note would be hardly shorter.
const MENU_MIN_LINKS: usize = 4;

/// The share of a menu's words that are inside links, in percent.
const MENU_LINKED: usize = 60;

/// Bytes of data with an error that stay. Longer ones become a note.
const ERROR_MAX: usize = 4096;

/// Elements that are open at once. The text of each is copied at its end, so this bounds the work.
const DEPTH_MAX: usize = 64;

/// Deeper lists are indented no further: it would cost the square of their depth.
const INDENT_MAX: usize = 6;

/// An error among data, with something in it.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:err|errors?|exception|stack)"\s*:\s*(?:[{\[]\s*["{]|"[^"])"#).expect("the pattern is valid")
});

/// A page as far as it is read.
struct Page<'a> {
    /// The open elements; the first is the page itself.
    frames: Vec<Frame>,
    tag: Tag,
    /// The element whose text the tokenizer does not look into, and that text.
    raw: Option<(Tag, String)>,
    /// Links that were shown with their targets, which need not be shown again.
    shown: IndexSet<String>,
    /// Bytes of scripts, styles and comments.
    hidden: usize,
    has_title: bool,
    /// Whether this is a text inside the page: its places are not the page's.
    is_inner: bool,
    lines: LineCounter<'a>,
}

/// Returns the text of a page that begins at this line.
pub(super) fn render(source: &str, first_line: usize) -> String {
    let mut page = Page {
        frames: vec![Frame::default()],
        tag: Tag::default(),
        raw: None,
        shown: IndexSet::new(),
        hidden: 0,
        has_title: false,
        is_inner: false,
        lines: LineCounter::new(source, first_line),
    };
    page.read(source);
    page.finish()
}

impl Callback<Infallible, usize> for &mut Page<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag = Tag::new(name, span.start),
            CallbackEvent::AttributeName { name } => self.tag.name(name),
            CallbackEvent::AttributeValue { value } => self.tag.value(value),
            CallbackEvent::CloseStartTag { .. } => self.start(),
            CallbackEvent::EndTag { name } => self.end(&String::from_utf8_lossy(name), span.end),
            CallbackEvent::String { value } => {
                let text = String::from_utf8_lossy(value);
                if let Some((_, raw)) = &mut self.raw {
                    raw.push_str(&text);
                } else {
                    self.top().add(&text);
                }
            }
            CallbackEvent::Comment { value } => self.hidden += value.len(),
            CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
    }
}

/// The name under which an element is open: elements with one name end each other.
fn opened(name: &str) -> &str {
    match name {
        "option" => "li",
        "th" => "td",
        "dt" => "dd",
        "listing" => "pre",
        "kbd" | "samp" | "tt" => "code",
        "s" | "strike" => "del",
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "h",
        _ => name,
    }
}

/// The gap around a block that is written like plain words.
fn gap_of(name: &str) -> Gap {
    match name {
        "p" => Gap::Paragraph,
        "br" | "hr" | "html" | "body" | "head" | "tbody" | "thead" | "tfoot" | "caption" | "figcaption" | "summary"
        | "legend" | "optgroup" | "div" | "section" | "article" | "main" | "header" | "form" | "fieldset"
        | "details" | "figure" | "center" | "address" | "dialog" | "search" | "nav" | "footer" | "aside" | "dt" => {
            Gap::Line
        }
        "button" | "label" | "svg" | "text" | "desc" | "rt" | "output" | "math" | "td" | "th" => Gap::Space,
        _ if name.contains('-') => Gap::Space,
        _ => Gap::None,
    }
}

impl Page<'_> {
    fn read(&mut self, source: &str) {
        let mut emitter = CallbackEmitter::new(self);
        emitter.naively_switch_states(true);
        // The emitter hands everything to the page and yields nothing.
        let yielded = Tokenizer::new_with_emitter(source, emitter).count();
        debug_assert_eq!(yielded, 0);
    }

    /// Reads a text inside the page that the tokenizer took for one piece.
    fn read_inner(&mut self, source: &str) {
        if self.is_inner {
            return self.top().words(source);
        }
        self.is_inner = true;
        self.read(source);
        self.is_inner = false;
    }

    fn finish(mut self) -> String {
        match self.raw.take() {
            Some((tag, text)) if matches!(tag.element(), "script" | "style") => {
                let note = elided(text.len(), &format!("bytes of a {} without end", tag.element()), None);
                self.top().apart(Gap::Line, &note);
            }
            // All that follows was taken for its text.
            Some((_, text)) => self.read_inner(&text),
            None => {}
        }
        while self.frames.len() > 1 {
            self.close(None);
        }
        let mut page = self.frames.swap_remove(0);
        if !page.text.is_empty() && self.hidden > 0 {
            page.apart(Gap::Line, &elided(self.hidden, "bytes of scripts, styles and comments", None));
        }
        page.text
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the page itself is never closed")
    }

    /// The line of a place; inside a text of the page, the last one that is known.
    fn line(&mut self, at: usize) -> usize {
        self.lines.line(if self.is_inner { 0 } else { at })
    }

    /// The innermost open element of this name. None is looked for outside a table, nor an item outside its list.
    fn find(&self, name: &str) -> Option<usize> {
        let is_item = matches!(name, "li" | "dd");
        let at = self.frames.iter().rposition(|frame| {
            frame.name == name || matches!(frame.kind, Kind::Table) || is_item && matches!(frame.kind, Kind::List(_))
        })?;
        (self.frames[at].name == name).then_some(at)
    }

    fn open(&mut self, name: &str, kind: Kind) {
        if self.frames.len() < DEPTH_MAX {
            self.frames.push(Frame { name: opened(name).to_owned(), kind, ..Frame::default() });
        }
    }

    /// Ends the elements from this one on, if there is one; `end` is where its end tag ends.
    fn close_from(&mut self, at: Option<usize>, end: Option<usize>) {
        while at.is_some_and(|at| self.frames.len() > at + 1) {
            self.close(None);
        }
        if at.is_some() {
            self.close(end);
        }
    }

    fn start(&mut self) {
        let tag = take(&mut self.tag);
        let name = tag.element();
        if self.raw.is_some() {
            return;
        }
        if matches!(name, "script" | "style" | "title" | "noscript" | "iframe" | "noembed" | "noframe" | "xmp") {
            if let Some(media) = tag.media() {
                self.top().apart(Gap::Space, &media);
            }
            self.raw = Some((tag, String::new()));
            return;
        }
        if matches!(self.top().kind, Kind::Pre) {
            if name == "br" {
                self.top().push("\n");
            }
            return;
        }
        if matches!(opened(name), "li" | "dd" | "td" | "tr" | "h" | "a") {
            self.close_from(self.find(opened(name)), None);
        }
        let gap = gap_of(name);
        self.top().gap(gap);
        match name {
            "base" => self.top().apart(Gap::Line, &tag.get("href").map_or(String::new(), |to| format!("base: {to}"))),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.open(name, Kind::Item(format!("{} ", "#".repeat(level))));
            }
            "li" | "option" => self.item(&tag),
            "dd" => self.open(name, Kind::Item(": ".to_owned())),
            "blockquote" => self.open(name, Kind::Item("> ".to_owned())),
            "ol" => self.open(name, Kind::List(Some(tag.number("start").unwrap_or(1).saturating_sub(1)))),
            "select" => {
                self.top().apart(Gap::Space, &tag.field());
                self.open(name, Kind::List(None));
            }
            "ul" | "menu" | "dl" => self.open(name, Kind::List(None)),
            "table" => self.open(name, Kind::Table),
            "tr" if self.find("table").is_some() => {
                self.top().gap(Gap::Line);
                self.top().apart(Gap::Line, tag.state());
                return self.open(name, Kind::Row(Vec::new()));
            }
            "td" | "th" if self.find("table").is_some() => {
                if self.find("tr").is_none() {
                    self.open("tr", Kind::Row(Vec::new()));
                }
                self.open(name, Kind::Cell);
                self.top().apart(Gap::Space, &tag.span());
            }
            "pre" | "listing" => self.open(name, Kind::Pre),
            "a" => {
                self.open(name, Kind::Link(tag.url("href").map(str::to_owned), tag.label().to_owned()));
                self.top().links += usize::from(tag.get("href").is_some());
            }
            "area" => {
                let link = link(tag.label(), tag.url("href"), &mut self.shown);
                self.top().links += 1;
                self.top().apart(Gap::Space, &link);
            }
            "q" => self.top().piece("\""),
            "code" | "kbd" | "samp" | "tt" | "del" | "s" | "strike" | "sup" | "sub" => self.open(name, Kind::Mark),
            "img" if self.find("a").is_some() => self.top().words(tag.image().trim_matches(['[', ']'])),
            "img" => self.top().words(&tag.image()),
            "input" | "textarea" => self.top().apart(Gap::Space, &tag.field()),
            "optgroup" => self.top().words(tag.get("label").unwrap_or_default()),
            _ => {
                if let Some(media) = tag.media() {
                    self.top().apart(Gap::Space, &media);
                }
                self.menu(&tag);
            }
        }
        self.top().apart(Gap::Space, tag.state());
    }

    fn item(&mut self, tag: &Tag) {
        let list = self.frames.iter_mut().rev().find_map(|frame| match &mut frame.kind {
            Kind::List(number) => Some(number),
            _ => None,
        });
        let mark = match list {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        };
        let chosen = if tag.get("selected").is_some() { "(selected) " } else { "" };
        self.open("li", Kind::Item(mark + chosen));
    }

    /// Opens a part that may be a menu.
    fn menu(&mut self, tag: &Tag) {
        let name = tag.element();
        let what = match (tag.get("role").unwrap_or_default(), name) {
            _ if gap_of(name) != Gap::Line => return,
            ("navigation", _) | (_, "nav") => "navigation",
            ("contentinfo", _) | (_, "footer") => "footer",
            (_, "aside") => "aside",
            _ => {
                let open = self.find(name).map(|at| &mut self.frames[at].kind);
                if let Some(Kind::Menu(menu)) = open {
                    menu.nested += 1;
                }
                return;
            }
        };
        let (line, shown) = (self.line(tag.at()), self.shown.len());
        self.open(name, Kind::Menu(Menu { what, line, nested: 0, shown }));
    }

    fn end(&mut self, name: &str, at: usize) {
        if self.raw.as_ref().is_some_and(|(tag, _)| tag.element() == name) {
            return self.end_raw();
        }
        let is_plain = || matches!(opened(name), "a" | "code" | "del" | "sup" | "sub");
        if matches!(self.top().kind, Kind::Pre) && is_plain() {
            return;
        }
        match self.find(opened(name)) {
            _ if name == "dt" => {}
            Some(found) => match &mut self.frames[found].kind {
                Kind::Menu(menu) if menu.nested > 0 => menu.nested -= 1,
                _ => self.close_from(Some(found), Some(at)),
            },
            None if name == "q" => self.top().piece("\""),
            None => {}
        }
        self.top().gap(gap_of(name));
    }

    fn end_raw(&mut self) {
        let Some((tag, text)) = self.raw.take() else { return };
        let is_data = tag.get("type").is_some_and(|kind| kind.contains("json"));
        match tag.element() {
            "title" if !self.has_title && !text.trim().is_empty() => {
                self.has_title = true;
                self.top().gap(Gap::Line);
                self.top().words(&format!("title: {text}"));
                self.top().gap(Gap::Line);
            }
            "title" => {
                self.top().gap(Gap::Space);
                self.top().words(&text);
                self.top().gap(Gap::Space);
            }
            "xmp" => self.top().verbatim(&text),
            "script" if is_data && ERROR.is_match(&text) && text.len() <= ERROR_MAX => self.top().verbatim(&text),
            "script" if is_data => {
                let has_error = if ERROR.is_match(&text) { " with an error" } else { "" };
                let note = elided(text.len(), &format!("bytes of data in a script{has_error}"), None);
                self.top().apart(Gap::Line, &note);
            }
            "script" | "style" => self.hidden += text.len(),
            _ => self.read_inner(&text),
        }
    }

    /// Ends the innermost element and writes it into the one around it.
    fn close(&mut self, end: Option<usize>) {
        let Some(mut frame) = self.frames.pop().filter(|_| !self.frames.is_empty()) else { return };
        let is_list = |frame: &&Frame| matches!(frame.kind, Kind::List(_));
        let lists = self.frames.iter().filter(is_list).count();
        let text = take(&mut frame.text);
        let last_line = end.map_or(0, |at| self.line(at));
        let shown = &mut self.shown;
        let parent = self.frames.last_mut().expect("the page itself is never closed");
        parent.words += frame.words;
        parent.links += frame.links;
        parent.linked += if matches!(frame.kind, Kind::Link(..)) { frame.words } else { frame.linked };
        parent.is_tall |= frame.is_tall;
        match frame.kind {
            Kind::Link(target, label) => {
                let words = if text.is_empty() { label } else { text };
                let told = link(&words, target.as_deref(), shown);
                if told.is_empty() {
                    return parent.gap(frame.before.max(frame.gap).min(Gap::Space));
                }
                parent.gap(frame.before);
                parent.piece(&told);
                parent.gap(frame.gap);
            }
            Kind::Row(cells) => {
                parent.apart(Gap::Line, &text);
                parent.apart(Gap::Line, &row(&cells, frame.is_tall));
            }
            Kind::Cell => match &mut parent.kind {
                Kind::Row(cells) if frame.is_tall => cells.push(text),
                Kind::Row(cells) => {
                    let words: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
                    cells.push(words.join(" ").replace('|', "\\|"));
                }
                _ => parent.apart(Gap::Line, &text),
            },
            Kind::Pre => parent.verbatim(&text),
            _ if text.is_empty() => parent.gap(frame.gap),
            Kind::Mark => {
                parent.gap(frame.before);
                let touches = parent.gap == Gap::None && !parent.text.is_empty();
                parent.piece(&marked(&frame.name, text, touches));
                parent.gap(frame.gap);
            }
            Kind::Item(mark) if frame.name == "li" => parent.apart(Gap::Line, &item(&mark, &text, lists)),
            Kind::Item(mark) => {
                let gap = if frame.name == "dd" { Gap::Line } else { Gap::Paragraph };
                parent.apart(gap, &(mark + &text));
            }
            Kind::Menu(menu)
                if end.is_some()
                    && frame.links >= MENU_MIN_LINKS
                    && frame.linked * 100 >= frame.words * MENU_LINKED =>
            {
                // What was shown only here is not shown at all.
                shown.truncate(menu.shown);
                parent.apart(Gap::Line, &folded(&menu, last_line, frame.links));
            }
            Kind::Table => {
                parent.apart(Gap::Line, &text);
                parent.is_tall = true;
            }
            _ => parent.apart(Gap::Line, &text),
        }
    }
}

/// `[words](target)`, or only the words if the target is said already.
fn link(words: &str, target: Option<&str>, shown: &mut IndexSet<String>) -> String {
    let Some(target) = target else {
        // `¶` and the like are handles for the mouse.
        return if words.contains(char::is_alphanumeric) { words.to_owned() } else { String::new() };
    };
    let words = if words.is_empty() { target } else { words };
    let bare = target.trim_start_matches("mailto:").trim_end_matches('/');
    let link = if words.contains('\n') { format!("{words} ({target})") } else { format!("[{words}]({target})") };
    let is_said = words.trim_matches('`').trim_end_matches('/') == bare || !shown.insert(link.clone());
    if is_said { words.to_owned() } else { link }
}

/// A run of words with its marks; a power needs something that it is a power of.
fn marked(name: &str, text: String, touches: bool) -> String {
    match name {
        "sup" if touches => format!("^{text}"),
        "sub" if touches => format!("_{text}"),
        "del" => format!("~~{text}~~"),
        // Code over several lines has no marks that Markdown knows.
        "code" if text.contains('\n') => text,
        "code" if text.contains('`') => format!("`` {text} ``"),
        "code" => format!("`{text}`"),
        _ => text,
    }
}

/// An item of a list, its further lines below its first words. Code is not indented, and needs no mark before it.
fn item(mark: &str, text: &str, lists: usize) -> String {
    let mut out = if Fence::parse(text.lines().next().unwrap_or_default()).is_some() { "" } else { mark }.to_owned();
    let mut fence = None;
    for (index, line) in text.split('\n').enumerate() {
        let is_code = fence.is_some() || Fence::parse(line).is_some();
        if index > 0 {
            out.push_str(if is_code || line.is_empty() || lists > INDENT_MAX { "\n" } else { "\n  " });
        }
        follow(&mut fence, line);
        out.push_str(line);
    }
    out
}

/// The cells of a row. Empty ones at its end tell nothing.
fn row(cells: &[String], is_tall: bool) -> String {
    let filled = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    if is_tall {
        let cells: Vec<&str> = cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        return cells.join("\n");
    }
    let mut out = String::new();
    for (index, cell) in cells[..filled].iter().enumerate() {
        out.push_str(match (index, cell.is_empty()) {
            (0, _) => "",
            (_, true) => " |",
            (_, false) => " | ",
        });
        out.push_str(cell);
    }
    out.trim_start().to_owned()
}

/// The note that stands for a menu: `[… 8 lines 12-19: navigation, 5 links]`.
fn folded(menu: &Menu, last: usize, links: usize) -> String {
    let Menu { what, line, .. } = menu;
    if last <= *line {
        return elided(links, &format!("links: {what}"), None);
    }
    let lines = elided(last - line + 1, "lines", Some((*line, last)));
    format!("{}: {what}, {links} links]", lines.trim_end_matches(']'))
}
