-- Version 1. A schema of this version is opened for ever; changes go into a further version.
--
-- What callers name is looked up by its SHA-256, because a key of an index may have no more than 2,700 bytes. Text is written with
-- U+0000 escaped (src/text.rs), because TEXT cannot hold it. Times are in milliseconds since 1970.

-- Which store this is. One row. Another program's schema has no such table.
CREATE TABLE store (
  version INTEGER NOT NULL,
  oldest INTEGER NOT NULL, -- the oldest version whose programs work on this one
  identity BIGINT NOT NULL -- drawn when the store was made
);
INSERT INTO store VALUES (1, 1, ('x' || substr(md5(gen_random_uuid()::text), 1, 15))::bit(60)::bigint);

-- What a caller was told of the time, or the time of this server.
CREATE FUNCTION moment(told BIGINT) RETURNS BIGINT LANGUAGE sql VOLATILE
  RETURN coalesce(told, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);

-- Whose conversations there are. One row per agent and session.
CREATE TABLE sessions (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BYTEA NOT NULL CHECK (length(session) = 32), -- SHA-256 of session_id
  agent BYTEA NOT NULL CHECK (length(agent) = 32),     -- SHA-256 of agent_id
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_key TEXT, -- the host's name of the conversation, where it has said it
  last_seen BIGINT NOT NULL, -- when its context was last assembled
  tools BYTEA CHECK (length(tools) = 32), -- a hash of those that its last assembled context had
  held BOOLEAN NOT NULL DEFAULT FALSE, -- keeps all that it was granted until its host ends it
  ended_at BIGINT, -- NULL while it has not ended
  -- The session that this one works for; deferrable, because rows that are copied from another store may refer to later ones.
  parent BIGINT REFERENCES sessions (id) ON DELETE SET NULL DEFERRABLE,
  is_off BOOLEAN NOT NULL DEFAULT FALSE, -- whether nothing more is to be folded in it
  UNIQUE (session, agent)
) WITH (fillfactor = 70);
CREATE INDEX sessions_by_parent ON sessions (parent);

-- Where a held session's transcript is: it ends when the last of its hosts no longer has it.
CREATE TABLE homes (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  PRIMARY KEY (session, host)
);
CREATE INDEX homes_by_host ON homes (host);

-- When a host last told its sessions.
CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  seen_at BIGINT NOT NULL
);

-- The bytes, once per content. Written once, never updated.
CREATE TABLE originals (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
  ref_id TEXT COLLATE "C" NOT NULL UNIQUE, -- what markers print
  mime TEXT, -- NULL for text
  label TEXT NOT NULL,
  size BIGINT NOT NULL,
  is_zstd BOOLEAN NOT NULL,
  payload BYTEA NOT NULL
);
-- Packed already.
ALTER TABLE originals ALTER payload SET STORAGE EXTERNAL;

-- How much is stored, as changes: a sum is right without a row that every commit has to wait for.
CREATE TABLE usage (
  originals BIGINT NOT NULL,
  bytes BIGINT NOT NULL -- of payloads
);

-- Which session may see which original.
CREATE TABLE grants (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  original BIGINT NOT NULL REFERENCES originals (id) ON DELETE CASCADE,
  granted_at BIGINT NOT NULL,
  left_at BIGINT, -- when it left the session's context; NULL while in it
  PRIMARY KEY (session, original)
);
CREATE INDEX grants_by_original ON grants (original);

