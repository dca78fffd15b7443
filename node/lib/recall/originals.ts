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
import { countTokens } from "../library/pure.js";
import type { Catalogue } from "./catalogue.js";
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
  readonly #lines = new Map<number, { text: string; facts: number[] }[]>();

  /**
   * @param ids the numbers of the session's own messages in the catalogue; @param byRange false for an engine that
   * returns only whole originals
   */
  constructor(
    readonly catalogue: Catalogue,
    readonly ids: readonly number[],
    readonly needs: Needs,
    readonly byRange = true,
  ) {}

  /** Returns true if an original contains a fact. */
  has(index: number, fact: number): boolean {
    return this.catalogue.shown(this.#idOf(index)).includes(fact);
  }

  /** Returns the answer to a fetch of some facts of an original. */
  fetch(index: number, missed: readonly number[]): Fetched {
    const id = this.#idOf(index);
    const whole = { facts: new Set(this.catalogue.shown(id)), tokens: this.catalogue.tokensOf(id) };
    const lines = this.byRange && isResult(this.catalogue.message(id)) ? this.#linesOf(id) : [];
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

  #idOf(index: number): number {
    const id = this.ids[index];
    if (id === undefined) throw new RangeError(`no message has the index ${index}`);
    return id;
  }

  #linesOf(id: number) {
    const known = this.#lines.get(id);
    if (known !== undefined) return known;
    const lines = textsOf(this.catalogue.message(id))
      .flatMap((text) => text.split("\n"))
      .map((text) => ({ text, facts: this.needs.numbersOf([text]) }));
    this.#lines.set(id, lines);
    return lines;
  }
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [0, 0])[0];
}
