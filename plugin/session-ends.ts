/**
 * The end of a session, with the consequence for its originals, and the end of this registration of the plugin.
 *
 * A reset keeps the session's id and the old part of its transcript, and an automatic reset keeps the old session
 * beside the new one. The host can show both again, so only a deleted session ends here. Sessions that leave the host
 * in other ways are noticed before the next sweep.
 */

import { agentOf } from "../node/lib/for-plugin.js";
import type { PluginApi, SessionEnd } from "./host.js";
import { whyKeptIn } from "./known-sessions.js";
import type { Scope } from "./sessions.js";
import type { PluginState } from "./state.js";

const ENDING = "ending a session";
/** The reasons after which a conversation does not continue. */
const FINAL = new Set(["new", "reset", "deleted"]);
/** The reasons for a cleanup that concern the plugin and not a session. */
const REPLACED = new Set(["restart", "disable"]);

/**
 * Ends a deleted session, so that its originals begin to age. With `purgeOnReset`, a session that was reset or deleted
 * is purged at once, unless another host also shows it, which is logged.
 */
export async function endSession(
  state: PluginState,
  { sessionId, sessionKey, reason = "" }: SessionEnd,
): Promise<void> {
  const scope = { sessionId, agentId: agentOf(sessionKey) };
  for (const one of new Set([state, state.folding]))
    if (FINAL.has(reason) && one.hasStore) await endIn(one, scope, reason);
}

async function endIn(state: PluginState, scope: Scope, reason: string): Promise<void> {
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
    state.complain(ENDING, error, "its originals are kept until the host no longer has it");
  }
}

/**
 * Releases the store when the host replaces this registration, as after a change of options or an update of the plugin.
 * A host without `onDispose` reports only the replacement of the whole plugin and does not wait for its turns.
 */
export function letGoWhenReplaced({ lifecycle }: PluginApi, state: PluginState): void {
  if (lifecycle?.onDispose !== undefined) lifecycle.onDispose(() => state.letGo());
  else
    lifecycle?.registerRuntimeLifecycle({
      id: "store",
      cleanup: ({ reason }) => (REPLACED.has(reason) ? state.letGo() : undefined),
    });
}
