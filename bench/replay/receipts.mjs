// Compares the model of the prompt cache, and the prices, with what providers reported and hosts charged:
// `node bench/replay/receipts.mjs SESSIONS...`. Fails if the cache reads of a session differ by more than 10 percent,
// or the dollars by more than 3.
//
// The size of each request is the reported one, and its history is the recorded one, unchanged. What the first request
// read is the system prompt and the tools, which other sessions share. A request that is much smaller than the one
// before was made after a compaction: only system prompt and tools are left of the prefix.
import { createRequire } from "node:module";

import { main } from "../../scripts/steps.mjs";
import { usageOf } from "../../dist/node/lib/formats/usage.js";
import { isCall, timeOf } from "../../dist/node/lib/recall/transcript.js";
import { STATING } from "../../dist/node/lib/terminal/cache-misses.js";
import { pricesOf, promptCache } from "./billing.mjs";
import { find, load } from "./sessions.mjs";

const require = createRequire(import.meta.url);
const { number, percent, table } = require("../../dist/node/lib/terminal/table.js");

/** The allowed relative difference of the tokens read from the cache, and of dollars. */
const [READS, DOLLARS] = [0.1, 0.03];

/** A request that is smaller than this share of the one before has lost its history. */
const COMPACTED = 0.9;

const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const blocksOf = ({ content }) => (Array.isArray(content) ? content.length : 1);

/** The requests of one model in a session, as its provider's cache sees them. */
class Replay {
  #cache;
  /** Tokens of the requests by the number of their blocks. */
  #tokens = new Map();
  #before = 0;

  /** @param head the tokens of system prompt and tools, which are one block before the messages */
  constructor(model, head) {
    this.#cache = promptCache(model);
    this.#tokens.set(1, head);
    this.head = head;
  }

  /** Returns the tokens that a request reads. */
  send(messageBlocks, tokens, at) {
    const blocks = messageBlocks + 1;
    if (this.#before === 0) this.#cache.send(1, this.head, 0, at);
    const unchanged = tokens < COMPACTED * this.#before ? 1 : blocks;
    const read = this.#cache.send(blocks, tokens, unchanged, at);
    this.#tokens.set(blocks, tokens);
    this.#before = tokens;
    return read === 0 ? 0 : Math.min(this.#tokens.get(read) ?? 0, tokens);
  }
}

/** Returns dollars for the usage of a request at the published prices of its model, or undefined if there are none. */
function dollars({ input, cacheRead, cacheWrite, output }, model) {
  const { usd, read, write, answer, stepAbove, stepInput, stepOutput } = pricesOf(model);
  if (usd == null) return undefined;
  const isAbove = stepAbove != null && input + cacheRead + cacheWrite > stepAbove;
  const prompt = (input + cacheRead * read + cacheWrite * write) * (isAbove ? stepInput : 1);
  return (prompt + output * answer * (isAbove ? stepOutput : 1)) * usd;
}

function compare({ name, messages }) {
  const replays = new Map();
  const sums = { calls: 0, reporting: 0, logged: 0, modelled: 0, cost: 0, priced: 0 };
  let blocks = 0;
  for (const message of messages) {
    const { input, output, cacheRead, cacheWrite } = usageOf(message.usage) ?? NOTHING;
    const { cost } = message.usage ?? {};
    const tokens = input + cacheRead + cacheWrite;
    if (isCall(message) && tokens > 0) {
      const { model } = message;
      if (!replays.has(model)) replays.set(model, new Replay(model, cacheRead));
      sums.modelled += replays.get(model).send(blocks, tokens, timeOf(message));
      sums.logged += cacheRead;
      sums.calls++;
      sums.reporting += cacheRead > 0 ? 1 : 0;
      const price = cost?.total > 0 ? dollars({ input, output, cacheRead, cacheWrite }, model) : undefined;
      if (price !== undefined) {
        sums.cost += cost.total;
        sums.priced += price;
      }
    }
    blocks += blocksOf(message);
  }
  return { name, ...sums };
}

const off = (one, other) => one / other - 1;

main(import.meta, () => {
  const inputs = process.argv.slice(2);
  if (inputs.length === 0) throw new Error("usage: node bench/replay/receipts.mjs SESSIONS...");
  const compared = find(inputs).map(({ file }) => compare(load(file)));
  const reporting = compared.filter(({ calls, reporting }) => calls > 0 && reporting >= STATING * calls);
  console.log(
    table(
      ["session", "calls", "cache reads reported", "modelled", "difference", "dollars charged", "at our prices"],
      reporting.map(({ name, calls, logged, modelled, cost, priced }) => [
        name,
        ...[calls, logged, modelled].map(number),
        percent(off(modelled, logged)),
        ...(cost > 0 ? [cost.toFixed(2), priced.toFixed(2)] : ["", ""]),
      ]),
    ),
  );
  const bad = reporting.filter(
    ({ logged, modelled, cost, priced }) =>
      Math.abs(off(modelled, logged)) > READS || (cost > 0 && Math.abs(off(priced, cost)) > DOLLARS),
  );
  console.log(
    `\n${number(reporting.length)} sessions report their cache reads, ${number(compared.length - reporting.length)} do not; ${number(bad.length)} differ too much.`,
  );
  if (bad.length > 0)
    throw new Error(`the model differs from the receipts of ${bad.map(({ name }) => name).join(", ")}`);
});
