/** Clean-up at the end of a session, for operators who ask for it; by default originals leave only when they expire. */

import type { SessionEnd } from "./host.js";
import type { PluginState } from "./state.js";

/** Reasons after which a conversation does not come back. */
const FINAL = new Set(["new", "reset", "deleted"]);

/** Forgets a session that was ended for good: its originals, its ledger and its figures. */
export async function purgeEndedSession(state: PluginState, event: SessionEnd): Promise<void> {
  if (event.reason === undefined || !FINAL.has(event.reason)) return;
  try {
    const store = await state.store();
    await store?.purge({ sessionId: event.sessionId });
  } catch (error) {
    state.complain("purging an ended session", error, "its originals stay until they expire");
  }
}
