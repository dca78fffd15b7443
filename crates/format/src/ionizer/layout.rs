//! The layout of a JSON text: minified, indented, or with a rule per level.
//!
//! A layout predicts the whitespace before every token. Differences are kept as exceptions, so a layout need not be
//! exact, only cheap.

use serde::{Deserialize, Serialize};

use super::tree::{Id, Node, Tree};

/// The whitespace inside containers of one kind at one depth: after the opening bracket, after a comma, before the
/// closing bracket.
pub type Level = [String; 3];

/// A rule for the whitespace between tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// The same whitespace after every comma, none at brackets.
    Flat {
        /// The whitespace after a comma.
        comma: String,
    },
    /// Every element on its own line.
    Indent {
        /// The indentation of one level.
        unit: String,
    },
    /// Some containers are on one line and others are not. Each is like the previous one at its depth, except for
    /// `flips`.
    Mixed {
        /// The indentation of one level.
        unit: String,
        /// True if an object on one line has a space inside its brackets.
        padded: bool,
        /// The exceptions, each as the number of containers decided since the previous one.
        flips: Vec<usize>,
    },
    /// A rule by depth and kind (0 objects, 1 arrays that begin with a container, 2 other arrays).
    Levels {
        /// The whitespace of most of them.
        usual: Level,
        /// Depth, kind and their own whitespace; the deepest depth applies to all deeper ones.
        special: Vec<(usize, usize, Level)>,
    },
}

/// Everything that restores the whitespace of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The rule.
    pub layout: Layout,
    /// The whitespace before and after a colon.
    pub colon: [String; 2],
    /// True if line ends are `\r\n`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crlf: bool,
    /// True if several values, each on its own line, are stored as one array.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lines: bool,
    /// The number of closing brackets that the text lacks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: usize,
    /// True if the last line of the body is the rest of a text that was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tail: bool,
    /// The exceptions to the rule: the number of tokens since the previous one, and the whitespace there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<(usize, String)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Setting {
    /// Returns a setting without flags and exceptions.
    pub fn bare(layout: Layout, colon: [&str; 2]) -> Self {
        Self {
            layout,
            colon: colon.map(str::to_owned),
            crlf: false,
            lines: false,
            missing: 0,
            tail: false,
            except: Vec::new(),
        }
    }

    /// Returns the setting without any whitespace.
    pub fn minified() -> Self {
        Self::bare(Layout::Flat { comma: String::new() }, ["", ""])
    }

    /// Returns the setting in words: `indent=2`, `spaced lines`, or as JSON if it has no name.
    pub fn to_words(&self) -> String {
        let indent = |unit: &str| match unit {
            "\t" => Some("tab".to_owned()),
            _ if (1..=8).contains(&unit.len()) && unit.bytes().all(|byte| byte == b' ') => Some(unit.len().to_string()),
            _ => None,
        };
        let (name, usual) = match &self.layout {
            Layout::Flat { comma } if comma.is_empty() => (Some("minified".to_owned()), ""),
            Layout::Flat { comma } if comma == " " => (Some("spaced".to_owned()), " "),
            Layout::Indent { unit } => (indent(unit).map(|unit| format!("indent={unit}")), " "),
            _ => (None, ""),
        };
        let is_tight = usual == " " && self.colon == ["", ""];
        let Some(mut words) = name.filter(|_| (is_tight || self.colon == ["", usual]) && self.except.is_empty()) else {
            return serde_json::to_string(self).expect("strings and numbers always print");
        };
        for (word, applies) in self.flags(is_tight) {
            if applies {
                words += word;
            }
        }
        if self.missing > 0 {
            words += &format!(" cut={}", self.missing);
        }
        words
    }

    fn flags(&self, is_tight: bool) -> [(&'static str, bool); 4] {
        [(" tight", is_tight), (" crlf", self.crlf), (" lines", self.lines), (" tail", self.tail)]
    }

    /// Reads the output of [`Self::to_words`] back; returns the setting and the text after it.
    pub fn parse(text: &str) -> Option<(Self, &str)> {
        if text.starts_with('{') {
            let mut stream = serde_json::Deserializer::from_str(text).into_iter();
            let setting = stream.next()?.ok()?;
            return Some((setting, &text[stream.byte_offset()..]));
        }
        let length = text.find([' ', ';']).unwrap_or(text.len());
        let unit = |word: &str| match word {
            "tab" => Some("\t".to_owned()),
            _ => word.parse().ok().filter(|width| (1..=8).contains(width)).map(|width| " ".repeat(width)),
        };
        let (layout, colon) = match text[..length].split_once('=') {
            None if &text[..length] == "minified" => (Layout::Flat { comma: String::new() }, ""),
            None if &text[..length] == "spaced" => (Layout::Flat { comma: " ".into() }, " "),
            Some(("indent", word)) => (Layout::Indent { unit: unit(word)? }, " "),
            _ => return None,
        };
        let mut setting = Self::bare(layout, ["", colon]);
        let mut rest = &text[length..];
        let mut flag = |word: &str| rest.strip_prefix(word).map(|after| rest = after).is_some();
        if flag(" tight") {
            setting.colon[1].clear();
        }
        setting.crlf = flag(" crlf");
        setting.lines = flag(" lines");
        setting.tail = flag(" tail");
        if let Some(after) = rest.strip_prefix(" cut=") {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            setting.missing = after[..digits].parse().ok()?;
            rest = &after[digits..];
        }
        Some((setting, rest))
    }

    /// Prints one value of a tree; `None` if that takes more than `most_bytes`.
    pub fn print_from(&self, tree: &Tree<'_>, root: Id, most_bytes: usize) -> Option<String> {
        let mut tokens = usize::MAX;
        if self.missing > 0 {
            let mut all = 0;
            walk(self, tree, root, &mut |_, _| all += 1);
            tokens = all - self.missing.min(all);
        }
        let mut out = String::new();
        let indent = self.line_end().to_owned() + &self.unit().repeat(COMMON_DEPTH);
        let mut except = self.except.iter().peekable();
        let mut since = 0;
        walk(self, tree, root, &mut |slot, parts| {
            if tokens == 0 || out.len() > most_bytes {
                return;
            }
            tokens -= 1;
            match except.next_if(|(distance, _)| *distance == since) {
                Some((_, text)) => {
                    out.push_str(text);
                    since = 0;
                }
                None => {
                    self.gap(slot).push_to(self, &indent, &mut out);
                    since += 1;
                }
            }
            for part in parts {
                out.push_str(part);
            }
        });
        (out.len() <= most_bytes).then_some(out)
    }

    /// Returns the whitespace that the layout predicts at a place.
    pub fn gap(&self, slot: Slot) -> Gap<'_> {
        let (depth, place) = match slot.place {
            Place::Edge | Place::BeforeComma | Place::Empty => return Gap::Text(""),
            Place::LineEnd => return Gap::Text(if self.crlf { "\r" } else { "" }),
            Place::BeforeColon => return Gap::Text(&self.colon[0]),
            Place::AfterColon => return Gap::Text(&self.colon[1]),
            Place::First => (slot.depth + 1, 0),
            Place::Next => (slot.depth + 1, 1),
            Place::Close => (slot.depth, 2),
        };
        match &self.layout {
            Layout::Flat { comma } => Gap::Text(if place == 1 { comma } else { "" }),
            Layout::Indent { .. } => Gap::Line(depth),
            Layout::Mixed { .. } if !slot.flat => Gap::Line(depth),
            Layout::Mixed { padded: true, .. } => Gap::Text(if place == 1 || slot.kind == 0 { " " } else { "" }),
            Layout::Mixed { .. } => Gap::Text(if place == 1 { " " } else { "" }),
            Layout::Levels { usual, special } => {
                let depth = slot.depth.min(DEPTHS - 1);
                let own = special.iter().find(|(at, kind, _)| (*at, *kind) == (depth, slot.kind));
                Gap::Text(&own.map_or(usual, |(_, _, level)| level)[place])
            }
        }
    }

    fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    fn unit(&self) -> &str {
        match &self.layout {
            Layout::Indent { unit } | Layout::Mixed { unit, .. } => unit,
            _ => "",
        }
    }
}

