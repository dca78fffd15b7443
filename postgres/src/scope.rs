//! SQL fragments that identify a session by the hashes of its names, which are the first parameters of every statement.

/// Selects the id of the session `$1` of the agent `$2`.
macro_rules! session {
    () => {
        "(SELECT id FROM sessions WHERE session = $1 AND agent = $2)"
    };
}
pub(crate) use session;
