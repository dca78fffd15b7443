/** The tokens of a session by kind of content and, for tool results, by tool. */
import type { Message, Prices } from "../library/api.js";
import { countMessageTokens } from "../library/pure.js";
import { isCall, toolCallsOf } from "../recall/transcript.js";
import { sumsBy } from "./sums.js";
import { type Cost, costOf, free, plus, tariffOf } from "./tariff.js";

/** The tokens of one kind of content. */
export interface Share {
  kind: string;
  blocks: number;
  tokens: number;
  /**
   * The cost of sending it unfolded without a cache miss: it is written to the cache once, then read by every later
   * call. Content of the model also costs its price as an answer, if that is known.
   */
  cost: Cost;
}

/** Adds up shares by kind, the largest first. */
export function sumOfShares(shares: readonly Share[]): Share[] {
  const sums = sumsBy(
    shares,
    ({ kind }) => kind,
    (one, other) => ({
      kind: one.kind,
      blocks: one.blocks + other.blocks,
      tokens: one.tokens + other.tokens,
      cost: plus(one.cost, other.cost),
    }),
  );
  return sums.filter(({ tokens }) => tokens > 0).sort((a, b) => b.tokens - a.tokens);
}

/** Counts the tokens of each part of the messages, a share for each. */
export function census(messages: Message[], prices?: Prices): Share[] {
  const shares: Share[] = [];
  const rates = ratesOf(messages, prices);
  const names = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const add = (kind: string, tokens: number) =>
      shares.push({ kind, blocks: 1, tokens, cost: rates[index]?.(tokens) ?? free() });
    const blocks: unknown[] = Array.isArray(message.content) ? message.content : [message.content];
    for (const block of blocks as (
      | { type?: string; id?: string; name?: string; tool_use_id?: string }
      | string
      | null
    )[]) {
      const part: Message = { ...message, tool_calls: undefined, content: typeof block === "string" ? block : [block] };
      const tokens = countMessageTokens([part]);
      const type = typeof block === "object" ? block?.type : "text";
      if (typeof block === "object" && block?.id && block.name) names.set(block.id, block.name);
      if (message.role === "toolResult" || message.role === "tool" || type === "tool_result") {
        const id = String(
          message.toolCallId ?? message.tool_call_id ?? (block as { tool_use_id?: string })?.tool_use_id,
        );
        add(`result of ${String(message.toolName ?? names.get(id) ?? "?")}`, tokens);
      } else if (type === "toolCall" || type === "tool_use") add("tool-call arguments", tokens);
      else if (type === "thinking") add("thinking", thinkingTokens(block));
      else add(`${message.role} ${type === "image" ? "images" : "text"}`, tokens);
    }
    for (const call of toolCallsOf(message)) {
      names.set(call.id, call.function?.name ?? "?");
      add("tool-call arguments", countMessageTokens([{ role: message.role, tool_calls: [call] } as Message]));
    }
  }
  return shares;
}

/** Returns the cost of a number of tokens in each message. */
function ratesOf(messages: Message[], prices: Prices | undefined): ((tokens: number) => Cost)[] {
  let [later, model] = [0, messages.findLast(isCall)?.model];
  const rates = messages.toReversed().map((message) => {
    const ofCall = isCall(message);
    if (ofCall) model = message.model ?? model;
    const tariff = tariffOf(model, prices);
    const sent = later === 0 ? 0 : tariff.write + tariff.read * (later - 1);
    const answered = ofCall ? (tariff.answer ?? 0) : 0;
    if (ofCall) later++;
    return (tokens: number) => costOf(tokens * (sent + answered), tariff);
  });
  return rates.reverse();
}

function thinkingTokens(block: unknown): number {
  const { thinking = "" } = block as { thinking?: string };
  return countMessageTokens([{ role: "assistant", content: thinking }]);
}
