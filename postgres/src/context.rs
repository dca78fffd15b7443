//! Statements for the grants of a session and for its context. The first parameters of most are session and agent.
//!
//! A session is granted an original by a put, by inheritance, or by referring to one that another session of the same
//! agent was granted. A mention of any other original grants nothing.

use crate::scope::session;

/// Grants a session the originals that are stored under the ids of their placeholders, and marks them as part of its
/// context. An original that was not sent may have been removed since it was looked up.
pub(crate) const GRANT_ORIGINALS: &str = concat!(
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

/// Refuses originals that were granted neither to a session of this agent nor to a session that works for it.
pub(crate) const REFUSE_UNGRANTED: &str =
    "SELECT refuse('not granted', encode(given.hash, 'hex')) FROM unnest($2::bytea[]) AS given (hash)
     WHERE NOT EXISTS (SELECT 1 FROM originals JOIN access ON access.original = originals.id
       WHERE originals.hash = given.hash AND $1 IN (agent, parent_agent))";

/// Grants the session those originals, unless it has them already.
pub(crate) const GRANT_SHARED: &str = concat!(
    "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT ",
    session!(),
    ", id, moment($4::bigint), NULL FROM originals WHERE hash = ANY($3::bytea[])
     AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND $2 IN (agent, parent_agent))
     ON CONFLICT (session, original) DO NOTHING"
);

/// Marks originals that are no longer in the context. An original that another writer has folded since the row `$4`
/// stays in the context, because the batch's maker did not know of it.
pub(crate) const MARK_LEFT: &str = concat!(
    "UPDATE grants SET left_at = moment($5::bigint) WHERE session = ",
    session!(),
    " AND left_at IS NULL
     AND original NOT IN (SELECT id FROM originals WHERE hash = ANY($3::bytea[]))
     AND NOT EXISTS (SELECT 1 FROM projections WHERE projections.session = ",
    session!(),
    " AND projections.original = grants.original AND projections.id > $4)"
);

/// Marks originals that are new in the context. Hashes that the agent may not see are ignored, because naming an
/// original must not grant it.
pub(crate) const MARK_ENTERED: &str = concat!(
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

/// Records when a session was last seen (if `$3`) and its tools. `last_seen` never goes back, so a clock that was set
/// back does not make a session old.
pub(crate) const MARK_SEEN: &str = "UPDATE sessions SET tools = coalesce($5::bytea, tools),
       last_seen = CASE WHEN $3::boolean THEN greatest(last_seen, moment($4::bigint)) ELSE last_seen END WHERE
         session = $1 AND agent = $2";
