/**
 * The sessions that the host still has and their transcripts, from the databases of all its agents, opened read-only.
 */

import { existsSync, readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { agentOf, eventsOf, reading, sessionsIn } from "../node/lib/for-plugin.js";
import type { Scope } from "./sessions.js";

/** A transcript of the host. */
export interface HostSession {
  /** The agent that owns the database. */
  agentId: string;
  sessionId: string;
  sessionKey: string;
  /** The path of the database. */
  database: string;
}

const AGENT_DATABASE = "openclaw-agent.sqlite";
/** The host's own list of its agents' databases, relative to its state directory. */
const REGISTRY = join("state", "openclaw.sqlite");
const FORK = `SELECT fork_source_session_key, fork_source_session_id FROM session_nodes
  WHERE current_session_id = ? AND fork_source_session_key IS NOT NULL AND fork_source_session_id IS NOT NULL`;

/**
 * Returns every session that the host can show. @throws if one of its databases cannot be read, because nobody can then
 * tell which sessions are gone
 */
export async function hostSessions(stateDir: string): Promise<HostSession[]> {
  const sessions: HostSession[] = [];
  const databases = await agentDatabases(stateDir);
  if (databases.size === 0) throw new Error(`OpenClaw has no sessions yet: no database of an agent is in ${stateDir}`);
  for (const [database, agentId] of databases) {
    for (const session of await sessionsIn(database)) sessions.push({ agentId, ...session, database });
  }
  return sessions;
}

/** Returns the events of a transcript, each as the JSON that the host wrote. @throws if they cannot be read */
export function transcriptOf({ sessionId, database }: HostSession): Promise<string[]> {
  return eventsOf(database, sessionId);
}

/**
 * Returns the session whose transcript the host copied when this one began, or undefined. @throws if the databases of
 * its agent cannot be read
 */
export async function forkSource(stateDir: string, { agentId, sessionId }: Scope): Promise<Scope | undefined> {
  for (const [database, agent] of await agentDatabases(stateDir)) {
    const row = agent === agentId && (await reading(database, (open) => open.prepare(FORK).get(sessionId)));
    if (row)
      return { agentId: agentOf(String(row.fork_source_session_key)), sessionId: String(row.fork_source_session_id) };
  }
  return undefined;
}

/**
 * Returns the databases of all agents with the id of each agent: those that the host lists, and those in their default
 * place.
 */
async function agentDatabases(stateDir: string): Promise<Map<string, string>> {
  const databases = new Map<string, string>();
  const agents = join(stateDir, "agents");
  for (const agentId of existsSync(agents) ? readdirSync(agents) : []) {
    const database = join(agents, agentId, "agent", AGENT_DATABASE);
    if (existsSync(database)) databases.set(database, agentId);
  }
  const registry = join(stateDir, REGISTRY);
  if (!existsSync(registry)) return databases;
  const listed = await reading(registry, (open) => open.prepare("SELECT agent_id, path FROM agent_databases").all());
  const found = new Set(databases.values());
  for (const row of listed) {
    const [agentId, stored] = [String(row.agent_id), String(row.path)];
    const database = isAbsolute(stored) ? stored : join(stateDir, stored);
    if (existsSync(database)) databases.set(database, agentId);
    else if (!found.has(agentId))
      throw new Error(`the host lists sessions of agent ${agentId} in ${database}, which is not there`);
  }
  return databases;
}
