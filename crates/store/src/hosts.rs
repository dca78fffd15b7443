//! The rule, common to all backends, for which hosts have a held session and what a host's list of its sessions
//! changes.
//!
//! Several hosts may share one store: two gateways with one directory, many with one database. Each lists only its own
//! sessions, so a session ends when the last host that had it no longer lists it.

use std::collections::BTreeSet;

use super::row::{BadColumn, Row};
use super::time::{DAY_MS, Millis};

/// The time for which a session may be missing from its host's list before it ends. The host may not list it yet.
const UNLISTED_MS: Millis = 600_000;

/// The time without a report after which a host is gone, with all its sessions.
pub const GONE_MS: Millis = 90 * DAY_MS;

/// The time for which a list that changes nothing is not recorded again.
pub const REPORTED_MS: Millis = DAY_MS;

/// The SQL after `SELECT` that returns each held session for [`HostChanges::read`]. The first parameter is the host
/// that reports; its number is written after `?`.
pub const HELD_SESSIONS: &str = "id, session_id, last_seen, ended_at,
       EXISTS (SELECT 1 FROM session_hosts WHERE session_hosts.session = sessions.id AND host = ?1),
       EXISTS (SELECT 1 FROM session_hosts WHERE session_hosts.session = sessions.id AND host <> ?1)
     FROM sessions WHERE held";

/// The changes that a host's list makes, as row ids of sessions.
#[derive(Debug, Default)]
pub struct HostChanges {
    /// Sessions that this host has and that are not yet recorded so, or whose end is taken back.
    pub added: Vec<i64>,
    /// Sessions that this host no longer has.
    pub removed: Vec<i64>,
    /// Sessions that no host has and that end now.
    pub ended: Vec<i64>,
}

impl HostChanges {
    /// Compares the rows of [`HELD_SESSIONS`] with the sessions that a host lists.
    ///
    /// # Errors
    /// [`BadColumn`] for a row of another form.
    pub fn read(held: &[Row], listed: &BTreeSet<String>, now: Millis) -> Result<Self, BadColumn> {
        let mut changes = Self::default();
        for row in held {
            let (id, session_id, last_seen) = (row.get(0)?, row.get::<String>(1)?, row.get(2)?);
            let (ended_at, is_here, is_elsewhere) =
                (row.get::<Option<Millis>>(3)?, row.get::<bool>(4)?, row.get::<bool>(5)?);
            if listed.contains(&session_id) {
                if !is_here || ended_at.is_some() {
                    changes.added.push(id);
                }
            } else if now.saturating_sub(last_seen) > UNLISTED_MS {
                if is_here {
                    changes.removed.push(id);
                }
                if !is_elsewhere && ended_at.is_none() {
                    changes.ended.push(id);
                }
            }
        }
        Ok(changes)
    }

    /// Returns true if the list changes nothing.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.ended.is_empty()
    }
}
