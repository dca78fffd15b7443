/**
 * Protection of sessions that another host still has: after a purge it would show placeholders that nobody can fetch.
 */

import type { KnownSession } from "../library/figures.js";

/** Returns the names of the other hosts of the store that have a session. */
export function elsewhereOf(
  sessions: KnownSession[],
  { sessionId, agentId }: { sessionId: string; agentId: string },
): string[] {
  const has = sessions.filter((known) => known.sessionId === sessionId && known.agentId === agentId);
  return [...new Set(has.flatMap(({ elsewhere }) => elsewhere))];
}

/**
 * Returns the reason why a session is not purged, or undefined if no other host has it. `anyway` names the way to purge
 * it regardless.
 */
export function whyKept(
  { sessionId, elsewhere }: { sessionId: string; elsewhere: string[] },
  anyway: string,
): string | undefined {
  if (elsewhere.length === 0) return undefined;
  return (
    `session ${sessionId} was not purged: ${haveIt(elsewhere)} and would show placeholders that nobody can fetch. To purge it anyway, use ${anyway}. ` +
    `The name of a gateway is in concertina/concertina.host-id in its state directory`
  );
}

/** Names the hosts that have a session. */
export function haveIt(elsewhere: string[]): string {
  const [subject, verb] = elsewhere.length === 1 ? ["a gateway", "has"] : ["gateways", "have"];
  return `${subject} of this store (${elsewhere.join(", ")}) ${verb} it`;
}
