// Simulates how Anthropic signs a model's thinking and what it refuses.

import { createHash } from "node:crypto";

import { pieces } from "./reading.mjs";

const isThinking = (part) => part.type === "thinking" || part.type === "redacted_thinking";
const partsOf = (message) =>
  Array.isArray(message.content) ? message.content : [{ type: "text", text: message.content }];
const isResult = (part) => part.type === "tool_result";

/** Records the thinking that one scripted model issued, and checks that it is unchanged when it comes back. */
export class Signatures {
  /** The words of each thinking block, and what was before it, by signature. */
  #issued = new Map();

  /**
   * @param {{ binds: boolean }} options `binds`: thinking is valid only behind exactly what it was made with, as from
   * Fable 5.1 on
   */
  constructor({ binds }) {
    this.binds = binds;
  }

  /** Returns signed thinking about a request; without `words`, its text is generated. */
  think(request, words) {
    const number = this.#issued.size + 1;
    const thinking =
      words ??
      `Thought ${number}: ${"what was read so far and what to do about it, step by step; ".repeat(12)}so on with step ${number}.`;
    const signature = createHash("sha256").update(`${number}`).digest("base64");
    this.#issued.set(signature, { thinking, before: pieces(request).join("\n") });
    return { type: "thinking", thinking, signature };
  }

  /** Returns the reason why a request is refused, in the provider's words, or `undefined` for a valid one. */
  refusal(request) {
    const { messages } = request.body;
    const all = pieces(request);
    const head = all.length - messages.length;
    const asks = (message) => message.role === "user" && !partsOf(message).some(isResult);
    const turn = messages.findLastIndex(asks);
    for (const [index, message] of messages.entries()) {
      const at = `messages.${index}.content`;
      const parts = partsOf(message);
      if (parts.length === 0) return `${at}: all messages must have non-empty content`;
      if (message.role !== "assistant") continue;
      if (index > turn && !isThinking(parts[0]))
        return `${at}.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${parts[0].type}\``;
      if (parts.every(isThinking)) return `${at}: the message holds nothing but thinking`;
      for (const [nth, part] of parts.entries()) {
        if (!isThinking(part)) continue;
        const issued = this.#issued.get(part.signature);
        if (issued?.thinking !== part.thinking) return `${at}.${nth}: Invalid \`signature\` in \`thinking\` block`;
        if (this.binds && issued.before !== all.slice(0, head + index).join("\n")) {
          return `${at}.${nth}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`;
        }
      }
    }
    return undefined;
  }
}

/** Returns the number of thinking blocks in a request. */
export const thinkingIn = ({ body }) => body.messages.flatMap(partsOf).filter(isThinking).length;
