/**
 * Functions that the measures need to read a message: its author, its time, the texts that a model reads, and those
 * that it wrote.
 */
import type { Message } from "../library/api.js";

/** A block of content, with the fields of every API that the measures read. */
interface Block {
  type?: string;
  text?: unknown;
  thinking?: unknown;
  id?: string;
  name?: string;
  arguments?: unknown;
  input?: unknown;
  content?: unknown;
  tool_use_id?: string;
}

/** A call as OpenAI writes it. */
export interface ToolCall {
  id: string;
  function?: { name?: string; arguments?: unknown };
}

/** The kind of a text that a model reads. */
export type PartKind = "text" | "thinking" | "arguments" | "result";

/** The texts of one block of a message. */
export interface Part {
  kind: PartKind;
  texts: string[];
}

const RESULTS = new Set(["toolResult", "tool", "tool_result", "function"]);
const blocksOf = ({ content }: { content?: unknown }) =>
  (Array.isArray(content) ? content : [content]) as (Block | string | null | undefined)[];
const isBlock = (block: Block | string | null | undefined): block is Block =>
  typeof block === "object" && block !== null;

/** Returns the calls in a message of OpenAI. */
export const toolCallsOf = ({ tool_calls: calls }: Message): ToolCall[] =>
  Array.isArray(calls)
    ? (calls as (ToolCall | null)[]).filter((call) => call !== null && typeof call === "object")
    : [];

/** Returns true if a message is a tool result. Anthropic sends those in the user's role. */
export function isResult(message: Message): boolean {
  if (RESULTS.has(message.role)) return true;
  return (
    message.role === "user" &&
    Array.isArray(message.content) &&
    blocksOf(message).some((block) => isBlock(block) && block.type === "tool_result")
  );
}

/**
 * Returns true if a message comes from a billed model call. An answer that failed before billing does not, nor one that
 * the host wrote itself (`openclaw`, and `<synthetic>` in Claude Code).
 */
export function isCall({ role, provider, model, stopReason, usage }: Message): boolean {
  const unbilled =
    provider === "openclaw" || model === "<synthetic>" || stopReason === "error" || stopReason === "aborted";
  return role === "assistant" && !(unbilled && !Object.values(usage ?? {}).some((tokens) => Number(tokens) > 0));
}

/** Returns the time of a message in milliseconds, if the session states it. */
export const timeOf = ({ timestamp }: Message): number | undefined =>
  typeof timestamp === "number" && Number.isFinite(timestamp) ? timestamp : undefined;

/** Returns the tool and the arguments of each call, by id. If ids repeat, the last call counts. */
export function callsById(messages: readonly Message[]): Map<string, { toolName?: string; args: unknown }> {
  const found = new Map<string, { toolName?: string; args: unknown }>();
  for (const message of messages) {
    for (const block of blocksOf(message))
      if (isBlock(block) && block.id && block.name)
        found.set(block.id, { toolName: block.name, args: block.arguments ?? block.input });
    for (const call of toolCallsOf(message))
      found.set(call.id, { toolName: call.function?.name, args: call.function?.arguments });
  }
  return found;
}

/** Returns the arguments of the tool calls in one message. JSON of an object or a list is parsed. */
export function argumentsIn(message: Message): unknown[] {
  const blocks = blocksOf(message)
    .filter(isBlock)
    .filter(({ type }) => type === "toolCall" || type === "tool_use");
  return [
    ...blocks.map((block) => block.arguments ?? block.input),
    ...toolCallsOf(message).map((call) => call.function?.arguments),
  ].map(parsed);
}

function parsed(args: unknown): unknown {
  if (typeof args !== "string" || !/^\s*[{[]/.test(args)) return args;
  try {
    return JSON.parse(args);
  } catch {
    // A model's arguments may be invalid JSON. No tool could have executed an edit in them.
    return undefined;
  }
}

/** Returns the id of the call that a result answers. */
export function callIdOf(message: Message): string | undefined {
  const block = blocksOf(message).find((candidate) => isBlock(candidate) && candidate.tool_use_id) as Block | undefined;
  return (message.toolCallId ?? message.tool_call_id ?? block?.tool_use_id) as string | undefined;
}

/** Returns all texts in a value, however deep. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

/** Returns the texts of the blocks that a model reads in a message, with their kinds. */
export function partsOf(message: Message): Part[] {
  const out: Part[] = [];
  const add = (kind: PartKind, value: unknown) => {
    const texts = stringsIn(value);
    if (texts.length > 0) out.push({ kind, texts });
  };
  const block = (value: Block | string | null | undefined, kind: PartKind): void => {
    if (typeof value === "string") add(kind, value);
    else if (value?.type === "thinking") add("thinking", value.thinking);
    else if (value?.type === "tool_result") for (const inner of blocksOf(value)) block(inner, "result");
    else if (value?.type === "toolCall" || value?.type === "tool_use") add("arguments", value.arguments ?? value.input);
    else if (typeof value?.text === "string") add(kind, value.text);
  };
  for (const value of blocksOf(message)) block(value, RESULTS.has(message.role) ? "result" : "text");
  for (const call of toolCallsOf(message)) add("arguments", call.function?.arguments);
  return out;
}

/**
 * Returns the texts that a model reads in a message: text, thinking, arguments, results. Not images, ids, or fields
 * that hosts add to the content.
 */
export const textsOf = (message: Message): string[] => partsOf(message).flatMap(({ texts }) => texts);

/** Returns the texts that the model wrote for others in one call: its words and its arguments. */
export const writtenIn = (message: Message): string[] =>
  partsOf(message).flatMap(({ kind, texts }) => (kind === "thinking" ? [] : texts));
