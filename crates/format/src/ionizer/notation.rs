//! The notation of a fold's body: the characters that end a value, and the names of classes and their columns.

use concertina_base::hashing::FastMap;

use crate::letters;

/// The characters that may separate the cells of a row, besides the comma.
pub const MARKS: [char; 2] = [' ', '\t'];

/// The context of a value, which determines the characters that end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// A line of its own.
    Line,
    /// The columns of a class.
    Header,
    /// A row on its own line, with this mark between cells.
    Row(char),
    /// A row in parentheses, with this mark between cells.
    Tuple(char),
    /// An object.
    Object,
    /// An array.
    Array,
}

impl Around {
    /// Returns the mark between cells.
    pub fn mark(self) -> char {
        match self {
            Self::Row(mark) | Self::Tuple(mark) => mark,
            _ => ',',
        }
    }

    /// Returns the length of the bare text that starts here, and the number of brackets left open. Brackets that it
    /// opened do not end it.
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

    /// Returns true if a text may stand here without quotes.
    pub fn is_bare(self, text: &str) -> bool {
        self.bare_length(text) == (text.len(), 0)
    }

    /// Returns true if a character ends a bare text here.
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

/// Returns the letters that name a class.
pub fn class_name(number: usize) -> String {
    letters::name(number).to_ascii_uppercase()
}

/// Returns the names of a class's columns in rows: the last part of each name if no other name ends with it.
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

/// Returns the column indices by name, for templates.
pub fn index_of<N: AsRef<str>>(names: &[N]) -> FastMap<&str, usize> {
    names.iter().enumerate().map(|(index, name)| (name.as_ref(), index)).collect()
}
