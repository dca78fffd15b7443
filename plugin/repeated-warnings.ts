/**
 * Suppression of repeated warnings. The same failure of the same step is logged once in ten minutes, with the number of
 * suppressed lines. A store that is unavailable, or too new for this version, counts as one failure whatever step meets
 * it.
 *
 * The host evaluates this module several times in one process, and a store that stays unavailable fails in all copies.
 * The record of logged lines is therefore shared by the whole process.
 */

import { counted, describe } from "../node/lib/for-plugin.js";
import { keep, ofProcess } from "./process-memory.js";

const AGAIN_AFTER_MS = 600_000;
/** The maximum number of remembered failures. The oldest is dropped first and would merely be logged again. */
const MOST = 100;

interface Said {
  at: number;
  heldBack: number;
}

const said = ofProcess<Said>("complaints");

/**
 * Returns the line to log for a failure of a step, or undefined if the same failure was logged in the last ten minutes.
 */
export function complaintLine(step: string, error: unknown, consequence: string, now = Date.now()): string | undefined {
  const held = heldBack(kindOf(step, error), now);
  if (held === undefined) return undefined;
  const again = held === 0 ? "" : ` (repeated ${counted(held, "time")} since the last such line)`;
  return `concertina: ${step} failed (${describe(error)}); ${consequence}${again}`;
}

/** Returns true if a line was not logged in the last ten minutes. */
export function isNews(line: string, now = Date.now()): boolean {
  return heldBack(line, now) !== undefined;
}

/**
 * Returns the number of suppressed lines since the last one was logged, or undefined if this one must be suppressed.
 */
function heldBack(kind: string, now: number): number | undefined {
  const before = said.get(kind);
  if (before !== undefined && now - before.at < AGAIN_AFTER_MS && now >= before.at) {
    before.heldBack++;
    return undefined;
  }
  keep(said, kind, { at: now, heldBack: 0 }, MOST);
  return before?.heldBack ?? 0;
}

/** A store that cannot be used fails in every step in the same way. */
const ALIKE = new Set(["CONCERTINA_STORE_UNAVAILABLE", "CONCERTINA_STORE_NEWER"]);

/** Returns the key by which failures count as the same. */
function kindOf(step: string, error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return `${step}\n${describe(error)}`;
  return ALIKE.has(code) ? code : `${step}\n${code}`;
}
