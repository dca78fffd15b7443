/**
 * How long an answer of the fetch tool may be in a session: what is longer the host cuts, and with it what was asked
 * for.
 *
 * The engine is told the budget of a turn, the tool is not, and the host runs them in different copies of this module:
 * the budgets are the process's own. A budget is less than the window that the host goes by, so nothing is promised
 * that it would cut.
 */

import { FETCH_CHARS } from "../node/lib/for-plugin.js";
import { keep, ofProcess } from "./process-memory.js";

/**
 * What the host takes as one tool result from so many tokens of context on, in characters, with room for its own words.
 */
const TAKES = [
  { tokens: 200_000, chars: 63_900 },
  { tokens: 100_000, chars: 31_900 },
] as const;

/** By session. One that was forgotten gets what every window takes. */
const budgets = ofProcess<number>("budgets");

/** Notes the budget of a turn, in tokens. */
export function noteBudget(sessionId: string, tokens: number | undefined): void {
  if (tokens === undefined) budgets.delete(sessionId);
  else keep(budgets, sessionId, tokens);
}

/** Most characters of one answer in a session. */
export function roomIn(sessionId: string | undefined): number {
  const budget = budgets.get(sessionId ?? "") ?? 0;
  return TAKES.find(({ tokens }) => budget >= tokens)?.chars ?? FETCH_CHARS;
}
