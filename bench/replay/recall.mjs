// Measures if the agent could still work: of what it wrote in each call and can only have copied from a tool result,
// the share that was in sight.
//
// A *fact* is a piece of text that is copied rather than phrased:
// - identifier: at least 4 characters, with a letter, and with a digit, an underscore, a `$`, a capital after a small
//   letter, or parts joined by `.`, `/`, `\`, `:`, `@` or `#`. Both the joined whole (`src/plan/mod.rs:12`) and its
//   parts (`src/plan/mod.rs`, `mod.rs`) count. Two words joined by a hyphen are too often plain English; three count
//   (`before-agent-start`);
// - word: only on request, at least the given number of letters in a row. A name without any mark (`handler`) looks
//   like a word, and most long words are phrased rather than copied: counting them charges every engine for fetches
//   that no agent would make;
// - number: at least 5 digits, or at least 3 with `.`, `,`, `:` or `-` inside. A bare integer of 3 or 4 digits is as
//   often a count, a limit or a range of lines that the agent chose;
// - hash: at least 7 hexadecimal digits with a decimal digit among them (an identifier or a number by the rules
//   above);
// - line: at least 24 characters with a letter or digit, compared as a whole, without the blanks around it and without
//   the line number that tools print before a line of a file.
//
// A call *needs* a fact if it wrote it in its text or arguments (not in its thinking) and everything that the model had
// read before shows it in tool results only: neither in a user's words nor in what the model itself wrote or thought.
// Each fact is therefore needed at most once, at its first use, and an engine gets no credit for what the agent would
// know anyway. The fact is *in sight* if the request as sent contains it by the same rules, as a whole. What a lossless
// fold reshaped (paths under their directory, rows as columns) is in sight if restoring the request's own text, without
// the store, gives it. A truncated line is not.
//
// *Copy recall* is the share of the needed facts that was in sight. *Use recall* counts every use, not only the first,
// and every fact that an earlier message contained, whether a result or the model's own words or thinking. A user's
// words alone do not count as a use. What counts is the request as sent, without what was fetched for an earlier call.
//
// A call with a needed fact out of sight fetches the latest originals that contain it: one more request, and the
// originals stay in sight for the next twelve calls. So does a call that repeats what only arguments of its own
// calls hold, or these and results, once both are out of sight: it fetches the latest of them. That is no miss of copy
// recall, which asks for first uses.
import { restore } from "openclaw-concertina";

import { isCall, isResult, partsOf, textsOf, writtenIn } from "./transcript.mjs";

/** The number of calls before one whose results count as what it was just shown. */
const RECENT_CALLS = 4;

/** The number of calls for which a fetched original stays in sight. */
export const FETCHED_CALLS = 12;

