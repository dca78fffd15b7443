/** The measures of a session whose requests an engine changed: recall, edit agreement, and the charge for fetches. */
import type { Message } from "../library/api.js";
import { Catalogue } from "./catalogue.js";
import { Agreement, Edits, type EditTally, type Fetch, noEdits, type Range } from "./edits.js";
import { Fetches, type FetchTally, noMisses } from "./fetches.js";
import { Needs, Sight } from "./needs.js";
import { Originals } from "./originals.js";

/** Sums over the calls of one engine. */
export type Tally = FetchTally & EditTally;

const NOTHING: Tally = { ...noMisses(), ...noEdits() };
const KEYS = Object.keys(NOTHING) as (keyof Tally)[];

/** A session whose requests are measured. Everything that does not depend on the engine is computed once. */
export class Measured {
  readonly needs: Needs;
  readonly catalogue: Catalogue;
  /** The messages of the session itself, as numbers in the catalogue. */
  readonly originals: number[];
  readonly edits: Edits;

  /** @param plain the minimum number of letters of a plain word that is a fact */
  constructor(messages: readonly Message[], plain?: number) {
    this.needs = new Needs(messages, plain);
    this.catalogue = new Catalogue((message) => this.needs.shownBy(message));
    this.originals = messages.map((message) => this.catalogue.idOf(message));
    this.edits = new Edits(messages, this.catalogue, this.originals);
  }

  /** The number of calls. */
  get calls(): number {
    return this.needs.byCall.length;
  }

  /** Returns the facts in sight before the first request. `byRange` is as for `Originals`. */
  sight(byRange = true): Sight {
    return new Sight(this.needs, new Originals(this.catalogue, this.originals, this.needs, byRange));
  }
}

/** Measures the requests of one engine. */
export class Measurement {
  readonly #fetches: Fetches;
  readonly #agreement: Agreement;
  #call = 0;
  #now = 0;

  /** @param overhead tokens that the engine adds to every request; @param fetch how an original is fetched */
  constructor(
    readonly session: Measured,
    readonly overhead: number,
    fetch: (id: string, range: Range, now: number) => ReturnType<Fetch>,
  ) {
    this.#fetches = new Fetches(session.catalogue, session.sight(), session.calls);
    this.#agreement = new Agreement(session.edits, (id, range) => fetch(id, range, this.#now));
  }

  /** Measures the next request, which is sent at `now`. */
  async send(messages: readonly Message[], now: number): Promise<void> {
    this.#now = now;
    const { catalogue } = this.session;
    const ids = messages.map((message) => catalogue.idOf(message));
    this.#fetches.send(
      ids,
      ids.reduce((sum, id) => sum + catalogue.tokensOf(id), this.overhead),
    );
    await this.#agreement.ask(this.#call++, ids);
  }

  /** Tokens per call that fetches read from the cache and write to it. */
  get series(): Fetches["series"] {
    return this.#fetches.series;
  }

  get tally(): Tally {
    return { ...this.#fetches.tally, ...this.#agreement.tally };
  }
}

/** Returns the sum of tallies. */
export function sumOf(tallies: readonly Tally[]): Tally {
  const sum = { ...NOTHING };
  for (const tally of tallies) for (const key of KEYS) sum[key] += tally[key];
  return sum;
}

/** The shares in which a session's requests showed what its agent used. A share of nothing is 1. */
export interface Shares {
  copyRecall: number;
  useRecall: number;
  editsInSight: number;
  editAgreement: number;
}

/** Returns the shares of a tally. */
export function sharesOf(tally: Tally): Shares {
  const share = (some: number, all: number) => (all === 0 ? 1 : some / all);
  const without = (some: number, all: number) => (all === 0 ? 1 : 1 - some / all);
  return {
    copyRecall: without(tally.missed, tally.needed),
    useRecall: without(tally.unseen, tally.used),
    editsInSight: share(tally.editsInSight, tally.edits),
    editAgreement: share(tally.editsInSight + tally.editsFetched, tally.edits),
  };
}
