/**
 * The moment of birth: a tool result is folded before the model sees it, while changing it costs nothing.
 *
 * What is returned here is also what the transcript keeps, so a result is only folded when this session's model can
 * fetch the original. The host replaces a tool's answer by an error when this throws.
 */

import { agentOf, FETCH_TOOL } from "../node/lib/for-plugin.js";
import type { ContentBlock, ToolResult, ToolResultContext, ToolResultEvent } from "./host.js";
import { hostRedactor } from "./redactor.js";
import { roomIn } from "./answer-budget.js";
import type { PluginState } from "./state.js";

/** Before any middleware the host cuts a text to this many characters, and does not say so. */
const HOST_CUTS_AT = 100_000;

const FOLDING = "folding a new result";

/** A larger image, in base64, is none that the host passes on. */
const HOST_IMAGE_CHARS = 5_000_000;

export async function foldToolResult(
  state: PluginState,
  event: ToolResultEvent,
  context: ToolResultContext,
): Promise<{ result: ToolResult } | undefined> {
  const folded = await fold(state, event, context);
  // Where the host uses another engine, nothing else tells the store which sessions this gateway still shows.
  state.sweepWhenDue();
  // An image that was too large may have been scaled down.
  const unheard = refused(folded ?? event.result.content);
  const content = unheard === undefined ? folded : [tellOf(state, event.toolName, unheard)];
  return content && { result: { ...event.result, content } };
}

/** What is shown in place of a result, where that is not the result itself. */
async function fold(
  state: PluginState,
  event: ToolResultEvent,
  context: ToolResultContext,
): Promise<ContentBlock[] | undefined> {
  if (!goesToModel(event, context)) return;
  const { sessionId } = context;
  if (!state.enabled || event.toolName === FETCH_TOOL || sessionId === undefined || !state.sessions.canFetch(sessionId))
    return;
  try {
    const fresh = {
      role: "toolResult",
      toolCallId: event.toolCallId,
      toolName: event.toolName,
      content: event.result.content,
      isError: event.isError ?? false,
    };
    const scope = { sessionId, agentId: agentOf(context.sessionKey), model: state.sessions.model(sessionId) };
    // What the host masks in its transcript must not stand in our store.
    const redactor = await hostRedactor();
    const admitted = await state.use(
      (store) =>
        store.admitToolResult({
          ...scope,
          message: fresh,
          args: event.args,
          hostCutAt: HOST_CUTS_AT,
          hostKeeps: roomIn(sessionId),
          redactor,
        }),
      FOLDING,
    );
    if (admitted === undefined) return;
    const { message, report } = admitted;
    if (report.warning) state.complain("storing", report.warning, "a result goes to the model unchanged");
    else state.ended("storing");
    return message === fresh ? undefined : message.content;
  } catch (error) {
    state.complain(FOLDING, error, "the model gets it unchanged");
    return;
  }
}

/**
 * Whether the model gets what is returned here. In Codex there are two kinds that it does not get. Results of Codex's
 * own tools are only shown here: they name no thread. And what a script of the model called is read by that script,
 * which may parse it: its calls have ids of Codex's making, those of the model have its provider's.
 */
function goesToModel({ threadId, toolCallId }: ToolResultEvent, { runtime }: ToolResultContext): boolean {
  return runtime !== "codex" || (threadId !== undefined && toolCallId.startsWith("call_"));
}

/**
 * What the host calls a result in which it finds neither a text nor an image that it takes: what is in there, by name
 * and size.
 */
function refused(content: readonly unknown[]): string | undefined {
  const blocks = content as { type?: string; mimeType?: string; data?: unknown; text?: unknown }[];
  if (blocks.length === 0 || blocks.some(isTaken)) return undefined;
  const sizeOf = (data: string) =>
    ` of ${data.length} base64 characters${data.length > HOST_IMAGE_CHARS ? ", which is too large" : ""}`;
  return blocks
    .map(
      ({ type, mimeType, data }) => `${mimeType ?? type ?? "something"}${typeof data === "string" ? sizeOf(data) : ""}`,
    )
    .join("; ");
}

function isTaken({
  type,
  mimeType,
  data,
  text,
}: {
  type?: string;
  mimeType?: string;
  data?: unknown;
  text?: unknown;
}): boolean {
  if (type === "text") return typeof text === "string";
  if (type === "image")
    return typeof mimeType === "string" && typeof data === "string" && data.length <= HOST_IMAGE_CHARS;
  return /^tool_?result$/i.test(type ?? "");
}

/**
 * The host would say that the tool failed, for every plugin that looks at results: the model is told what happened
 * instead.
 */
function tellOf(state: PluginState, toolName: string, unheard: string): ContentBlock {
  const why = `where a plugin looks at tool results, OpenClaw passes on only texts, and images of up to ${HOST_IMAGE_CHARS} base64 characters`;
  state.tell(
    `passing on a result of ${toolName}`,
    new Error(`${why}, and this one is ${unheard}`),
    "the model is told so",
  );
  return { type: "text", text: `[The tool answered with ${unheard}. It cannot be shown: ${why}.]` };
}
