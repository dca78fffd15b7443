/**
 * Conversion of the Codex command line's rollouts (`rollout-*.jsonl` below `~/.codex/sessions`) to messages.
 *
 * A line is `{ timestamp, type, payload }`. The payloads of `response_item` are the input and the output of the model;
 * adjacent reasoning, text and calls form one answer. Other lines repeat that content for display, except
 * `turn_context`, which names the model, and `token_count`, which states the usage of the answer before it.
 */
import type { Message } from "../library/api.js";
import { usageOfPrompt } from "./usage.js";

/** A line of a rollout. */
interface RolloutLine {
  timestamp?: string;
  type?: string;
  payload?: Item & { model?: string; info?: { last_token_usage?: TokenUsage } | null };
}

/** The tokens of a call. The input includes the cached tokens. */
interface TokenUsage {
  input_tokens?: number;
  cached_input_tokens?: number;
  output_tokens?: number;
}

interface Part {
  type?: string;
  text?: string;
  image_url?: string;
  stdout?: string;
  stderr?: string;
}

interface Item {
  type?: string;
  role?: string;
  content?: Part[] | string | null;
  name?: string;
  arguments?: string;
  input?: string;
  action?: unknown;
  operation?: unknown;
  call_id?: string;
  id?: string;
  output?: unknown;
  summary?: Part[];
}

/** Returns true for a row that only rollouts contain. */
export function isRolloutLine(row: unknown): boolean {
  const { type, payload } = (row ?? {}) as RolloutLine;
  return (
    ["session_meta", "response_item", "turn_context", "event_msg", "compacted"].includes(type ?? "") &&
    typeof payload === "object" &&
    payload !== null
  );
}

/**
 * Returns true for an item of OpenAI's Responses API that is not a message. Such an item has a type instead of a role.
 */
export function isResponseItem(value: unknown): boolean {
  const item = (value ?? {}) as Item;
  return typeof item.role !== "string" && (item.type === "reasoning" || isCall(item) || isOutput(item));
}

/** Returns true for a call that an output answers. A call without a `call_id` was run by the provider itself. */
function isCall({ type, call_id }: Item): boolean {
  return (
    type === "function_call" ||
    type === "custom_tool_call" ||
    ((type?.endsWith("_call") ?? false) && typeof call_id === "string")
  );
}

/** Returns true for the output of a call of any kind. */
function isOutput({ type, call_id }: Item): boolean {
  return (type?.endsWith("_output") ?? false) && typeof call_id === "string";
}

/** Converts the items of a request to the Responses API to messages. */
export function messagesOfItems(items: (Item | null)[]): Message[] {
  const known = items.filter((item): item is Item => item !== null && typeof item === "object");
  return messagesOfRollout(
    known.map((item) => ({
      type: "response_item",
      payload: typeof item.role === "string" ? { ...item, type: "message" } : item,
    })),
  );
}

/** Converts a rollout to messages. */
export function messagesOfRollout(rows: unknown[]): Message[] {
  const messages: Message[] = [];
  const tools = new Map<string, string>();
  let model: string | undefined;
  for (const { timestamp, type, payload } of rows.filter(isRolloutLine) as RolloutLine[]) {
    if (type === "turn_context") model = payload?.model ?? model;
    const used = payload?.type === "token_count" ? payload.info?.last_token_usage : undefined;
    const answer = used && messages.findLast(({ role }) => role === "assistant");
    if (answer)
      answer.usage = usageOfPrompt(used.input_tokens ?? 0, {
        output: used.output_tokens,
        cacheRead: used.cached_input_tokens,
      });
    if (type !== "response_item" || payload === undefined) continue;
    const at = timestamp === undefined ? {} : { timestamp: Date.parse(timestamp) };
    const parts = answerParts(payload, tools);
    const last = messages.at(-1);
    if (parts === undefined) {
      const message = told(payload, tools);
      if (message !== undefined) messages.push({ ...message, ...at });
    } else if (last?.role === "assistant") (last.content as object[]).push(...parts);
    else messages.push({ role: "assistant", content: parts, ...(model === undefined ? {} : { model }), ...at });
  }
  return messages;
}

/** Returns the parts of the model's answer that an item contains, or undefined if the item is input to the model. */
function answerParts(item: Item, tools: Map<string, string>): object[] | undefined {
  const call = (name: string, args: unknown) => {
    const id = item.call_id ?? item.id ?? "";
    tools.set(id, name);
    return [{ type: "toolCall", id, name, arguments: args }];
  };
  switch (item.type) {
    case "message":
      return item.role === "assistant" ? partsOf(item.content) : undefined;
    case "reasoning":
      return [{ type: "thinking", thinking: (item.summary ?? []).map(({ text = "" }) => text).join("\n") }];
    case "function_call":
      return call(item.name ?? "", argumentsOf(item.arguments ?? "{}"));
    case "custom_tool_call":
      return call(item.name ?? "", { input: item.input ?? "" });
    default:
      return isCall(item)
        ? call(item.name ?? String(item.type).replace(/_call$/, ""), item.action ?? item.operation ?? {})
        : undefined;
  }
}

function told(item: Item, tools: Map<string, string>): Message | undefined {
  if (item.type === "message" && typeof item.role === "string")
    return { role: item.role, content: partsOf(item.content) };
  if (!isOutput(item)) return undefined;
  const toolCallId = item.call_id ?? "";
  return {
    role: "toolResult",
    toolCallId,
    toolName: tools.get(toolCallId),
    content: outputParts(item.output),
    isError: false,
  };
}

/** Converts an output to parts. It is a text, parts, or, in rollouts of 2025, an object with the text in `content`. */
function outputParts(output: unknown): object[] {
  if (typeof output === "string" || Array.isArray(output)) return partsOf(output as string | Part[]);
  const { content } = (output ?? {}) as { content?: string };
  return partsOf(typeof content === "string" ? content : JSON.stringify(output ?? ""));
}

function partsOf(content: Part[] | string | null | undefined): object[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (content ?? []).map((part) => {
    const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(part.image_url ?? "") ?? [];
    return mimeType === undefined
      ? { type: "text", text: part.text ?? [part.stdout, part.stderr].filter(Boolean).join("\n") }
      : { type: "image", mimeType, data };
  });
}

/** Parses arguments that a model wrote as JSON. */
export function argumentsOf(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return value !== null && typeof value === "object" ? value : { value };
  } catch {
    return { text: json };
  }
}
