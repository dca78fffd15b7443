//! The error type of all crates. Every error has a stable [`Error::code`] that JavaScript sees. Messages are lower
//! case; they name what was wrong, the value, and the values that are allowed.

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of Concertina. Expected outcomes (an unknown id, a duplicate turn) are data, not errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument or option has the wrong type, range or name.
    #[error("{name} is {got}; it must be {expected}")]
    BadArgument {
        /// The argument as the caller wrote it, for example `staleTurns`.
        name: String,
        /// The value that was given, as short text.
        got: String,
        /// A description of the allowed values.
        expected: String,
    },
    /// A string that is not a reference id reached a place where only ids may go.
    #[error("{got:?} is not a reference id; ids are 16 to 64 lower-case hexadecimal digits")]
    BadRefId {
        /// The rejected text, cut to 80 characters.
        got: String,
    },
    /// The store's directory or file cannot be created, opened or written.
    #[error("cannot use the store at {path}: {reason}")]
    StoreUnavailable {
        /// The directory or file.
        path: String,
        /// The message of the operating system or of SQLite.
        reason: String,
    },
    /// Another process holds the store's write lock for longer than the store waits.
    #[error("the store at {path} is locked by another process; waited {waited_ms} ms")]
    StoreLocked {
        /// The database file.
        path: String,
        /// The time that the store waited, in milliseconds.
        waited_ms: u64,
    },
    /// The disk, or the store's own size limit, is full.
    #[error("the store at {path} is full: {reason}")]
    StoreFull {
        /// The database file.
        path: String,
        /// The message of the operating system or of SQLite.
        reason: String,
    },
    /// The database file is damaged or belongs to another program.
    #[error("the store at {path} is damaged or foreign: {reason}")]
    StoreDamaged {
        /// The database file.
        path: String,
        /// A description of the damage.
        reason: String,
    },
    /// A newer version of this program wrote the store, before it was opened or while it was open. Nothing in it was
    /// changed.
    #[error("the store at {path} was written by a newer version: {reason}")]
    StoreNewer {
        /// The database file.
        path: String,
        /// The version of the file, the known versions, and the remedy.
        reason: String,
    },
    /// The database file was deleted or replaced under the store since the caller read from it.
    #[error("the store at {path} was replaced while it was in use: this call was discarded; retry to use the new file")]
    StoreReplaced {
        /// The database file.
        path: String,
    },
    /// A stored original no longer hashes to its id.
    #[error("the original of {ref_id} was altered on disk: its bytes hash to {found}")]
    OriginalDamaged {
        /// The id that was asked for.
        ref_id: String,
        /// The hash of the bytes that were found.
        found: String,
    },
    /// A fold does not restore the text that it was made from.
    #[error("the fold by {stage} in line {line} is damaged: {reason}")]
    FoldDamaged {
        /// The stage that the header of the fold names.
        stage: String,
        /// The line of the header in the text restored so far, counted from 1.
        line: usize,
        /// A description of the damage.
        reason: String,
    },
    /// A text ends with the id of an original that the caller did not pass.
    #[error("the text was shortened and cannot be restored without its original {ref_id}; pass it in `originals`")]
    OriginalMissing {
        /// The id that the last line names.
        ref_id: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A pattern given to a fetch is not a regular expression.
    #[error("the pattern {pattern:?} is not a regular expression: {reason}")]
    BadPattern {
        /// The pattern, cut to 80 characters.
        pattern: String,
        /// The message of the pattern parser.
        reason: String,
    },
}

impl Error {
    /// Builds a [`Error::BadArgument`].
    pub fn bad_argument(name: impl Into<String>, got: impl std::fmt::Display, expected: impl Into<String>) -> Self {
        Self::BadArgument { name: name.into(), got: got.to_string(), expected: expected.into() }
    }

    /// Returns the stable code of this error, which JavaScript sees as `error.code`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadArgument { .. } => "CONCERTINA_BAD_ARGUMENT",
            Self::BadRefId { .. } => "CONCERTINA_BAD_REF_ID",
            Self::StoreUnavailable { .. } => "CONCERTINA_STORE_UNAVAILABLE",
            Self::StoreLocked { .. } => "CONCERTINA_STORE_LOCKED",
            Self::StoreFull { .. } => "CONCERTINA_STORE_FULL",
            Self::StoreDamaged { .. } => "CONCERTINA_STORE_DAMAGED",
            Self::StoreNewer { .. } => "CONCERTINA_STORE_NEWER",
            Self::StoreReplaced { .. } => "CONCERTINA_STORE_REPLACED",
            Self::OriginalDamaged { .. } => "CONCERTINA_ORIGINAL_DAMAGED",
            Self::FoldDamaged { .. } => "CONCERTINA_FOLD_DAMAGED",
            Self::OriginalMissing { .. } => "CONCERTINA_ORIGINAL_MISSING",
            Self::Closed => "CONCERTINA_CLOSED",
            Self::BadPattern { .. } => "CONCERTINA_BAD_PATTERN",
        }
    }

    /// Returns true if the caller made a mistake (a `TypeError` in JavaScript).
    pub fn is_misuse(&self) -> bool {
        matches!(self, Self::BadArgument { .. } | Self::BadRefId { .. } | Self::BadPattern { .. })
    }
}
