//! How a JSON text is set: minified, indented, or by its own rule per level.
//!
//! A layout predicts the blank space before every token. Where the text differs, the difference is kept as an
//! exception, so a layout never has to be right, only cheap.

use serde::{Deserialize, Serialize};

use super::tree::{Id, Node, Tree};

/// Blank space inside containers of one kind at one depth: after the opening bracket, after a comma, before the closing
/// one.
pub type Level = [String; 3];

/// A rule for the blank space between tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// The same after every comma; nothing at brackets.
    Flat {
        /// After a comma.
        comma: String,
    },
    /// Every element on its own line.
    Indent {
        /// One level.
        unit: String,
    },
    /// Some containers stay on their line and others do not: each as the one before it at its depth, but for some.
    Mixed {
        /// One level.
        unit: String,
        /// Whether an object on its line has a space inside its brackets.
        padded: bool,
        /// The ones that differ: containers to decide on since the last.
        flips: Vec<usize>,
    },
    /// By depth and kind (0 objects, 1 arrays that begin with a container, 2 other arrays).
    Levels {
        /// What most of them have.
        usual: Level,
        /// Depth, kind and what they have instead; the deepest depth serves all deeper ones.
        special: Vec<(usize, usize, Level)>,
    },
}

/// All that restores the blank space of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The rule.
    pub layout: Layout,
    /// Blank space before and after a colon.
    pub colon: [String; 2],
    /// Line ends are `\r\n`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crlf: bool,
    /// Several values, one after another on their own lines, stand as one array.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lines: bool,
    /// How many closing brackets the text lacks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: usize,
    /// A cut text goes on: the last line of the body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tail: bool,
    /// Where the rule is wrong: tokens since the last exception, and the blank space there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<(usize, String)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Setting {
    /// A setting without flags and exceptions.
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

    /// No blank space at all.
    pub fn minified() -> Self {
        Self::bare(Layout::Flat { comma: String::new() }, ["", ""])
    }

    /// The setting in words: `indent=2`, `spaced lines`, or JSON where it has no name.
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

    /// Reads [`Self::to_words`] back; returns what follows.
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

    /// Prints one value of a tree, unless that takes more than so many bytes.
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

    /// The blank space that the layout predicts at a place.
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

/// How many depths are told apart; the last one serves all deeper ones.
pub const DEPTHS: usize = 8;

/// How many levels of indentation are copied at once.
const COMMON_DEPTH: usize = 16;

/// Predicted blank space.
#[derive(Clone, Copy)]
pub enum Gap<'a> {
    /// This text.
    Text(&'a str),
    /// A line end and this many levels of indentation.
    Line(usize),
}

impl Gap<'_> {
    /// `indent` is a line end and [`COMMON_DEPTH`] levels.
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

    /// Whether it is this text.
    pub fn is(self, setting: &Setting, text: &str) -> bool {
        match self {
            Self::Text(own) => is_same(own.as_bytes(), text.as_bytes()),
            Self::Line(depth) => {
                let unit = setting.unit().as_bytes();
                let text = text.as_bytes();
                let Some(indent) = text.strip_prefix(setting.line_end().as_bytes()) else { return false };
                // It is made of units where it begins with one and each byte is as the one a unit before.
                indent.len() == unit.len() * depth
                    && (depth == 0
                        || is_same(&indent[..unit.len()], unit)
                            && is_same(&indent[unit.len()..], &indent[..indent.len() - unit.len()]))
            }
        }
    }
}

/// Whether two texts are the same: most have no byte or a few, which takes less than a call.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Where a gap is, in its container.
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

/// Where a gap is, with what its text depends on.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Where it is in the container.
    pub place: Place,
    /// How many containers are around the container.
    pub depth: usize,
    /// 0 objects, 1 arrays that begin with a container, 2 other arrays.
    pub kind: usize,
    /// The container stays on its line.
    pub flat: bool,
}

/// Hands out every token in order, with where its gap is.
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
    /// What to expect, the flips to come, and the decisions since the last one.
    mixed: Option<(Habit, std::slice::Iter<'t, usize>, usize)>,
    sink: &'t mut F,
}

/// Whether the last container at each depth, by kind, stayed on its line.
#[derive(Default)]
pub struct Habit(Vec<[bool; 3]>);

impl Habit {
    /// The expected answer; at first, that it does not.
    pub fn last(&mut self, depth: usize, kind: usize) -> &mut bool {
        if self.0.len() <= depth {
            self.0.resize(depth + 1, [false; 3]);
        }
        &mut self.0[depth][kind]
    }
}

impl<F: FnMut(Slot, &[&str])> Walk<'_, '_, F> {
    /// `slot` is the gap before the value.
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

    /// The comma before what is not the first in its container.
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
