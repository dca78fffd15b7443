/**
 * The host's section on its memory tools. The host puts it into the system prompt of its own engine only: others return
 * it.
 *
 * Tools and key of a session make it, and the host's configuration: it stays the same from turn to turn.
 */

import type { AssembleParams } from "./host.js";
import type { PluginState } from "./state.js";

const ASKING = "asking the host for its memory section";

/**
 * What the host's own engine would have in the system prompt: nothing for sub-agents and cron jobs, whose prompts are
 * minimal.
 */
export async function memorySection(state: PluginState, params: AssembleParams): Promise<string | undefined> {
  const { availableTools = new Set(), citationsMode, sessionKey } = params;
  try {
    const { isCronSessionKey, isSubagentSessionKey } = await import("openclaw/plugin-sdk/routing");
    if (isSubagentSessionKey(sessionKey) || isCronSessionKey(sessionKey)) return undefined;
    const { buildMemorySystemPromptAddition } = await import("openclaw/plugin-sdk/core");
    const section = buildMemorySystemPromptAddition({ availableTools, citationsMode, agentSessionKey: sessionKey });
    state.ended(ASKING);
    return section;
  } catch (error) {
    state.complain(ASKING, error, "the system prompt goes without it");
    return undefined;
  }
}
