/**
 * The hold-out: a share of sessions that stays untouched, so that the saving can be measured.
 *
 * A session's group is decided once, by a hash of its id, and the store marks the untouched ones. Sessions that an
 * operator switched off are in neither group by chance, but count with the folded ones, as do requests that bypassed
 * Concertina: the comparison is of what an operator gets.
 */
import { createHash } from "node:crypto";

import { type Interval, savedShare } from "./bootstrap.js";
import type { Comparison, Figures, Group } from "./figures.js";

/** The number of sessions that each group needs before it is compared. With fewer, the intervals are too narrow. */
export const LEAST_SESSIONS = 80;

/** Returns true if a session stays untouched. Its id decides, so every program decides the same. */
export function isHeldOut(sessionId: string, share: number): boolean {
  return createHash("sha256").update(sessionId).digest().readUInt32BE() / 2 ** 32 < share;
}

/** The sums of one session, as the store returns them. */
export type Outcome = Figures["total"] & { isHeldOut: boolean; turns: number; failures: number };

/** Compares the folded sessions with the untouched ones. Null if none was untouched. */
export function comparisonOf(outcomes: readonly Outcome[]): Comparison | null {
  const untouched = outcomes.filter((one) => one.isHeldOut);
  const folded = outcomes.filter((one) => !one.isHeldOut);
  if (untouched.length === 0) return null;
  const withAnswers = outcomes.every(({ answered, answerBill }) => answered === 0 || answerBill !== null);
  const costOf = ({ sentBill, answerBill }: Outcome) => sentBill + (withAnswers ? (answerBill ?? 0) : 0);
  const groupOf = (group: readonly Outcome[]): Group => {
    const sum = (of: (one: Outcome) => number) => group.reduce((total, one) => total + of(one), 0);
    return {
      sessions: group.length,
      turns: sum(({ turns }) => turns),
      requests: sum(({ requests }) => requests),
      fetches: sum(({ fetches }) => fetches),
      failures: sum(({ failures }) => failures),
      bill: sum(costOf),
    };
  };
  const missing = Math.max(0, ...[folded, untouched].map((group) => LEAST_SESSIONS - group.length));
  const measured = (weightOf: (one: Outcome) => number): Interval | null => {
    const drawn = (group: Outcome[]) => group.map((one) => ({ cost: costOf(one), weight: weightOf(one) }));
    return missing > 0 ? null : (savedShare(drawn(folded), drawn(untouched)) ?? null);
  };
  const without = folded.reduce(
    (total, one) => total + one.withoutBill + (withAnswers ? (one.withoutAnswerBill ?? 0) : 0),
    0,
  );
  const groupFolded = groupOf(folded);
  const modelled = without > 0 ? 1 - groupFolded.bill / without : null;
  const perTurn = measured(({ turns }) => turns);
  return {
    folded: groupFolded,
    untouched: groupOf(untouched),
    withAnswers,
    missing,
    perTurn,
    perSession: measured(() => 1),
    modelled,
    disagrees: perTurn !== null && modelled !== null && (modelled < perTurn.least || modelled > perTurn.most),
  };
}
