// Prints how long assembly takes and how long it blocks the event loop, as ratios to structuredClone of the same
// messages in the same run, and the cost of a call into the addon. Usage: npm run bench -- [SESSION...] [--json FILE]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { Concertina, countMessageTokens, countTokens } from "openclaw-concertina";
import { root } from "../scripts/steps.mjs";
import { median } from "./median.mjs";

const require = createRequire(import.meta.url);
const { readSession } = require("../dist/node/lib/formats/session-file.js");
const { number, table } = require("../dist/node/lib/terminal/table.js");

async function timed(job) {
  const start = performance.now();
  await job();
  return performance.now() - start;
}

/**
 * Returns the longest time that a job blocked the event loop. The ticker occupies a core of its own, so the job itself
 * is not timed.
 */
async function longestBlock(job) {
  let [longest, last, running] = [0, performance.now(), true];
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(tick);
  };
  setImmediate(tick);
  await job();
  running = false;
  return Math.max(longest, performance.now() - last);
}

/**
 * Returns how much longer a warm assembly takes with planning by price, in percent. The two alternate, so that both run
 * under the same conditions.
 */
async function planning(messages) {
  const prices = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheTtlMs: 300_000 };
  const times = { "every-turn": [], "cache-aware": [] };
  for (const schedule of Object.keys(times)) {
    const dir = mkdtempSync(path.join(tmpdir(), "concertina-bench-"));
    times[schedule].open = { dir, concertina: await Concertina.open({ dir, schedule }) };
  }
  for (let round = 0; round < 30; round++) {
    for (const [schedule, runs] of Object.entries(times)) {
      const copy = structuredClone(messages);
      const start = performance.now();
      await runs.open.concertina.assemble({ sessionId: "bench", messages: copy, prices });
      // The first assembly folds, so it is not counted.
      if (round > 0) times[schedule].push(performance.now() - start);
    }
  }
  for (const { open } of Object.values(times)) {
    await open.concertina.close();
    rmSync(open.dir, { recursive: true });
  }
  return 100 * (median(times["cache-aware"]) / median(times["every-turn"]) - 1);
}

async function measure(file) {
  const messages = readSession(file);
  const clone = median(
    Array.from({ length: 31 }, () => {
      const start = performance.now();
      structuredClone(messages);
      return performance.now() - start;
    }),
  );
  const [cold, warm] = [
    { ms: [], longest: [] },
    { ms: [], longest: [] },
  ];
  for (let round = 0; round < 50; round++) {
    const dir = mkdtempSync(path.join(tmpdir(), "concertina-bench-"));
    const concertina = await Concertina.open({ dir });
    const [measured, key] = round % 2 ? [longestBlock, "longest"] : [timed, "ms"];
    cold[key].push(await measured(() => concertina.assemble({ sessionId: "bench", messages })));
    for (let again = 0; again < 2; again++) {
      // As in the host: equal content in new objects.
      const copy = structuredClone(messages);
      warm[key].push(await measured(() => concertina.assemble({ sessionId: "bench", messages: copy })));
    }
    await concertina.close();
    rmSync(dir, { recursive: true });
  }
  // Other load on the machine only lengthens the longest pause, so the smallest value of all rounds is the most
  // accurate.
  const of = ({ ms, longest }) => ({ ms: median(ms), longestBlockMs: Math.min(...longest) });
  return {
    file: path.basename(file),
    tokens: countMessageTokens(messages),
    cloneMs: clone,
    cold: of(cold),
    warm: of(warm),
    planningPercent: await planning(messages),
  };
}

function overhead() {
  const rounds = 20_000;
  const start = performance.now();
  for (let round = 0; round < rounds; round++) countTokens("x");
  return ((performance.now() - start) / rounds) * 1000;
}

const {
  positionals,
  values: { json },
} = parseArgs({ allowPositionals: true, options: { json: { type: "string" } } });
const files =
  positionals.length > 0 ? positionals : [path.join(root, "fixtures", "demo", "taking-over.messages.json.gz")];
const results = [];
for (const file of files) results.push(await measure(file));
const ratio = (value, floor) => `${(value / floor).toFixed(2)} x`;
console.log(
  table(
    [
      "session",
      "tokens",
      "structuredClone",
      "assemble cold",
      "warm",
      "longest block cold",
      "warm",
      "planning by price",
    ],
    results.map(({ file, tokens, cloneMs, cold, warm, planningPercent }) => [
      file,
      number(tokens),
      `${cloneMs.toFixed(2)} ms`,
      ratio(cold.ms, cloneMs),
      ratio(warm.ms, cloneMs),
      ratio(cold.longestBlockMs, cloneMs),
      ratio(warm.longestBlockMs, cloneMs),
      `${planningPercent >= 0 ? "+" : ""}${planningPercent.toFixed(0)} % warm`,
    ]),
  ),
);
const call = overhead();
console.log(`\none call into the addon: ${call.toFixed(2)} µs`);
if (json) writeFileSync(json, JSON.stringify({ results, callMicroseconds: call }, null, 1));
