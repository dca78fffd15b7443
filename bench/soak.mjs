// Measures long use in one process:
// `node --expose-gc bench/soak.mjs [--turns 5000] [--results 8] [--open 20] [--plot FILE.svg]`.
//
// Sessions take turns alternately. Each reads files and runs commands, is compacted by its host when its context is
// full, and ends after some hundred turns. Tool outputs come from the shipped recording, with other numbers each time.
// A turn takes a minute of the store's time. Prints and draws memory, time, store size, files and threads over the
// turns, and the growth of each in the second half.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { Concertina } from "openclaw-concertina";
import { root } from "../scripts/steps.mjs";
import { median } from "./median.mjs";
import { plotOverTime } from "./plot/plot.mjs";

const require = createRequire(import.meta.url);
const { HOST_DEFAULTS } = require("../dist/node/lib/library/host-defaults.js");
const { readSession } = require("../dist/node/lib/formats/session-file.js");
const { number, table } = require("../dist/node/lib/terminal/table.js");

const { values } = parseArgs({
  options: {
    turns: { type: "string" },
    results: { type: "string" },
    open: { type: "string" },
    plot: { type: "string" },
  },
});
const [TURNS, RESULTS, OPEN] = [Number(values.turns ?? 5000), Number(values.results ?? 8), Number(values.open ?? 20)];
/** The estimated tokens at which a host compacts, and the number of messages that it keeps. */
const [BUDGET, KEPT] = [120_000, 24];
/** The number of turns of a session. */
const LIFE = 200;
const MINUTE_MS = 60_000;
const MEASURED_EVERY = 50;
const START = Date.UTC(2026, 0, 1);

/** Random numbers that are the same in each run. */
let state = 0x2545f491;
function below(limit) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % limit;
}

const recorded = readSession(path.join(root, "fixtures/demo/taking-over.messages.json.gz"))
  .filter(({ role, content }) => role === "toolResult" && content.every(({ type }) => type === "text"))
  .map(({ toolName, content }) => ({ toolName, text: content.map(({ text }) => text).join("\n") }));

/** Returns a recorded tool output with other digits. */
function printed() {
  const { toolName, text } = recorded[below(recorded.length)];
  return { toolName, text: text.replace(/\d/g, () => String(below(10))) };
}

const dir = mkdtempSync(path.join(tmpdir(), "concertina-soak-"));
const concertina = await Concertina.open({
  dir,
  ...HOST_DEFAULTS,
  sccsStorageTtlSeconds: 3600,
  storeMaxBytes: 64 << 20,
  retention: "host",
});

let started = 0;
/** Creates a new session. */
const fresh = () => ({ sessionId: `session-${started++}`, messages: [], turns: 0 });
const sessions = Array.from({ length: OPEN }, fresh);

/** Plays one user turn. Returns the milliseconds of each assembly and the tokens of the last one. */
async function turn(session, at) {
  const { sessionId, messages } = session;
  const now = START + at * MINUTE_MS;
  const from = messages.length;
  messages.push({ role: "user", content: `Go on with step ${session.turns}.`, timestamp: now });
  const calls = Array.from({ length: RESULTS }, (_, index) => called(`${session.turns}-${index}`));
  messages.push({ role: "assistant", content: calls.map(({ call }) => call), timestamp: now + 1 });
  for (const [
    index,
    {
      text,
      call: { id, name, arguments: args },
    },
  ] of calls.entries()) {
    const message = {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text }],
      timestamp: now + 2 + index,
    };
    messages.push((await concertina.admitToolResult({ sessionId, message, args, now })).message);
  }
  messages.push({
    role: "assistant",
    content: [{ type: "text", text: "Done, and on to the next step." }],
    timestamp: now + 20,
  });
  const before = performance.now();
  const { estimatedTokens } = await concertina.assemble({
    sessionId,
    messages,
    tokenBudget: 200_000,
    model: "claude-opus-4-6",
    now: now + 21,
  });
  const ms = performance.now() - before;
  await concertina.commitTurn({
    sessionId,
    advancementKey: String(session.turns),
    messages: messages.slice(from),
    now: now + 22,
  });
  session.turns++;
  // As a host does when its context is full: keeps a summary and the newest messages, beginning with a user message.
  if (estimatedTokens > BUDGET) {
    const kept = messages.findIndex(({ role }, index) => role === "user" && index >= messages.length - KEPT);
    messages.splice(0, kept < 0 ? messages.length : kept, {
      role: "user",
      content: "What happened so far: steps were taken.",
      timestamp: now + 30,
    });
  }
  return { ms, estimatedTokens };
}

