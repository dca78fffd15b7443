// Functions that the replay needs to read a message: its author, its time, the texts that a model reads, and those that
// it wrote.

const RESULTS = new Set(["toolResult", "tool", "tool_result", "function"]);
const blocksOf = (message) => (Array.isArray(message.content) ? message.content : [message.content]);

/** Returns true if a message is a tool result. Anthropic sends those in the user's role. */
export function isResult(message) {
  if (RESULTS.has(message.role)) return true;
  return (
    message.role === "user" &&
    Array.isArray(message.content) &&
    message.content.some((block) => block?.type === "tool_result")
  );
}

/** Returns true if a message comes from a billed model call. An answer that failed before billing does not. */
export function isCall({ role, stopReason, usage }) {
  const failed = stopReason === "error" || stopReason === "aborted";
  return role === "assistant" && !(failed && !Object.values(usage ?? {}).some((tokens) => tokens > 0));
}

/** Returns the time of a message in milliseconds, if the session states it. */
export const timeOf = (message) => (Number.isFinite(message.timestamp) ? message.timestamp : undefined);

/** Returns the tool and the arguments of each call, by id. */
export function callsById(messages) {
  const found = new Map();
  for (const message of messages) {
    for (const block of blocksOf(message))
      if (block?.id && block.name) found.set(block.id, { toolName: block.name, args: block.arguments ?? block.input });
    for (const call of message.tool_calls ?? [])
      found.set(call.id, { toolName: call.function?.name, args: call.function?.arguments });
  }
  return found;
}

/** Returns the arguments of the tool calls in one message. JSON of an object or a list is parsed. */
export function argumentsIn(message) {
  const blocks = blocksOf(message).filter((block) => block?.type === "toolCall" || block?.type === "tool_use");
  return [
    ...blocks.map((block) => block.arguments ?? block.input),
    ...(message.tool_calls ?? []).map((call) => call.function?.arguments),
  ].map(parsed);
}

function parsed(args) {
  if (typeof args !== "string" || !/^\s*[{[]/.test(args)) return args;
  try {
    return JSON.parse(args);
  } catch {
    // A model's arguments may be invalid JSON. No tool could have executed an edit in them.
    return undefined;
  }
}

/** Returns the id of the call that a result answers. */
export function callIdOf(message) {
  const block = blocksOf(message).find((candidate) => candidate?.tool_use_id);
  return message.toolCallId ?? message.tool_call_id ?? block?.tool_use_id;
}

/** Returns all texts in a value, however deep. */
export function stringsIn(value) {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

/**
 * Returns the texts of the blocks that a model reads in a message, with their kinds: "text", "thinking", "arguments" or
 * "result".
 */
export function partsOf(message) {
  const out = [];
  const add = (kind, value) => {
    const texts = stringsIn(value);
    if (texts.length > 0) out.push({ kind, texts });
  };
  const block = (value, kind) => {
    if (typeof value === "string") add(kind, value);
    else if (value?.type === "thinking") add("thinking", value.thinking);
    else if (value?.type === "tool_result") for (const inner of blocksOf(value)) block(inner, "result");
    else if (value?.type === "toolCall" || value?.type === "tool_use") add("arguments", value.arguments ?? value.input);
    else if (typeof value?.text === "string") add(kind, value.text);
  };
  for (const value of blocksOf(message)) block(value, RESULTS.has(message.role) ? "result" : "text");
  for (const call of message.tool_calls ?? []) add("arguments", call.function?.arguments);
  return out;
}

/**
 * Returns the texts that a model reads in a message: text, thinking, arguments, results. Not images, ids, or fields
 * that hosts add to the content.
 */
export const textsOf = (message) => partsOf(message).flatMap(({ texts }) => texts);

/** Returns the texts that the model wrote for others in one call: its words and its arguments. */
export const writtenIn = (message) => partsOf(message).flatMap(({ kind, texts }) => (kind === "thinking" ? [] : texts));

/**
 * Returns the message with each of its texts replaced by the result of `change`, or the same object if nothing changed.
 */
export function withTexts(message, change) {
  const { content } = message;
  if (typeof content === "string") {
    const text = change(content);
    return text === content ? message : { ...message, content: text };
  }
  if (!Array.isArray(content)) return message;
  const mapped = content.map((block) => {
    if (block?.type === "tool_result") return withTexts(block, change);
    if (typeof block?.text !== "string") return block;
    const text = change(block.text);
    return text === block.text ? block : { ...block, text };
  });
  return mapped.every((block, index) => block === content[index]) ? message : { ...message, content: mapped };
}
