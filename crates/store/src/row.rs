//! Rows of query results, in the form common to all backends.

use concertina_base::reference::ContentHash;

/// A value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A boolean. A backend without this type returns 0 or 1.
    Flag(bool),
    /// A floating-point number.
    Real(f64),
    /// Text, U+0000 included.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// One row of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Cell>);

/// A statement with the values of its parameters, in order.
#[derive(Debug)]
pub struct Query {
    /// The statement.
    pub sql: &'static str,
    /// The values.
    pub params: Vec<Cell>,
}

/// The error for a column that has another type than its statement requires, which means that the store is damaged.
#[derive(Debug)]
pub struct BadColumn(pub String);

/// Converts a count to a signed integer, saturating. SQL has no unsigned integers.
pub fn to_signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Row {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// [`BadColumn`] if the column is missing or has another type.
    pub fn get<T: FromCell>(&self, column: usize) -> Result<T, BadColumn> {
        let cell = self.0.get(column);
        cell.and_then(T::from_cell).ok_or_else(|| match cell {
            Some(Cell::Integer(number)) => BadColumn(format!("column {column} is {number}")),
            Some(Cell::Bytes(bytes)) => BadColumn(format!("column {column} has {} bytes", bytes.len())),
            Some(_) => BadColumn(format!("column {column} has an unexpected type")),
            None => BadColumn(format!("there is no column {column}")),
        })
    }
}

/// A type as which columns can be read.
pub trait FromCell: Sized {
    /// Returns the value; `None` for a cell of another type.
    fn from_cell(cell: &Cell) -> Option<Self>;
}

impl FromCell for i64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        if let Cell::Integer(number) = cell { Some(*number) } else { None }
    }
}

/// Reads a count. SQL has no unsigned integers.
impl FromCell for u64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        i64::from_cell(cell).and_then(|number| Self::try_from(number).ok())
    }
}

impl FromCell for f64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        if let Cell::Real(number) = cell { Some(*number) } else { None }
    }
}

impl FromCell for bool {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Flag(flag) => Some(*flag),
            Cell::Integer(number @ (0 | 1)) => Some(*number == 1),
            _ => None,
        }
    }
}

impl FromCell for String {
    fn from_cell(cell: &Cell) -> Option<Self> {
        if let Cell::Text(text) = cell { Some(text.clone()) } else { None }
    }
}

impl FromCell for ContentHash {
    fn from_cell(cell: &Cell) -> Option<Self> {
        let Cell::Bytes(bytes) = cell else { return None };
        bytes.as_slice().try_into().ok().map(ContentHash)
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: &Cell) -> Option<Self> {
        if *cell == Cell::Null { Some(None) } else { T::from_cell(cell).map(Some) }
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Integer(to_signed(count))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
