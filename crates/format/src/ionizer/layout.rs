//! The white space of a JSON text: a rule that predicts the space before each token, and exceptions.
//!
//! A container either stays on one line or has each element on a line of its own. By the rule, it does as the last
//! container of its depth and kind did, with the same space. So a text without a regular layout needs many exceptions,
//! and every text has a setting.

use std::borrow::Cow;

use serde_json::Value;

use super::tree::{Id, Node, Tree};

/// The layout of containers and colons before the first exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// No space at all.
    Minified,
    /// A blank after each comma and colon.
    Spaced,
    /// Each element on its own line, with this indentation for each level: one to eight blanks, or a tab. Containers on
    /// one line are spaced.
    Indent(String),
}

/// Everything that restores the white space of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The layout before the first exception.
    pub start: Start,
    /// True if line ends are `\r\n`.
    pub crlf: bool,
    /// True if several values, each on its own line, are stored as one array.
    pub lines: bool,
    /// True if the last line of the body is the rest of a text that was cut off.
    pub tail: bool,
    /// The number of last tokens, all closing brackets, that the text lacks.
    pub missing: usize,
    /// The exceptions to the rule: the number of tokens since the previous one, and the space there. `None` is the
    /// space of a container of the other form.
    pub except: Vec<(usize, Option<String>)>,
}

impl Setting {
    /// Returns a setting without flags and exceptions.
    pub fn new(start: Start) -> Self {
        Self { start, crlf: false, lines: false, tail: false, missing: 0, except: Vec::new() }
    }

    /// Returns the setting in words: `indent=2`, `spaced lines`, `minified except=[3,"\n",7]`.
    pub fn to_words(&self) -> String {
        let mut words = match &self.start {
            Start::Minified => "minified".to_owned(),
            Start::Spaced => "spaced".to_owned(),
            Start::Indent(unit) if unit == "\t" => "indent=tab".to_owned(),
            Start::Indent(unit) => format!("indent={}", unit.len()),
        };
        for (word, applies) in [(" crlf", self.crlf), (" lines", self.lines), (" tail", self.tail)] {
            words += if applies { word } else { "" };
        }
        if self.missing > 0 {
            words += &format!(" cut={}", self.missing);
        }
        if !self.except.is_empty() {
            let space = |space: &Option<String>| space.clone().map(Value::from);
            let entry = |(since, text): &(usize, Option<String>)| [Some(Value::from(*since)), space(text)];
            words += &format!(" except={}", Value::from_iter(self.except.iter().flat_map(entry).flatten()));
        }
        words
    }

    /// Reads the output of [`Self::to_words`] back; returns the setting and the text after it.
    pub fn parse(text: &str) -> Option<(Self, &str)> {
        let length = text.find([' ', ';']).unwrap_or(text.len());
        let mut rest = &text[length..];
        let mut setting = Self::new(match &text[..length] {
            "minified" => Start::Minified,
            "spaced" => Start::Spaced,
            "indent=tab" => Start::Indent("\t".to_owned()),
            word => Start::Indent(" ".repeat(word.strip_prefix("indent=")?.parse().ok().filter(is_width)?)),
        });
        let mut flag = |word: &str| rest.strip_prefix(word).map(|after| rest = after).is_some();
        setting.crlf = flag(" crlf");
        setting.lines = flag(" lines");
        setting.tail = flag(" tail");
        if let Some(after) = rest.strip_prefix(" cut=") {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            setting.missing = after[..digits].parse().ok()?;
            rest = &after[digits..];
        }
        if let Some(after) = rest.strip_prefix(" except=") {
            let mut stream = serde_json::Deserializer::from_str(after).into_iter::<Vec<Value>>();
            for value in stream.next()?.ok()? {
                match value {
                    Value::String(space) => setting.except.last_mut()?.1 = Some(space),
                    number => setting.except.push((usize::try_from(number.as_u64()?).ok()?, None)),
                }
            }
            rest = &after[stream.byte_offset()..];
        }
        Some((setting, rest))
    }

    /// Prints one value of a tree; `None` if that takes more than `most_bytes`.
    pub fn print_from(&self, tree: &Tree<'_>, root: Id, most_bytes: usize) -> Option<String> {
        let mut printer =
            Printer { out: String::new(), most_bytes, except: &self.except, since: 0, starts: Vec::new() };
        walk(self, tree, root, &mut printer);
        let Printer { mut out, starts, .. } = printer;
        if out.len() > most_bytes {
            return None;
        }
        if self.missing > 0 {
            out.truncate(*starts.get(starts.len().checked_sub(self.missing)?)?);
        }
        Some(out)
    }
}