const WHOLE = /[A-Za-z0-9_$]+(?:[./\\:@#,-]+[A-Za-z0-9_$]+)*/g;
const IDENTIFIER = /[\d_$./\\:@#]|[a-z][A-Z]|-.*-/;
const NUMBER = /^\d[\d.,:-]*$/;
const SHORT_NUMBER = /^\d{1,4}$/;
/** Longer runs are data, not names. */
const LONGEST = 400;

function isFact(word, plain) {
  if (word.length > LONGEST) return false;
  if (NUMBER.test(word)) return !SHORT_NUMBER.test(word) && word.replace(/\D+/g, "").length >= 3;
  if (word.length >= plain && /^[A-Za-z]+$/.test(word)) return true;
  return word.length >= 4 && /[A-Za-z]/.test(word) && IDENTIFIER.test(word);
}

function addWords(text, plain, out) {
  for (const [whole] of text.matchAll(WHOLE)) {
    if (isFact(whole, plain)) out.add(whole);
    if (whole.length > LONGEST || !/[^A-Za-z0-9_$]/.test(whole)) continue;
    // `src/plan/mod.rs:12` is also `src/plan/mod.rs`, `mod.rs` and, were it one, `mod`.
    for (const separators of [/[:@#,]+/, /[/\\:@#,]+/, /[^A-Za-z0-9_$]+/]) {
      for (const part of whole.split(separators)) if (part.length >= 3 && isFact(part, plain)) out.add(part);
    }
  }
}

function addLines(text, out) {
  for (const raw of text.split("\n")) {
    if (raw.length < 24) continue;
    const line = raw.trim().replace(/^\d+\s*[→|:\t]\s*/, "");
    if (line.length >= 24 && /[A-Za-z0-9]/.test(line)) out.add(line);
  }
}

/** Returns all facts of some texts. @param plain the minimum number of letters of a plain word that is a fact */
export function factsOf(texts, plain = Infinity) {
  const out = new Set();
  for (const text of texts) {
    addWords(text, plain, out);
    addLines(text, out);
  }
  return out;
}

const argumentsOf = (message) => partsOf(message).flatMap(({ kind, texts }) => (kind === "arguments" ? texts : []));

/** The facts that each call of a session needs and uses, independently of the engine. */
export class Needs {
  /** The number of each fact. */
  universe = new Map();
  /** The numbers of the facts that each call needs, and of those that it uses. */
  byCall = [];
  usedByCall = [];
  /** The indices of the results that contain each needed fact, in order. */
  holders = new Map();
  /** The facts that each call repeats from arguments of its own calls: the fact's number and its latest holder. */
  ownByCall = [];
  /** The index of the message of each call. */
  callIndices = [];

  /** @param plain the minimum number of letters of a plain word that is a fact */
  constructor(messages, plain = Infinity) {
    this.plain = plain;
    const [inResults, inArguments, byModel, byUser] = [new Map(), new Map(), new Set(), new Set()];
    messages.forEach((message, index) => {
      if (isCall(message)) {
        const [needed, used, own] = [[], [], []];
        for (const fact of factsOf(writtenIn(message), plain)) {
          if (!byModel.has(fact) && !inResults.has(fact)) continue;
          const number = this.universe.get(fact) ?? this.universe.size;
          this.universe.set(fact, number);
          used.push(number);
          if (byUser.has(fact)) continue;
          if (inArguments.has(fact)) {
            own.push([number, Math.max(inArguments.get(fact), inResults.get(fact)?.at(-1) ?? 0)]);
          } else if (!byModel.has(fact)) {
            needed.push(number);
            this.holders.set(number, inResults.get(fact));
          }
        }
        this.byCall.push(needed);
        this.usedByCall.push(used);
        this.ownByCall.push(own);
        this.callIndices.push(index);
      }
      const facts = factsOf(textsOf(message), plain);
      if (isResult(message))
        for (const fact of facts) inResults.set(fact, [...(inResults.get(fact) ?? []), index].slice(-8));
      else for (const fact of facts) (message.role === "assistant" ? byModel : byUser).add(fact);
      for (const fact of factsOf(argumentsOf(message), plain)) inArguments.set(fact, index);
    });
  }

  /** Returns the numbers of the used facts that a message shows. */
  shownBy(message) {
    const texts = textsOf(message);
    const reshaped = texts.map((text) => restore(text)).filter((text, index) => text !== texts[index]);
    const shown = [];
    for (const fact of factsOf([...texts, ...reshaped], this.plain)) {
      const number = this.universe.get(fact);
      if (number !== undefined) shown.push(number);
    }
    return shown;
  }
}

/** The facts in sight in one engine's requests. Requests are given by their difference from the one before. */
export class Sight {
  #counts;
  #live = new Map();

  /**
   * @param shown the facts of a message, by its number in the catalogue; @param original the number of a message as it
   * was
   */
  constructor(needs, shown, original) {
    this.needs = needs;
    this.shown = shown;
    this.original = original;
    this.#counts = new Int32Array(needs.universe.size);
  }

  /** Processes the next request. `gone` and `come` are the removed and added messages, as numbers in the catalogue. */
  turn(gone, come) {
    for (const id of gone) for (const fact of this.shown(id)) this.#counts[fact]--;
    for (const id of come) for (const fact of this.shown(id)) this.#counts[fact]++;
  }

  /**
   * Returns what a call needs and uses, how much of it is out of sight, if it misses what the last calls brought, and
   * which originals it must fetch.
   */
  ask(call) {
    for (const [index, { until }] of this.#live) if (until < call) this.#live.delete(index);
    const needed = this.needs.byCall[call];
    const fetched = new Map();
    const recent = this.needs.callIndices[Math.max(0, call - RECENT_CALLS)];
    const isMissed = (fact, holder) => {
      if (this.#counts[fact] > 0 || [...this.#live.values()].some(({ facts }) => facts.has(fact))) return false;
      const isFetched = [...fetched.values()].some((facts) => facts.has(fact));
      if (!isFetched) fetched.set(holder, new Set(this.shown(this.original(holder))));
      return true;
    };
    const holderOf = (fact) => this.needs.holders.get(fact).at(-1);
    const misses = needed.filter((fact) => isMissed(fact, holderOf(fact)));
    const missesRecent = misses.some((fact) => holderOf(fact) > recent);
    const ownMissed = this.needs.ownByCall[call].filter(([fact, holder]) => isMissed(fact, holder)).length;
    for (const [index, facts] of fetched) this.#live.set(index, { facts, until: call + FETCHED_CALLS });
    const used = this.needs.usedByCall[call];
    const unseen = used.filter((fact) => this.#counts[fact] === 0).length;
    return {
      needed: needed.length,
      missed: misses.length,
      missesRecent,
      ownMissed,
      used: used.length,
      unseen,
      fetched: [...fetched.keys()],
    };
  }
}
