// Divides the tokens of a bill by kind: words by author, arguments, results, and their replacements.
import { countTokens } from "openclaw-concertina";

import { partsOf } from "../../dist/node/lib/recall/transcript.js";

/** Arguments and results with fewer tokens count as small: a placeholder would cost hardly less. */
const SMALL = 150;

/** Every kind, in the order of tables. */
export const KINDS = [
  "user's words",
  "assistant's words",
  "thinking",
  "arguments",
  "small arguments",
  "arguments shortened",
  "results",
  "small results",
  "results shortened",
  "results replaced",
  "images and the rest",
];

/**
 * Splits messages of the catalogue by kind. Content that the session itself does not have was changed by the engine.
 */
export class Kinds {
  #own = new Set();
  #shares = [];

  constructor(messages, catalogue) {
    this.catalogue = catalogue;
    for (const message of messages) for (const { texts } of partsOf(message)) this.#own.add(texts.join("\n"));
  }

  /** Returns the tokens read and written by kind, from those by message. */
  sum(read, write) {
    const out = Object.fromEntries(KINDS.map((kind) => [kind, { read: 0, write: 0 }]));
    for (const [by, name] of [
      [read, "read"],
      [write, "write"],
    ]) {
      for (const [id, tokens] of by) for (const [kind, share] of this.#sharesOf(id)) out[kind][name] += tokens * share;
    }
    return out;
  }

  /** Returns the share of each kind in a message's tokens. Tokens around a text count with it. */
  #sharesOf(id) {
    if (this.#shares[id]) return this.#shares[id];
    const message = this.catalogue.message(id);
    const parts = partsOf(message).map(({ kind, texts }) => {
      const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
      return { kind: this.#kindOf(kind, texts, tokens, message), tokens };
    });
    const hasImages = JSON.stringify(message).includes('"type":"image');
    const total = hasImages ? this.catalogue.tokens[id] : parts.reduce((sum, part) => sum + part.tokens, 0);
    const shares = parts.map(({ kind, tokens }) => [kind, total === 0 ? 0 : tokens / total]);
    const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
    this.#shares[id] = [...shares, ["images and the rest", rest]];
    return this.#shares[id];
  }

  #kindOf(kind, texts, tokens, message) {
    if (kind === "thinking") return kind;
    if (kind === "text") return message.role === "assistant" ? "assistant's words" : "user's words";
    const name = kind === "result" ? "results" : "arguments";
    if (!this.#own.has(texts.join("\n")))
      return texts.some((text) => text.startsWith("[REF_ID:")) ? `${name} replaced` : `${name} shortened`;
    return tokens < SMALL ? `small ${name}` : name;
  }
}
