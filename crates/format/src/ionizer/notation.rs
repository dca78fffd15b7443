//! What the body of a fold is written in: what ends a value, and what classes and their columns are called.

use concertina_base::hashing::FastMap;

/// What may stand between the cells of a row instead of a comma.
pub const MARKS: [char; 2] = [' ', '\t'];

/// What surrounds a value, and so ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// A line of its own.
    Line,
    /// A class's columns.
    Header,
    /// A row on its own line, whose cells have this mark between them.
    Row(char),
    /// A row in parentheses.
    Tuple(char),
    /// An object.
    Object,
    /// An array.
    Array,
}

impl Around {
    /// The mark between cells.
    pub fn mark(self) -> char {
        match self {
            Self::Row(mark) | Self::Tuple(mark) => mark,
            _ => ',',
        }
    }

    /// Where a bare text that starts here ends, and how many brackets it left open. Brackets that it opened do not end
    /// it.
    pub fn bare_length(self, text: &str) -> (usize, usize) {
        let open = match self {
            Self::Object => '{',
            Self::Array => '[',
            Self::Tuple(_) => '(',
            _ => '\n',
        };
        let bytes = text.as_bytes();
        let end = match self {
            Self::Line => Some(memchr::memchr(b'\n', bytes)),
            Self::Header => Some(memchr::memchr2(b',', b'\n', bytes)),
            Self::Row(mark) => {
                let mark = u8::try_from(mark).ok().filter(u8::is_ascii);
                mark.map(|mark| memchr::memchr3(mark, b';', b'\n', bytes))
            }
            _ => None,
        };
        if let Some(end) = end {
            return (end.unwrap_or(text.len()), 0);
        }
        let mut depth = 0;
        let end = text.find(|c| match c {
            '}' | ']' | ')' if depth > 0 && self.ends(c) => {
                depth -= 1;
                false
            }
            _ if self.ends(c) => true,
            _ => {
                depth += usize::from(c == open);
                false
            }
        });
        (end.unwrap_or(text.len()), depth)
    }

    /// Whether a text may stand here without quotes.
    pub fn is_bare(self, text: &str) -> bool {
        self.bare_length(text) == (text.len(), 0)
    }

    /// Whether a character ends a bare text here.
    pub fn ends(self, c: char) -> bool {
        match self {
            Self::Line => c == '\n',
            Self::Header => matches!(c, ',' | '\n'),
            Self::Row(mark) => c == mark || matches!(c, ';' | '\n'),
            Self::Tuple(mark) => c == mark || matches!(c, ';' | ')' | '\n'),
            Self::Object => matches!(c, ' ' | '}' | '\n'),
            Self::Array => matches!(c, ' ' | ']' | '\n'),
        }
    }
}

/// The letters that name a class.
pub fn class_name(number: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(number % 26).expect("below 26"));
    match number / 26 {
        0 => letter.to_string(),
        more => class_name(more - 1) + &letter.to_string(),
    }
}

/// What the columns of a class are called in rows: the last part of their name where no other name ends like it.
pub fn short_names<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let last = |name: &str| match name.rfind(['.', '"', '[']) {
        Some(at) if name.as_bytes()[at] == b'.' => at + 1,
        _ => 0,
    };
    let mut counts: FastMap<&str, usize> = FastMap::default();
    for name in names {
        *counts.entry(&name[last(name)..]).or_default() += 1;
        if last(name) > 0 {
            *counts.entry(name).or_default() += 1;
        }
    }
    names.iter().map(|name| if counts[&name[last(name)..]] == 1 { &name[last(name)..] } else { name }).collect()
}

/// Names by column index, for templates.
pub fn index_of<N: AsRef<str>>(names: &[N]) -> FastMap<&str, usize> {
    names.iter().enumerate().map(|(index, name)| (name.as_ref(), index)).collect()
}
