//! How long and how much a store keeps.
//!
//! Every opener has its own options, also where several open one file. Only how long a *session* is kept
//! ([`Retention`]) is written into the file, so that no opener removes what another one holds.

use super::time::Millis;

/// How long and how much a store keeps, and how long it waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoreOptions {
    /// How many seconds an original lives after the last time a context referred to it. One in a context may live one
    /// percent longer, because the time of a session is written no more often than that.
    pub ttl_seconds: u64,
    /// Largest size of the content on disk, in bytes. A commit at the limit first removes what no live session shows,
    /// and fails when that is not enough.
    pub max_bytes: u64,
    /// How many originals are held in memory after reading, within 64 MB; the disk holds more.
    pub max_entries: u64,
    /// How many milliseconds to wait for another process's lock.
    pub busy_timeout_ms: u64,
    /// When the time to live of what a session was shown begins.
    pub retention: Retention,
    /// With [`Retention::Held`], which host holds the sessions that are written to: any name that no other host has and
    /// that stays. A session ends when the last host that had it does not list it any more
    /// ([`super::store::Store::settle`]); one that lists nothing for 90 days counts as gone.
    pub host: String,
}

/// When the time to live of a session's originals begins.
///
/// It becomes a property of the session: every opener of the file respects it, whatever its own retention is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retention {
    /// When a context last referred to an original. For callers who do not say when a session ends.
    #[default]
    Clock,
    /// When the host ends the session ([`super::store::Store::end_session`], [`super::store::Store::settle`]). Until
    /// then all that the session was ever granted stays, because a branch, a compaction or an export may show any of it
    /// again.
    Held,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            ttl_seconds: 24 * 60 * 60,
            max_bytes: 1 << 30,
            max_entries: 10_000,
            busy_timeout_ms: 2000,
            retention: Retention::default(),
            host: String::new(),
        }
    }
}

impl StoreOptions {
    /// Returns the host that holds the sessions that are written to, where one does.
    pub fn holder(&self) -> Option<&str> {
        (self.retention == Retention::Held).then_some(self.host.as_str())
    }

    /// How old the recorded time of a session may be before an assembly that changes nothing writes it again.
    pub fn touch_interval_ms(&self) -> Millis {
        self.ttl_ms() / 100
    }

    /// What was last referred to before this time is expired.
    pub fn expired_before(&self, now: Millis) -> Millis {
        now.saturating_sub(self.ttl_ms()).saturating_sub(self.touch_interval_ms())
    }

    fn ttl_ms(&self) -> Millis {
        Millis::try_from(self.ttl_seconds).unwrap_or(Millis::MAX).saturating_mul(1000)
    }
}
