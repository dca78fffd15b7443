-- Version 3.

-- A held session keeps all that it was granted until its host ends it.
ALTER TABLE sessions ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN ended_at INTEGER; -- NULL while it has not ended
-- The session that this one works for.
ALTER TABLE sessions ADD COLUMN parent INTEGER REFERENCES sessions (id) ON DELETE SET NULL;
CREATE INDEX sessions_by_parent ON sessions (parent);

-- Projections say why, and their ids are never used again: "newer than" must find every row.
CREATE TABLE projections_3 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  block BLOB NOT NULL CHECK (length(block) = 32),
  place INTEGER NOT NULL,
  replacement TEXT NOT NULL,
  original INTEGER NOT NULL,
  reason TEXT NOT NULL DEFAULT 'stale',
  UNIQUE (session, block, place),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
INSERT INTO projections_3 (id, session, block, place, replacement, original)
  SELECT id, session, block, place, replacement, original FROM projections;
DROP TABLE projections;
ALTER TABLE projections_3 RENAME TO projections;
CREATE INDEX projections_by_original ON projections (session, original);

-- Who may see what, whether it may still be shown, and when it was last referred to. The one place that knows how long
-- sessions of either kind keep what they were granted.
DROP VIEW access;
CREATE VIEW access AS
SELECT
  grants.session,
  grants.original,
  sessions.agent_id,
  parents.agent_id AS parent_agent_id,
  CASE WHEN sessions.held THEN sessions.ended_at IS NULL ELSE grants.left_at IS NULL END AS live,
  sessions.held AND sessions.ended_at IS NOT NULL AS ended,
  CASE WHEN sessions.held THEN coalesce(sessions.ended_at, 9223372036854775807)
    ELSE coalesce(grants.left_at, max(grants.granted_at, sessions.last_seen)) END AS referred_at
FROM grants JOIN sessions ON sessions.id = grants.session LEFT JOIN sessions AS parents ON parents.id = sessions.parent;