/// The number of depths that have their own rule; the last one applies to all deeper ones.
pub const DEPTHS: usize = 8;

/// The number of indentation levels that are copied at once.
const COMMON_DEPTH: usize = 16;

/// Predicted whitespace.
#[derive(Clone, Copy)]
pub enum Gap<'a> {
    /// This text.
    Text(&'a str),
    /// A line end and this many levels of indentation.
    Line(usize),
}

impl Gap<'_> {
    /// Appends the whitespace to `out`. `indent` is a line end and [`COMMON_DEPTH`] levels.
    fn push_to(self, setting: &Setting, indent: &str, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Line(depth) => {
                let common = depth.min(COMMON_DEPTH);
                out.push_str(&indent[..setting.line_end().len() + setting.unit().len() * common]);
                out.extend(std::iter::repeat_n(setting.unit(), depth - common));
            }
        }
    }

    /// Returns true if the whitespace is equal to `text`.
    pub fn is(self, setting: &Setting, text: &str) -> bool {
        match self {
            Self::Text(own) => is_same(own.as_bytes(), text.as_bytes()),
            Self::Line(depth) => {
                let unit = setting.unit().as_bytes();
                let text = text.as_bytes();
                let Some(indent) = text.strip_prefix(setting.line_end().as_bytes()) else { return false };
                // The text repeats the unit if it begins with one and each byte is equal to the one a unit earlier.
                indent.len() == unit.len() * depth
                    && (depth == 0
                        || is_same(&indent[..unit.len()], unit)
                            && is_same(&indent[unit.len()..], &indent[..indent.len() - unit.len()]))
            }
        }
    }
}

