/**
 * What ends: a session, and what that means for its originals; and this registration of the plugin.
 *
 * A reset keeps the session's id and the old part of its transcript, and an automatic one keeps the old session beside
 * the new: the host can show both again, so only a deleted session ends here. Whatever else leaves the host is noticed
 * before the next sweep.
 */

import { agentOf } from "../node/lib/for-plugin.js";
import type { PluginApi, SessionEnd } from "./host.js";
import { whyKeptIn } from "./known-sessions.js";
import type { PluginState } from "./state.js";

const ENDING = "ending a session";
/** Reasons after which a conversation does not go on. */
const FINAL = new Set(["new", "reset", "deleted"]);
/** Reasons for which a host cleans up after a plugin and not after a session. */
const REPLACED = new Set(["restart", "disable"]);

/**
 * Ends a deleted session, whose originals then age; with `purgeOnReset`, forgets one that was reset or deleted at once,
 * unless another host shows it, too, which is said.
 */
export async function endSession(
  state: PluginState,
  { sessionId, sessionKey, reason = "" }: SessionEnd,
): Promise<void> {
  const scope = { sessionId, agentId: agentOf(sessionKey) };
  if (!FINAL.has(reason) || !state.hasStore) return;
  try {
    await state.use(async (store) => {
      if (state.options.purgeOnReset === true) {
        const why = await whyKeptIn(store, scope);
        if (why === undefined) return void (await store.purge(scope));
        state.warn(why);
      }
      if (reason === "deleted") await store.endSession(scope);
    }, ENDING);
  } catch (error) {
    state.complain(ENDING, error, "its originals stay until the host no longer has it");
  }
}

/**
 * Lets go of the store when the host has replaced this registration, as it does when an option is changed or the plugin
 * is updated. A host that has no `onDispose` tells it of the replaced plugin as a whole, and does not wait for its
 * turns.
 */
export function letGoWhenReplaced({ lifecycle }: PluginApi, state: PluginState): void {
  if (lifecycle?.onDispose !== undefined) lifecycle.onDispose(() => state.letGo());
  else
    lifecycle?.registerRuntimeLifecycle({
      id: "store",
      cleanup: ({ reason }) => (REPLACED.has(reason) ? state.letGo() : undefined),
    });
}
