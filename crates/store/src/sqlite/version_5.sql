-- Version 5.

-- Where a held session's transcript is: it ends when the last of its hosts no longer has it.
CREATE TABLE homes (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  PRIMARY KEY (session, host)
) WITHOUT ROWID;
CREATE INDEX homes_by_host ON homes (host);

-- Of a session that was held before, its host may be any of those that have the file; the first that has it takes this one's place.
INSERT INTO homes SELECT id, 'before version 5' FROM sessions WHERE held;

-- When a host last told its sessions.
CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;
