/**
 * Which sessions the host still has, and what their transcripts say: read from the host's own databases, never written.
 *
 * The host's listing of sessions names only the current one of each key. What an automatic reset, an archive or cold storage keeps can
 * be shown again as well, and with it the placeholders in it: only what has left the databases is gone.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** One transcript of the host. */
export interface HostSession {
  /** The agent whose database it is in. */
  agentId: string;
  sessionId: string;
  sessionKey: string;
  /** The database that holds it. */
  database: string;
}

const AGENT_DATABASE = "openclaw-agent.sqlite";
/** The host's own list of its agents' databases, below its state directory. */
const REGISTRY = join("state", "openclaw.sqlite");

/** A deleted session leaves an archive that the host never shows again; one of a reset is still searched. */
const SESSIONS = `SELECT session_id, session_key FROM session_windows
  UNION SELECT session_id, session_key FROM session_transcript_archives WHERE reason = 'reset'`;
const EVENTS = "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq";
const COLD = "SELECT archive_name, archive_blob FROM session_transcript_cold_archives WHERE session_id = ?";
const RESET = "SELECT archive_blob, encoding FROM session_transcript_archives WHERE session_id = ? AND reason = 'reset' ORDER BY created_at";

/** Every session that the host can show. @throws when one of its databases cannot be read: then nobody knows which are gone. */
export async function hostSessions(stateDir: string): Promise<HostSession[]> {
  const sessions: HostSession[] = [];
  for (const [database, agentId] of await agentDatabases(stateDir)) {
    await reading(database, (open) => {
      for (const row of open.prepare(SESSIONS).all()) {
        sessions.push({ agentId, sessionId: String(row.session_id), sessionKey: String(row.session_key), database });
      }
    });
  }
  return sessions;
}

/** The events of a transcript, each as the JSON that the host wrote. @throws when they cannot be read. */
export async function transcriptOf({ sessionId, database }: HostSession): Promise<string[]> {
  const { zstdDecompressSync } = await import("node:zlib");
  const unpack = (bytes: unknown) => zstdDecompressSync(bytes as Uint8Array).toString("utf8");
  return reading(database, (open) => {
    const events = open.prepare(EVENTS).all(sessionId).map((row) => (typeof row.event_json === "string" ? row.event_json : unpack(row.event_zstd)));
    if (events.length > 0) return events;
    const cold = open.prepare(COLD).get(sessionId);
    if (cold) return lines(unpack(cold.archive_blob ?? readFileSync(join(coldDirectory(database), String(cold.archive_name)))));
    return open.prepare(RESET).all(sessionId).flatMap((row) =>
      lines(row.encoding === "zstd" ? unpack(row.archive_blob) : Buffer.from(row.archive_blob as Uint8Array).toString("utf8")),
    );
  });
}

/** The databases of all agents with the agent of each: those that the host lists, and those where it puts them by itself. */
async function agentDatabases(stateDir: string): Promise<Map<string, string>> {
  const databases = new Map<string, string>();
  const agents = join(stateDir, "agents");
  for (const agentId of existsSync(agents) ? readdirSync(agents) : []) {
    const database = join(agents, agentId, "agent", AGENT_DATABASE);
    if (existsSync(database)) databases.set(database, agentId);
  }
  const registry = join(stateDir, REGISTRY);
  if (!existsSync(registry)) {
    if (databases.size === 0) throw new Error(`no database of OpenClaw is in ${stateDir}`);
    return databases;
  }
  const listed = await reading(registry, (open) => open.prepare("SELECT agent_id, path FROM agent_databases").all());
  const found = new Set(databases.values());
  for (const row of listed) {
    const [agentId, stored] = [String(row.agent_id), String(row.path)];
    const database = isAbsolute(stored) ? stored : join(stateDir, stored);
    if (existsSync(database)) databases.set(database, agentId);
    else if (!found.has(agentId)) throw new Error(`the host lists sessions of agent ${agentId} in ${database}, which is not there`);
  }
  return databases;
}

async function reading<Value>(database: string, read: (open: DatabaseSync) => Value): Promise<Value> {
  const { DatabaseSync } = await import("node:sqlite");
  let open: DatabaseSync | undefined;
  try {
    open = new DatabaseSync(database, { readOnly: true, timeout: 2000 });
    return read(open);
  } catch (error) {
    throw new Error(`${database} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    open?.close();
  }
}

function coldDirectory(database: string): string {
  const directory = dirname(database);
  return join(basename(directory) === "agent" ? join(dirname(directory), "sessions") : directory, "cold");
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
