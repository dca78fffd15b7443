/**
 * The moment of birth: a tool result is folded before the model sees it, while changing it costs nothing.
 *
 * What is returned here is also what the transcript keeps, so a result is only folded when this session's model can fetch the
 * original. The host replaces a tool's answer by an error when this throws.
 */

import { agentOf, FETCH_TOOL } from "../node/lib/index.js";
import type { AgentMessage, CallContext, ContentBlock, ToolResult, ToolResultEvent } from "./host.js";
import type { PluginState } from "./state.js";

/** Before any middleware the host cuts a text to this many characters, and does not say so. */
const HOST_CUTS_AT = 100_000;

export async function foldToolResult(
  state: PluginState,
  event: ToolResultEvent,
  context: CallContext,
): Promise<{ result: ToolResult } | undefined> {
  const { sessionId } = context;
  if (!state.enabled || event.toolName === FETCH_TOOL || sessionId === undefined || !state.sessions.canFetch(sessionId)) return;
  try {
    const fresh: AgentMessage = {
      role: "toolResult",
      toolCallId: event.toolCallId,
      toolName: event.toolName,
      content: event.result.content,
      isError: event.isError ?? false,
    };
    const scope = { sessionId, agentId: agentOf(context.sessionKey) };
    const admitted = await state.use((store) => store.admitToolResult({ ...scope, message: fresh, args: event.args, hostCutAt: HOST_CUTS_AT }));
    if (admitted === undefined) return;
    const { message, report } = admitted;
    if (report.warning) state.complain("storing", report.warning, "a result goes to the model unchanged");
    if (message === fresh) return;
    return { result: { ...event.result, content: message.content as ContentBlock[] } };
  } catch (error) {
    state.complain(`folding a result of ${event.toolName}`, error, "the model gets it unchanged");
    return;
  }
}
