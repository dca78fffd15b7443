-- Version 4.

-- The host's name of the conversation that a session belongs to, where it has said it.
ALTER TABLE sessions ADD COLUMN session_key TEXT;
-- Whether nothing more is to be folded in it.
ALTER TABLE sessions ADD COLUMN is_off INTEGER NOT NULL DEFAULT 0;
-- How many tokens fewer a text of ours has than what a host without us would show: what it saves in each request that holds it.
ALTER TABLE printed ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;

-- Model calls: what was sent, and what would have been sent without us.
CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  is_measured INTEGER NOT NULL, -- whether the provider reported the tokens
  sent INTEGER NOT NULL,        -- in tokens, as are the next three
  without INTEGER NOT NULL,
  overhead INTEGER NOT NULL,    -- of those sent: guidance and fetch tool
  fetched INTEGER NOT NULL,     -- of those sent: what fetching put there
  sent_bill REAL NOT NULL,      -- in input tokens, as is the next
  without_bill REAL NOT NULL,
  usd REAL                      -- price of one input token in dollars; NULL where nobody said
);
CREATE INDEX requests_by_session ON requests (session);

-- Originals that a session's model fetched back.
CREATE TABLE fetches (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  ref_id TEXT NOT NULL,
  tokens INTEGER NOT NULL -- of the answer
);
CREATE INDEX fetches_by_session ON fetches (session);

-- What was folded, by day and by what it was.
CREATE TABLE folded (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  day INTEGER NOT NULL, -- days since 1970
  kind TEXT NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL,
  PRIMARY KEY (session, day, kind)
) WITHOUT ROWID;

-- What the operator was warned of.
CREATE TABLE warnings (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  text TEXT NOT NULL
);

-- What the requests of sessions that a sweep forgot came to, by day.
CREATE TABLE swept_requests (
  day INTEGER PRIMARY KEY,
  requests INTEGER NOT NULL,
  measured INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  without INTEGER NOT NULL,
  overhead INTEGER NOT NULL,
  fetched INTEGER NOT NULL,
  sent_bill REAL NOT NULL,
  without_bill REAL NOT NULL,
  sent_usd REAL NOT NULL,
  without_usd REAL NOT NULL,
  unpriced INTEGER NOT NULL, -- requests without a price in dollars
  fetches INTEGER NOT NULL
);
