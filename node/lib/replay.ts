/**
 * Replays a recorded session call by call, with and without Concertina, and adds up what the provider would bill.
 *
 * The bill of one call: what a cache saw in the previous request, up to the first changed message, at `r` of the input price;
 * the rest at `w`. After a pause longer than the cache lives, everything is at `w`. As in the host, tool results are admitted
 * when they are born and the history is assembled once for each user turn; what is born within a turn is appended.
 */
import type { Message } from "./api.js";
import type { Concertina } from "./concertina.js";
import { countMessageTokens } from "./pure.js";

/** Relative prices of cached reads and of writes, and how long the cache lives. */
export interface CachePrices {
  read: number;
  write: number;
  ttlMs: number;
}

/** What one way of sending the session cost. */
export interface Bill {
  calls: number;
  /** Tokens of all requests together. */
  tokens: number;
  /** The same, weighted with the cache's prices: units of one input token. */
  cost: number;
  /** Tokens of the largest request. */
  peak: number;
}

/** One fold that the replay did. */
export interface Fold {
  reason: string;
  refId: string;
  tool: string;
  tokensBefore: number;
  tokensAfter: number;
}

/** The outcome of a replay. */
export interface Replay {
  untouched: Bill;
  folded: Bill;
  folds: Fold[];
  warnings: string[];
  /** The session's own time at its end, in milliseconds since 1970: what is fetched from it is asked for then. */
  endedAt: number;
}

class Meter {
  readonly bill: Bill = { calls: 0, tokens: 0, cost: 0, peak: 0 };
  #before: string[] = [];
  #at: number | undefined;

  constructor(readonly prices: CachePrices, readonly tokensOf: (message: Message) => number) {}

  send(messages: Message[], at: number | undefined): void {
    const sent = messages.map((message) => JSON.stringify(message));
    let same = 0;
    const cold = this.#at !== undefined && at !== undefined && at - this.#at > this.prices.ttlMs;
    if (!cold) while (same < this.#before.length && sent[same] === this.#before[same]) same++;
    let [cached, total] = [0, 0];
    messages.forEach((message, index) => {
      const tokens = this.tokensOf(message);
      total += tokens;
      if (index < same) cached += tokens;
    });
    this.bill.calls++;
    this.bill.tokens += total;
    this.bill.peak = Math.max(this.bill.peak, total);
    this.bill.cost += cached * this.prices.read + (total - cached) * this.prices.write;
    this.#before = sent;
    this.#at = at ?? this.#at;
  }
}

const isResult = (message: Message) => ["toolResult", "tool", "tool_result"].includes(message.role);
const timeOf = (message: Message) => (typeof message.timestamp === "number" ? message.timestamp : undefined);

/** Tool name and arguments of each call, by id, newest last. */
function callsOf(messages: Message[]): Map<string, { name: string; args: unknown }> {
  const calls = new Map<string, { name: string; args: unknown }>();
  for (const message of messages) {
    for (const block of Array.isArray(message.content) ? message.content : []) {
      const { id, name, arguments: args, input } = block as { id?: string; name?: string; arguments?: unknown; input?: unknown };
      if (typeof id === "string" && typeof name === "string") calls.set(id, { name, args: args ?? input });
    }
  }
  return calls;
}

/** Replays a session. `progress` is told how many of how many calls are done. */
export async function replay(
  concertina: Concertina,
  messages: Message[],
  options: { sessionId: string; prices: CachePrices; progress?: (done: number, of: number) => void },
): Promise<Replay> {
  const { sessionId, prices, progress } = options;
  const counts = new WeakMap<Message, number>();
  const tokensOf = (message: Message) => {
    const known = counts.get(message) ?? countMessageTokens([message]);
    counts.set(message, known);
    return known;
  };
  const [untouched, folded] = [new Meter(prices, tokensOf), new Meter(prices, tokensOf)];
  const [folds, warnings]: [Fold[], Set<string>] = [[], new Set()];
  const calls = callsOf(messages);
  const of = messages.filter((message) => message.role === "assistant").length;

  // What the host keeps (results as admitted), and what it sends: the last assembled view and what came since.
  let [stored, view]: [Message[], Message[]] = [[], []];
  let now = 0;
  for (const [index, message] of messages.entries()) {
    now = Math.max(now + 1, timeOf(message) ?? 0);
    if (message.role === "user") {
      const assembled = await concertina.assemble({ sessionId, messages: stored, now });
      for (const action of assembled.report.actions) {
        if (action.reason !== "replay") folds.push(fold(action, stored[action.message]));
      }
      if (assembled.report.warning) warnings.add(assembled.report.warning.message);
      view = [...assembled.messages];
    }
    if (message.role === "assistant") {
      untouched.send(messages.slice(0, index), timeOf(message));
      folded.send(view, timeOf(message));
      progress?.(untouched.bill.calls, of);
    }
    const kept = isResult(message) ? await admit(message) : message;
    stored = [...stored, kept];
    view.push(kept);
  }
  return { untouched: untouched.bill, folded: folded.bill, folds, warnings: [...warnings], endedAt: now };

  async function admit(message: Message): Promise<Message> {
    const call = calls.get(String(message.toolCallId ?? message.tool_call_id));
    const admitted = await concertina.admitToolResult({ sessionId, message, toolName: call?.name, args: call?.args, now });
    for (const action of admitted.report.actions) folds.push(fold(action, message));
    if (admitted.report.warning) warnings.add(admitted.report.warning.message);
    return admitted.message;
  }

  function fold(action: { reason: string; refId: string | null; tokensBefore: number; tokensAfter: number }, of: Message | undefined): Fold {
    const call = calls.get(String(of?.toolCallId ?? of?.tool_call_id));
    const tool = String(of?.toolName ?? call?.name ?? (of?.role === "assistant" ? "arguments" : "?"));
    return { reason: action.reason, refId: action.refId ?? "", tool, tokensBefore: action.tokensBefore, tokensAfter: action.tokensAfter };
  }
}
