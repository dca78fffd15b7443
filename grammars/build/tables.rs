//! Converts C initializers of parse tables to their bytes.
//!
//! tree-sitter writes initializers in a few forms, and the macros of `parser.h` define their meaning. Any other form is
//! an error. The crate's tests verify that the bytes equal those of a compiler.

use std::collections::HashMap;

/// The result of parsing a table.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// The names that stand for numbers in a table.
pub(crate) struct Names<'a> {
    /// The values of symbols.
    pub(crate) values: HashMap<&'a str, i64>,
    /// The number of states.
    pub(crate) states: i64,
    /// The number of states that have a row of their own.
    pub(crate) large_states: i64,
    /// The number of symbols.
    pub(crate) symbols: i64,
}

/// Parses a list of numbers of `N` bytes each.
pub(crate) fn numbers<const N: usize>(text: &str, names: &Names) -> Result<Vec<u8>> {
    let mut cursor = Cursor { rest: text, names };
    let mut bytes = Vec::new();
    cursor.numbers::<N>(&mut bytes)?;
    cursor.end()?;
    Ok(bytes)
}

/// Parses a row for each state, with a number for each symbol.
pub(crate) fn rows(text: &str, names: &Names) -> Result<Vec<u8>> {
    let mut cursor = Cursor { rest: text, names };
    let width = 2 * size(names.symbols)?;
    let mut bytes = vec![0; width * size(names.large_states)?];
    while let Some(state) = cursor.index()? {
        cursor.need("{")?;
        let mut row = Vec::new();
        cursor.numbers::<2>(&mut row)?;
        cursor.need("}")?;
        let place = bytes.chunks_exact_mut(width).nth(state).and_then(|place| place.get_mut(..row.len()));
        place.ok_or_else(|| format!("no room for row {state}"))?.copy_from_slice(&row);
        cursor.take(",");
    }
    cursor.end()?;
    Ok(bytes)
}

/// Parses the lex modes of all states: two numbers of two bytes, and three since version 15 of the format.
pub(crate) fn lex_modes(text: &str, names: &Names) -> Result<Vec<u8>> {
    const FIELDS: [&str; 3] = ["lex_state", "external_lex_state", "reserved_word_set_id"];
    let mut cursor = Cursor { rest: text, names };
    let width = if names.values.get("LANGUAGE_VERSION").is_some_and(|&version| version >= 15) { 6 } else { 4 };
    let mut bytes = vec![0; width * size(names.states)?];
    while let Some(state) = cursor.index()? {
        cursor.need("{")?;
        while !cursor.take("}") {
            let field = if cursor.take(".") {
                let field = cursor.word();
                cursor.need("=")?;
                FIELDS.iter().position(|name| *name == field).ok_or_else(|| format!("no field {field}"))?
            } else {
                0
            };
            let value = le::<2>(cursor.value()?)?;
            let place = bytes.get_mut(state * width + 2 * field..).and_then(|place| place.first_chunk_mut());
            *place.ok_or_else(|| format!("no room for state {state}"))? = value;
            cursor.take(",");
        }
        cursor.take(",");
    }
    cursor.end()?;
    Ok(bytes)
}

/// Parses lists of actions. Each follows an entry with the number of its actions. Both take eight bytes.
pub(crate) fn actions(text: &str, names: &Names) -> Result<Vec<u8>> {
    let mut cursor = Cursor { rest: text, names };
    let mut bytes: Vec<u8> = Vec::new();
    while !cursor.rest.is_empty() {
        if let Some(place) = cursor.index()?
            && place * 8 != bytes.len()
        {
            return Err(format!("entry {place} is at {}", bytes.len() / 8));
        }
        let entry = if cursor.take("{.entry = {.count = ") {
            let count = le::<1>(cursor.value()?)?;
            cursor.need(", .reusable = ")?;
            let is_reusable = le::<1>(cursor.value()?)?;
            cursor.need("}}")?;
            [count[0], is_reusable[0], 0, 0, 0, 0, 0, 0]
        } else {
            cursor.action()?
        };
        bytes.extend(entry);
        cursor.take(",");
    }
    Ok(bytes)
}

