/** The group of a session: folded, or left untouched for comparison. It is decided at its first turn and then stays. */

import { type Concertina, isHeldOut } from "../node/lib/for-plugin.js";
import type { Scope } from "./sessions.js";
import type { PluginState } from "./state.js";

/**
 * Returns true if a session is left untouched. A session with recorded turns stays as it began, also after the option
 * changed. Sub-agents, and copies of a session, follow the session that they continue.
 *
 * @param before the session that this one continues
 * @param isNew true if it has no messages, and so no recorded turns
 */
export async function isUntouched(
  state: PluginState,
  session: Scope,
  before: Scope | undefined,
  isNew = false,
): Promise<boolean> {
  if (state.observes) return false;
  const known = state.sessions.isHeldOut(session.sessionId);
  if (known !== undefined) return known;
  try {
    const recorded = isNew ? undefined : await state.use((store) => recordedGroup(store, session));
    if (recorded !== undefined) return recorded;
  } catch (error) {
    state.complain("reading the group of a session", error, "it is folded");
    return false;
  }
  return before === undefined
    ? isHeldOut(session.sessionId, state.options.holdout)
    : isUntouched(state, before, undefined);
}

/** Returns the group of a session with recorded turns. */
async function recordedGroup(store: Concertina, { agentId, sessionId }: Scope): Promise<boolean | undefined> {
  const known = (await store.sessions()).find((one) => one.agentId === agentId && one.sessionId === sessionId);
  return known === undefined || (known.sessionKey === null && !known.isHeldOut) ? undefined : known.isHeldOut;
}
