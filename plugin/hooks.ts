/**
 * What the end of a session means for its originals.
 *
 * A reset keeps the session's id and the old part of its transcript, and an automatic one keeps the old session beside the new: the
 * host can show both again, so only a deleted session ends here. Whatever else leaves the host is noticed before the next sweep.
 */

import type { SessionEnd } from "./host.js";
import type { PluginState } from "./state.js";

/** Reasons after which a conversation does not go on. */
const FINAL = new Set(["new", "reset", "deleted"]);

/**
 * Ends a deleted session, whose originals then age; with `purgeOnReset`, forgets one that was reset or deleted at once, unless another host
 * shows it, too.
 */
export async function endSession(state: PluginState, { sessionId, reason = "" }: SessionEnd): Promise<void> {
  if (!FINAL.has(reason)) return;
  try {
    await state.use(async (store) => {
      const isElsewhere = (await store.sessions()).some((known) => known.sessionId === sessionId && known.isElsewhere);
      if (state.options.purgeOnReset === true && !isElsewhere) await store.purge({ sessionId });
      else if (reason === "deleted") await store.endSession({ sessionId });
    });
  } catch (error) {
    state.complain("ending a session", error, "its originals stay until the host no longer has it");
  }
}
