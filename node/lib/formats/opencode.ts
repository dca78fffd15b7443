/**
 * Conversion of the sessions that OpenCode exports (`opencode export ID`) to messages.
 *
 * An export is `{ info, messages: [{ info, parts }] }`. A message of the assistant has the parts of one or more model
 * calls, each between `step-start` and `step-finish`, with the results of the tools in the parts of their calls.
 */
import type { Message } from "../library/api.js";

interface Tokens {
  input?: number;
  output?: number;
  reasoning?: number;
  cache?: { read?: number; write?: number };
}

interface Part {
  type?: string;
  text?: string;
  /** True for words that are shown to the user only. */
  ignored?: boolean;
  mime?: string;
  url?: string;
  tool?: string;
  callID?: string;
  state?: {
    status?: string;
    input?: unknown;
    output?: string;
    error?: string;
    attachments?: Part[];
    time?: { end?: number };
  };
  tokens?: Tokens;
}

interface Entry {
  info: { role?: string; modelID?: string; time?: { created?: number }; tokens?: Tokens; error?: unknown };
  parts?: Part[];
}

/** An exported session. */
export interface OpenCodeExport {
  info: object;
  messages: (Entry | null)[];
}

/** Returns true for an exported session. */
export function isOpenCodeExport(row: unknown): row is OpenCodeExport {
  const { info, messages } = (row ?? {}) as { info?: unknown; messages?: unknown };
  return typeof info === "object" && info !== null && Array.isArray(messages);
}

/** Converts exported sessions to messages. */
export function messagesOfOpenCode(rows: unknown[]): Message[] {
  const entries = rows.filter(isOpenCodeExport).flatMap((row) => row.messages);
  return entries.flatMap((entry) => (typeof entry?.info === "object" ? messagesOf(entry) : []));
}

function messagesOf({ info, parts = [] }: Entry): Message[] {
  const { created: timestamp } = info.time ?? {};
  if (info.role !== "assistant") return [{ role: "user", content: parts.flatMap(contentOf), timestamp }];
  const steps = stepsOf(parts);
  return steps.flatMap((step, index) => {
    const tokens =
      step.find(({ type }) => type === "step-finish")?.tokens ?? (steps.length === 1 ? info.tokens : undefined);
    const calls = step.filter(({ type }) => type === "tool");
    const answer: Message = {
      role: "assistant",
      content: step.flatMap(contentOf),
      model: info.modelID,
      ...(tokens === undefined ? {} : { usage: usageIn(tokens) }),
      ...(info.error !== undefined && index === steps.length - 1 ? { stopReason: "error" } : {}),
      timestamp,
    };
    return [answer, ...calls.flatMap(resultsOf)];
  });
}

/** Splits the parts of a message by model call. */
function stepsOf(parts: Part[]): Part[][] {
  const steps: Part[][] = [[]];
  for (const part of parts) {
    if (part.type === "step-start" && steps.at(-1)?.length !== 0) steps.push([]);
    if (part.type !== "step-start") steps.at(-1)?.push(part);
  }
  return steps;
}

function contentOf({ type, text = "", ignored, tool, callID, state, mime = "", url = "" }: Part): object[] {
  if (type === "text") return ignored || text === "" ? [] : [{ type: "text", text }];
  if (type === "reasoning") return [{ type: "thinking", thinking: text }];
  if (type === "tool") return [{ type: "toolCall", id: callID, name: tool, arguments: state?.input ?? {} }];
  // OpenCode writes the text of an attached file into a part of its own.
  const [, data] = /^data:image\/[^;,]+;base64,(.*)$/s.exec(url) ?? [];
  return type === "file" && data !== undefined ? [{ type: "image", mimeType: mime, data }] : [];
}

/** Returns the result of a tool. A call that was interrupted has none. */
function resultsOf({ tool: toolName, callID: toolCallId, state = {} }: Part): Message[] {
  const { status, output, error, attachments = [], time } = state;
  if (status !== "completed" && status !== "error") return [];
  const content = [{ type: "text", text: output ?? error ?? "" }, ...attachments.flatMap(contentOf)];
  return [{ role: "toolResult", toolCallId, toolName, content, isError: status === "error", timestamp: time?.end }];
}

/** The input of OpenCode excludes the cached tokens, and its output the reasoning. */
function usageIn({ input = 0, output = 0, reasoning = 0, cache = {} }: Tokens): object {
  return { input, output: output + reasoning, cacheRead: cache.read ?? 0, cacheWrite: cache.write ?? 0 };
}
