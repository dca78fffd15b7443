//! Which host has a held session, and what a host's list of its sessions changes: the rule that every backend keeps.
//!
//! Several hosts may have one store: two gateways with one directory, many with one database. Each lists its own sessions only, so a session
//! ends when the last host that had it no longer lists it.

use std::collections::BTreeSet;

use super::Millis;
use super::sums::DAY_MS;

/// How long a session may be unknown to its host before that counts as its end.
const UNLISTED_MS: Millis = 600_000;

/// After how long a host that tells nothing any more counts as gone, with all that it had.
pub const GONE_MS: Millis = 90 * TOLD_MS;

/// How long what a host has told counts as told, where nothing changed.
pub const TOLD_MS: Millis = DAY_MS;

/// A held session, as it stands when a host tells its list.
#[derive(Debug, Clone)]
pub struct HeldSession {
    /// Its row.
    pub id: i64,
    /// Its name.
    pub session_id: String,
    /// When it was last at work.
    pub last_seen: Millis,
    /// When it ended.
    pub ended_at: Option<Millis>,
    /// Whether the host that tells has it.
    pub is_here: bool,
    /// Whether another host has it.
    pub is_elsewhere: bool,
}

/// What a host's list changes: rows of sessions.
#[derive(Debug, Default)]
pub struct Unsettled {
    /// They are here, too, and have not ended.
    pub found: Vec<i64>,
    /// They are no longer here.
    pub left: Vec<i64>,
    /// They are nowhere any more.
    pub ended: Vec<i64>,
}

impl Unsettled {
    /// Looks at one held session.
    pub fn take(&mut self, held: &HeldSession, alive: &BTreeSet<String>, now: Millis) {
        if alive.contains(&held.session_id) {
            if !held.is_here || held.ended_at.is_some() {
                self.found.push(held.id);
            }
        } else if now.saturating_sub(held.last_seen) > UNLISTED_MS {
            if held.is_here {
                self.left.push(held.id);
            }
            if !held.is_elsewhere && held.ended_at.is_none() {
                self.ended.push(held.id);
            }
        }
    }

    /// Whether the list says what is known already.
    pub fn is_nothing(&self) -> bool {
        self.found.is_empty() && self.left.is_empty() && self.ended.is_empty()
    }
}
