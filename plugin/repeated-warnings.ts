/**
 * What failed, said once: the same step failing in the same way gets a line in ten minutes, with how many were held
 * back. So does a store that is away, or that this version is too old for, whatever step finds that.
 *
 * The host evaluates this module several times in one process, and a store that stays away fails in all copies alike:
 * the record of what was said is the process's own.
 */

import { describe } from "../node/lib/for-plugin.js";
import { keep, ofProcess } from "./process-memory.js";

const AGAIN_AFTER_MS = 600_000;
/** Kinds of failures remembered; the oldest is forgotten first, and would only be said again. */
const MOST = 100;

interface Said {
  at: number;
  heldBack: number;
}

const said = ofProcess<Said>("complaints");

/** The line to log for a failure of a step, or undefined when the same was said less than ten minutes ago. */
export function complaintLine(step: string, error: unknown, consequence: string, now = Date.now()): string | undefined {
  const held = heldBack(kindOf(step, error), now);
  if (held === undefined) return undefined;
  const again = held === 0 ? "" : ` (and ${held} times since this was last said)`;
  return `concertina: ${step} failed (${describe(error)}); ${consequence}${again}`;
}

/** Whether a line was not said in the last ten minutes. */
export function isNews(line: string, now = Date.now()): boolean {
  return heldBack(line, now) !== undefined;
}

/** How often something was held back since it was last said, or undefined when it has to be held back now. */
function heldBack(kind: string, now: number): number | undefined {
  const before = said.get(kind);
  if (before !== undefined && now - before.at < AGAIN_AFTER_MS && now >= before.at) {
    before.heldBack++;
    return undefined;
  }
  keep(said, kind, { at: now, heldBack: 0 }, MOST);
  return before?.heldBack ?? 0;
}

/** A store that cannot be used fails in every step alike. */
const ALIKE = new Set(["CONCERTINA_STORE_UNAVAILABLE", "CONCERTINA_STORE_NEWER"]);

/** What counts as the same failure. */
function kindOf(step: string, error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return `${step}\n${describe(error)}`;
  return ALIKE.has(code) ? code : `${step}\n${code}`;
}
