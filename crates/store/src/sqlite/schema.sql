-- Version 1 of the schema, frozen at the first release. `schema.rs` says how a further version is added.
--
-- Times are in milliseconds since 1970, days are days since 1970, and bills are in input tokens.

-- The known sessions. One row per agent and session.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  session_key TEXT, -- the host's name of the conversation, where the host has given it
  last_seen INTEGER NOT NULL, -- when its context was last assembled
  tools BLOB CHECK (tools IS NULL OR length(tools) = 32), -- a hash of the tools of the last assembled context
  held INTEGER NOT NULL DEFAULT 0, -- whether it keeps all that it was granted until its host ends it
  ended_at INTEGER, -- NULL while it has not ended
  parent INTEGER REFERENCES sessions (id) ON DELETE SET NULL, -- the session that this one works for
  is_off INTEGER NOT NULL DEFAULT 0, -- whether nothing more is folded in it
  UNIQUE (session_id, agent_id)
);
CREATE INDEX sessions_by_parent ON sessions (parent);

-- The hosts that have a held session. The session ends when the last of them no longer has it.
CREATE TABLE session_hosts (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  PRIMARY KEY (session, host)
) WITHOUT ROWID;
CREATE INDEX session_hosts_by_host ON session_hosts (host);

-- The time at which a host last reported its sessions.
CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;

-- The originals, one row per content. A row is written once and never updated.
CREATE TABLE originals (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  ref_id TEXT NOT NULL, -- what markers print
  mime TEXT, -- NULL for text
  label TEXT NOT NULL,
  size INTEGER NOT NULL,
  is_zstd INTEGER NOT NULL,
  payload BLOB NOT NULL
);

-- The originals that a session may see. They have their own table because most turns write it and none rewrites a
-- payload.
CREATE TABLE grants (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  original INTEGER NOT NULL REFERENCES originals (id) ON DELETE CASCADE,
  granted_at INTEGER NOT NULL,
  left_at INTEGER, -- when it left the session's context; NULL while it is in the context
  PRIMARY KEY (session, original)
) WITHOUT ROWID;
CREATE INDEX grants_by_original ON grants (original);

-- How blocks are shown. A row is removed with the session's grant of its original. Ids are never used again, because a
-- query for rows newer than an id must find every row.
CREATE TABLE projections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  block BLOB NOT NULL CHECK (length(block) = 32),
  place INTEGER NOT NULL,
  replacement TEXT NOT NULL,
  original INTEGER NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (session, block, place),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
CREATE INDEX projections_by_original ON projections (session, original);

-- Texts of ours that were shown to a session.
CREATE TABLE printed (
  session INTEGER NOT NULL,
  text BLOB NOT NULL CHECK (length(text) = 32),
  is_answer INTEGER NOT NULL,
  original INTEGER NOT NULL,
  saved INTEGER NOT NULL, -- by how many tokens it is shorter than what a host without us would show
  PRIMARY KEY (session, text),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX printed_by_original ON printed (session, original);

-- Marks of people and agents on content in a session, or on the session itself (records.rs).
CREATE TABLE marks (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  content BLOB NOT NULL CHECK (length(content) = 32),
  at INTEGER NOT NULL,
  PRIMARY KEY (session, kind, content)
) WITHOUT ROWID;

-- The signatures of originals that searches of a session have read. They are derived from the originals.
CREATE TABLE signatures (
  session INTEGER NOT NULL,
  original INTEGER NOT NULL,
  bits BLOB NOT NULL,
  PRIMARY KEY (session, original),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE turns (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  advancement_key TEXT NOT NULL, -- the host's name of the turn
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

-- Model calls: what was sent, and what would have been sent without folding. Counts are tokens.
CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  is_measured INTEGER NOT NULL, -- whether the provider reported the tokens
  counted INTEGER, -- of the messages that our assembly made for this call; NULL where it was not the first one after it
  growth_reported INTEGER, -- by how much the session's requests grew so far, as the provider reports it
  growth_counted INTEGER, -- and as we count it; both NULL where no assembly of ours is known
  sent INTEGER NOT NULL,
  without INTEGER NOT NULL,
  dropped INTEGER NOT NULL, -- what the request without us would have had in addition if the host had never compacted
  overhead INTEGER NOT NULL, -- of those sent: guidance and fetch tool
  fetched INTEGER NOT NULL, -- of those sent: what fetching put there
  protected INTEGER NOT NULL, -- of those sent: what was old enough to fold and stayed because it is protected
  sent_bill REAL NOT NULL,
  without_bill REAL NOT NULL,
  without_under REAL NOT NULL, -- how much smaller the bill without us may have been
  without_over REAL NOT NULL, -- how much larger
  answered INTEGER, -- tokens of the answer; NULL where nobody reported them
  answer_bill REAL, -- NULL where the tokens or their price are unknown
  usd REAL -- price of one input token in dollars; NULL where it is unknown
);
CREATE INDEX requests_by_session ON requests (session);

-- Originals that a session's model asked for again.
CREATE TABLE fetches (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  ref_id TEXT NOT NULL,
  tokens INTEGER NOT NULL, -- of the answer
  tool TEXT NOT NULL, -- that the original came from
  is_rerun INTEGER NOT NULL -- whether the tool was called again instead of a fetch
);
CREATE INDEX fetches_by_session ON fetches (session);

-- Tokens that were folded, by day and kind.
CREATE TABLE folded (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  kind TEXT NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL,
  PRIMARY KEY (session, day, kind)
) WITHOUT ROWID;

-- Totals of the sessions that a sweep forgot. One row.
CREATE TABLE swept (
  turns INTEGER NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL
);
INSERT INTO swept VALUES (0, 0, 0);

-- Totals of the requests of these sessions, by day.
CREATE TABLE swept_requests (
  day INTEGER PRIMARY KEY,
  requests INTEGER NOT NULL,
  measured INTEGER NOT NULL,
  bypassed INTEGER NOT NULL,
  compacting INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  without INTEGER NOT NULL,
  overhead INTEGER NOT NULL,
  fetched INTEGER NOT NULL,
  protected INTEGER NOT NULL,
  unpriced INTEGER NOT NULL, -- requests without a price in dollars
  answered INTEGER NOT NULL,
  answer_tokens INTEGER NOT NULL,
  unpriced_answers INTEGER NOT NULL,
  fetches INTEGER NOT NULL,
  sent_bill REAL NOT NULL,
  without_bill REAL NOT NULL,
  under_bill REAL NOT NULL,
  over_bill REAL NOT NULL,
  answer_bill REAL NOT NULL,
  without_answer_bill REAL NOT NULL,
  sent_usd REAL NOT NULL,
  without_usd REAL NOT NULL,
  under_usd REAL NOT NULL,
  over_usd REAL NOT NULL,
  answer_usd REAL NOT NULL,
  without_answer_usd REAL NOT NULL
);

-- The access of a session to an original: if it may still be shown, and when it was last referred to. This view alone
-- decides how long a session keeps a grant.
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