/// Returns true for a width in blanks that has a word.
pub fn is_width(width: &usize) -> bool {
    (1..=8).contains(width)
}

/// Prints tokens with their space.
struct Printer<'s> {
    out: String,
    most_bytes: usize,
    except: &'s [(usize, Option<String>)],
    since: usize,
    /// The position of each token with its space.
    starts: Vec<usize>,
}

impl<'s> Visitor<'s> for Printer<'s> {
    fn token(&mut self, rule: &Rule<'s>, slot: &Slot, parts: &[&str]) -> Option<Exception<'s>> {
        if self.out.len() > self.most_bytes {
            return None;
        }
        if rule.setting.missing > 0 {
            self.starts.push(self.out.len());
        }
        let exception = match self.except.split_first() {
            Some(((since, space), rest)) if *since == self.since => {
                (self.except, self.since) = (rest, 0);
                Some(space.as_ref().map_or(Exception::OtherForm, |space| Exception::Space(space)))
            }
            _ => {
                self.since += 1;
                None
            }
        };
        self.out.push_str(match exception {
            None => rule.space(slot),
            Some(Exception::OtherForm) => rule.space(&slot.in_other_form()),
            Some(Exception::Space(space)) => space,
        });
        self.out.extend(parts.iter().copied());
        exception
    }
}

/// The position of a token in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The first element.
    First,
    /// Another element.
    Next,
    /// The closing bracket.
    Close,
    /// A colon.
    Colon,
    /// The value after a colon.
    Value,
    /// The line end between two values.
    LineEnd,
    /// A place without space: the start of a text, a comma, or the end of an empty container.
    Tight,
}

/// The place of a token, with everything that its space depends on.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Its position in the container.
    pub place: Place,
    /// The number of containers around the container.
    pub depth: usize,
    /// 0 for objects, 1 for arrays that begin with a container, 2 for other arrays.
    kind: usize,
    /// True if the container stays on one line.
    on_line: bool,
    /// True if a container around it stays on one line.
    is_inside: bool,
}

impl Slot {
    /// Returns the slot in a container of the other form.
    #[must_use]
    pub fn in_other_form(self) -> Self {
        Self { on_line: !self.on_line, ..self }
    }
}

/// A difference from the rule.
#[derive(Clone, Copy)]
pub enum Exception<'s> {
    /// The container is of the other form.
    OtherForm,
    /// The space is this text.
    Space(&'s str),
}

/// Receives the tokens of a text in order.
pub trait Visitor<'s> {
    /// Receives a token. Returns the exception before it, if there is one; later predictions follow it.
    fn token(&mut self, rule: &Rule<'s>, slot: &Slot, parts: &[&str]) -> Option<Exception<'s>>;
}

/// The space in a container: before the first element, before each other one, before the closing bracket.
type Spaces<'s> = [Cow<'s, str>; 3];

