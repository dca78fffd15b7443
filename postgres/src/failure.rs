//! What can go wrong below the store, and which [`Error`] each becomes.
//!
//! Every error names the server as `host:port/database`; password and user, which may be a token, are in none.

use std::error::Error as _;

use concertina_base::error::Error;
use concertina_store::row::BadColumn;
use tokio_postgres::error::{Severity, SqlState};

/// The result of work on a connection, before the error knows its server.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// The reason of [`Failure::NoRoom`].
pub(crate) const NO_ROOM: &str = "its limit is reached and sessions still show what it holds";

/// What to do about a right that is missing.
pub(crate) const GRANTS: &str = "let the schema's owner run postgres/roles.sql for this role";

/// Why work on a connection did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server's or the connection's reason.
    Sql(tokio_postgres::Error),
    /// There is no connection, or the server does not answer: what happened.
    Unreachable(String),
    /// The server did not answer a COMMIT, so nobody knows whether it took effect: what happened.
    CommitUnknown(String),
    /// The transaction was made from a state that has changed since.
    Outdated,
    /// The database or the rights of the role are not as they must be: what was found, and what to do.
    Misconfigured(String),
    /// Not intact, or another program's: what was found.
    Damaged(String),
    /// Of a version that this program does not know and cannot work on: what was found.
    Newer(String),
    /// Not the database that the caller has read from.
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

    /// Whether the connection is gone, so that nobody knows what became of the statement.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            // The server ends a connection with whatever is fatal: a shutdown, or a time limit of idle sessions and
            // transactions.
            Self::Sql(error) => error.as_db_error().is_none_or(|error| {
                matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
                    || error.code().code().starts_with("08")
            }),
            Self::CommitUnknown(_) => true,
            _ => false,
        }
    }

    /// Whether a fresh connection may do better: this one is gone, or what it has prepared or found is.
    pub(crate) fn is_stale(&self) -> bool {
        self.is_lost()
            || self.state().is_some_and(|state| {
                [
                    SqlState::UNDEFINED_TABLE,
                    SqlState::INVALID_SCHEMA_NAME,
                    SqlState::INVALID_SQL_STATEMENT_NAME,
                    SqlState::FEATURE_NOT_SUPPORTED,
                    // It follows another server now.
                    SqlState::READ_ONLY_SQL_TRANSACTION,
                ]
                .contains(state)
            })
    }

    /// Whether a connection that was not had may be had in a moment: there are as many as are allowed, the server
    /// starts or recovers, or a time limit of the role, which counts until ours is set, ended its beginning.
    pub(crate) fn is_transient(&self) -> bool {
        let transient = [SqlState::TOO_MANY_CONNECTIONS, SqlState::CANNOT_CONNECT_NOW, SqlState::QUERY_CANCELED];
        self.state().is_some_and(|state| transient.contains(state))
    }

    /// Whether the role may not do what was asked.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.state() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// Whether the same transaction may succeed when it is made again: others were in its way.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Outdated)
            || self.state().is_some_and(|state| {
                [
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                    // Two new originals got one id at once; the second is refused when it looks again.
                    SqlState::UNIQUE_VIOLATION,
                ]
                .contains(state)
            })
    }

    /// The error of the crate, for a server that is waited for `waited_ms`.
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
            // Who may not even connect needs another right than those on the schema.
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) if !is_lost => {
                Error::StoreUnavailable { path, reason: format!("{reason}; {GRANTS}") }
            }
            // Our statements are constant: one that does not compile met foreign tables.
            Some(state) if !is_lost && (state.code().starts_with("XX") || state.code().starts_with("42")) => {
                Error::StoreDamaged { path, reason }
            }
            _ => Error::StoreUnavailable { path, reason },
        }
    }
}

/// The words of [`Failure::at`] where the server is not to be named.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sql(error) => f.write_str(&reason(error)),
            Self::Unreachable(reason)
            | Self::CommitUnknown(reason)
            | Self::Misconfigured(reason)
            | Self::Damaged(reason)
            | Self::Newer(reason) => f.write_str(reason),
            Self::Outdated => f.write_str("others were in the way"),
            Self::Replaced => f.write_str("it was replaced"),
            Self::NoRoom => f.write_str(NO_ROOM),
            Self::Other(error) => error.fmt(f),
        }
    }
}

/// A server's words with `***` for each name in quotes, as they are in its languages.
fn without_names(words: &str) -> String {
    let pairs = [('"', '"'), ('\'', '\''), ('«', '»'), ('»', '«'), ('„', '“'), ('“', '”'), ('「', '」')];
    let (mut told, mut rest) = (String::new(), words);
    while let Some((at, open)) = rest.char_indices().find(|(_, one)| pairs.iter().any(|(open, _)| open == one)) {
        let inside = &rest[at + open.len_utf8()..];
        let close = pairs.iter().find(|pair| pair.0 == open).map_or(open, |pair| pair.1);
        told.push_str(&rest[..at + open.len_utf8()]);
        told.push_str("***");
        let end = inside.find(close).unwrap_or(inside.len());
        rest = &inside[end..];
        if let Some(after) = rest.strip_prefix(close) {
            told.push(close);
            rest = after;
        }
    }
    told + rest
}

/// The server's words with their code, or all that is known of why a connection failed.
fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let code = error.code().code();
        // These name the user.
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

    /// The same refusals as servers of five languages word them, with a plain name and with one that looks like a
    /// token.
    #[test]
    fn a_servers_words_are_told_without_the_name_of_the_user() {
        for name in ["S3kr3t", "S3kr3t-with.more_of=it"] {
            for (before, after) in [
                ("password authentication failed for user \"", "\""),
                ("no pg_hba.conf entry for host \"10.0.0.1\", user \"", "\", database \"x\", no encryption"),
                ("Passwort-Authentifizierung für Benutzer »", "« fehlgeschlagen"),
                ("authentification par mot de passe échouée pour l'utilisateur « ", " »"),
                ("too many connections for role \"", "\""),
                ("role \"", "\" does not exist"),
            ] {
                let told = without_names(&format!("{before}{name}{after}"));
                assert!(!told.contains("S3kr3t") && told.contains("***"), "{told}");
            }
        }
    }
}
