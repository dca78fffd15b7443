/**
 * Whose content it is: agents and sessions as OpenClaw names them.
 *
 * OpenClaw tells its engine a session key alone, and tools and middleware also an agent. What one of them puts the
 * others must find, so the plugin goes by the key alone. A caller of the library may have no keys: where there is none,
 * the agent that it states decides.
 */

import { nullable, string, takenOf } from "../binding/arguments.js";

/** The agent of a host that names none. */
const DEFAULT_AGENT = "main";

/**
 * An agent id as the host writes it: lower case, everything but letters, digits, `_` and `-` a dash, at most 64
 * characters.
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

/** The agent of a session key such as `agent:main:work`; `main` where the key names none. Read as the host reads it. */
export function agentOf(sessionKey: string | undefined): string {
  const key = nullable(string)("sessionKey", sessionKey);
  const [, agent = "", rest = ""] = /^agent:([^:]*):(.*)$/is.exec(key?.trim() ?? "") ?? [];
  return agent.trim() && rest && !rest.startsWith(":") ? agentId(agent) : DEFAULT_AGENT;
}

const SCOPE = { sessionKey: nullable(string), agentId: nullable(string), sessionId: nullable(string) };

/** Whose content a call is about, from whatever of it the host states. */
export function scopeOf<Session extends string | undefined>(given: {
  agentId?: string;
  sessionKey?: string;
  sessionId: Session;
}): { agentId: string; sessionId: Session } {
  const { sessionKey, sessionId, agentId: stated } = takenOf("given", given, SCOPE);
  return { agentId: sessionKey?.trim() ? agentOf(sessionKey) : agentId(stated ?? ""), sessionId: sessionId as Session };
}
