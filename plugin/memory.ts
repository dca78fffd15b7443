/**
 * The host's prompt section about its memory tools. The host adds it only to the system prompt of its own engine; other
 * engines must return it.
 *
 * It depends on the tools and the key of a session and on the host's configuration, so it is the same in every turn.
 */

import type { AssembleParams } from "./host.js";
import type { PluginState } from "./state.js";

const ASKING = "asking the host for its memory section";

/**
 * Returns the section that the host's own engine would add to the system prompt. Sub-agents and cron jobs get none
 * because their prompts are minimal.
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
    state.complain(ASKING, error, "the system prompt is sent without it");
    return undefined;
  }
}
