//! What a session may see, and which of it its context refers to, as statements.
//!
//! Seeing is granted by a put, by inheriting, and by referring to what another session of the same agent was granted; a mention
//! of anything else opens nothing.

/// Lets a session see originals, from now on as part of its context.
pub(crate) const GRANT: &str = "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT $1, id, $3, NULL FROM originals WHERE hash = ANY($2::bytea[])
     ON CONFLICT (session, original) DO UPDATE SET granted_at = excluded.granted_at, left_at = NULL";

/// Those of some originals that any session of this agent was granted, or one that works for it.
pub(crate) const GRANTED: &str = "SELECT hash FROM originals WHERE hash = ANY($1::bytea[])
     AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND $2 IN (agent, parent_agent))";

/// Shares those with a session of the agent that does not have them.
pub(crate) const SHARE: &str = "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT $1, id, $4, NULL FROM originals WHERE hash = ANY($2::bytea[])
     AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND $3 IN (agent, parent_agent))
     ON CONFLICT (session, original) DO NOTHING";

/// What is no longer in the context leaves it. What others have folded since the row `$3` is in it, though its maker did not know.
pub(crate) const LEAVE: &str = "UPDATE grants SET left_at = $4 WHERE session = $1 AND left_at IS NULL
     AND original NOT IN (SELECT id FROM originals WHERE hash = ANY($2::bytea[]))
     AND NOT EXISTS (SELECT 1 FROM projections
       WHERE projections.session = $1 AND projections.original = grants.original AND projections.id > $3)";

/// What is new in the context enters it. Hashes that the agent may not see do not count: naming one must not open it.
pub(crate) const ENTER: &str = "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT $1, id, $4, NULL FROM originals WHERE hash = ANY($2::bytea[])
     AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND $5 IN (agent, parent_agent))
     AND NOT EXISTS (SELECT 1 FROM grants WHERE session = $1 AND original = originals.id AND left_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM projections
         WHERE projections.session = $1 AND projections.original = originals.id AND projections.id > $3))
     ON CONFLICT (session, original) DO UPDATE SET granted_at = excluded.granted_at, left_at = NULL";

/// Records that a session was seen, and its tools.
pub(crate) const SEEN: &str =
    "UPDATE sessions SET last_seen = coalesce($2::bigint, last_seen), tools = coalesce($3::bytea, tools) WHERE id = $1";
