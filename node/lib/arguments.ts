/** What the methods of a store take, read and checked: a mistake is a TypeError that names it. */
import type { Session, StorePlace as AddonPlace } from "./addon.js";
import type { Prices } from "./api.js";
import { badArgument, mayBeBoolean, needName, needNumber, needObject, needString, reading } from "./errors.js";

/** Where a store lives, as the addon takes it. @throws TypeError for what is not one directory or one database. */
export function placeOf({ dir, url, namespace, host }: { dir?: unknown; url?: unknown; namespace?: unknown; host?: unknown }): AddonPlace {
  if (host !== undefined) needString("host", host);
  if (url === undefined) {
    needString("dir", dir);
    if (namespace !== undefined) badArgument("namespace", namespace, "absent where there is no url");
    return { dir, host };
  }
  needString("url", url);
  if (dir !== undefined) badArgument("dir", dir, "absent where a url is given");
  if (namespace !== undefined) needString("namespace", namespace);
  return { url, namespace, host };
}

/** Whose a call is. */
export function session(sessionId: unknown, agentId: unknown): Session {
  needName("sessionId", sessionId);
  if (sessionId === "") badArgument("sessionId", sessionId, "a name");
  if (agentId !== undefined) needName("agentId", agentId);
  return { sessionId, agentId };
}

/** When a call is: now, unless it says so. */
export function moment(now: unknown, name = "now"): number {
  if (now === undefined) return Date.now();
  if (typeof now !== "number" || !Number.isFinite(now)) badArgument(name, String(now), "milliseconds since 1970");
  return now;
}

/** A budget of tokens, where a host knows one. */
export function tokensOf(budget: unknown, name = "tokenBudget"): number | undefined {
  if (budget === undefined || budget === null) return undefined;
  needNumber(name, budget, "of at least 0");
  return Math.trunc(budget);
}

/** What tokens cost, where the caller says. */
export function pricesOf(prices: unknown): Prices | undefined {
  if (prices === undefined || prices === null) return undefined;
  needObject("prices", prices);
  const given = prices as Record<string, unknown>;
  needNumber("prices.input", given.input, "above 0");
  mayBeBoolean("prices.usdPerMillion", given.usdPerMillion);
  for (const name of ["cacheRead", "cacheWrite", "cacheTtlMs"]) needNumber(`prices.${name}`, given[name], "of at least 0");
  if (given.output !== undefined) needNumber("prices.output", given.output, "of at least 0");
  return given as unknown as Prices;
}

/** The names of the tools that there are, where the caller says. */
export function namesOf(tools: unknown): string[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (typeof tools !== "object" || !(Symbol.iterator in tools)) badArgument("availableTools", tools, "a list of names");
  return reading("availableTools", () => [...(tools as Iterable<string>)]);
}

/** Checks what masks secrets where it is given. */
export function needRedactor(redactor: unknown): void {
  if (redactor !== undefined && typeof redactor !== "function") badArgument("redactor", redactor, "a function");
}
