-- Version 1. A file of this version is opened for ever; changes go into a further version.

-- Whose conversations there are. One row per agent and session.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  last_seen INTEGER NOT NULL, -- when its context was last assembled; milliseconds since 1970, as all times here
  UNIQUE (session_id, agent_id)
);

-- The bytes, once per content. Written once, never updated.
CREATE TABLE originals (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  ref_id TEXT NOT NULL, -- what markers print
  mime TEXT,            -- NULL for text
  label TEXT NOT NULL,
  size INTEGER NOT NULL,
  is_zstd INTEGER NOT NULL,
  payload BLOB NOT NULL
);

-- Which session may see which original. Apart from the payloads, because it is written on most turns.
CREATE TABLE grants (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  original INTEGER NOT NULL REFERENCES originals (id) ON DELETE CASCADE,
  granted_at INTEGER NOT NULL,
  left_at INTEGER, -- when it left the session's context; NULL while in it
  PRIMARY KEY (session, original)
) WITHOUT ROWID;
CREATE INDEX grants_by_original ON grants (original);

-- How blocks are shown. A row lives no longer than the session's access to the original that it refers to.
CREATE TABLE projections (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  block BLOB NOT NULL CHECK (length(block) = 32),
  place INTEGER NOT NULL,
  replacement TEXT NOT NULL,
  original INTEGER NOT NULL,
  UNIQUE (session, block, place),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
CREATE INDEX projections_by_original ON projections (session, original);

-- Texts of ours that a session was shown.
CREATE TABLE printed (
  session INTEGER NOT NULL,
  text BLOB NOT NULL CHECK (length(text) = 32),
  is_answer INTEGER NOT NULL,
  original INTEGER NOT NULL,
  PRIMARY KEY (session, text),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX printed_by_original ON printed (session, original);

CREATE TABLE turns (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  advancement_key TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, advancement_key)
) WITHOUT ROWID;

CREATE TABLE receipts (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL,
  detail TEXT NOT NULL
);
CREATE INDEX receipts_by_session ON receipts (session);

CREATE TABLE epochs (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  tokens_freed INTEGER NOT NULL,
  tokens_rebilled INTEGER NOT NULL,
  blocks INTEGER NOT NULL
);
CREATE INDEX epochs_by_session ON epochs (session);

-- What sessions that a sweep forgot had added up to. One row.
CREATE TABLE swept (
  turns INTEGER NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL
);
INSERT INTO swept VALUES (0, 0, 0);

-- Who may see what, and when it was last referred to.
CREATE VIEW access AS
SELECT
  grants.session,
  grants.original,
  sessions.agent_id,
  grants.left_at IS NULL AS in_context,
  coalesce(grants.left_at, max(grants.granted_at, sessions.last_seen)) AS referred_at
FROM grants JOIN sessions ON sessions.id = grants.session;
