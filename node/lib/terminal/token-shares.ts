/** The tokens of a session by kind of content and, for tool results, by tool. */
import { promptOf, usageOf } from "../formats/usage.js";
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

/** The kind of what was sent but is not in recordings: the system prompt and the definitions of tools. */
export const OUTSIDE = "system prompt and tools, outside the recording";

/** A block of content, with the fields of every API that are needed here. */
interface Block {
  type?: string;
  id?: string;
  name?: string;
  tool_use_id?: string;
  content?: unknown;
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

/**
 * Counts the tokens of each part of the messages, a share for each. What the first reported prompt has beyond the
 * messages before it was outside the recording in every call.
 */
export function census(messages: Message[], prices?: Prices): Share[] {
  const shares: Share[] = [];
  const rates = ratesOf(messages, prices);
  const names = new Map<string, string>();
  let [recorded, outside]: [number, number | undefined] = [0, undefined];
  for (const [index, message] of messages.entries()) {
    const add = (kind: string, tokens: number, rate = rates[index]) => {
      recorded += tokens;
      shares.push({ kind, blocks: 1, tokens, cost: rate?.(tokens) ?? free() });
    };
    const usage = isCall(message) && outside === undefined ? usageOf(message.usage) : undefined;
    if (usage !== undefined) {
      outside = Math.max(0, promptOf(usage) - recorded);
      add(OUTSIDE, outside, rates[0]);
    }
    for (const block of blocksOf(message)) {
      const part: Message = { ...message, tool_calls: undefined, content: typeof block === "string" ? block : [block] };
      const tokens = countMessageTokens([part]);
      const type = typeof block === "object" ? block?.type : "text";
      if (typeof block === "object" && block?.id && block.name) names.set(block.id, block.name);
      if (isImage(block)) add("images", tokens);
      else if (message.role === "toolResult" || message.role === "tool" || type === "tool_result") {
        const id = String(message.toolCallId ?? message.tool_call_id ?? (block as Block | null)?.tool_use_id);
        add(`result of ${String(message.toolName ?? names.get(id) ?? "?")}`, tokens);
      } else if (type === "toolCall" || type === "tool_use") add("tool-call arguments", tokens);
      else if (type === "thinking") add("thinking", thinkingTokens(block));
      else add(`${message.role} text`, tokens);
    }
    for (const call of toolCallsOf(message)) {
      names.set(call.id, call.function?.name ?? "?");
      add("tool-call arguments", countMessageTokens([{ role: message.role, tool_calls: [call] } as Message]));
    }
  }
  return shares;
}

const isImage = (block: unknown) =>
  ["image", "image_url", "input_image"].includes(String((block as Block | null | undefined)?.type));

/** Returns the blocks of a message. The images in a result of Anthropic are blocks of their own. */
function blocksOf({ content }: Message): (Block | string | null | undefined)[] {
  const blocks = (Array.isArray(content) ? content : [content]) as (Block | string | null | undefined)[];
  return blocks.flatMap((block) => {
    if (typeof block !== "object" || block?.type !== "tool_result" || !Array.isArray(block.content)) return [block];
    const inner = block.content as Block[];
    const images = inner.filter(isImage);
    if (images.length === 0) return [block];
    const rest = { ...block, content: inner.filter((one) => !isImage(one)) };
    return rest.content.length === 0 ? images : [rest, ...images];
  });
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