/** Returns a call and its result. */
function called(id) {
  const { toolName: name, text } = printed();
  return {
    text,
    call: {
      type: "toolCall",
      id,
      name,
      arguments: name === "read" ? { path: `src/file-${below(50)}.ts` } : { command: `run ${id} ${below(1000)}` },
    },
  };
}

const count = (of) => readdirSync(`/proc/self/${of}`).length;
const storeBytes = () => readdirSync(dir).reduce((sum, name) => sum + statSync(path.join(dir, name)).size, 0);

const rows = [];
let times = [];
let tokens = [];
const began = performance.now();
for (let at = 0; at < TURNS; at++) {
  const place = at % OPEN;
  const done = await turn(sessions[place], at);
  times.push(done.ms);
  tokens.push(done.estimatedTokens);
  if (sessions[place].turns === LIFE) {
    await concertina.endSession({ sessionId: sessions[place].sessionId, now: START + at * MINUTE_MS });
    sessions[place] = fresh();
  }
  if (at % 60 === 59) await concertina.sweep({ now: START + at * MINUTE_MS });
  if (at % MEASURED_EVERY !== MEASURED_EVERY - 1) continue;
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  rows.push({
    turn: at + 1,
    "memory, MB": rss / 1e6,
    "JavaScript heap, MB": heapUsed / 1e6,
    "assembly, ms": median(times),
    "context, thousand tokens": median(tokens) / 1000,
    "store, MB": storeBytes() / 1e6,
    files: count("fd"),
    threads: count("task"),
  });
  [times, tokens] = [[], []];
  process.stderr.write(
    `turn ${number(at + 1)} of ${number(TURNS)}, ${Math.round((performance.now() - began) / 1000)} s\r`,
  );
}
process.stderr.write("\n");

/** Returns the growth of a figure in a thousand turns, by least squares. */
function slope(points, name) {
  const mean = (of) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean("turn"), mean(name)];
  const spread = points.reduce((sum, point) => sum + (point.turn - x) ** 2, 0);
  return (points.reduce((sum, point) => sum + (point.turn - x) * (point[name] - y), 0) / spread) * 1000;
}

const names = Object.keys(rows[0]).slice(1);
const half = rows.slice(rows.length >> 1);
const shown = (value) => value.toFixed(2);
console.log(
  `${number(TURNS)} turns, ${number(TURNS * RESULTS)} tool results, ${OPEN} sessions open at once, ${started} in all, ${Math.round((performance.now() - began) / 1000)} s`,
);
console.log(
  table(
    ["", "first", "half way", "last", "largest", "growth in 1,000 turns, second half"],
    names.map((name) => [
      name,
      shown(rows[0][name]),
      shown(half[0][name]),
      shown(rows.at(-1)[name]),
      shown(Math.max(...rows.map((row) => row[name]))),
      shown(slope(half, name)),
    ]),
  ),
);
await concertina.close();
globalThis.gc?.();
console.log(
  `after close: ${shown(process.memoryUsage.rss() / 1e6)} MB, ${count("fd")} files, ${count("task")} threads`,
);
if (values.plot)
  writeFileSync(
    values.plot,
    await plotOverTime(rows.flatMap((row) => names.map((name) => ({ turn: row.turn, name, value: row[name] })))),
  );
rmSync(dir, { recursive: true });
