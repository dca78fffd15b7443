//! Tags and words of a page, one by one -> the [`Flow`] of its text.
//!
//! Tags that are unknown, or that only style or group, leave nothing. Menus are written first and folded at their end, when it
//! is known what they held: one that never ends is never folded.

use std::sync::LazyLock;

use html5gum::Span;
use html5gum::Tokenizer;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use regex::Regex;

use super::attributes::Attributes;
use super::flow::{Flow, Gap, Mark};
use super::scopes::{Menu, Scope, Scopes};
use super::table::{Column, Table};
use crate::pipeline::counter::LineCounter;
use crate::pipeline::elided;

/// A menu with fewer links stays as it is.
const MENU_MIN_LINKS: usize = 4;

/// A page has room for so many notes of menus; whoever has more of them is no page.
const MENUS_MAX: usize = 100;

/// Longer data that hold an error become a note.
const ERROR_MAX_BYTES: usize = 4096;

/// A page whose programs are so many times as long as its words is a program.
const PROGRAM: usize = 20;

/// An error among data, with something in it.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:err|errors?|exception|stack)"\s*:\s*(?:[{\[]\s*["{]|"[^"])"#).expect("the pattern is valid")
});

/// What a page's tags have made so far.
pub(super) struct Page<'a> {
    flow: Flow,
    scopes: Scopes,
    tag: Attributes,
    /// The element whose text comes as it stands, and that text.
    raw: Option<(String, String)>,
    /// Whether that element holds data, and no program.
    is_data: bool,
    /// Bytes of programs that the page leaves out.
    programs: usize,
    /// The text of a `pre`.
    pre: Option<String>,
    /// How many links began.
    links: usize,
    /// How many menus were folded.
    menus: usize,
    /// How many more cells may be written that the source only spans: not more than it has bytes.
    spanned_cells: usize,
    has_title: bool,
    /// Whether this is a text inside the page: its places are not the page's.
    is_inner: bool,
    lines: LineCounter<'a>,
}

/// Reads a page that begins at this line; returns its text.
pub(super) fn render(source: &str, first_line: usize) -> String {
    let mut page = Page {
        flow: Flow::new(),
        scopes: Scopes::new(),
        tag: Attributes::default(),
        raw: None,
        is_data: false,
        programs: 0,
        pre: None,
        links: 0,
        menus: 0,
        spanned_cells: source.len(),
        has_title: false,
        is_inner: false,
        lines: LineCounter::new(source, first_line),
    };
    page.read(source);
    page.finish();
    page.flow.finish()
}