/// A position in a table's text.
struct Cursor<'a> {
    rest: &'a str,
    names: &'a Names<'a>,
}

impl<'a> Cursor<'a> {
    /// Skips a token if it is next. Returns true if it was.
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn need(&mut self, token: &str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.unexpected(token)) }
    }

    fn end(&mut self) -> Result<()> {
        if self.rest.trim_ascii().is_empty() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    fn unexpected(&self, wanted: &str) -> String {
        format!("wanted {wanted}, got {}", self.rest.lines().next().unwrap_or("the end"))
    }

    /// Reads a name or a number.
    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_ascii_start();
        let is_in_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = self.rest.bytes().position(|byte| !is_in_word(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Reads a number in any of its forms.
    fn value(&mut self) -> Result<i64> {
        if self.take("(TSStateId)(-1)") {
            return Ok(i64::from(u16::MAX));
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return word.parse().map_err(|error| format!("{word}: {error}"));
        }
        if let Some(&value) = self.names.values.get(word) {
            return Ok(value);
        }
        let offset = match word {
            "STATE" | "ACTIONS" => 0,
            "SMALL_STATE" => self.names.large_states,
            _ => return Err(self.unexpected(&format!("a number, not {word}"))),
        };
        self.need("(")?;
        let value = self.value()?;
        self.need(")")?;
        Ok(value - offset)
    }

    /// Reads `[n] =` if it is next.
    fn index(&mut self) -> Result<Option<usize>> {
        if !self.take("[") {
            return Ok(None);
        }
        let index = size(self.value()?)?;
        self.need("]")?;
        self.need("=")?;
        Ok(Some(index))
    }

    /// Reads all following numbers, each after the last one or at its own index.
    fn numbers<const N: usize>(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let mut at = 0;
        loop {
            self.rest = self.rest.trim_ascii_start();
            if self.rest.is_empty() || self.rest.starts_with('}') {
                return Ok(());
            }
            at = self.index()?.map_or(at, |index| index * N);
            let number = le::<N>(self.value()?)?;
            bytes.resize(bytes.len().max(at + N), 0);
            bytes[at..at + N].copy_from_slice(&number);
            at += N;
            self.take(",");
        }
    }

    /// Reads an action. Its kinds are numbered as in the parser's enumeration.
    fn action(&mut self) -> Result<[u8; 8]> {
        let name = self.word();
        self.need("(")?;
        let mut arguments = [0; 4];
        for (n, argument) in arguments.iter_mut().enumerate() {
            if n > 0 && !self.take(",") || self.rest.starts_with(')') {
                break;
            }
            *argument = self.value()?;
        }
        self.need(")")?;
        let [first, children, precedence, production] = arguments;
        let [low, high] = le::<2>(first)?;
        Ok(match name {
            "SHIFT" => [0, 0, low, high, 0, 0, 0, 0],
            "SHIFT_REPEAT" => [0, 0, low, high, 0, 1, 0, 0],
            "SHIFT_EXTRA" => [0, 0, 0, 0, 1, 0, 0, 0],
            "REDUCE" => {
                let ([children], [p0, p1], [q0, q1]) = (le(children)?, le(precedence)?, le(production)?);
                [1, children, low, high, p0, p1, q0, q1]
            }
            "ACCEPT_INPUT" => [2, 0, 0, 0, 0, 0, 0, 0],
            "RECOVER" => [3, 0, 0, 0, 0, 0, 0, 0],
            _ => return Err(self.unexpected(&format!("an action, not {name}"))),
        })
    }
}

/// Returns the little-endian bytes of a number, or an error if it needs more bytes. Negative numbers are in two's
/// complement.
fn le<const N: usize>(number: i64) -> Result<[u8; N]> {
    let bits = 8 * N as u32;
    if number >= 1 << bits || number < -(1 << (bits - 1)) {
        return Err(format!("{number} has more than {N} bytes"));
    }
    let mut bytes = [0; N];
    bytes.copy_from_slice(&number.to_le_bytes()[..N]);
    Ok(bytes)
}

fn size(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|error| format!("{number}: {error}"))
}
