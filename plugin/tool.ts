/**
 * The tool `fetch_original_data`, which returns originals to the model byte for byte.
 *
 * It is listed directly to the model: behind the host's tool search its answers would arrive escaped inside an
 * envelope.
 */

import { agentOf, answerFetch, describe, FETCH_DEFINITION, isMisuse } from "../node/lib/for-plugin.js";
import type { CallContext, ContentBlock, Tool } from "./host.js";
import { roomIn } from "./answer-budget.js";
import type { PluginState } from "./state.js";

const FETCHING = "fetching an original";

/** Creates the tool of one conversation. */
export function createFetchTool(state: PluginState, context: CallContext): Tool {
  return {
    ...FETCH_DEFINITION,
    execute: async (_toolCallId, given) => ({ content: await fetchOriginals(state, context, given), details: {} }),
  };
}

async function fetchOriginals(state: PluginState, context: CallContext, given: unknown): Promise<ContentBlock[]> {
  try {
    const scope = {
      agentId: agentOf(context.sessionKey),
      sessionId: context.sessionId,
      maxChars: roomIn(context.sessionId),
    };
    const answer = await state.folding.use((store) => answerFetch(store, given, scope), FETCHING);
    return answer ?? unreachable("the store cannot be opened");
  } catch (error) {
    // For a mistake of the model, the host shows it the message, and the model can call again.
    if (isMisuse(error)) throw error;
    state.complain(FETCHING, error, "the answer tells the model");
    return unreachable(describe(error));
  }
}

function unreachable(why: string): ContentBlock[] {
  const text = `The original cannot be read: ${why}. Do not call this again; read the file or run the command again instead.`;
  return [{ type: "text", text }];
}
