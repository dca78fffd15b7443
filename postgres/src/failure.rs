//! The failures below the store, and the [`Error`] that each becomes.
//!
//! Every error names the server as `host:port/database`. No error contains the password or the user, which may be a
//! token.

use std::error::Error as _;

use concertina_base::error::Error;
use concertina_store::row::BadColumn;
use tokio_postgres::error::{Severity, SqlState};

/// The result of work on a connection, before the server's name is added to the error.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// The reason of [`Failure::NoRoom`].
pub(crate) const NO_ROOM: &str =
    "storeMaxBytes is reached and everything stored is still in use; raise it or end sessions";

/// The remedy for a missing privilege.
pub(crate) const GRANTS: &str = "let the schema's owner run postgres/roles.sql for this role";

/// A reason why work on a connection failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the server or of the connection.
    Sql(tokio_postgres::Error),
    /// There is no connection, or the server does not answer. Contains what happened.
    Unreachable(String),
    /// The server did not answer a COMMIT, so the outcome is unknown. Contains what happened.
    CommitUnknown(String),
    /// The transaction was based on a state that has changed since.
    Outdated,
    /// The database or the privileges of the role are not as required. Contains what was found and the remedy.
    Misconfigured(String),
    /// The schema is damaged or belongs to another program. Contains what was found.
    Damaged(String),
    /// The schema has a version that this program does not know and cannot work with. Contains what was found.
    Newer(String),
    /// This is not the database that the caller has read from.
    Replaced,
    /// The size limit is reached.
    NoRoom,
    /// An error that needs no server.
    Other(Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<BadColumn> for Failure {
    fn from(BadColumn(found): BadColumn) -> Self {
        Self::Damaged(found)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Failure {
    fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Sql(error) => error.code(),
            _ => None,
        }
    }

    /// Returns true if the connection is lost, so that the outcome of the statement is unknown.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            // A fatal error ends the connection, for example a shutdown or a time limit of idle sessions or
            // transactions.
            Self::Sql(error) => error.as_db_error().is_none_or(|error| {
                matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
                    || error.code().code().starts_with("08")
            }),
            Self::CommitUnknown(_) => true,
            _ => false,
        }
    }

    /// Returns true if a new connection may succeed: this one is lost, or its prepared statements or its server are
    /// outdated.
    pub(crate) fn is_stale(&self) -> bool {
        self.is_lost()
            || self.state().is_some_and(|state| {
                [
                    SqlState::UNDEFINED_TABLE,
                    SqlState::INVALID_SCHEMA_NAME,
                    SqlState::INVALID_SQL_STATEMENT_NAME,
                    SqlState::FEATURE_NOT_SUPPORTED,
                    // The server is now a replica.
                    SqlState::READ_ONLY_SQL_TRANSACTION,
                ]
                .contains(state)
            })
    }

    /// Returns true if a connection attempt may succeed in a moment: all connections are in use, the server is starting
    /// or recovering, or a time limit of the role, which applies until ours is set, ended the attempt.
    pub(crate) fn is_transient(&self) -> bool {
        let transient = [SqlState::TOO_MANY_CONNECTIONS, SqlState::CANNOT_CONNECT_NOW, SqlState::QUERY_CANCELED];
        self.state().is_some_and(|state| transient.contains(state))
    }

    /// Returns true if the role lacks a privilege.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.state() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// Returns true if the same transaction may succeed on a retry, because it conflicted with another one.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Outdated)
            || self.state().is_some_and(|state| {
                [
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                    // Two new originals were given the same id at the same time. The retry of the second one sees the
                    // first and is refused.
                    SqlState::UNIQUE_VIOLATION,
                ]
                .contains(state)
            })
    }

    /// Converts the failure into an [`Error`]. `waited_ms` is the lock timeout.
    pub(crate) fn at(self, server: &str, waited_ms: u64) -> Error {
        let path = server.to_owned();
        let (is_conflict, is_lost) = (self.is_conflict(), self.is_lost());
        let error = match self {
            Self::Sql(error) => error,
            Self::Unreachable(reason) | Self::CommitUnknown(reason) | Self::Misconfigured(reason) => {
                return Error::StoreUnavailable { path, reason };
            }
            Self::Damaged(reason) => return Error::StoreDamaged { path, reason },
            Self::Newer(reason) => return Error::StoreNewer { path, reason },
            Self::Replaced => return Error::StoreReplaced { path },
            Self::Outdated => return Error::StoreLocked { path, waited_ms },
            Self::NoRoom => return Error::StoreFull { path, reason: NO_ROOM.to_owned() },
            Self::Other(error) => return error,
        };
        let reason = reason(&error);
        match error.code() {
            _ if is_conflict => Error::StoreLocked { path, waited_ms },
            Some(&SqlState::LOCK_NOT_AVAILABLE) => Error::StoreLocked { path, waited_ms },
            Some(&SqlState::DISK_FULL) => Error::StoreFull { path, reason },
            // A role that may not connect needs another privilege than those on the schema.
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) if !is_lost => {
                Error::StoreUnavailable { path, reason: format!("{reason}; {GRANTS}") }
            }
            // Our statements are constant, so one that does not compile found tables of another program.
            Some(state) if !is_lost && (state.code().starts_with("XX") || state.code().starts_with("42")) => {
                Error::StoreDamaged { path, reason }
            }
            _ => Error::StoreUnavailable { path, reason },
        }
    }
}

