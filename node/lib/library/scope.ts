/**
 * Agents and sessions, named as in OpenClaw. They decide whose content something is.
 *
 * OpenClaw passes only a session key to its engine, and also an agent to tools and middleware. All of them must find
 * the same content, so the plugin uses the key alone. A caller of the library may have no keys; then the agent that it
 * states is used.
 */

import { nullable, string, takenOf } from "../binding/arguments.js";

/** The agent if the host names none. */
const DEFAULT_AGENT = "main";

/**
 * Normalizes an agent id like the host: lower case, at most 64 characters, and a dash for everything except letters,
 * digits, `_` and `-`.
 */
function agentId(written: string): string {
  const id = written.trim().toLowerCase();
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id)) return id;
  return (
    id
      .replace(/[^a-z0-9_-]+/g, "-")
      .replace(/^-+/, "")
      .replace(/-+$/, "")
      .slice(0, 64) || DEFAULT_AGENT
  );
}

/**
 * Returns the agent of a session key such as `agent:main:work`, or `main` if the key names none. It parses keys like
 * the host.
 */
export function agentOf(sessionKey: string | undefined): string {
  const key = nullable(string)("sessionKey", sessionKey);
  const [, agent = "", rest = ""] = /^agent:([^:]*):(.*)$/is.exec(key?.trim() ?? "") ?? [];
  return agent.trim() && rest && !rest.startsWith(":") ? agentId(agent) : DEFAULT_AGENT;
}

const SCOPE = { sessionKey: nullable(string), agentId: nullable(string), sessionId: nullable(string) };

/** Returns the agent and session of a call from the fields that the host states. */
export function scopeOf<Session extends string | undefined>(given: {
  agentId?: string;
  sessionKey?: string;
  sessionId: Session;
}): { agentId: string; sessionId: Session } {
  const { sessionKey, sessionId, agentId: stated } = takenOf("given", given, SCOPE);
  return { agentId: sessionKey?.trim() ? agentOf(sessionKey) : agentId(stated ?? ""), sessionId: sessionId as Session };
}