impl Callback<std::convert::Infallible, usize> for &mut Page<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<std::convert::Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag.start(name, span.start),
            CallbackEvent::AttributeName { name } => self.tag.name(name),
            CallbackEvent::AttributeValue { value } => self.tag.value(value),
            CallbackEvent::CloseStartTag { .. } => {
                let tag = std::mem::take(&mut self.tag);
                self.start(&tag);
            }
            CallbackEvent::EndTag { name } => self.end(&String::from_utf8_lossy(name), span.end),
            CallbackEvent::String { value } => self.string(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
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
        let is_inner = std::mem::replace(&mut self.is_inner, true);
        if is_inner {
            self.flow.text(source);
        } else {
            self.read(source);
        }
        self.is_inner = is_inner;
    }

    fn finish(&mut self) {
        if let Some((name, text)) = self.raw.take() {
            match name.as_str() {
                "script" | "style" => {
                    let note = elided(text.len(), &format!("bytes of a {name} without end"), None);
                    self.flow.line(&note);
                }
                // Not closed, and all that follows was taken for its text.
                _ => self.read_inner(&text),
            }
        }
        self.close_scopes(0, None);
        // A page that is hardly more than a program shows what that makes of it.
        if self.programs > self.flow.written * PROGRAM {
            self.flow.line(&elided(self.programs, "bytes of scripts", None));
        }
    }

    /// The line of a place; inside a text of the page, the last one that is known.
    fn line(&mut self, at: usize) -> usize {
        self.lines.line(if self.is_inner { 0 } else { at })
    }

    fn string(&mut self, text: &str) {
        match &mut self.raw {
            Some((_, raw)) => raw.push_str(text),
            None => self.words(text),
        }
    }

    fn words(&mut self, text: &str) {
        match &mut self.pre {
            Some(pre) => pre.push_str(text),
            None => self.flow.text(text),
        }
    }

    /// A gap before or after a block; inside a table cell, a blank.
    fn block(&mut self, gap: Gap) {
        let in_cell = self.scopes.table().is_some_and(|table| table.in_cell);
        self.flow.gap(if in_cell { Gap::Space } else { gap });
    }

    fn start(&mut self, tag: &Attributes) {
        let name = tag.element();
        if self.raw.is_some() {
            return;
        }
        if self.pre.is_some() {
            match name {
                "br" => self.words("\n"),
                "script" | "style" => self.start_raw(tag),
                _ if Scopes::knows(name) => self.scopes.push(name, Scope::Plain),
                _ => {}
            }
            return;
        }
        match name {
            "script" | "style" | "title" | "noscript" | "iframe" | "noembed" | "noframe" | "xmp" => {
                self.start_raw(tag);
                if name == "iframe" {
                    self.media(tag, "src");
                }
                return;
            }
            "base" => {
                if let Some(target) = tag.get("href") {
                    self.flow.line(&format!("base: {target}"));
                }
            }
            "p" | "hr" | "figcaption" | "summary" | "legend" | "caption" | "optgroup" => {
                self.block(if name == "p" { Gap::Paragraph } else { Gap::Line });
                self.flow.text(tag.get("label").unwrap_or_default());
            }
            "br" | "html" | "body" | "head" | "tbody" | "thead" | "tfoot" => self.block(Gap::Line),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flow.gap(Gap::Paragraph);
                self.flow.lead(format!("{} ", &"######"[..usize::from(name.as_bytes()[1] - b'0')]));
            }
            "li" | "option" => self.item(tag),
            "dt" => {
                self.flow.lead(String::new());
                self.block(Gap::Line);
            }
            "dd" => {
                self.block(Gap::Line);
                self.flow.lead(": ".to_owned());
            }
            "tr" => {
                self.end_row();
                self.flow.gap(Gap::Line);
                self.state(tag);
                self.row();
                return;
            }
            "td" | "th" => self.cell(tag),
            "pre" | "listing" => {
                self.pre = Some(String::new());
                self.scopes.push(name, Scope::Pre);
            }
            "ul" | "ol" | "menu" => {
                let number = (name == "ol").then(|| tag.number("start").unwrap_or(1).saturating_sub(1));
                self.block(Gap::Line);
                self.scopes.push(name, Scope::List(number));
                self.flow.lists = self.scopes.lists();
            }
            "table" => {
                self.flow.gap(Gap::Line);
                self.scopes.push(name, Scope::Table(Box::default()));
                self.flow.in_cell = false;
            }
            "blockquote" => {
                self.block(Gap::Paragraph);
                self.flow.lead("> ".to_owned());
                self.scopes.push(name, Scope::Marked);
            }
            _ if Scopes::knows(name) => self.container(tag),
            _ => self.inline(tag),
        }
        self.state(tag);
    }

    /// Says of an element that a reader would not see it, or could not use it.
    fn state(&mut self, tag: &Attributes) {
        let is_silent = matches!(tag.element(), "link" | "svg")
            || tag.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
        if !is_silent && !tag.state().is_empty() {
            self.flow.apart(tag.state());
        }
    }

    fn start_raw(&mut self, tag: &Attributes) {
        self.raw = Some((tag.element().to_owned(), String::new()));
        self.is_data = tag.get("type").is_some_and(|kind| kind.contains("json"));
    }

    fn inline(&mut self, tag: &Attributes) {
        match tag.element() {
            "a" => {
                self.flow.close(&Mark::Link(None));
                self.links += usize::from(tag.get("href").is_some());
                self.flow.open(Mark::Link(tag.target()));
            }
            "code" | "kbd" | "samp" | "tt" => self.flow.open(Mark::Code),
            "del" | "s" | "strike" => self.flow.open(Mark::Struck),
            "sup" => self.flow.open(Mark::Raised),
            "sub" => self.flow.open(Mark::Lowered),
            "q" => self.flow.text("\""),
            "img" if self.flow.is_in_link() => self.flow.text(tag.image().trim_matches(['[', ']'])),
            "img" => self.flow.text(&tag.image()),
            "input" => self.flow.apart(&tag.input()),
            "textarea" => self.flow.apart(&tag.field()),
            "video" | "audio" | "embed" | "source" => self.media(tag, "src"),
            "object" => self.media(tag, "data"),
            "area" => {
                self.flow.gap(Gap::Space);
                self.flow.open(Mark::Link(tag.target()));
                self.flow.close(&Mark::Link(None));
            }
            name if sets_apart(name) => self.flow.gap(Gap::Space),
            _ => {}
        }
    }

    /// What is shown from elsewhere.
    fn media(&mut self, tag: &Attributes, source: &str) {
        if let Some(target) = tag.url(source) {
            self.flow.apart(&format!("[{}]({target})", tag.element()));
        }
    }

    /// A part of the page.
    fn container(&mut self, tag: &Attributes) {
        let name = tag.element();
        self.block(Gap::Line);
        if name == "select" {
            self.flow.text(&tag.field());
            self.flow.gap(Gap::Line);
        }
        if matches!(name, "select" | "dl") {
            return self.scopes.push(name, Scope::Marked);
        }
        let kind = match tag.get("role").unwrap_or_default() {
            "navigation" => Some("navigation"),
            "contentinfo" => Some("footer"),
            _ => match name {
                "nav" => Some("navigation"),
                "footer" => Some("footer"),
                "aside" => Some("aside"),
                _ => None,
            },
        };
        let scope = kind.map_or(Scope::Plain, |kind| {
            Scope::Menu(Box::new(Menu {
                kind,
                start: self.flow.place(),
                line: self.line(tag.at()),
                links: self.links,
                written: self.flow.written,
                linked: self.flow.linked,
            }))
        });
        self.scopes.push(name, scope);
    }

    fn item(&mut self, tag: &Attributes) {
        let in_cell = self.scopes.table().is_some_and(|table| table.in_cell);
        self.block(Gap::Line);
        let chosen = if tag.get("selected").is_some() { "(selected) " } else { "" };
        let lead = match self.scopes.next_item() {
            Some(number) => format!("{number}. {chosen}"),
            None => format!("- {chosen}"),
        };
        if in_cell {
            self.flow.text(&lead);
        } else {
            self.flow.lead(lead);
        }
    }

    fn end_row(&mut self) {
        self.flow.in_cell = false;
        if let Some(place) = self.scopes.table().and_then(Table::end_row) {
            self.flow.end_row(&place);
        }
    }

    fn row(&mut self) {
        self.end_row();
        self.flow.gap(Gap::Line);
        let place = self.flow.place();
        if let Some(table) = self.scopes.table() {
            table.start_row(place);
        }
    }

    fn cell(&mut self, tag: &Attributes) {
        if self.scopes.table().is_some_and(|table| table.row().is_none()) {
            self.row();
        }
        let Some(table) = self.scopes.table() else { return self.flow.gap(Gap::Space) };
        let (mut columns, mut is_first) =
            table.next_cell(tag.number("colspan").unwrap_or(1), tag.number("rowspan").unwrap_or(1));
        table.in_cell = true;
        let Some(row) = table.row().cloned() else { return };
        let spanned = columns.len() - 1;
        if spanned > self.spanned_cells {
            columns.drain(..spanned);
        } else {
            self.spanned_cells -= spanned;
        }
        for column in columns {
            self.flow.cell(&row, is_first);
            is_first = false;
            if column == Column::Ditto {
                self.flow.text("\"");
            }
        }
        self.flow.in_cell = true;
    }

    fn end(&mut self, name: &str, at: usize) {
        if self.raw.as_ref().is_some_and(|(open, _)| open == name) {
            self.end_raw();
            return;
        }
        if let Some(rest) = self.scopes.rest_after(name) {
            self.close_scopes(rest, Some(at));
            return;
        }
        if self.pre.is_some() {
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flow.lead(String::new());
                self.flow.gap(Gap::Paragraph);
            }
            "li" | "option" | "dd" => {
                self.flow.lead(String::new());
                self.block(Gap::Line);
            }
            "p" => self.block(Gap::Paragraph),
            "dt" | "br" | "figcaption" | "summary" | "legend" | "caption" | "optgroup" => self.block(Gap::Line),
            "tr" => self.end_row(),
            "td" | "th" => {
                self.flow.in_cell = false;
                if let Some(table) = self.scopes.table() {
                    table.in_cell = false;
                }
            }
            "a" => self.flow.close(&Mark::Link(None)),
            "code" | "kbd" | "samp" | "tt" => self.flow.close(&Mark::Code),
            "del" | "s" | "strike" => self.flow.close(&Mark::Struck),
            "sup" => self.flow.close(&Mark::Raised),
            "sub" => self.flow.close(&Mark::Lowered),
            "q" => self.flow.text("\""),
            _ if sets_apart(name) => self.flow.gap(Gap::Space),
            _ => {}
        }
    }

    fn end_raw(&mut self) {
        let Some((name, text)) = self.raw.take() else { return };
        match name.as_str() {
            "title" if !self.has_title && !text.trim().is_empty() => {
                self.has_title = true;
                self.flow.gap(Gap::Line);
                self.flow.text("title:");
                self.flow.gap(Gap::Space);
                self.flow.text(&text);
                self.flow.gap(Gap::Line);
            }
            "title" => self.flow.apart(&text),
            "xmp" => self.flow.verbatim(&text),
            "script" if self.is_data && ERROR.is_match(&text) => self.error(&text),
            "script" if self.is_data => self.flow.line(&elided(text.len(), "bytes of data in a script", None)),
            "script" => self.programs += text.trim().len(),
            "style" => {}
            _ => self.read_inner(&text),
        }
    }

    /// Data of a page that tell why it failed.
    fn error(&mut self, text: &str) {
        if text.len() <= ERROR_MAX_BYTES && self.pre.is_none() {
            self.flow.verbatim(text);
        } else {
            self.flow.line(&elided(text.len(), "bytes of a script with an error", None));
        }
    }

    /// Ends what is open from `rest` on, by the end tag at `end` or by the end of the page.
    fn close_scopes(&mut self, rest: usize, end: Option<usize>) {
        while self.scopes.len() > rest {
            // A row that is open stands inside what ends.
            if matches!(self.scopes.last(), Some(Scope::Table(_))) {
                self.end_row();
            }
            let Some(scope) = self.scopes.pop() else { break };
            match scope {
                Scope::Plain => self.block(Gap::Line),
                Scope::Marked | Scope::List(_) => {
                    self.flow.lists = self.scopes.lists();
                    self.flow.lead(String::new());
                    self.block(Gap::Line);
                }
                Scope::Table(_) => {
                    self.flow.gap(Gap::Line);
                    self.flow.in_cell = self.scopes.table().is_some_and(|table| table.in_cell);
                }
                Scope::Pre => {
                    if let Some(text) = self.pre.take() {
                        match line_numbers(&text) {
                            Some((first, last)) => self.flow.text(&format!("lines {first}-{last}")),
                            None => self.flow.verbatim(&text),
                        }
                    }
                }
                // A menu without an end of its own may be the whole page.
                Scope::Menu(menu) => match end.filter(|_| self.scopes.len() == rest) {
                    Some(at) => self.end_menu(&menu, at),
                    None => self.block(Gap::Line),
                },
            }
        }
    }

    /// Folds a menu that is little but links.
    fn end_menu(&mut self, menu: &Menu, at: usize) {
        let links = self.links - menu.links;
        let (written, linked) = (self.flow.written - menu.written, self.flow.linked - menu.linked);
        if links >= MENU_MIN_LINKS && self.menus < MENUS_MAX && linked * 10 >= written * 6 {
            let last = self.line(at);
            let what = format!("{}, {links} links", menu.kind);
            let note = if last > menu.line {
                let lines = elided(last - menu.line + 1, "lines", Some((menu.line, last)));
                format!("{}: {what}]", lines.trim_end_matches(']'))
            } else {
                elided(links, &format!("links: {}", menu.kind), None)
            };
            self.menus += 1;
            self.flow.rewind(&menu.start);
            self.flow.line(&note);
        } else {
            self.block(Gap::Line);
        }
    }
}

/// Elements whose words do not run into those beside them.
fn sets_apart(name: &str) -> bool {
    matches!(name, "button" | "label" | "svg" | "text" | "desc" | "rt" | "output" | "math") || name.contains('-')
}

/// The first and last number of a text that is nothing but line numbers.
fn line_numbers(text: &str) -> Option<(usize, usize)> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<usize>().ok());
    let first = numbers.next()??;
    let mut last = first;
    for number in numbers {
        last = number.filter(|&number| Some(number) == last.checked_add(1))?;
    }
    (last > first).then_some((first, last))
}
