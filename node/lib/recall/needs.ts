/**
 * Measures if the agent could still work: of what it wrote in each call and can only have copied from a tool result,
 * the share that was in sight. `facts.ts` defines a fact.
 *
 * A call *needs* a fact if it wrote it in its text or arguments (not in its thinking) and everything that the model had
 * read before shows it in tool results only: neither in a user's words nor in what the model itself wrote or thought.
 * Each fact is therefore needed at most once, at its first use, and an engine gets no credit for what the agent would
 * know anyway. The fact is *in sight* if the request as sent contains it by the same rules, as a whole. What a lossless
 * fold reshaped (paths under their directory, rows as columns) is in sight if restoring the request's own text, without
 * the store, gives it. A truncated line is not.
 *
 * *Copy recall* is the share of the needed facts that was in sight. *Use recall* counts every use, not only the first,
 * and every fact that an earlier message contained, whether a result or the model's own words or thinking. A user's
 * words alone do not count as a use. What counts is the request as sent, without what was fetched for an earlier call.
 *
 * A call with a needed fact out of sight fetches it from the latest original that contains it: one more request, and
 * the answer stays in sight for the next twelve calls. `originals.ts` defines the answer. A call that repeats what only
 * arguments of its own calls hold, or these and results, fetches the latest of them once all are out of sight. That is
 * no miss of copy recall, which asks for first uses.
 */
import type { Message } from "../library/api.js";
import { restore } from "../library/fusion.js";
import { factsOf } from "./facts.js";
import type { Fetched, Originals } from "./originals.js";
import { isCall, isResult, partsOf, textsOf, writtenIn } from "./transcript.js";

/** The number of calls before one whose results count as what it was just shown. */
const RECENT_CALLS = 4;

/** The number of results that are remembered for each fact. */
const HOLDERS = 8;

/** The number of calls for which what was fetched stays in sight. */
export const FETCHED_CALLS = 12;

const argumentsOf = (message: Message) =>
  partsOf(message).flatMap(({ kind, texts }) => (kind === "arguments" ? texts : []));

/** The facts that each call of a session needs and uses, independently of the engine. */
export class Needs {
  /** The number of each fact. */
  readonly universe = new Map<string, number>();
  /** The numbers of the facts that each call needs. */
  readonly byCall: number[][] = [];
  /** The numbers of the facts that each call uses. */
  readonly usedByCall: number[][] = [];
  /** The indices of the results that contain each needed fact, in order. */
  readonly holders = new Map<number, number[]>();
  /** The facts that each call repeats from arguments of its own calls: the fact's number and its latest holder. */
  readonly ownByCall: [number, number][][] = [];
  /** The index of the message of each call. */
  readonly callIndices: number[] = [];

  /** @param plain the minimum number of letters of a plain word that is a fact */
  constructor(
    messages: readonly Message[],
    readonly plain = Number.POSITIVE_INFINITY,
  ) {
    const [inResults, inArguments] = [new Map<string, number[]>(), new Map<string, number>()];
    const [byModel, byUser] = [new Set<string>(), new Set<string>()];
    messages.forEach((message, index) => {
      if (isCall(message)) {
        const [needed, used, own]: [number[], number[], [number, number][]] = [[], [], []];
        for (const fact of factsOf(writtenIn(message), plain)) {
          const results = inResults.get(fact);
          if (!byModel.has(fact) && results === undefined) continue;
          const number = this.universe.get(fact) ?? this.universe.size;
          this.universe.set(fact, number);
          used.push(number);
          if (byUser.has(fact)) continue;
          const argument = inArguments.get(fact);
          if (argument !== undefined) {
            own.push([number, Math.max(argument, results?.at(-1) ?? 0)]);
          } else if (!byModel.has(fact) && results !== undefined) {
            needed.push(number);
            this.holders.set(number, results);
          }
        }
        this.byCall.push(needed);
        this.usedByCall.push(used);
        this.ownByCall.push(own);
        this.callIndices.push(index);
      }
      const facts = factsOf(textsOf(message), plain);
      if (isResult(message))
        for (const fact of facts) inResults.set(fact, [...(inResults.get(fact) ?? []), index].slice(-HOLDERS));
      else for (const fact of facts) (message.role === "assistant" ? byModel : byUser).add(fact);
      for (const fact of factsOf(argumentsOf(message), plain)) inArguments.set(fact, index);
    });
  }

