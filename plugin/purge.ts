/**
 * The command `openclaw concertina purge`. It first reports which placeholders would lose their originals, and it does
 * not affect another gateway unless requested.
 */

import { type Concertina, counted, haveIt, isAgreed, type Removed } from "../node/lib/for-plugin.js";
import { type FoundSession, foundSessions, whyKept } from "./known-sessions.js";
import type { PluginState } from "./state.js";

export interface PurgeOptions {
  session: string;
  agent?: string;
  elsewhere?: boolean;
  yes?: boolean;
  json?: boolean;
}

/**
 * Purges the sessions that an operator names. Returns undefined if the operator did not agree. @throws if another
 * gateway has a session, and if there is no terminal to ask at
 */
export async function purge(
  state: PluginState,
  store: Concertina,
  { session, agent, elsewhere, yes }: PurgeOptions,
): Promise<Removed | undefined> {
  // A store of an earlier version learns the owners of sessions only here.
  await state.settle(store);
  const sessions = await foundSessions(state, store, session, agent);
  const kept = sessions.map(whyKept).filter((why) => why !== undefined);
  if (!elsewhere && kept.length > 0) throw new Error(kept.join("\n"));
  if (!yes && !(await isMeant(store, sessions))) {
    process.stderr.write("Nothing was purged.\n");
    return undefined;
  }
  return purged(store, sessions, false);
}

/** Reports the consequences of a purge and asks for confirmation. @throws if there is no terminal */
async function isMeant(store: Concertina, sessions: FoundSession[]): Promise<boolean> {
  const doomed = await purged(store, sessions, true);
  const shown = sessions.find(({ isShown }) => isShown);
  const strands = shown
    ? `The host still has its transcript, which shows their placeholders. To write it with the originals in place, run "openclaw concertina unfold --session ${shown.sessionId}" first.`
    : "The host no longer has its transcript.";
  const others = new Set(sessions.flatMap(({ elsewhere }) => elsewhere));
  const also = others.size > 0 ? ` Note that ${haveIt([...others])}.` : "";
  const ids = sessions.map(({ sessionId }) => sessionId).join(", ");
  const warning = `Purging session ${ids} removes ${counted(doomed.originals, "original")} for good. ${strands}${also}`;
  if (!process.stdin.isTTY)
    throw new Error(
      `${warning} Nothing was purged, because there is no terminal to ask at; use --yes to purge without asking`,
    );
  return isAgreed(`${warning}\nPurge it? [y/N] `);
}

/** Purges sessions and returns the sum of what was removed. With `dry` nothing is removed. */
async function purged(store: Concertina, sessions: FoundSession[], dry: boolean): Promise<Removed> {
  const sum: Removed = { originals: 0, bytes: 0, sessions: 0 };
  for (const { sessionId, agentId } of sessions) {
    const { originals, bytes, sessions: count } = await store.purge({ sessionId, agentId, dry });
    sum.originals += originals;
    sum.bytes += bytes;
    sum.sessions += count;
  }
  return sum;
}
