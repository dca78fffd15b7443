// Tests of threads: a Node thread may end during work, file reads continue meanwhile, and closing waits for running
// work.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import * as library from "../index.js";
import { freshDir, noise } from "./conversation.mjs";

const { compress, compressSync, Concertina } = library;
const dir = freshDir();

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/**
 * Covers every export that leaves the event loop, each ended by exit, by an error and from outside, after 0, 1, 3 and
 * 20 turns of the loop; with the addon loaded in the main thread, and only in the ending threads.
 */
test("the process survives threads that end during any exported function", { timeout: 300_000 }, async () => {
  for (const [count, ...how] of [["136"], ["64", "alone"]]) {
    const { stdout } = await promisify(execFile)(process.execPath, [here("workers.mjs"), count, ...how]);
    assert.match(stdout, new RegExp(`alive after ${count} rounds`));
  }
});

test("file reads find a free worker beside any number of heavy jobs", async () => {
  const text = noise(200);
  let done = 0;
  const jobs = Array.from({ length: 50 }, () => compress(text).then(() => done++));
  for (let read = 0; read < 10; read++) await readFile(here("threads.test.mjs"));
  assert.ok(done < 25, `${done} of 50 jobs were done before ten reads of a file`);
  await Promise.all(jobs);
});

const result = { role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text: noise(400) }] };

/** Covers each kind of call of a store, alone and all together. */
test("close waits for calls in progress and rejects later ones", async () => {
  const CALLS = {
    admit: (store) => store.admitToolResult({ sessionId: "s", message: result }),
    assemble: (store) => store.assemble({ sessionId: "s", messages: [result], referOversize: true }),
    commit: (store) => store.commitTurn({ sessionId: "s", advancementKey: `${Math.random()}`, messages: [result] }),
    unfold: (store) => store.unfold({ messages: [result] }),
    fetch: (store) => store.fetch({ refIds: ["0123456789abcdef"] }),
    check: (store) => store.check(),
    figures: (store) => store.figures(),
  };
  for (const names of [...Object.keys(CALLS).map((name) => [name]), Object.keys(CALLS)]) {
    const store = await Concertina.open({ dir });
    const running = new Set(names);
    const calls = names.map(async (name) => {
      const answer = await CALLS[name](store);
      running.delete(name);
      return answer;
    });
    await store.close();
    assert.deepEqual([...running], [], "what was under way is done");
    for (const answer of await Promise.all(calls)) assert.equal(answer?.report?.warning, undefined);
    for (const call of Object.values(CALLS)) await assert.rejects(call(store), { code: "CONCERTINA_CLOSED" });
    await store.close();
  }
});

/**
 * Covers a stage, its `shouldApply`, and a redactor that is async, throws, or returns an invalid value; on a worker and
 * on this thread.
 */
test("an exception in a caller's function is an error of that call only", async () => {
  const unhandled = [];
  const hear = (error) => unhandled.push(error);
  process.on("unhandledRejection", hear);
  const text = noise(300);
  const rejecting = async () => {
    throw new Error("boom");
  };
  const hostile = {
    // oxlint-disable-next-line unicorn/no-thenable -- that is what is hostile about it
    get then() {
      throw new Error("do not look");
    },
  };
  const five = () => 5;
  const wrong = [
    rejecting,
    async () => "late",
    five,
    () => hostile,
    () => {
      throw new TypeError("mine");
    },
  ];
  for (const apply of wrong) {
    for (const stage of [{ apply }, { apply: ({ text: all }) => all, shouldApply: apply }]) {
      // `shouldApply` may return any truthy value, such as five.
      if (stage.shouldApply === five) continue;
      const custom = [{ name: "mine", order: 1, ...stage }];
      for (const run of [compress, async (...args) => compressSync(...args)])
        await assert.rejects(
          run(text, { custom }),
          (error) => error instanceof TypeError && /mine/.test(error.message),
        );
    }
  }
  const store = await Concertina.open({ dir, secrets: "redact" });
  for (const redactor of wrong)
    await assert.rejects(
      store.admitToolResult({ sessionId: "s", message: result, redactor }),
      (error) => error instanceof TypeError,
    );
  await store.close();
  await new Promise((resolve) => void setTimeout(resolve, 20));
  process.off("unhandledRejection", hear);
  assert.deepEqual(unhandled, []);
  // Failed calls have released their places.
  await Promise.all([1, 2, 3].map(() => compress(text)));
});
