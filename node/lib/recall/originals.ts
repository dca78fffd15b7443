/**
 * The part of an original that a fetch returns.
 *
 * A placeholder tells the model to fetch lines rather than all of a long result. So a fetch of a result is charged with
 * the lines from the first missed fact to the last, and with CONTEXT_LINES on each side, because the model does not
 * know the exact lines. Where a fact has several lines, the one nearest to most others counts. The range is chosen with
 * knowledge of the original, as for edits.
 *
 * Arguments are fetched whole, and so is everything from an engine whose tool returns only whole originals.
 */
import type { Message } from "../library/api.js";
import { countMessageTokens, countTokens } from "../library/pure.js";
import type { Needs } from "./needs.js";
import { isResult, textsOf } from "./transcript.js";

/**
 * The number of lines that a fetch returns before the first missed fact, and after the last: half of what agents read
 * with `sed -n`, a limit or a range, which is 55 lines in the median of 936 such reads in recorded sessions.
 */
export const CONTEXT_LINES = 28;

/** The answer to a fetch: its facts, and its tokens. */
export interface Fetched {
  facts: ReadonlySet<number>;
  tokens: number;
}

/** The messages of a session as they were before folding. */
export class Originals {
  readonly #facts = new Map<number, ReadonlySet<number>>();
  readonly #lines = new Map<number, { text: string; facts: number[] }[]>();

  /** @param byRange false for an engine that returns only whole originals */
  constructor(
    readonly messages: readonly Message[],
    readonly needs: Needs,
    readonly byRange = true,
  ) {}

  /** Returns the facts of an original. */
  facts(index: number): ReadonlySet<number> {
    return entry(this.#facts, index, () => new Set(this.needs.shownBy(this.#message(index))));
  }

  /** Returns the answer to a fetch of some facts of an original. */
  fetch(index: number, missed: readonly number[]): Fetched {
    const message = this.#message(index);
    const whole = { facts: this.facts(index), tokens: countMessageTokens([message]) };
    const lines = this.byRange && isResult(message) ? this.#linesOf(index) : [];
    const places = missed.map((fact) => lines.flatMap(({ facts }, at) => (facts.includes(fact) ? [at] : [])));
    if (places.some((found) => found.length === 0)) return whole;
    const anchor = mostFrequent(places.flat());
    const nearest = places.map((found) =>
      found.reduce((best, at) => (Math.abs(at - anchor) < Math.abs(best - anchor) ? at : best)),
    );
    const range = lines.slice(
      Math.max(0, Math.min(...nearest) - CONTEXT_LINES),
      Math.max(...nearest) + CONTEXT_LINES + 1,
    );
    if (range.length === lines.length) return whole;
    return {
      facts: new Set(range.flatMap(({ facts }) => facts)),
      tokens: countTokens(range.map(({ text }) => text).join("\n")),
    };
  }

  #message(index: number): Message {
    const message = this.messages[index];
    if (message === undefined) throw new RangeError(`no message has the index ${index}`);
    return message;
  }

  #linesOf(index: number) {
    return entry(this.#lines, index, () =>
      textsOf(this.#message(index))
        .flatMap((text) => text.split("\n"))
        .map((text) => ({ text, facts: this.needs.numbersOf([text]) })),
    );
  }
}

/** Returns a map's value, which is computed once. */
function entry<Value>(map: Map<number, Value>, key: number, compute: () => Value): Value {
  const value = map.get(key) ?? compute();
  map.set(key, value);
  return value;
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [0, 0])[0];
}
