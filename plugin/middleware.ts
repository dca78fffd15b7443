/**
 * The middleware that folds a tool result at birth: the model has not seen it yet, so changing it costs nothing.
 *
 * The transcript keeps what is returned here, so a result is folded only if this session's model can fetch the
 * original. If this throws, the host replaces the tool's answer by an error.
 */

import { agentOf, type AnyMessage, FETCH_TOOL } from "../node/lib/for-plugin.js";
import type { ContentBlock, ToolResult, ToolResultContext, ToolResultEvent } from "./host.js";
import { hostRedactor } from "./redactor.js";
import { roomIn } from "./answer-budget.js";
import type { PluginState } from "./state.js";

/** The number of characters to which the host cuts a text before any middleware runs. It does not mark the cut. */
const HOST_CUTS_AT = 100_000;

const FOLDING = "folding a new result";

/** The maximum size of an image in base64 characters that the host passes on. */
const HOST_IMAGE_CHARS = 5_000_000;

export async function foldToolResult(
  state: PluginState,
  event: ToolResultEvent,
  context: ToolResultContext,
): Promise<{ result: ToolResult } | undefined> {
  const folded = await fold(state, event, context);
  // If the host uses another engine, nothing else tells the store which sessions this gateway still shows.
  state.sweepWhenDue();
  // The check runs after folding because that may have scaled a large image down.
  const unheard = refused(folded ?? event.result.content);
  const content = unheard === undefined ? folded : [tellOf(state, event.toolName, unheard)];
  return content && { result: { ...event.result, content } };
}

/** Returns the content to show in place of a result, or undefined to show the result itself. */
async function fold(
  state: PluginState,
  event: ToolResultEvent,
  context: ToolResultContext,
): Promise<ContentBlock[] | undefined> {
  if (!goesToModel(event, context)) return;
  const { sessionId } = context;
  if (!state.enabled || event.toolName === FETCH_TOOL || sessionId === undefined) return;
  if (!state.sessions.canFetch(sessionId) || state.sessions.isHeldOut(sessionId)) return;
  const admit = () => admitted(state, event, { ...context, sessionId });
  const { observer } = state;
  if (observer === undefined) return (await admit())?.content as ContentBlock[] | undefined;
  const conversation = { sessionId, sessionKey: context.sessionKey };
  observer.later(conversation, async () => {
    const shown = await admit();
    if (shown !== undefined) observer.born(conversation, event.toolCallId, shown);
  });
}

/** Folds a result at birth. Returns it as it is then shown, or undefined if it stays as it is. */
async function admitted(
  state: PluginState,
  event: ToolResultEvent,
  { sessionId, sessionKey }: { sessionId: string; sessionKey?: string },
): Promise<AnyMessage | undefined> {
  try {
    const fresh = {
      role: "toolResult",
      toolCallId: event.toolCallId,
      toolName: event.toolName,
      content: event.result.content,
      isError: event.isError ?? false,
    };
    const scope = { sessionId, agentId: agentOf(sessionKey), model: state.sessions.model(sessionId) };
    // Secrets that the host masks in its transcript must not be in our store either.
    const redactor = await hostRedactor();
    const done = await state.use(
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
    if (done === undefined) return;
    const { message, report } = done;
    if (report.warning) state.complain("storing", report.warning, "a result is sent to the model unchanged");
    else state.ended("storing");
    return message === fresh ? undefined : message;
  } catch (error) {
    state.complain(FOLDING, error, "it is sent to the model unchanged");
    return;
  }
}

/**
 * Returns true if the model receives what is returned here. In Codex two kinds of results are exceptions. Results of
 * Codex's own tools are only shown here; their events have no thread id. Results of calls that a script of the model
 * makes are read by that script, which may parse them. Codex generates the ids of those calls, while the ids of the
 * model's own calls come from its provider.
 */
function goesToModel({ threadId, toolCallId }: ToolResultEvent, { runtime }: ToolResultContext): boolean {
  return runtime !== "codex" || (threadId !== undefined && toolCallId.startsWith("call_"));
}

/**
 * Describes, by type and size, a result in which the host finds neither a text nor an image that it accepts. Returns
 * undefined if there is one.
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
 * Returns a text for the model in place of such a result. Without it, the host would report a failure of the tool for
 * every plugin that processes results.
 */
function tellOf(state: PluginState, toolName: string, unheard: string): ContentBlock {
  const why = `if a plugin processes tool results, OpenClaw passes on only texts, and images of up to ${HOST_IMAGE_CHARS} base64 characters`;
  state.tell(
    `passing on a result of ${toolName}`,
    new Error(`${why}, but this result is ${unheard}`),
    "the answer tells the model",
  );
  return { type: "text", text: `[The tool answered with ${unheard}. It cannot be shown: ${why}.]` };
}