/// The state of the rule: the last space of each place.
pub struct Rule<'s> {
    setting: &'s Setting,
    colon: [&'s str; 2],
    /// The space in containers on one line, by kind.
    on_line: [Spaces<'s>; 3],
    /// For each depth and kind: true if the last container stayed on one line, and the space in those that did not.
    levels: Vec<[(bool, Spaces<'s>); 3]>,
}

impl<'s> Rule<'s> {
    fn new(setting: &'s Setting) -> Self {
        let blank = if setting.start == Start::Minified { "" } else { " " };
        let on_line = ["", blank, ""].map(Cow::Borrowed);
        let on_line = std::array::from_fn(|_| on_line.clone());
        Self { setting, colon: ["", blank], on_line, levels: Vec::new() }
    }

    /// Returns the space that the rule predicts.
    pub fn space(&self, slot: &Slot) -> &str {
        let spaces = if slot.on_line { &self.on_line[slot.kind] } else { &self.levels[slot.depth][slot.kind].1 };
        match slot.place {
            Place::First => &spaces[0],
            Place::Next => &spaces[1],
            Place::Close => &spaces[2],
            Place::Colon => self.colon[0],
            Place::Value => self.colon[1],
            Place::LineEnd if self.setting.crlf => "\r",
            Place::LineEnd | Place::Tight => "",
        }
    }

    /// Returns the level of a container.
    fn level(&mut self, depth: usize, kind: usize) -> &mut (bool, Spaces<'s>) {
        let (unit, on_line) = match &self.setting.start {
            Start::Minified | Start::Spaced => ("", true),
            Start::Indent(unit) => (unit.as_str(), false),
        };
        let line = |depth| (if self.setting.crlf { "\r\n" } else { "\n" }).to_owned() + &unit.repeat(depth);
        for own in self.levels.len()..=depth {
            let level = (on_line, [line(own + 1), line(own + 1), line(own)].map(Cow::Owned));
            self.levels.push(std::array::from_fn(|_| level.clone()));
        }
        &mut self.levels[depth][kind]
    }

    /// Makes an exception the rule from here on.
    fn learn(&mut self, slot: &mut Slot, exception: Exception<'s>) {
        let space = match exception {
            Exception::OtherForm => None,
            Exception::Space(text) => Some(text),
        };
        if slot.place == Place::First {
            slot.on_line = space.map_or(!slot.on_line, |space| !space.contains('\n'));
            // A container inside one on one line says nothing about others.
            if !slot.is_inside {
                self.level(slot.depth, slot.kind).0 = slot.on_line;
            }
        }
        let Some(space) = space else { return };
        let on_line = slot.on_line;
        let own = if on_line { &mut self.on_line[slot.kind] } else { &mut self.level(slot.depth, slot.kind).1 };
        match slot.place {
            // Elements on their own lines have one indentation.
            Place::First if !on_line => own[..2].fill(space.into()),
            Place::First => own[0] = space.into(),
            Place::Next => own[1] = space.into(),
            Place::Close => own[2] = space.into(),
            Place::Colon => self.colon[0] = space,
            Place::Value => self.colon[1] = space,
            Place::LineEnd | Place::Tight => {}
        }
    }
}

/// Passes every token, in order and with its place, to a visitor.
pub fn walk<'s>(setting: &'s Setting, tree: &Tree<'_>, root: Id, visitor: &mut impl Visitor<'s>) {
    let mut walk = Walk { tree, rule: Rule::new(setting), visitor };
    walk.rule.level(0, 0);
    let mut start = Slot { place: Place::Tight, depth: 0, kind: 0, on_line: false, is_inside: false };
    match &tree.nodes[root] {
        Node::Array(items) if setting.lines => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    walk.token(&mut Slot { place: Place::LineEnd, ..start }, &["\n"]);
                }
                walk.value(*item, 0, &mut start);
            }
        }
        _ => walk.value(root, 0, &mut start),
    }
}

struct Walk<'t, 's, 'a, V> {
    tree: &'t Tree<'a>,
    rule: Rule<'s>,
    visitor: &'t mut V,
}

impl<'s, V: Visitor<'s>> Walk<'_, 's, '_, V> {
    fn token(&mut self, slot: &mut Slot, parts: &[&str]) {
        if let Some(exception) = self.visitor.token(&self.rule, slot, parts) {
            self.rule.learn(slot, exception);
        }
    }

    /// Passes the tokens of a value on. `slot` is the place of the first one.
    fn value(&mut self, id: Id, depth: usize, slot: &mut Slot) {
        let tree = self.tree;
        let (length, brackets) = match &tree.nodes[id] {
            Node::Scalar { quoted: true, text } => return self.token(slot, &["\"", text, "\""]),
            Node::Scalar { text, .. } => return self.token(slot, &[text]),
            Node::Array(items) => (items.len(), ["[", "]"]),
            Node::Object(items) => (items.len(), ["{", "}"]),
        };
        self.token(slot, &brackets[..1]);
        let (kind, is_inside) = (kind(tree, id), slot.on_line || slot.is_inside);
        let on_line = self.rule.level(depth, kind).0 || is_inside;
        let mut own = Slot { place: Place::First, depth, kind, on_line, is_inside };
        match &tree.nodes[id] {
            Node::Array(items) => {
                for item in items {
                    self.comma(own);
                    self.value(*item, depth + 1, &mut own);
                    own.place = Place::Next;
                }
            }
            Node::Object(items) => {
                for (key, value) in items {
                    self.comma(own);
                    self.token(&mut own, &["\"", key, "\""]);
                    self.token(&mut Slot { place: Place::Colon, ..own }, &[":"]);
                    self.value(*value, depth + 1, &mut Slot { place: Place::Value, ..own });
                    own.place = Place::Next;
                }
            }
            Node::Scalar { .. } => {}
        }
        own.place = if length == 0 { Place::Tight } else { Place::Close };
        self.token(&mut own, &brackets[1..]);
    }

    /// Passes on the comma before every element but the first in its container.
    fn comma(&mut self, before: Slot) {
        if before.place == Place::Next {
            self.token(&mut Slot { place: Place::Tight, ..before }, &[","]);
        }
    }
}

fn kind(tree: &Tree<'_>, id: Id) -> usize {
    match &tree.nodes[id] {
        Node::Object(_) => 0,
        Node::Array(items) => match items.first().map(|first| &tree.nodes[*first]) {
            Some(Node::Array(_) | Node::Object(_)) => 1,
            _ => 2,
        },
        Node::Scalar { .. } => 2,
    }
}