-- How blocks are shown. A row lives no longer than the session's access to the original that it refers to. Ids only grow within a
-- session, because whoever writes one has locked the session's row.
CREATE TABLE projections (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL,
  block BYTEA NOT NULL CHECK (length(block) = 32),
  place BIGINT NOT NULL,
  replacement TEXT NOT NULL,
  original BIGINT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (session, block, place),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
CREATE INDEX projections_by_original ON projections (session, original);
CREATE INDEX projections_by_session ON projections (session, id);

-- Texts of ours that a session was shown.
CREATE TABLE printed (
  session BIGINT NOT NULL,
  text BYTEA NOT NULL CHECK (length(text) = 32),
  is_answer BOOLEAN NOT NULL,
  original BIGINT NOT NULL,
  saved BIGINT NOT NULL, -- tokens fewer than what a host without us would show
  PRIMARY KEY (session, text),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
CREATE INDEX printed_by_original ON printed (session, original);

CREATE TABLE turns (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  advancement BYTEA NOT NULL CHECK (length(advancement) = 32), -- SHA-256 of advancement_key
  advancement_key TEXT NOT NULL, -- what the host knows the turn by
  at BIGINT NOT NULL,
  PRIMARY KEY (session, advancement)
);

CREATE TABLE receipts (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  kind TEXT NOT NULL,
  tokens_before BIGINT NOT NULL,
  tokens_after BIGINT NOT NULL,
  detail TEXT NOT NULL
);
CREATE INDEX receipts_by_session ON receipts (session, id);

CREATE TABLE epochs (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  reason TEXT NOT NULL,
  tokens_freed BIGINT NOT NULL,
  tokens_rebilled BIGINT NOT NULL,
  blocks BIGINT NOT NULL
);
CREATE INDEX epochs_by_session ON epochs (session, id);

-- Model calls: what was sent, and what would have been sent without us.
CREATE TABLE requests (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  is_measured BOOLEAN NOT NULL, -- whether the provider reported the tokens
  sent BIGINT NOT NULL,         -- in tokens, as are the next three
  without BIGINT NOT NULL,
  overhead BIGINT NOT NULL,     -- of those sent: guidance and fetch tool
  fetched BIGINT NOT NULL,      -- of those sent: what fetching put there
  sent_bill DOUBLE PRECISION NOT NULL, -- in input tokens, as is the next
  without_bill DOUBLE PRECISION NOT NULL,
  usd DOUBLE PRECISION -- price of one input token in dollars; NULL where nobody said
);
CREATE INDEX requests_by_session ON requests (session, id);

-- Originals that a session's model fetched back.
CREATE TABLE fetches (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  ref_id TEXT NOT NULL,
  tokens BIGINT NOT NULL -- of the answer
);
CREATE INDEX fetches_by_session ON fetches (session, id);

-- What was folded, by day and by what it was.
CREATE TABLE folded (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  day BIGINT NOT NULL, -- days since 1970
  kind TEXT NOT NULL,
  tokens_before BIGINT NOT NULL,
  tokens_after BIGINT NOT NULL,
  PRIMARY KEY (session, day, kind)
);

-- What the operator was warned of.
CREATE TABLE warnings (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at BIGINT NOT NULL,
  text TEXT NOT NULL
);

-- What sessions that a sweep forgot had added up to. One row.
CREATE TABLE swept (
  turns BIGINT NOT NULL,
  tokens_before BIGINT NOT NULL,
  tokens_after BIGINT NOT NULL
);
INSERT INTO swept VALUES (0, 0, 0);

-- What the requests of sessions that a sweep forgot came to, by day.
CREATE TABLE swept_requests (
  day BIGINT PRIMARY KEY,
  requests BIGINT NOT NULL,
  measured BIGINT NOT NULL,
  sent BIGINT NOT NULL,
  without BIGINT NOT NULL,
  overhead BIGINT NOT NULL,
  fetched BIGINT NOT NULL,
  sent_bill DOUBLE PRECISION NOT NULL,
  without_bill DOUBLE PRECISION NOT NULL,
  sent_usd DOUBLE PRECISION NOT NULL,
  without_usd DOUBLE PRECISION NOT NULL,
  unpriced BIGINT NOT NULL, -- requests without a price in dollars
  fetches BIGINT NOT NULL
);

-- Who may see what, whether it may still be shown, and when it was last referred to. The one place that knows how long
-- sessions of either kind keep what they were granted.
CREATE VIEW access AS
SELECT
  grants.session,
  grants.original,
  sessions.agent,
  parents.agent AS parent_agent,
  CASE WHEN sessions.held THEN sessions.ended_at IS NULL ELSE grants.left_at IS NULL END AS live,
  sessions.held AND sessions.ended_at IS NOT NULL AS ended,
  CASE WHEN sessions.held THEN coalesce(sessions.ended_at, 9223372036854775807)
    ELSE coalesce(grants.left_at, greatest(grants.granted_at, sessions.last_seen)) END AS referred_at
FROM grants JOIN sessions ON sessions.id = grants.session LEFT JOIN sessions AS parents ON parents.id = sessions.parent;
