/**
 * Sessions that an operator names, with the facts that the store and the host know about each. Both are queried once.
 */

import {
  agentOf,
  type Concertina,
  elsewhereOf,
  type NamedSession,
  sessionsOfAgent,
  whyKept as whyKeptElsewhere,
} from "../node/lib/for-plugin.js";
import type { PluginState } from "./state.js";

/** A session in the store or in the host. */
export interface FoundSession extends NamedSession {
  /** The agent that owns the session. */
  agentId: string;
  /** True if the host can show its transcript. */
  isShown: boolean;
  /** The names of the other gateways of the store that have the session. */
  elsewhere: string[];
}

/**
 * Returns the sessions with an id or a key, from the store and the host. A session that only another host of the store
 * has is found by its id only. @throws an Error that lists the known sessions if there is none
 */
export async function foundSessions(
  state: PluginState,
  store: Concertina,
  name: string,
  agent?: string,
): Promise<[FoundSession, ...FoundSession[]]> {
  const [all, hosts] = [await store.sessions(), await state.hostSessions()];
  const stored = all.filter(
    ({ sessionId, isHere, elsewhere }) => sessionId === name || isHere || elsewhere.length === 0,
  );
  const shown = hosts.map(({ sessionId, sessionKey }) => ({ sessionId, sessionKey, agentId: agentOf(sessionKey) }));
  // Two agents may have sessions with the same id.
  const idOf = ({ sessionId, agentId }: { sessionId: string; agentId: string }) => JSON.stringify([agentId, sessionId]);
  const keys = new Map(shown.map((session) => [idOf(session), session.sessionKey]));
  const scopes = new Map([...shown, ...stored].map((session) => [idOf(session), session]));
  const known = [...new Set([...stored, ...shown].map(idOf))].map((id) => {
    const { sessionId, agentId, sessionKey } = scopes.get(id)!;
    return { sessionId, agentId, sessionKey: sessionKey ?? keys.get(id) ?? null };
  });
  const found = (named: (typeof known)[number]) => ({
    ...named,
    isShown: keys.has(idOf(named)),
    elsewhere: elsewhereOf(all, named),
  });
  const [first, ...others] = sessionsOfAgent(name, agent, known);
  return [found(first), ...others.map(found)];
}

/** Returns the reason why a session is not purged, or undefined if no other gateway has it. */
export function whyKept(session: Pick<FoundSession, "sessionId" | "elsewhere">): string | undefined {
  return whyKeptElsewhere(session, `"openclaw concertina purge --session ${session.sessionId} --elsewhere"`);
}

/** Returns the reason why the session with an id and agent is not purged. It queries the store for other gateways. */
export async function whyKeptIn(
  store: Concertina,
  scope: { sessionId: string; agentId: string },
): Promise<string | undefined> {
  return whyKept({ sessionId: scope.sessionId, elsewhere: elsewhereOf(await store.sessions(), scope) });
}
