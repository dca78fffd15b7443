/**
 * An agent's database of OpenClaw, opened read-only: the sessions that it can show and their transcripts.
 *
 * The host's list of sessions names only the current one of each key. The host can also show sessions that an automatic
 * reset, an archive or cold storage keeps, with the placeholders in them. Only a session that left the database is
 * gone.
 */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** The archive of a deleted session is never shown again. The archive of a reset session is still searched. */
const SESSIONS = `SELECT session_id, session_key FROM session_windows
  UNION SELECT session_id, session_key FROM session_transcript_archives WHERE reason = 'reset'`;
/** All columns are selected because OpenClaw 2026.8 compresses no events and has no column `event_zstd`. */
const EVENTS = "SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq";
const TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
const COLD = "SELECT archive_name, archive_blob FROM session_transcript_cold_archives WHERE session_id = ?";
const RESET =
  "SELECT archive_blob, encoding FROM session_transcript_archives WHERE session_id = ? AND reason = 'reset' ORDER BY created_at";

const SQLITE = "SQLite format 3\0";

/** Returns true if a file is an SQLite database. The file must not be a pipe. */
export function isDatabase(file: string): boolean {
  const head = Buffer.alloc(SQLITE.length);
  const open = openSync(file, "r");
  try {
    readSync(open, head);
  } finally {
    closeSync(open);
  }
  return head.toString("latin1") === SQLITE;
}

/** Returns the sessions of a database. @throws an Error that names it */
export function sessionsIn(database: string): Promise<{ sessionId: string; sessionKey: string }[]> {
  return reading(database, (open) => {
    const rows = open.prepare(SESSIONS).all();
    return rows.map((row) => ({ sessionId: String(row.session_id), sessionKey: String(row.session_key) }));
  });
}

/**
 * Returns the events of a transcript, each as the JSON that the host wrote. @throws an Error that names the database
 */
export async function eventsOf(database: string, sessionId: string): Promise<string[]> {
  const { zstdDecompressSync } = await import("node:zlib");
  const unpack = (bytes: unknown) => zstdDecompressSync(bytes as Uint8Array).toString("utf8");
  return reading(database, (open) => {
    const events = open
      .prepare(EVENTS)
      .all(sessionId)
      .map((row) => (typeof row.event_json === "string" ? row.event_json : unpack(row.event_zstd)));
    if (events.length > 0) return events;
    // OpenClaw 2026.8 has no cold storage.
    const cold = open.prepare(TABLE).get("session_transcript_cold_archives") && open.prepare(COLD).get(sessionId);
    if (cold)
      return lines(
        unpack(cold.archive_blob ?? readFileSync(path.join(coldDirectory(database), String(cold.archive_name)))),
      );
    return open
      .prepare(RESET)
      .all(sessionId)
      .flatMap((row) =>
        lines(
          row.encoding === "zstd"
            ? unpack(row.archive_blob)
            : Buffer.from(row.archive_blob as Uint8Array).toString("utf8"),
        ),
      );
  });
}

/** Opens a database of another program read-only and reads from it. @throws an Error that names it */
export async function reading<Value>(database: string, read: (open: DatabaseSync) => Value): Promise<Value> {
  let open: DatabaseSync | undefined;
  try {
    const { DatabaseSync } = await import("node:sqlite");
    open = new DatabaseSync(database, { readOnly: true, timeout: 2000 });
    return read(open);
  } catch (error) {
    const why =
      (error as { code?: string }).code === "ERR_UNKNOWN_BUILTIN_MODULE"
        ? `Node ${process.version} has no SQLite; use Node 22.15 or later`
        : (error as Error).message;
    throw new Error(`${database} cannot be read: ${why}`, { cause: error });
  } finally {
    open?.close();
  }
}

function coldDirectory(database: string): string {
  const directory = path.dirname(database);
  return path.join(
    path.basename(directory) === "agent" ? path.join(path.dirname(directory), "sessions") : directory,
    "cold",
  );
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
