/**
 * The cache misses of a recorded session, from the usage that it states for each call.
 *
 * A call should read the prompt of the call before from the cache, because a history only grows. It *missed* if it read
 * less than nine tenths of that prompt, or of its own where that is shorter. The cost of a miss is what writing these
 * tokens costs beyond reading them.
 */
import { usageOf } from "../formats/usage.js";
import type { Message, Prices } from "../library/api.js";
import { isCall, timeOf } from "../recall/transcript.js";
import { sumsBy } from "./sums.js";
import { type Cost, costOf, plus, tariffOf } from "./tariff.js";

/** The share of the prompt that a call reads from the cache unless it missed. */
const HIT = 0.9;

/** The share of calls that must state cache reads. Otherwise the provider or the host states none. */
export const STATING = 0.5;

const HOUR_MS = 3_600_000;

/**
 * Why a call missed: another model was called before; the cache had expired; the prompt is shorter than the one before,
 * so the history was edited or compacted; the recording does not show the reason.
 */
export type MissCause = "model" | "idle" | "edit" | "unknown";

/** The misses of one cause. */
export interface Misses {
  cause: MissCause;
  calls: number;
  /** Tokens that were written again instead of read. */
  tokens: number;
  cost: Cost;
}

/** Returns the misses of a session by cause, or undefined if its recording does not state what was read. */
export function cacheMisses(messages: readonly Message[], prices?: Prices): Misses[] | undefined {
  const found: Misses[] = [];
  let [calls, stating] = [0, 0];
  let before: { model: unknown; at: number | undefined; tokens: number; lifeMs: number } | undefined;
  for (const message of messages) {
    if (!isCall(message)) continue;
    calls++;
    const usage = usageOf(message.usage);
    if (usage === undefined) continue;
    const { model } = message;
    const { input, cacheRead, cacheWrite, livesAnHour } = usage;
    const [tokens, tariff, at] = [input + cacheRead + cacheWrite, tariffOf(model, prices), timeOf(message)];
    if (cacheRead > 0) stating++;
    const expected = Math.min(before?.tokens ?? 0, tokens);
    if (before !== undefined && cacheRead < HIT * expected) {
      const idleMs = at === undefined || before.at === undefined ? 0 : at - before.at;
      const isShorter = tokens < before.tokens;
      const cause = model !== before.model ? "model" : idleMs > before.lifeMs ? "idle" : isShorter ? "edit" : "unknown";
      const missed = expected - cacheRead;
      found.push({ cause, calls: 1, tokens: missed, cost: costOf(missed * (tariff.write - tariff.read), tariff) });
    }
    before = { model, at, tokens, lifeMs: livesAnHour ? HOUR_MS : tariff.cacheTtlMs };
  }
  return calls > 0 && stating >= STATING * calls ? sumOfMisses(found) : undefined;
}

/** Adds up misses by cause, those with most tokens first. */
export function sumOfMisses(misses: readonly Misses[]): Misses[] {
  const sums = sumsBy(
    misses,
    ({ cause }) => cause,
    (one, other) => ({
      cause: one.cause,
      calls: one.calls + other.calls,
      tokens: one.tokens + other.tokens,
      cost: plus(one.cost, other.cost),
    }),
  );
  return sums.sort((a, b) => b.tokens - a.tokens);
}
