-- Version 1 of the schema, frozen at the first release. `schema.rs` says how a further version is added.
--
-- Times are in milliseconds since 1970, days are days since 1970, and bills are in input tokens. Names that callers
-- give are looked up by their SHA-256, because a key of an index may have no more than 2,700 bytes. Text is written
-- with U+0000 escaped (text.rs), because TEXT cannot hold it.

-- The identity of this store. One row. No other program's schema has such a table.
CREATE TABLE store (
  version INTEGER NOT NULL,
  oldest INTEGER NOT NULL, -- the oldest version whose programs work on this schema
  identity BIGINT NOT NULL -- drawn when the store was made
);
INSERT INTO store VALUES (1, 1, ('x' || substr(md5(gen_random_uuid()::text), 1, 15))::bit(60)::bigint);

-- Returns the caller's time if it is given, or the time of this server.
CREATE FUNCTION moment(told BIGINT) RETURNS BIGINT LANGUAGE sql VOLATILE
  RETURN coalesce(told, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);

-- Ends a transaction whose assumptions proved false. refusal.rs lists the reasons.
CREATE FUNCTION refuse(reason TEXT, subject TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'CT001', MESSAGE = reason, DETAIL = subject;
END
$$;

-- The known sessions. One row per agent and session.
CREATE TABLE sessions (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BYTEA NOT NULL CHECK (length(session) = 32), -- SHA-256 of session_id
  agent BYTEA NOT NULL CHECK (length(agent) = 32), -- SHA-256 of agent_id
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_key TEXT, -- the host's name of the conversation, where the host has given it
  last_seen BIGINT NOT NULL, -- when its context was last assembled
  tools BYTEA CHECK (length(tools) = 32), -- a hash of the tools of the last assembled context
  held BOOLEAN NOT NULL DEFAULT FALSE, -- whether it keeps all that it was granted until its host ends it
  ended_at BIGINT, -- NULL while it has not ended
  -- The parent of this session. Deferrable, because imported rows may refer to later ones.
  parent BIGINT REFERENCES sessions (id) ON DELETE SET NULL DEFERRABLE,
  is_off BOOLEAN NOT NULL DEFAULT FALSE, -- true if nothing more is folded in this session
  UNIQUE (session, agent)
) WITH (fillfactor = 70);
CREATE INDEX sessions_by_parent ON sessions (parent);

-- The hosts that have a held session. The session ends when the last of them no longer has it.
CREATE TABLE session_hosts (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  PRIMARY KEY (session, host)
);
CREATE INDEX session_hosts_by_host ON session_hosts (host);

-- The time at which a host last reported its sessions.
CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  seen_at BIGINT NOT NULL
);

-- The originals, one row per content. A row is written once and never updated.
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
-- Payloads are compressed already.
ALTER TABLE originals ALTER payload SET STORAGE EXTERNAL;

-- The stored size as a list of changes. Their sum is correct without a row that every commit has to lock.
CREATE TABLE usage (
  originals BIGINT NOT NULL,
  bytes BIGINT NOT NULL -- of payloads
);

-- The originals that a session may see.
CREATE TABLE grants (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  original BIGINT NOT NULL REFERENCES originals (id) ON DELETE CASCADE,
  granted_at BIGINT NOT NULL,
  left_at BIGINT, -- when it left the session's context; NULL while it is in the context
  PRIMARY KEY (session, original)
);
CREATE INDEX grants_by_original ON grants (original);

-- How blocks are shown. A row is removed with the session's grant of its original. Ids only grow within a session,
-- because every writer of a row holds the lock on the session's row.
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

