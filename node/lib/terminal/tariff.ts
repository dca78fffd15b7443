/** The prices of a model, and amounts of money at these prices. */
import { native } from "../binding/native.js";
import type { Prices } from "../library/api.js";
import type { Figures } from "../library/figures.js";

/** The prices of a model, relative to an input token. */
export interface Tariff {
  read: number;
  write: number;
  /** The price of an output token, if it is known. */
  answer?: number;
  /** The price of an input token in dollars, if it is known. */
  usd?: number;
  /** The lifetime of a cache entry in milliseconds. */
  cacheTtlMs: number;
}

/** Returns the stated prices of a model, and the published ones where none are stated. */
export function tariffOf(model: unknown, stated: Prices = {}): Tariff {
  const listed = native().modelPrices(typeof model === "string" ? model : "");
  const { input, cacheRead, cacheWrite, output, cacheTtlMs = listed.cacheTtlMs, usdPerMillion } = stated;
  const relative = (price: number | undefined, published: number) =>
    input === undefined || price === undefined ? published : price / input;
  return {
    read: relative(cacheRead, listed.read),
    write: relative(cacheWrite, listed.write),
    answer: listed.answer === undefined || listed.answer === null ? undefined : relative(output, listed.answer),
    usd: (input === undefined ? listed.usd : usdPerMillion ? input / 1e6 : undefined) ?? undefined,
    cacheTtlMs,
  };
}

/** An amount of money in both units of bills. */
export interface Cost {
  /** Null if the price of a part is unknown. */
  usd: number | null;
  inputTokens: number;
}

/** Returns the cost of nothing. */
export const free = (): Cost => ({ usd: 0, inputTokens: 0 });

/** Returns the cost of an amount in input tokens. */
export const costOf = (inputTokens: number, { usd }: Tariff): Cost => ({
  usd: usd === undefined ? null : inputTokens * usd,
  inputTokens,
});

/** Returns the sum of two costs. */
export const plus = (one: Cost, other: Cost): Cost => ({
  usd: one.usd === null || other.usd === null ? null : one.usd + other.usd,
  inputTokens: one.inputTokens + other.inputTokens,
});

/** Returns a cost in the unit of a bill. Null if the price in dollars is unknown. */
export const inUnit = ({ usd, inputTokens }: Cost, unit: Figures["unit"]): number | null =>
  unit === "usd" ? usd : inputTokens;
