// What the replay has to know about a message: whose it is, when it was, which words of it a model reads, which it wrote.

const RESULTS = new Set(["toolResult", "tool", "tool_result", "function"]);
const blocksOf = (message) => (Array.isArray(message.content) ? message.content : [message.content]);

/** Whether a message is the outcome of a tool. Anthropic sends those in the user's role. */
export function isResult(message) {
  if (RESULTS.has(message.role)) return true;
  return message.role === "user" && Array.isArray(message.content) && message.content.some((block) => block?.type === "tool_result");
}

/** When a message was made, in milliseconds, where the session says so. */
export const timeOf = (message) => (Number.isFinite(message.timestamp) ? message.timestamp : undefined);

/** Arguments of each tool call, by id. */
export function argumentsById(messages) {
  const found = new Map();
  for (const message of messages) {
    for (const block of blocksOf(message)) if (block?.id && block.name) found.set(block.id, block.arguments ?? block.input);
    for (const call of message.tool_calls ?? []) found.set(call.id, call.function?.arguments);
  }
  return found;
}

/** The id of the call that a result answers. */
export function callIdOf(message) {
  const block = blocksOf(message).find((candidate) => candidate?.tool_use_id);
  return message.toolCallId ?? message.tool_call_id ?? block?.tool_use_id;
}

function strings(value, out) {
  if (typeof value === "string") out.push(value);
  else if (value && typeof value === "object") for (const item of Object.values(value)) strings(item, out);
}

/** Texts a model reads in a message: text, thinking, arguments, results. Not images, ids, or what hosts keep beside the content. */
export function textsOf(message, { thinking = true } = {}) {
  const out = [];
  const block = (value) => {
    if (typeof value === "string") out.push(value);
    else if (value?.type === "thinking") strings(thinking ? value.thinking : undefined, out);
    else if (value?.type === "tool_result") for (const inner of blocksOf(value)) block(inner);
    else if (value?.type === "toolCall" || value?.type === "tool_use") strings(value.arguments ?? value.input, out);
    else if (typeof value?.text === "string") out.push(value.text);
  };
  for (const value of blocksOf(message)) block(value);
  for (const call of message.tool_calls ?? []) strings(call.function?.arguments, out);
  return out;
}

/** Texts that the model wrote for others in one call: its words and its arguments. */
export const writtenIn = (message) => textsOf(message, { thinking: false });
