// Ends Node threads while exports of the addon are running: `node workers.mjs ROUNDS`. `threads.test.mjs` runs this in
// a separate process, because the fault under test ends the process.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

import { noise } from "./conversation.mjs";

const lib = createRequire(new URL("../dist/node/lib/index.js", import.meta.url));
const { native } = lib("./binding/native.js");
const { handOver } = lib("./binding/handover.js");
/** In the mode `alone` only the threads load the addon, and each unloads it when it ends. */
const isAlone = isMainThread && process.argv[3] === "alone";
const addon = isAlone ? undefined : native();

const session = { sessionId: "s", agentId: "main" };
const big = noise(1500);
const now = 2e9;
const history = [
  { role: "user", content: "go", timestamp: now - 9 },
  {
    role: "assistant",
    content: [{ type: "toolCall", id: "c", name: "exec", arguments: { command: "x" } }],
    timestamp: now - 8,
  },
  { role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text: big }], timestamp: now - 7 },
];
/** Enough small messages that parsing begins during the transfer. */
const wide = Array.from({ length: 800 }, (_, at) => ({
  role: "user",
  content: `message ${at} of many, each a little longer than a few words`,
}));
const asked = { referOversize: true, turnBegins: false };
const prose = "In order to do it, the server is really restarted. ".repeat(400);
const custom = JSON.stringify({ custom: [{ name: "mine", order: 20 }] });

/** Every export that works outside the event loop, as it is called on an open store. */
const METHODS = {
  admit: (store) => store.admit(handOver(addon, [history[1].content[0], history[2]]).handover, session, {}, now),
  assemble: (store) => store.assemble(handOver(addon, history).handover, session, asked, now),
  commitTurn: (store) =>
    store.commitTurn(
      handOver(addon, history).handover,
      session,
      { advancementKey: String(Math.random()), tool: "{}", failed: [], heldOut: false },
      now,
    ),
  inherit: (store) => store.inherit(session, { sessionId: "t" }, now),
  endSession: (store) => store.endSession({ sessionId: "t" }, now),
  settle: (store) => store.settle(["s"], now),
  unfold: (store) => store.unfold(handOver(addon, history).handover, "s", "main", now),
  recordRules: (store) => store.recordRules(session, { tokensBefore: 2, tokensAfter: 1 }, now),
  fetch: (store) => store.fetch({ refIds: ["0123456789abcdef"], now }),
  stats: (store) => store.stats(),
  figures: (store) => store.figures({}),
  sessions: (store) => store.sessions(),
  switch: (store) => store.switch(session, false, now),
  foldAll: (store) => store.foldAll(session, now),
  folded: (store) => store.folded(session),
  pinLast: (store) => store.pinLast(session, now),
  search: (store) => store.search({ query: "words", now }),
  restore: (store) => store.restore(session, ["0123456789abcdef"], now),
  unpin: (store) => store.unpin(session, now),
  check: (store) => store.check(),
  sweep: (store) => store.sweep(now),
  purge: (store) => store.purge({ sessionId: "t" }, false),
  close: (store) => store.close(),
};

/** The same for exports that need no store. */
const FUNCTIONS = {
  open: (dir) => addon.NativeConcertina.open({ dir }, "{}"),
  advance: () => new addon.CompressJob(big, "{}").advance(),
  // Its thread waits for an answer that never arrives.
  asking: () => new addon.CompressJob(big, custom).advance(),
  answered: async () => {
    const job = new addon.CompressJob(big, custom);
    for (;;) {
      const { question } = await job.advance();
      if (!question) return;
      job.answer(question.context.text.replace(/took/g, ""));
    }
  },
  compressMessages: () => addon.compressMessages(handOver(addon, history).handover, "{}"),
  compressProseOnWorker: () => addon.compressProseOnWorker(prose, {}),
  preprocessOnWorker: () => addon.preprocessOnWorker(prose, { level: 3 }),
  compressRulesOnWorker: () => addon.compressRulesOnWorker([{ name: "a.md", text: prose }], {}),
  squeeze: () => addon.squeeze(handOver(addon, wide).handover, "{}"),
  advanceSync: () => new addon.CompressJob(big, custom).advanceSync(),
  __panicOnWorker: () => addon.__panicOnWorker(),
  run: (dir) => new addon.NativeMigration().run({ dir }, { dir: path.join(dir, String(Math.random())) }),
};

const WAYS = ["exit", "throw", "terminate"];
const NAMES = [...Object.keys(FUNCTIONS), ...Object.keys(METHODS)];

/** Starts many calls of one export, and ends the thread a few turns of the event loop later. */
async function endAmidst({ dir, name, way, turns }) {
  const store = name in METHODS ? await addon.NativeConcertina.open({ dir }, "{}") : undefined;
  for (let call = 0; call < 6; call++) (METHODS[name]?.(store) ?? FUNCTIONS[name](dir)).catch?.(() => undefined);
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => void setImmediate(resolve));
  if (way === "exit") process.exit(5);
  if (way === "throw") throw new Error("on purpose");
  parentPort.postMessage("now");
  for (;;) await new Promise((resolve) => void setImmediate(resolve));
}

async function round(data) {
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  const ended = new Promise((resolve) => void worker.once("exit", resolve));
  worker.on("error", (error) => assert.match(error.message, /on purpose/));
  worker.on("message", () => void worker.terminate());
  await ended;
}

async function rounds(count) {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-threads-"));
  try {
    const declared = readFileSync(new URL("../node/lib/binding/addon.ts", import.meta.url), "utf8").matchAll(
      /(\w+)\([^\n]*\): Promise</g,
    );
    assert.deepEqual(
      [...new Set([...declared].map(([, name]) => name))].filter((name) => !NAMES.includes(name)),
      [],
      "each export that resolves is called",
    );
    let next = 0;
    const lane = async () => {
      for (let at = next++; at < count; at = next++) {
        await round({
          dir,
          name: NAMES[at % NAMES.length],
          way: WAYS[Math.floor(at / NAMES.length) % WAYS.length],
          turns: [0, 1, 3, 20][at % 4],
        });
      }
    };
    await Promise.all([lane(), lane(), lane()]);
    if (isAlone) return console.log(`alive after ${count} rounds`);
    // The remaining thread can still work, and the store still has its file.
    const job = new addon.CompressJob(big, "{}");
    assert.ok((await job.advance()).result);
    const store = await addon.NativeConcertina.open({ dir }, "{}");
    await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        store.assemble(handOver(addon, history).handover, { sessionId: `u${at}` }, asked, now),
      ),
    );
    await store.check();
    await store.close();
    return console.log(`alive after ${count} rounds`);
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

if (isMainThread) await rounds(Number(process.argv[2]));
else await endAmidst(workerData);
