/** The call that a tool's result answers, in whichever provider's shape the result is. */
import type { AnyMessage } from "../library/api.js";
import { attempt, MOST_VALUES } from "./light-json.js";

/**
 * The calls that a result answers, as far as they are known: they name the tool, its arguments and who made the call.
 */
export function callOf(message: AnyMessage, toolName: string | undefined, args: unknown, caller?: unknown): AnyMessage {
  const call = (id: string) => ({
    type: "toolCall",
    id,
    name: toolName ?? toolOf(message),
    arguments: args ?? {},
    ...(caller === undefined ? {} : { caller }),
  });
  // Where a getter throws, it does so when the message crosses, too, and what cannot be read is left alone.
  return { role: "assistant", content: (attempt(() => callIds(message)) ?? []).map(call) };
}

/**
 * The ids under which a message may carry results: its own, and those of its `tool_result` blocks; empty where it
 * states none.
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

/** The tool that a result names. */
export function toolOf(message: AnyMessage): string {
  return stringOf(message, ["toolName", "name"]);
}

/** The first of some fields that is a text or a number; empty where there is none, and where reading them throws. */
function stringOf(of: object, names: string[]): string {
  const found = attempt(() =>
    names
      .map((name) => (of as Record<string, unknown>)[name])
      .find((value) => typeof value === "string" || typeof value === "number"),
  );
  return String(found ?? "");
}