  /** Returns the numbers of the used facts that a message shows. */
  shownBy(message: Message): number[] {
    const texts = textsOf(message);
    const reshaped = texts.map((text) => restore(text)).filter((text, index) => text !== texts[index]);
    return this.numbersOf([...texts, ...reshaped]);
  }

  /** Returns the numbers of the used facts in some texts. */
  numbersOf(texts: readonly string[]): number[] {
    const numbers: number[] = [];
    for (const fact of factsOf(texts, this.plain)) {
      const number = this.universe.get(fact);
      if (number !== undefined) numbers.push(number);
    }
    return numbers;
  }
}

/** The number of facts that one call needs and uses, and of those that are out of sight. */
export interface Asked {
  needed: number;
  missed: number;
  /** True if the call misses what the last calls brought. */
  missesRecent: boolean;
  ownMissed: number;
  used: number;
  unseen: number;
  /** The answers to the fetches of the call, by the index of the message. */
  fetched: Map<number, Fetched>;
}

/** The facts in sight in one engine's requests. Requests are given by their difference from the one before. */
export class Sight {
  readonly #counts: Int32Array;
  #live: { facts: ReadonlySet<number>; until: number }[] = [];

  constructor(
    readonly needs: Needs,
    readonly originals: Originals,
  ) {
    this.#counts = new Int32Array(needs.universe.size);
  }

  /** Processes the next request. `gone` and `come` are the removed and added messages, as numbers in the catalogue. */
  turn(gone: readonly number[], come: readonly number[]): void {
    const { catalogue } = this.originals;
    for (const id of gone) for (const fact of catalogue.shown(id)) this.#add(fact, -1);
    for (const id of come) for (const fact of catalogue.shown(id)) this.#add(fact, 1);
  }

  #add(fact: number, count: number): void {
    this.#counts[fact] = this.#countOf(fact) + count;
  }

  #countOf(fact: number): number {
    return this.#counts[fact] ?? 0;
  }

  /** Returns what a call needs, and what it must fetch. */
  ask(call: number): Asked {
    this.#live = this.#live.filter(({ until }) => until >= call);
    const { byCall, usedByCall, ownByCall, holders, callIndices } = this.needs;
    const [needed, used] = [byCall[call] ?? [], usedByCall[call] ?? []];
    const missing = new Map<number, number[]>();
    const recent = callIndices[Math.max(0, call - RECENT_CALLS)] ?? 0;
    const isMissed = (fact: number, holder: number) => {
      if (this.#countOf(fact) > 0 || this.#live.some(({ facts }) => facts.has(fact))) return false;
      const from = [...missing.keys()].find((index) => this.originals.has(index, fact)) ?? holder;
      missing.set(from, [...(missing.get(from) ?? []), fact]);
      return true;
    };
    const holderOf = (fact: number) => holders.get(fact)?.at(-1) ?? 0;
    const misses = needed.filter((fact) => isMissed(fact, holderOf(fact)));
    const missesRecent = misses.some((fact) => holderOf(fact) > recent);
    const ownMissed = (ownByCall[call] ?? []).filter(([fact, holder]) => isMissed(fact, holder)).length;
    const fetched = new Map([...missing].map(([index, facts]) => [index, this.originals.fetch(index, facts)]));
    for (const { facts } of fetched.values()) this.#live.push({ facts, until: call + FETCHED_CALLS });
    const unseen = used.filter((fact) => this.#countOf(fact) === 0).length;
    return {
      needed: needed.length,
      missed: misses.length,
      missesRecent,
      ownMissed,
      used: used.length,
      unseen,
      fetched,
    };
  }
}
