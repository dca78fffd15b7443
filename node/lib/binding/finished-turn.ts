/** What of a finished turn the figures need: which calls were made, and what the provider said of them. */
import type { AnyMessage, Message } from "../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../library/fetch-tool.js";
import { attempt } from "./light-json.js";

/** The fetch tool as a request holds it. */
export const FETCH_TOOL_JSON = JSON.stringify({
  name: FETCH_TOOL,
  description: fetchToolDescription,
  parameters: fetchToolParameters,
});

/** Where OpenClaw, Anthropic and OpenAI say what was sent. The core reads what of it the cache held. */
const SENT = [
  "input",
  "cacheRead",
  "cacheWrite",
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "prompt_tokens",
];

/**
 * The messages of a turn; where every answer says what the provider counted, only what answers are known by, so that
 * nothing large crosses.
 */
export function toRecord(given: readonly AnyMessage[]): Message[] {
  const messages = given as readonly Message[];
  // Where an accessor throws, it does so when the message crosses, too, and what cannot be read is left alone.
  const measured = attempt(() => {
    // Of the Responses API nothing but the response itself says what was counted.
    const answers = messages.filter(
      ({ role, type }) => role === "assistant" || (typeof role !== "string" && typeof type === "string"),
    );
    return answers.every(isMeasured) ? answers.map(bare) : undefined;
  });
  return measured ?? [...messages];
}

function isMeasured({ usage }: Message): boolean {
  const reported = (usage ?? {}) as Record<string, unknown>;
  return SENT.some((name) => Number.isFinite(reported[name]) && (reported[name] as number) > 0);
}

type Part = {
  type?: unknown;
  text?: unknown;
  id?: unknown;
  call_id?: unknown;
  toolCallId?: unknown;
  name?: unknown;
} | null;
type ToolCall = { id?: unknown; function?: { name?: unknown }; custom?: { name?: unknown } } | null;

function bare({ role, timestamp, model, provider, stopReason, usage, content, tool_calls: calls }: Message): Message {
  const answer = { role, timestamp, model, provider, stopReason, usage };
  const called = (Array.isArray(calls) ? (calls as ToolCall[]) : []).map((call) =>
    bareCall("toolCall", call?.id, (call?.function ?? call?.custom)?.name),
  );
  if (!Array.isArray(content)) return { ...answer, content: called.length > 0 ? called : content };
  return { ...answer, content: [...(content as Part[]).flatMap(barePart), ...called] };
}

function barePart(part: Part): object[] {
  if (typeof part?.name === "string")
    return [bareCall(part.type, part.call_id ?? part.id ?? part.toolCallId, part.name)];
  return typeof part?.text === "string" ? [{ type: part.type, text: part.text }] : [];
}

function bareCall(type: unknown, id: unknown, name: unknown): object {
  return {
    type,
    id: typeof id === "string" || typeof id === "number" ? id : "",
    name: typeof name === "string" ? name : "",
    arguments: {},
  };
}
