//! Options of a store: retention and limits.
//!
//! Every opener of a file has its own options. Only the retention of a *session* ([`Retention`]) is written into the
//! file, so that no opener removes what another one holds.

use super::time::Millis;

/// The retention, limits and timeout of a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoreOptions {
    /// The lifetime of an original after the last time a context referred to it, in seconds. An original in a context
    /// may live one percent longer, because the time of a session is written no more often than that.
    pub ttl_seconds: u64,
    /// The maximum size of the content on disk, in bytes. A commit at the limit first removes what no live session
    /// shows, and fails if that is not enough.
    pub max_bytes: u64,
    /// The maximum number of originals in the read cache, within 64 MB. The number on disk is not limited.
    pub max_entries: u64,
    /// The time to wait for another process's lock, in milliseconds.
    pub busy_timeout_ms: u64,
    /// The event that starts the lifetime of what a session was shown.
    pub retention: Retention,
    /// The name of the host that holds the sessions written with [`Retention::Held`]. It must be unique and permanent.
    /// A session ends when the last host that had it no longer lists it ([`super::store::Store::settle`]). A host that
    /// lists nothing for 90 days is gone.
    pub host: String,
}

/// The event that starts the lifetime of a session's originals.
///
/// It becomes a property of the session: every opener of the file respects it, whatever its own retention is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retention {
    /// The lifetime starts when a context last referred to an original. For callers that do not report the end of a
    /// session.
    #[default]
    Clock,
    /// The lifetime starts when the host ends the session ([`super::store::Store::end_session`],
    /// [`super::store::Store::settle`]). Until then, everything the session was granted is kept, because a branch, a
    /// compaction or an export may show it again.
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

/// The divisor that gives the touch interval as a share of the lifetime: originals live at most one percent longer.
const TOUCH_INTERVAL_DIVISOR: Millis = 100;

/// The divisor that gives the share of the size limit that is freed in addition to what a commit needs, so that not
/// every commit at the limit has to search for removable originals. Chosen by judgement.
const EVICTION_MARGIN_DIVISOR: u64 = 20;

impl StoreOptions {
    /// Returns the host that holds the sessions that are written to; `None` with [`Retention::Clock`].
    pub fn holder(&self) -> Option<&str> {
        (self.retention == Retention::Held).then_some(self.host.as_str())
    }

    /// Returns the maximum age of a session's recorded time, after which an assembly that changes nothing writes it
    /// again.
    pub fn touch_interval_ms(&self) -> Millis {
        self.ttl_ms() / TOUCH_INTERVAL_DIVISOR
    }

    /// Returns the size in bytes down to which content is evicted for a commit of this many bytes at the limit.
    pub fn eviction_target(&self, needed: u64) -> u64 {
        self.max_bytes.saturating_sub(needed).saturating_sub(self.max_bytes / EVICTION_MARGIN_DIVISOR)
    }

    /// Returns the time such that an original last referred to before it is expired.
    pub fn expired_before(&self, now: Millis) -> Millis {
        now.saturating_sub(self.ttl_ms()).saturating_sub(self.touch_interval_ms())
    }

    fn ttl_ms(&self) -> Millis {
        Millis::try_from(self.ttl_seconds).unwrap_or(Millis::MAX).saturating_mul(1000)
    }
}