/// The message of [`Failure::at`] without the name of the server.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sql(error) => f.write_str(&reason(error)),
            Self::Unreachable(reason)
            | Self::CommitUnknown(reason)
            | Self::Misconfigured(reason)
            | Self::Damaged(reason)
            | Self::Newer(reason) => f.write_str(reason),
            Self::Outdated => f.write_str("it conflicted with other transactions"),
            Self::Replaced => f.write_str("it was replaced"),
            Self::NoRoom => f.write_str(NO_ROOM),
            Self::Other(error) => error.fmt(f),
        }
    }
}

/// Replaces each quoted name in a server's message by `***`, with the quotation marks of the server's languages.
fn without_names(words: &str) -> String {
    let pairs = [('"', '"'), ('\'', '\''), ('«', '»'), ('»', '«'), ('„', '“'), ('“', '”'), ('「', '」')];
    let (mut masked, mut rest) = (String::new(), words);
    while let Some((at, open)) = rest.char_indices().find(|(_, one)| pairs.iter().any(|(open, _)| open == one)) {
        let inside = &rest[at + open.len_utf8()..];
        let close = pairs.iter().find(|pair| pair.0 == open).map_or(open, |pair| pair.1);
        masked.push_str(&rest[..at + open.len_utf8()]);
        masked.push_str("***");
        let end = inside.find(close).unwrap_or(inside.len());
        rest = &inside[end..];
        if let Some(after) = rest.strip_prefix(close) {
            masked.push(close);
            rest = after;
        }
    }
    masked + rest
}

/// Returns the server's message with its code, or the causes of a failed connection.
fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let code = error.code().code();
        // Messages of these classes name the user.
        if code.starts_with("28") || code.starts_with("53") {
            return format!("{} ({code})", without_names(error.message()));
        }
        let detail = error.detail().map(|detail| format!("; {detail}")).unwrap_or_default();
        return format!("{} ({code}){detail}", error.message());
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same refusals in five server languages, with a plain name and with one that looks like a token.
    #[test]
    fn messages_of_a_server_are_shown_without_the_user_name() {
        for name in ["S3kr3t", "S3kr3t-with.more_of=it"] {
            for (before, after) in [
                ("password authentication failed for user \"", "\""),
                ("no pg_hba.conf entry for host \"10.0.0.1\", user \"", "\", database \"x\", no encryption"),
                ("Passwort-Authentifizierung für Benutzer »", "« fehlgeschlagen"),
                ("authentification par mot de passe échouée pour l'utilisateur « ", " »"),
                ("too many connections for role \"", "\""),
                ("role \"", "\" does not exist"),
            ] {
                let masked = without_names(&format!("{before}{name}{after}"));
                assert!(!masked.contains("S3kr3t") && masked.contains("***"), "{masked}");
            }
        }
    }
}
