//! How statements name a session: by the hashes of its names, which every statement is told first.

/// The row of the session `$1` of the agent `$2`.
macro_rules! session {
    () => {
        "(SELECT id FROM sessions WHERE session = $1 AND agent = $2)"
    };
}
pub(crate) use session;
