/**
 * The data of a finished turn that the figures need: the calls that were made and the usage that the provider reported.
 */
import { usageOf } from "../formats/usage.js";
import type { AnyMessage, Message } from "../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../library/fetch-tool.js";
import { attempt } from "./light-json.js";

/** The definition of the fetch tool as a request contains it. */
export const FETCH_TOOL_JSON = JSON.stringify({
  name: FETCH_TOOL,
  description: fetchToolDescription,
  parameters: fetchToolParameters,
});

/**
 * Returns the messages of a turn. If the provider reported the usage of every answer, only the answers are returned,
 * with their texts and the names of their calls but without arguments and results, so that nothing large crosses.
 */
export function toRecord(given: readonly AnyMessage[]): Message[] {
  const messages = given as readonly Message[];
  // An accessor that throws here throws again when the message crosses, and such a message is left alone.
  const measured = attempt(() => {
    // In the Responses API only the response itself reports the usage.
    const answers = messages.filter(
      ({ role, type }) => role === "assistant" || (typeof role !== "string" && typeof type === "string"),
    );
    return answers.every(({ usage }) => usageOf(usage) !== undefined) ? answers.map(bare) : undefined;
  });
  return measured ?? [...messages];
}

/** Returns the tools of the results that report a failure, one for each, with an empty name if it is not known. */
export function failedTools(given: readonly AnyMessage[]): string[] {
  const failed = attempt(() =>
    (given as readonly Message[]).flatMap((message) => {
      if (message.isError === true) return [nameIn(message)];
      const parts = itemsOf<Record<string, unknown>>(message.content);
      return parts.flatMap((part) => (part?.is_error === true || part?.isError === true ? [nameIn(part)] : []));
    }),
  );
  return failed ?? [];
}

/** Returns the elements that an array has. Walking its indices would take a minute where it claims to have billions. */
function itemsOf<Item>(value: unknown): Item[] {
  return Array.isArray(value) ? (Object.values(value) as Item[]) : [];
}

function nameIn({ toolName, tool_name: other }: Record<string, unknown>): string {
  return String(toolName ?? other ?? "");
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
  const called = itemsOf<ToolCall>(calls).map((call) =>
    bareCall("toolCall", call?.id, (call?.function ?? call?.custom)?.name),
  );
  if (!Array.isArray(content)) return { ...answer, content: called.length > 0 ? called : content };
  return { ...answer, content: [...itemsOf<Part>(content).flatMap(barePart), ...called] };
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
