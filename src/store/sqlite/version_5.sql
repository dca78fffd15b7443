-- Version 5.

-- Where a held session's transcript is: it ends when the last of its hosts no longer has it.
CREATE TABLE homes (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  PRIMARY KEY (session, host)
) WITHOUT ROWID;
CREATE INDEX homes_by_host ON homes (host);

-- When a host last told its sessions.
CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;