-- Texts of ours that were shown to a session.
CREATE TABLE printed (
  session BIGINT NOT NULL,
  text BYTEA NOT NULL CHECK (length(text) = 32),
  is_answer BOOLEAN NOT NULL,
  original BIGINT NOT NULL,
  saved BIGINT NOT NULL, -- by how many tokens it is shorter than what a host without us would show
  PRIMARY KEY (session, text),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
CREATE INDEX printed_by_original ON printed (session, original);

-- Marks of people and agents on content in a session, or on the session itself (records.rs of the store).
CREATE TABLE marks (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  content BYTEA NOT NULL CHECK (length(content) = 32),
  at BIGINT NOT NULL,
  PRIMARY KEY (session, kind, content)
);

-- The signatures of originals that searches of a session have read. They are derived from the originals.
CREATE TABLE signatures (
  session BIGINT NOT NULL,
  original BIGINT NOT NULL,
  bits BYTEA NOT NULL,
  PRIMARY KEY (session, original),
  FOREIGN KEY (session, original) REFERENCES grants (session, original) ON DELETE CASCADE
);
-- Their bits are random.
ALTER TABLE signatures ALTER bits SET STORAGE EXTERNAL;

CREATE TABLE turns (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  advancement BYTEA NOT NULL CHECK (length(advancement) = 32), -- SHA-256 of advancement_key
  advancement_key TEXT NOT NULL, -- the host's name of the turn
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

-- Model calls: what was sent, and what would have been sent without folding. Counts are tokens.
CREATE TABLE requests (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  is_measured BOOLEAN NOT NULL, -- whether the provider reported the tokens
  counted BIGINT, -- of the messages that our assembly made for this call; NULL where it was not the first one after it
  growth_reported BIGINT, -- by how much the session's requests grew so far, as the provider reports it
  growth_counted BIGINT, -- and as we count it; both NULL where no assembly of ours is known
  sent BIGINT NOT NULL,
  without BIGINT NOT NULL,
  dropped BIGINT NOT NULL, -- what the request without us would have had in addition if the host had never compacted
  overhead BIGINT NOT NULL, -- of those sent: guidance and fetch tool
  fetched BIGINT NOT NULL, -- of those sent: what fetching put there
  protected BIGINT NOT NULL, -- of those sent: what was old enough to fold and stayed because it is protected
  sent_bill DOUBLE PRECISION NOT NULL,
  without_bill DOUBLE PRECISION NOT NULL,
  without_under DOUBLE PRECISION NOT NULL, -- how much smaller the bill without us may have been
  without_over DOUBLE PRECISION NOT NULL, -- how much larger
  answered BIGINT, -- tokens of the answer; NULL where nobody reported them
  answer_bill DOUBLE PRECISION, -- NULL where the tokens or their price are unknown
  usd DOUBLE PRECISION -- price of one input token in dollars; NULL where it is unknown
);
CREATE INDEX requests_by_session ON requests (session, id);

-- Originals that a session's model asked for again.
CREATE TABLE fetches (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  ref_id TEXT NOT NULL,
  tokens BIGINT NOT NULL, -- of the answer
  tool TEXT NOT NULL, -- that the original came from
  is_rerun BOOLEAN NOT NULL -- whether the tool was called again instead of a fetch
);
CREATE INDEX fetches_by_session ON fetches (session, id);

-- Tokens that were folded, by day and kind.
CREATE TABLE folded (
  session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  kind TEXT NOT NULL,
  tokens_before BIGINT NOT NULL,
  tokens_after BIGINT NOT NULL,
  PRIMARY KEY (session, day, kind)
);

-- Totals of the sessions that a sweep forgot. One row.
CREATE TABLE swept (
  turns BIGINT NOT NULL,
  tokens_before BIGINT NOT NULL,
  tokens_after BIGINT NOT NULL
);
INSERT INTO swept VALUES (0, 0, 0);

-- Totals of the requests of these sessions, by day.
CREATE TABLE swept_requests (
  day BIGINT PRIMARY KEY,
  requests BIGINT NOT NULL,
  measured BIGINT NOT NULL,
  bypassed BIGINT NOT NULL,
  compacting BIGINT NOT NULL,
  sent BIGINT NOT NULL,
  without BIGINT NOT NULL,
  overhead BIGINT NOT NULL,
  fetched BIGINT NOT NULL,
  protected BIGINT NOT NULL,
  unpriced BIGINT NOT NULL, -- requests without a price in dollars
  answered BIGINT NOT NULL,
  answer_tokens BIGINT NOT NULL,
  unpriced_answers BIGINT NOT NULL,
  fetches BIGINT NOT NULL,
  sent_bill DOUBLE PRECISION NOT NULL,
  without_bill DOUBLE PRECISION NOT NULL,
  under_bill DOUBLE PRECISION NOT NULL,
  over_bill DOUBLE PRECISION NOT NULL,
  answer_bill DOUBLE PRECISION NOT NULL,
  without_answer_bill DOUBLE PRECISION NOT NULL,
  sent_usd DOUBLE PRECISION NOT NULL,
  without_usd DOUBLE PRECISION NOT NULL,
  under_usd DOUBLE PRECISION NOT NULL,
  over_usd DOUBLE PRECISION NOT NULL,
  answer_usd DOUBLE PRECISION NOT NULL,
  without_answer_usd DOUBLE PRECISION NOT NULL
);

-- The access of a session to an original: if it may still be shown, and when it was last referred to. This view alone
-- decides how long a session keeps a grant.
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