/// Returns true if two texts are equal. Most have few bytes, so a loop is faster than a call.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// The position of a gap in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the first token of a value.
    Edge,
    /// Before the line end between two values.
    LineEnd,
    /// Before the first element.
    First,
    /// Before another element.
    Next,
    /// Before a comma.
    BeforeComma,
    /// Before a colon.
    BeforeColon,
    /// After a colon.
    AfterColon,
    /// Before the closing bracket.
    Close,
    /// Between the brackets of an empty container.
    Empty,
}

/// A gap, with everything that its text depends on.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Its position in the container.
    pub place: Place,
    /// The number of containers around the container.
    pub depth: usize,
    /// 0 objects, 1 arrays that begin with a container, 2 other arrays.
    pub kind: usize,
    /// True if the container is on one line.
    pub flat: bool,
}

/// Passes every token, in order and with its gap, to `sink`.
pub fn walk<'t>(setting: &'t Setting, tree: &'t Tree<'_>, root: Id, sink: &'t mut impl FnMut(Slot, &[&str])) {
    let mixed = match &setting.layout {
        Layout::Mixed { flips, .. } => Some((Habit::default(), flips.iter(), 0)),
        _ => None,
    };
    let mut walk = Walk { tree, mixed, sink };
    let edge = Slot { place: Place::Edge, depth: 0, kind: 0, flat: false };
    match &tree.nodes[root] {
        Node::Array(items) if setting.lines => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    (walk.sink)(Slot { place: Place::LineEnd, ..edge }, &["\n"]);
                }
                walk.value(*item, 0, edge, false);
            }
        }
        _ => walk.value(root, 0, edge, false),
    }
}

struct Walk<'t, 'a, F> {
    tree: &'t Tree<'a>,
    /// The expected form, the flips to come, and the number of decisions since the last one.
    mixed: Option<(Habit, std::slice::Iter<'t, usize>, usize)>,
    sink: &'t mut F,
}

/// The form of the last container at each depth, by kind: true if it was on one line.
#[derive(Default)]
pub struct Habit(Vec<[bool; 3]>);

impl Habit {
    /// Returns the expected form, initially false.
    pub fn last(&mut self, depth: usize, kind: usize) -> &mut bool {
        if self.0.len() <= depth {
            self.0.resize(depth + 1, [false; 3]);
        }
        &mut self.0[depth][kind]
    }
}

impl<F: FnMut(Slot, &[&str])> Walk<'_, '_, F> {
    /// Passes the tokens of a value on. `slot` is the gap before it.
    fn value(&mut self, id: Id, depth: usize, slot: Slot, inside_flat: bool) {
        let tree = self.tree;
        let (length, brackets) = match &tree.nodes[id] {
            Node::Scalar { quoted: true, text } => return (self.sink)(slot, &["\"", text, "\""]),
            Node::Scalar { text: raw, .. } | Node::Inner { raw, .. } => return (self.sink)(slot, &[raw]),
            Node::Array(items) => (items.len(), ["[", "]"]),
            Node::Object(items) => (items.len(), ["{", "}"]),
        };
        let mut flat = inside_flat;
        if let Some((habit, flips, since)) = &mut self.mixed
            && !inside_flat
            && length > 0
        {
            let last = habit.last(depth, kind(tree, id));
            if flips.as_slice().first() == Some(since) {
                flips.next();
                *since = 0;
                *last = !*last;
            } else {
                *since += 1;
            }
            flat = *last;
        }
        let own = Slot { place: Place::First, depth, kind: kind(tree, id), flat };
        (self.sink)(slot, &brackets[..1]);
        let mut before = own;
        match &tree.nodes[id] {
            Node::Array(items) => {
                for item in items {
                    self.comma(before);
                    self.value(*item, depth + 1, before, flat);
                    before.place = Place::Next;
                }
            }
            Node::Object(items) => {
                for (key, value) in items {
                    self.comma(before);
                    (self.sink)(before, &["\"", key, "\""]);
                    (self.sink)(Slot { place: Place::BeforeColon, ..own }, &[":"]);
                    self.value(*value, depth + 1, Slot { place: Place::AfterColon, ..own }, flat);
                    before.place = Place::Next;
                }
            }
            Node::Scalar { .. } | Node::Inner { .. } => {}
        }
        let place = if length == 0 { Place::Empty } else { Place::Close };
        (self.sink)(Slot { place, ..own }, &brackets[1..]);
    }

    /// Passes on the comma before every item but the first in its container.
    fn comma(&mut self, before: Slot) {
        if before.place == Place::Next {
            (self.sink)(Slot { place: Place::BeforeComma, ..before }, &[","]);
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
        Node::Scalar { .. } | Node::Inner { .. } => 2,
    }
}
