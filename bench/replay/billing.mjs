// Computes the bill of a sequence of requests. What a request reads from the provider's cache, at r of the input price,
// is told by the core's model of that cache, by which the planner decides, too. The rest is written, at w.
//
// Figures are kept in tokens, not in money, so that one replay serves every price point. The unit of comparison is the
// message: a message of which one block changed is billed in full.
import { createRequire } from "node:module";

import { Fetches } from "../../dist/node/lib/recall/fetches.js";

const require = createRequire(import.meta.url);
const { native } = require("../../dist/node/lib/binding/native.js");

/** Returns the prices of a model that its provider publishes, or the default ones. */
export const pricesOf = (model) => native().modelPrices(model);

/** Returns an empty prompt cache of a model's provider. Without a model, any prefix is found. */
export const promptCache = (model, ttlMs) => new (native().PromptCache)(model, ttlMs);

/** The price points that reports show: cached read / write, relative to input. */
export const PRICES = ["0.1/1.25", "0.05/1.25", "0.025/1.25", "0.1/1.0", "0.5/1.0"];

/** Parses a price point such as `"0.1/1.25"`. */
export function parsePrice(text) {
  const [read, write] = text.split("/").map(Number);
  if (!(read >= 0) || !(write > 0) || read > write) {
    throw new Error(
      `price ${JSON.stringify(text)} must be READ/WRITE relative to input, such as 0.1/1.25, with READ at most WRITE`,
    );
  }
  return { name: text, read, write };
}

/** Adds up the bill of one engine's requests. */
export class Meter {
  /** Tokens per call: read from the cache, written, and the same for fetches. */
  series = { read: [], write: [] };
  #tally = {
    calls: 0,
    cold: 0,
    epochs: 0,
    peak: 0,
    rewritten: 0,
    cached: 0,
    cacheable: 0,
    overhead: { read: 0, write: 0 },
  };
  /** Tokens read and written by message. */
  read = new Map();
  write = new Map();
  #before = [];
  #at;
  #cache;
  #fetches;

  /**
   * @param overhead tokens that the engine adds to every request: its words in the system prompt, its tools
   * @param model the model whose provider's cache is modelled; without one, any common prefix is found
   */
  constructor({ catalogue, sight, ttlMs, overhead = 0, calls, model }) {
    Object.assign(this, { catalogue, ttlMs, overhead });
    this.#cache = promptCache(model, ttlMs);
    this.#fetches = new Fetches(catalogue, sight, calls);
    Object.assign(this.series, this.#fetches.series);
  }

  /**
   * Bills one request. Returns its messages as numbers in the catalogue, true if the cache was cold, and the messages
   * whose originals the call fetches.
   */
  send(messages, at) {
    const { tokens } = this.catalogue;
    const ids = messages.map((message) => this.catalogue.idOf(message));
    const before = this.#before;
    let same = 0;
    while (same < before.length && ids[same] === before[same]) same++;
    const first = this.#tally.calls === 0;
    const cold = !first && this.#at !== undefined && at !== undefined && at - this.#at > this.ttlMs;

    const cached = this.#cached(ids, same, at);
    let [read, write] = [0, 0];
    const bill = (by, id, count) => by.set(id, (by.get(id) ?? 0) + count);
    ids.forEach((id, index) => {
      const isRead = index < cached;
      if (isRead) read += tokens[id];
      else write += tokens[id];
      bill(isRead ? this.read : this.write, id, tokens[id]);
    });
    // The cache is read in whole units.
    const rest = read % this.#cache.unit;
    if (rest > 0) {
      [read, write] = [read - rest, write + rest];
      bill(this.read, ids[cached - 1], -rest);
      bill(this.write, ids[cached - 1], rest);
    }
    if (!first && !cold) this.#stability(before, ids, same, read);
    const tally = this.#tally;
    const reads = first || cold ? "write" : "read";
    tally.overhead[reads] += this.overhead;
    if (reads === "read") read += this.overhead;
    else write += this.overhead;
    tally.cold += cold ? 1 : 0;
    tally.peak = Math.max(tally.peak, read + write);
    this.series.read.push(read);
    this.series.write.push(write);
    const fetched = this.#fetches.send(ids, read + write).map((index) => messages[index]);
    tally.calls++;
    this.#before = ids;
    this.#at = at ?? this.#at;
    return { ids, cold, fetched };
  }

  /** Sends a request to the cache. Returns the number of messages that are read, of which the first `same` are old. */
  #cached(ids, same, at) {
    let [blocks, tokens, unchanged] = [0, 0, 0];
    ids.forEach((id, index) => {
      blocks += this.catalogue.blocks(id);
      tokens += this.catalogue.tokens[id];
      if (index < same) unchanged = blocks;
    });
    let read = this.#cache.send(blocks, tokens, unchanged, at);
    let messages = 0;
    for (; messages < same && read >= this.catalogue.blocks(ids[messages]); messages++)
      read -= this.catalogue.blocks(ids[messages]);
    return messages;
  }

  #stability(before, ids, same, read) {
    const { tokens } = this.catalogue;
    if (same < before.length) this.#tally.epochs++;
    for (const id of before) this.#tally.cacheable += tokens[id];
    this.#tally.cached += read;
    for (let index = same; index < Math.min(before.length, ids.length); index++)
      this.#tally.rewritten += tokens[ids[index]];
  }

  /** The counts, with those of the calls that fetch. */
  get tally() {
    const { overhead, ...counts } = this.#tally;
    return { ...counts, ...this.#fetches.tally, overhead };
  }

  /** Returns the billed tokens by reason. `originals` are the session's own messages, as numbers. */
  result(originals) {
    const own = new Set(originals);
    const untouched = { read: 0, write: 0 };
    // Messages that the last request still shows unchanged were never folded.
    for (const id of new Set(this.#before)) {
      if (!own.has(id)) continue;
      untouched.read += this.read.get(id) ?? 0;
      untouched.write += this.write.get(id) ?? 0;
    }
    return { series: this.series, tally: { ...this.tally, untouched } };
  }
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Returns the price of tokens read and written, in input tokens. */
export const priced = (tokens, { read, write }) => tokens.read * read + tokens.write * write;

/** Returns a replay's bill at one price point, in input tokens. */
export function billOf({ series, tally }, { read, write }) {
  const sent = sum(series.read) * read + sum(series.write) * write;
  const fetches = sum(series.fetchRead) * read + sum(series.fetchWrite) * write;
  return {
    sent,
    fetches,
    total: sent + fetches,
    rewrites: tally.rewritten * (write - read),
    untouched: priced(tally.untouched, { read, write }),
    overhead: priced(tally.overhead, { read, write }),
  };
}

/** Returns the bill including fetches after each call. */
export function growth({ series }, { read, write }) {
  let total = 0;
  return series.read.map((tokens, call) => {
    total += (tokens + series.fetchRead[call]) * read + (series.write[call] + series.fetchWrite[call]) * write;
    return total;
  });
}
