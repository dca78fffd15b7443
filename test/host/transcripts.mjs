// Reads the transcripts of the main agent from the host's own database.

import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";

function rows(host, query, ...given) {
  const file = path.join(host.state, "agents", "main", "agent", "openclaw-agent.sqlite");
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(query).all(...given);
  } finally {
    database.close();
  }
}

/** Returns the session ids of each key, the oldest first. */
export function sessionsOf(host) {
  const windows = rows(host, "SELECT session_key, session_id FROM session_windows ORDER BY created_at");
  const found = new Map();
  for (const { session_key: key, session_id: id } of windows) found.set(key, [...(found.get(key) ?? []), id]);
  return found;
}

/** Returns everything that the host has of a session, as text. */
export function transcriptOf(host, sessionId) {
  return rows(host, "SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq", sessionId)
    .map((row) => row.event_json ?? zstdDecompressSync(row.event_zstd).toString())
    .join("\n");
}
