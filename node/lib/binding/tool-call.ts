/** The call that a tool result answers, for results of every provider. */
import type { AnyMessage } from "../library/api.js";
import { attempt, MOST_VALUES } from "./light-json.js";

/**
 * Returns a message with the calls that a result answers. They state the tool, its arguments and the caller, as far as
 * those are known.
 */
export function callOf(message: AnyMessage, toolName: string | undefined, args: unknown, caller?: unknown): AnyMessage {
  const call = (id: string) => ({
    type: "toolCall",
    id,
    name: toolName ?? toolOf(message),
    arguments: args ?? {},
    ...(caller === undefined ? {} : { caller }),
  });
  // A getter that throws here throws again when the message crosses, and such a message is left alone.
  return { role: "assistant", content: (attempt(() => callIds(message)) ?? []).map(call) };
}

/**
 * Returns the ids of the calls that a message answers: its own and those of its `tool_result` blocks. An id that is not
 * stated is empty.
 */
function callIds(message: AnyMessage): string[] {
  const hasBlocks = Array.isArray(message.content) && message.content.length <= MOST_VALUES;
  const blocks = hasBlocks ? (message.content as (Record<string, unknown> | null)[]) : [];
  const results = blocks.filter((block) => block?.type === "tool_result" || block?.type === "toolResult");
  return [
    stringOf(message, ["toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "call_id"]),
    ...results.map((block) => stringOf(block ?? {}, ["tool_use_id", "toolUseId", "toolCallId", "id"])),
  ];
}

/** Returns the name of the tool in a result, or an empty string. */
export function toolOf(message: AnyMessage): string {
  return stringOf(message, ["toolName", "name"]);
}

/**
 * Returns the first of some fields that is a string or a number, as a string. Returns an empty string if there is none
 * or reading throws.
 */
function stringOf(of: object, names: string[]): string {
  const found = attempt(() =>
    names
      .map((name) => (of as Record<string, unknown>)[name])
      .find((value) => typeof value === "string" || typeof value === "number"),
  );
  return String(found ?? "");
}
