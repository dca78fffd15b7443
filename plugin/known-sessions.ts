/** Sessions as an operator names them, with what the store and the host know of each: both are asked once. */

import { elsewhereOf, whyKept as whyKeptElsewhere } from "../node/lib/elsewhere.js";
import type { Concertina } from "../node/lib/index.js";
import { type NamedSession, sessionsNamed } from "../node/lib/named-sessions.js";
import type { PluginState } from "./state.js";

/** A session that the store or the host knows. */
export interface FoundSession extends NamedSession {
  /** Whether the host can show its transcript. */
  isShown: boolean;
  /** Which other gateways of the store have it. */
  elsewhere: string[];
}

/**
 * The sessions that the store or the host knows under an id or a key; one that only another host of the store has goes by its id. @throws an
 * Error that lists what they know.
 */
export async function foundSessions(state: PluginState, store: Concertina, name: string): Promise<[FoundSession, ...FoundSession[]]> {
  const [all, hosts] = [await store.sessions(), await state.hostSessions()];
  const keys = new Map(hosts.map(({ sessionId, sessionKey }) => [sessionId, sessionKey]));
  const stored = all.filter(({ sessionId, isHere, elsewhere }) => sessionId === name || isHere || elsewhere.length === 0);
  const ids = [...new Set([...stored, ...hosts].map(({ sessionId }) => sessionId))];
  const ownKeys = new Map(stored.map(({ sessionId, sessionKey }) => [sessionId, sessionKey]));
  const known = ids.map((sessionId) => ({ sessionId, sessionKey: ownKeys.get(sessionId) ?? keys.get(sessionId) ?? null }));
  const found = (named: NamedSession) => ({ ...named, isShown: keys.has(named.sessionId), elsewhere: elsewhereOf(all, named.sessionId) });
  const [first, ...others] = sessionsNamed(name, known);
  return [found(first), ...others.map(found)];
}

/** Why a session is not purged as others are; undefined where no other gateway has it. */
export function whyKept(session: Pick<FoundSession, "sessionId" | "elsewhere">): string | undefined {
  return whyKeptElsewhere(session, `"openclaw concertina purge --session ${session.sessionId} --elsewhere"`);
}

/** The same of a session that is named by its id alone, for which the store is asked. */
export async function whyKeptIn(store: Concertina, sessionId: string): Promise<string | undefined> {
  return whyKept({ sessionId, elsewhere: elsewhereOf(await store.sessions(), sessionId) });
}
