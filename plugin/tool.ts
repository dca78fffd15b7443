/**
 * `fetch_original_data`: gives the model back, byte for byte, what was folded away.
 *
 * Listed directly to the model: behind the host's tool search its answers would arrive escaped inside an envelope.
 */

import { agentOf } from "./agent.js";
import type { CallContext, ContentBlock, Tool } from "./host.js";
import type { PluginState } from "./state.js";

export const FETCH_TOOL = "fetch_original_data";

const PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["ref_ids"],
  properties: {
    ref_ids: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      description: "Ids from [REF_ID: ...] or [[REWIND:sha256:...]] markers; the whole marker is accepted too.",
    },
    lines: { type: "string", description: 'Only these lines, for example "120-180".' },
    pattern: { type: "string", description: "Only lines that match this regular expression, with numbers and context." },
    max_chars: { type: "integer", minimum: 1, description: "Largest answer in characters; it says how to continue." },
  },
};

/** The tool of one conversation. */
export function createFetchTool(state: PluginState, context: CallContext): Tool {
  return {
    name: FETCH_TOOL,
    label: "Fetch original data",
    description:
      "Returns the exact original behind a [REF_ID: ...] or [[REWIND:sha256:...]] marker. Use it before an edit, when exact " +
      "text or more than a summary is needed; narrow large ones with lines or pattern.",
    parameters: PARAMETERS,
    catalogMode: "direct-only",
    async execute(_toolCallId, params) {
      const refIds = params.ref_ids as string[];
      return { content: await fetchOriginals(state, context, refIds, params), details: { ref_ids: refIds } };
    },
  };
}

async function fetchOriginals(
  state: PluginState,
  context: CallContext,
  refIds: string[],
  params: Record<string, unknown>,
): Promise<ContentBlock[]> {
  try {
    const store = await state.store();
    if (store === undefined) return unreachable("its store cannot be opened");
    const { content } = await store.fetch({
      refIds,
      agentId: agentOf(context),
      sessionId: context.sessionId,
      lines: params.lines as string | undefined,
      pattern: params.pattern as string | undefined,
      maxChars: params.max_chars as number | undefined,
    });
    return content as ContentBlock[];
  } catch (error) {
    // The model's own mistake: the host shows it the message, and it can call again properly.
    if (error instanceof TypeError) throw error;
    state.complain("fetching an original", error, "the model was told so");
    return unreachable(error instanceof Error ? error.message : String(error));
  }
}

function unreachable(why: string): ContentBlock[] {
  const text = `The original cannot be read: ${why}. Do not call this again; read the file or run the command again instead.`;
  return [{ type: "text", text }];
}
