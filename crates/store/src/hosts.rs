//! Which hosts have a held session, and what a host's list of its sessions changes: the rule that every backend keeps.
//!
//! Several hosts may share one store: two gateways with one directory, many with one database. Each lists its own
//! sessions only, so a session ends when the last host that had it no longer lists it.

use std::collections::BTreeSet;

use super::row::{BadColumn, Row};
use super::time::{DAY_MS, Millis};

/// How long a session may be missing from its host's list before that counts as its end: the host may not list it yet.
const UNLISTED_MS: Millis = 600_000;

/// A host that has not reported for this long counts as gone, with all that it had.
pub const GONE_MS: Millis = 90 * DAY_MS;

/// A list that changes nothing is not recorded again for this long.
pub const REPORTED_MS: Millis = DAY_MS;

/// What a backend selects of each held session for [`HostChanges::read`], as the SQL after `SELECT`. The first
/// parameter is the host that reports; `?` stands before its number.
pub const HELD_SESSIONS: &str = "id, session_id, last_seen, ended_at,
       EXISTS (SELECT 1 FROM session_hosts WHERE session_hosts.session = sessions.id AND host = ?1),
       EXISTS (SELECT 1 FROM session_hosts WHERE session_hosts.session = sessions.id AND host <> ?1)
     FROM sessions WHERE held";

/// What a host's list changes: rows of sessions.
#[derive(Debug, Default)]
pub struct HostChanges {
    /// Sessions that this host has, too, and that have not ended.
    pub found: Vec<i64>,
    /// Sessions that this host no longer has.
    pub left: Vec<i64>,
    /// Sessions that no host has any more.
    pub ended: Vec<i64>,
}

impl HostChanges {
    /// Compares the rows of [`HELD_SESSIONS`] with the sessions that a host lists.
    ///
    /// # Errors
    /// [`BadColumn`].
    pub fn read(held: &[Row], listed: &BTreeSet<String>, now: Millis) -> Result<Self, BadColumn> {
        let mut changes = Self::default();
        for row in held {
            let (id, session_id, last_seen) = (row.get(0)?, row.get::<String>(1)?, row.get(2)?);
            let (ended_at, is_here, is_elsewhere) =
                (row.get::<Option<Millis>>(3)?, row.get::<bool>(4)?, row.get::<bool>(5)?);
            if listed.contains(&session_id) {
                if !is_here || ended_at.is_some() {
                    changes.found.push(id);
                }
            } else if now.saturating_sub(last_seen) > UNLISTED_MS {
                if is_here {
                    changes.left.push(id);
                }
                if !is_elsewhere && ended_at.is_none() {
                    changes.ended.push(id);
                }
            }
        }
        Ok(changes)
    }

    /// Returns true if the list says what is known already.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.left.is_empty() && self.ended.is_empty()
    }
}
