//! What a session may see, and which of it its context refers to, as statements. All are told session and agent first.
//!
//! Seeing is granted by a put, by inheriting, and by referring to what another session of the same agent was granted; a
//! mention of anything else opens nothing.

use crate::scope::session;

/// Lets a session see originals that are stored under the ids that their markers print, from now on as part of its
/// context. One that was not sent may be gone since it was looked for.
pub(crate) const PUT: &str = concat!(
    "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT ",
    session!(),
    ", stored.id, moment($5::bigint), NULL FROM unnest($3::bytea[], $4::text[]) AS given (hash, id)
     LEFT JOIN LATERAL (SELECT id, ref_id FROM originals WHERE originals.hash = given.hash OFFSET 0) AS stored ON true
     WHERE CASE WHEN stored.id IS NULL THEN refuse('outdated', given.id)
       WHEN NOT starts_with(given.id, stored.ref_id) THEN refuse('taken', given.id) ELSE true END
     GROUP BY stored.id
     ON CONFLICT (session, original) DO UPDATE SET granted_at = excluded.granted_at, left_at = NULL"
);

/// Refuses originals that no session of this agent was granted, nor one that works for it.
pub(crate) const GRANTED: &str =
    "SELECT refuse('not granted', encode(given.hash, 'hex')) FROM unnest($2::bytea[]) AS given (hash)
     WHERE NOT EXISTS (SELECT 1 FROM originals JOIN access ON access.original = originals.id
       WHERE originals.hash = given.hash AND $1 IN (agent, parent_agent))";

/// Shares those with a session of the agent that does not have them.
pub(crate) const SHARE: &str = concat!(
    "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT ",
    session!(),
    ", id, moment($4::bigint), NULL FROM originals WHERE hash = ANY($3::bytea[])
     AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND $2 IN (agent, parent_agent))
     ON CONFLICT (session, original) DO NOTHING"
);

/// What is no longer in the context leaves it. What others have folded since the row `$4` is in it, though its maker
/// did not know.
pub(crate) const LEAVE: &str = concat!(
    "UPDATE grants SET left_at = moment($5::bigint) WHERE session = ",
    session!(),
    " AND left_at IS NULL
     AND original NOT IN (SELECT id FROM originals WHERE hash = ANY($3::bytea[]))
     AND NOT EXISTS (SELECT 1 FROM projections WHERE projections.session = ",
    session!(),
    " AND projections.original = grants.original AND projections.id > $4)"
);

/// What is new in the context enters it. Hashes that the agent may not see do not count: naming one must not open it.
pub(crate) const ENTER: &str = concat!(
    "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT ",
    session!(),
    ", id, moment($5::bigint), NULL FROM originals WHERE hash = ANY($3::bytea[])
     AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND $2 IN (agent, parent_agent))
     AND NOT EXISTS (SELECT 1 FROM grants WHERE session = ",
    session!(),
    " AND original = originals.id AND left_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM projections WHERE projections.session = ",
    session!(),
    " AND projections.original = originals.id AND projections.id > $4))
     ON CONFLICT (session, original) DO UPDATE SET granted_at = excluded.granted_at, left_at = NULL"
);

/// Records that a session was seen, where `$3`, and its tools. A clock that went back makes nothing old.
pub(crate) const SEEN: &str = "UPDATE sessions SET tools = coalesce($5::bytea, tools),
       last_seen = CASE WHEN $3::boolean THEN greatest(last_seen, moment($4::bigint)) ELSE last_seen END WHERE
         session = $1 AND agent = $2";
