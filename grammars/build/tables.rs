//! Initializers of parse tables in C -> their bytes.
//!
//! tree-sitter writes them in few ways, and `parser.h` says by macros what they mean. Whatever is written otherwise is an
//! error; that the bytes are those of a compiler is what the crate's tests hold.

use std::collections::HashMap;

/// What goes wrong in a table.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// What stands for a number in a table.
pub(crate) struct Names<'a> {
    /// Symbols.
    pub(crate) values: HashMap<&'a str, i64>,
    /// How many states there are.
    pub(crate) states: i64,
    /// How many of them have a row of their own.
    pub(crate) large_states: i64,
    /// How many symbols there are.
    pub(crate) symbols: i64,
}

/// A list of numbers, each `N` bytes long.
pub(crate) fn numbers<const N: usize>(text: &str, names: &Names) -> Result<Vec<u8>> {
    let mut cursor = Cursor { rest: text, names };
    let mut bytes = Vec::new();
    cursor.numbers::<N>(&mut bytes)?;
    cursor.end()?;
    Ok(bytes)
}

/// For each state its row, with a number for each symbol.
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

/// How each state lexes: two numbers of two bytes, since version 15 of the format three.
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

/// Lists of actions, each behind an entry that says how many it has. Both are eight bytes long.
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

/// A place in a table's text.
struct Cursor<'a> {
    rest: &'a str,
    names: &'a Names<'a>,
}

impl<'a> Cursor<'a> {
    /// Goes past a token, where it is the next.
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

    /// A name or a number.
    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_ascii_start();
        let is_in_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = self.rest.bytes().position(|byte| !is_in_word(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A number, however it is written.
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

    /// `[n] =`, where it is next.
    fn index(&mut self) -> Result<Option<usize>> {
        if !self.take("[") {
            return Ok(None);
        }
        let index = size(self.value()?)?;
        self.need("]")?;
        self.need("=")?;
        Ok(Some(index))
    }

    /// All the numbers that come, each behind the last one or at its own place.
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

    /// An action; its kinds are numbered as in the parser's enumeration.
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

/// The lowest bytes of a number that has no more; of a negative one, its two's complement.
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
