/**
 * Counts what the calls of one engine miss, and what fetching it back adds to the bill.
 *
 * A call that misses something is charged with one more request, which the cache holds, and with what it fetches, which
 * is written once and then read for as long as it stays in sight.
 */
import type { Catalogue } from "./catalogue.js";
import { FETCHED_CALLS, type Sight } from "./needs.js";

/** Sums over the calls of one engine. */
export interface FetchTally {
  needed: number;
  missed: number;
  missRecent: number;
  ownMissed: number;
  used: number;
  unseen: number;
  /** Calls that fetch. */
  fetches: number;
  originals: number;
  originalTokens: number;
}

/** Returns a tally of no calls. */
export const noMisses = (): FetchTally => ({
  needed: 0,
  missed: 0,
  missRecent: 0,
  ownMissed: 0,
  used: 0,
  unseen: 0,
  fetches: 0,
  originals: 0,
  originalTokens: 0,
});

/** The misses of one engine's requests, and the charge for them. */
export class Fetches {
  /** Tokens per call that fetches read from the cache and write to it. */
  readonly series = { fetchRead: [] as number[], fetchWrite: [] as number[] };
  readonly tally = noMisses();
  #before: readonly number[] = [];
  #call = 0;

  /** @param calls the number of calls of the session */
  constructor(
    readonly catalogue: Catalogue,
    readonly sight: Sight,
    readonly calls: number,
  ) {}

  /**
   * Counts the next request: its messages as numbers in the catalogue, and all its tokens. Returns the indexes of the
   * messages whose originals are fetched.
   */
  send(ids: readonly number[], request: number): number[] {
    const call = this.#call++;
    this.#follow(ids);
    const { needed, missed, missesRecent, ownMissed, used, unseen, fetched } = this.sight.ask(call);
    const originals = [...fetched.values()].reduce((sum, { tokens }) => sum + tokens, 0);
    const later = Math.min(FETCHED_CALLS, this.calls - call - 1);
    this.tally.needed += needed;
    this.tally.missed += missed;
    this.tally.missRecent += missesRecent ? 1 : 0;
    this.tally.ownMissed += ownMissed;
    this.tally.used += used;
    this.tally.unseen += unseen;
    this.tally.fetches += fetched.size > 0 ? 1 : 0;
    this.tally.originals += fetched.size;
    this.tally.originalTokens += originals;
    this.series.fetchRead.push(fetched.size > 0 ? request + originals * later : 0);
    this.series.fetchWrite.push(originals);
    return [...fetched.keys()];
  }

  #follow(ids: readonly number[]): void {
    const before = this.#before;
    const [gone, come]: [number[], number[]] = [[], []];
    for (let index = 0; index < Math.max(before.length, ids.length); index++) {
      const [old, fresh] = [before[index], ids[index]];
      if (old === fresh) continue;
      if (old !== undefined) gone.push(old);
      if (fresh !== undefined) come.push(fresh);
    }
    this.sight.turn(gone, come);
    this.#before = ids;
  }
}
