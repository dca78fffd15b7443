/**
 * The cache misses of a recorded session, from the usage that it states for each call.
 *
 * A call should read the prompt of the call before from the cache, because a history only grows. It *missed* if it read
 * less than nine tenths of that prompt, or of its own where that is shorter. The cost of a miss is what writing these
 * tokens costs beyond reading them.
 *
 * Recordings contain neither the system prompt nor the definitions of tools. They have changed if a prompt grew by
 * clearly more than the messages between the two calls explain. Where they became shorter, that cannot be told from an
 * edited history.
 */
import { promptOf, type Usage, usageOf } from "../formats/usage.js";
import type { Message, Prices } from "../library/api.js";
import { countMessageTokens } from "../library/pure.js";
import { isCall, timeOf } from "../recall/transcript.js";
import { sumsBy } from "./sums.js";
import { type Cost, costOf, plus, tariffOf } from "./tariff.js";

/** The share of the prompt that a call reads from the cache unless it missed. */
const HIT = 0.9;

/** The share of calls that must state cache reads. Otherwise the provider or the host states none. */
export const STATING = 0.5;

const HOUR_MS = 3_600_000;

/**
 * The tokens by which a prompt grows without an explanation if what is outside the recording changed. They are also at
 * least half of the explained ones, because providers count other tokens than we do.
 */
const JUMP = 1000;

/**
 * Why a call missed: another model was called before; the cache had expired; the prompt is shorter than the one before,
 * so the history was edited or compacted; tools or the system prompt changed; the recording does not show the reason.
 */
export type MissCause = "model" | "idle" | "edit" | "tools" | "unknown";

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
  let before: { index: number; model: unknown; at: number | undefined; usage: Usage; lifeMs: number } | undefined;
  for (const [index, message] of messages.entries()) {
    if (!isCall(message)) continue;
    calls++;
    const usage = usageOf(message.usage);
    if (usage === undefined) continue;
    const { model } = message;
    const { cacheRead, livesAnHour } = usage;
    const [tokens, tariff, at] = [promptOf(usage), tariffOf(model, prices), timeOf(message)];
    if (cacheRead > 0) stating++;
    const expected = before === undefined ? 0 : Math.min(promptOf(before.usage), tokens);
    if (before !== undefined && cacheRead < HIT * expected) {
      const idleMs = at === undefined || before.at === undefined ? 0 : at - before.at;
      const grown = tokens - promptOf(before.usage);
      // The reported answer may contain thinking that the recorded one lacks.
      const explained = before.usage.output + countMessageTokens(messages.slice(before.index, index));
      const causes: [MissCause, boolean][] = [
        ["model", model !== before.model],
        ["idle", idleMs > before.lifeMs],
        ["edit", grown < 0],
        ["tools", grown - explained > Math.max(JUMP, explained / 2)],
      ];
      const cause = causes.find(([, applies]) => applies)?.[0] ?? "unknown";
      const missed = expected - cacheRead;
      found.push({ cause, calls: 1, tokens: missed, cost: costOf(missed * (tariff.write - tariff.read), tariff) });
    }
    before = { index, model, at, usage, lifeMs: livesAnHour ? HOUR_MS : tariff.cacheTtlMs };
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
