/**
 * The maximum length of the fetch tool's answers in a session. The host cuts longer answers, and the requested content
 * with them.
 *
 * The host passes the budget of a turn to the engine but not to the tool, and it runs them in different copies of this
 * module. The budgets are therefore shared by the whole process. A budget is smaller than the window that the host's
 * limit depends on, so the host never cuts an answer of this length.
 */

import { FETCH_CHARS } from "../node/lib/for-plugin.js";
import { keep, ofProcess } from "./process-memory.js";

/**
 * The characters that the host accepts as one tool result, from this many tokens of context on, less room for its own
 * text.
 */
const TAKES = [
  { tokens: 200_000, chars: 63_900 },
  { tokens: 100_000, chars: 31_900 },
] as const;

/** The budgets by session. For a session that is no longer remembered, the limit of the smallest window applies. */
const budgets = ofProcess<number>("budgets");

/** Stores the budget of a turn, in tokens. */
export function noteBudget(sessionId: string, tokens: number | undefined): void {
  if (tokens === undefined) budgets.delete(sessionId);
  else keep(budgets, sessionId, tokens);
}

/** Returns the maximum number of characters of one answer in a session. */
export function roomIn(sessionId: string | undefined): number {
  const budget = budgets.get(sessionId ?? "") ?? 0;
  return TAKES.find(({ tokens }) => budget >= tokens)?.chars ?? FETCH_CHARS;
}
