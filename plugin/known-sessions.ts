/** Sessions as an operator names them, with what the store and the host know of each: both are asked once. */

import {
  agentOf,
  type Concertina,
  elsewhereOf,
  type NamedSession,
  sessionsOfAgent,
  whyKept as whyKeptElsewhere,
} from "../node/lib/for-plugin.js";
import type { PluginState } from "./state.js";

/** A session that the store or the host knows. */
export interface FoundSession extends NamedSession {
  /** Whose it is. */
  agentId: string;
  /** Whether the host can show its transcript. */
  isShown: boolean;
  /** Which other gateways of the store have it. */
  elsewhere: string[];
}

/**
 * The sessions that the store or the host knows under an id or a key; one that only another host of the store has goes
 * by its id. @throws an Error that lists what they know.
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
  // Two agents may have sessions of one name.
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

/** Why a session is not purged as others are; undefined where no other gateway has it. */
export function whyKept(session: Pick<FoundSession, "sessionId" | "elsewhere">): string | undefined {
  return whyKeptElsewhere(session, `"openclaw concertina purge --session ${session.sessionId} --elsewhere"`);
}

/** The same of a session that is named by its id and agent, for which the store is asked. */
export async function whyKeptIn(
  store: Concertina,
  scope: { sessionId: string; agentId: string },
): Promise<string | undefined> {
  return whyKept({ sessionId: scope.sessionId, elsewhere: elsewhereOf(await store.sessions(), scope) });
}
