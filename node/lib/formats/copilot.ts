/**
 * Conversion of the sessions of GitHub's Copilot command line (`~/.copilot/session-state/ID/events.jsonl`) to messages.
 *
 * A line is `{ type, data, timestamp }`. Adjacent messages of the assistant form one answer. Messages of sub-agents are
 * left out: their conversations are not the session's.
 */
import type { Message } from "../library/api.js";
import { argumentsOf } from "./codex.js";
import { usageOfPrompt } from "./usage.js";

interface Event {
  type?: string;
  timestamp?: string;
  agentId?: string;
  data?: Data;
}

interface Data {
  content?: string;
  /** The user's words as the model gets them. */
  transformedContent?: string;
  reasoningText?: string;
  toolRequests?: { toolCallId?: string; name?: string; arguments?: unknown }[];
  toolCallId?: string;
  toolName?: string;
  parentToolCallId?: string;
  success?: boolean;
  result?: { content?: unknown } | string;
  error?: { message?: string };
  model?: string;
  newModel?: string;
  selectedModel?: string;
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

/** Returns true for a row that only sessions of Copilot contain. */
export function isCopilotEvent(row: unknown): boolean {
  const { type, data } = (row ?? {}) as Event;
  return (
    typeof type === "string" && /^(session|user|assistant|tool)\.\w+$/.test(type) && typeof data === "object" && !!data
  );
}

/** Converts the events of a session to messages. */
export function messagesOfCopilot(rows: unknown[]): Message[] {
  const messages: Message[] = [];
  const tools = new Map<string, string>();
  let model: string | undefined;
  for (const { type, data, timestamp, agentId } of (rows as Event[]).filter(isCopilotEvent)) {
    if (data === undefined || agentId !== undefined || data.parentToolCallId !== undefined) continue;
    const at = timestamp === undefined ? {} : { timestamp: Date.parse(timestamp) };
    const last = messages.at(-1);
    if (type === "session.start" || type === "session.model_change")
      model = data.newModel ?? data.selectedModel ?? model;
    else if (type === "user.message")
      messages.push({ role: "user", content: data.transformedContent ?? data.content ?? "", ...at });
    else if (type === "assistant.message") {
      const parts = answerOf(data, tools);
      if (last?.role === "assistant") (last.content as object[]).push(...parts);
      else messages.push({ role: "assistant", content: parts, model: data.model ?? model, ...at });
    } else if (type === "assistant.usage") {
      const answer = messages.findLast(({ role }) => role === "assistant");
      if (answer !== undefined) Object.assign(answer, { usage: usageIn(data), model: data.model ?? answer.model });
    } else if (type === "tool.execution_start") tools.set(data.toolCallId ?? "", data.toolName ?? "");
    else if (type === "tool.execution_complete") {
      const toolCallId = data.toolCallId ?? "";
      const content = [{ type: "text", text: outputOf(data) }];
      const isError = data.success === false;
      messages.push({ role: "toolResult", toolCallId, toolName: tools.get(toolCallId), content, isError, ...at });
    }
  }
  return messages;
}

function answerOf({ content, reasoningText, toolRequests = [] }: Data, tools: Map<string, string>): object[] {
  return [
    ...(reasoningText ? [{ type: "thinking", thinking: reasoningText }] : []),
    ...(content ? [{ type: "text", text: content }] : []),
    ...toolRequests.map(({ toolCallId: id = "", name = "", arguments: args }) => {
      tools.set(id, name);
      return { type: "toolCall", id, name, arguments: typeof args === "string" ? argumentsOf(args) : (args ?? {}) };
    }),
  ];
}

/** Returns what the model gets. `detailedContent` is for display. */
function outputOf({ result, error }: Data): string {
  const content = typeof result === "string" ? result : result?.content;
  if (content === undefined) return error?.message ?? "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

function usageIn(data: Data): object {
  const { inputTokens = 0, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = data;
  return usageOfPrompt(inputTokens, { output, cacheRead, cacheWrite });
}
