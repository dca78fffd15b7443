// Simulates the pruning by hosts and providers of a request that is about to be sent, whatever engine assembled it.
//
// A host remembers its cuts: later requests show them in the same way, and a cached prompt stays valid until the next
// cut. A provider does not remember earlier requests: it evaluates each whole request again, so that above its
// threshold every new result clears an older one.
import { countMessageTokens } from "openclaw-concertina";

import { isResult } from "../../dist/node/lib/recall/transcript.js";
import { withTexts } from "./texts.mjs";

/** The number of tool uses or assistant messages, counted from the end, that stay unchanged. */
const KEPT = 3;
const CLEARED = "[Old tool result content cleared]";

/** The replacements of messages, with the tokens of both. */
class Cut {
  #instead = new Map();
  #tokens = new WeakMap();

  has(message) {
    return this.#instead.has(message);
  }

  of(message) {
    return this.#instead.get(message) ?? message;
  }

  /** Returns the messages with all replacements so far. */
  apply(messages) {
    return messages.map((message) => this.of(message));
  }

  tokens(messages) {
    return messages.reduce((sum, message) => {
      if (!this.#tokens.has(message)) this.#tokens.set(message, countMessageTokens([message]));
      return sum + this.#tokens.get(message);
    }, 0);
  }

  put(message, instead) {
    this.#instead.set(message, instead);
  }
}

/**
 * Anthropic's `clear_tool_uses` as OpenClaw requests it: above 50,000 tokens or 30 % of the window, whichever is more,
 * all results except for those of the last three tool uses are cleared, if that frees 12,500 tokens or 5 % of the
 * window. Tool calls stay.
 */
export function serverClearing({ window }) {
  const cut = new Cut();
  const [above, atLeast] = [Math.max(50_000, 0.3 * window), Math.max(12_500, 0.05 * window)];
  return {
    send(messages) {
      if (cut.tokens(messages) <= above) return messages;
      const old = messages.filter(isResult).slice(0, -KEPT);
      for (const message of old)
        if (!cut.has(message))
          cut.put(
            message,
            withTexts(message, () => CLEARED),
          );
      const now = new Set(old);
      const cleared = messages.map((message) => (now.has(message) ? cut.of(message) : message));
      return cut.tokens(messages) - cut.tokens(cleared) < atLeast ? messages : cleared;
    },
  };
}

/** Returns the first and the last 1,500 characters of a text of more than 4,000, as OpenClaw trims it. */
export function softTrimmed(text) {
  if (text.length <= 4000) return text;
  return `${text.slice(0, 1500)}\n...\n${text.slice(-1500)}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of ${text.length} chars.]`;
}

/** Returns the index of the third-last assistant message. Messages before it may be trimmed. */
export function trimmable(messages) {
  let [cutoff, left] = [messages.length, KEPT];
  while (cutoff > 0 && left > 0) if (messages[--cutoff].role === "assistant") left--;
  return cutoff;
}

/**
 * OpenClaw's pruning by `cache-ttl`: in the first request after an idle hour, if it exceeds 30 % of the window, results
 * before the third-last assistant message are trimmed. If more than 50 % is left, they are cleared, the oldest first,
 * until it is not.
 */
export function hostPruning({ window }) {
  const cut = new Cut();
  let before;
  return {
    send(messages, at) {
      const idle = before !== undefined && at !== undefined && at - before >= 3_600_000;
      before = at ?? before;
      let now = cut.apply(messages);
      if (!idle || cut.tokens(now) < 0.3 * window) return now;
      const old = messages.slice(0, trimmable(messages)).filter(isResult);
      for (const message of old) cut.put(message, withTexts(cut.apply([message])[0], softTrimmed));
      now = cut.apply(messages);
      for (const message of old) {
        if (cut.tokens(now) < 0.5 * window) break;
        cut.put(
          message,
          withTexts(message, () => CLEARED),
        );
        now = cut.apply(messages);
      }
      return now;
    },
  };
}
