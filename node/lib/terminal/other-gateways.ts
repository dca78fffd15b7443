/**
 * What a purge must not strand unasked: a session that a host of the store has still shows the placeholders, which
 * nobody can fetch then.
 */

import type { KnownSession } from "../library/figures.js";

/** Which other hosts of the store than the one that asks have a session. */
export function elsewhereOf(
  sessions: KnownSession[],
  { sessionId, agentId }: { sessionId: string; agentId: string },
): string[] {
  const has = sessions.filter((known) => known.sessionId === sessionId && known.agentId === agentId);
  return [...new Set(has.flatMap(({ elsewhere }) => elsewhere))];
}

/**
 * Why a session is not purged as others are; undefined where no other host has it. `anyway` is what purges it all the
 * same.
 */
export function whyKept(
  { sessionId, elsewhere }: { sessionId: string; elsewhere: string[] },
  anyway: string,
): string | undefined {
  if (elsewhere.length === 0) return undefined;
  return (
    `session ${sessionId} was not purged: ${haveIt(elsewhere)} and would show placeholders that nobody can fetch; ${anyway} purges it all the same. ` +
    `A gateway's name stands in concertina/concertina.host-id in its state directory`
  );
}

/** Who has a session, in words. */
export function haveIt(elsewhere: string[]): string {
  return `a gateway of this store (${elsewhere.join(", ")}) has it`;
}
