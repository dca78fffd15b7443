// Tests of giving up the wait for a call, of closing at the end of a scope, and of printing a store.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";

import {
  answerFetch,
  compress,
  compressMessages,
  compressProseAsync,
  compressRulesAsync,
  Concertina,
  preprocessAsync,
} from "openclaw-concertina";

import { freshDir, noise, toolRound } from "./conversation.mjs";

const reason = new Error("no longer needed");
const message = { role: "toolResult", toolCallId: "c", toolName: "exec", content: noise(400) };
const text = noise(2000);

/** Calls that take a signal. */
const CALLS = {
  compress: (signal) => compress(text, { signal }),
  compressMessages: (signal) => compressMessages([message], { signal }),
  compressProseAsync: (signal) => compressProseAsync(text, { signal }),
  compressRulesAsync: (signal) => compressRulesAsync([{ name: "a.md", text }], { signal }),
  preprocessAsync: (signal) => preprocessAsync(text, 2, { signal }),
  open: (signal) => Concertina.open({ dir: freshDir(), signal }),
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} rejects with the reason of a signal, before it begins and while it runs`, async () => {
    await assert.rejects(call(AbortSignal.abort(reason)), reason);
    const controller = new AbortController();
    const waiting = call(controller.signal);
    setImmediate(() => controller.abort(reason));
    await assert.rejects(waiting, reason);
  });
}

test("a signal needs no more than its members, and without one it is refused", async () => {
  const members = { aborted: false, addEventListener() {}, removeEventListener() {} };
  for (const call of Object.values(CALLS)) await call(members);
  for (const name of Object.keys(members)) {
    for (const [called, call] of Object.entries(CALLS)) {
      const code = "CONCERTINA_BAD_ARGUMENT";
      await assert.rejects(call({ ...members, [name]: undefined }), { code }, `${called} without ${name}`);
    }
  }
});

test("a signal that is not aborted changes nothing", async () => {
  const { signal } = new AbortController();
  assert.deepEqual((await compress(text, { signal })).text, (await compress(text)).text);
});

test("after its caller gave up, no stage of the caller is called", async () => {
  const controller = new AbortController();
  let calls = 0;
  const apply = () => {
    calls++;
    controller.abort(reason);
    return null;
  };
  const custom = [1, 2, 3].map((order) => ({ name: `stage ${order}`, order, apply }));
  await assert.rejects(compress(text, { custom, signal: controller.signal }), reason);
  await new Promise((resolve) => void setTimeout(resolve, 50));
  assert.equal(calls, 1);
});

test("a store finishes a call whose caller gave up, and close waits for it", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir });
  const controller = new AbortController();
  const waiting = concertina.admitToolResult({ sessionId: "s", message, signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await assert.rejects(waiting, reason);
  await concertina.close();
  const again = await Concertina.open({ dir });
  assert.equal((await again.stats()).originals, 1);
  await again.close();
});

test("a store begins nothing for a signal that is aborted already", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const signal = AbortSignal.abort(reason);
  const [, result] = toolRound("c", "exec", {}, noise(400));
  await assert.rejects(concertina.admitToolResult({ sessionId: "s", message: result, signal }), reason);
  await assert.rejects(concertina.assemble({ sessionId: "s", messages: [message], signal }), reason);
  await assert.rejects(concertina.sessions({ signal }), reason);
  await assert.rejects(concertina.purge({ sessionId: "s", signal }), reason);
  await assert.rejects(answerFetch(concertina, { ref_ids: ["0123456789abcdef"] }, { signal }), reason);
  assert.deepEqual([(await concertina.stats()).originals, await concertina.sessions()], [0, []]);
  await concertina.close();
});

test("a store closes at the end of a scope", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  await concertina[Symbol.asyncDispose]();
  await assert.rejects(concertina.stats(), { code: "CONCERTINA_CLOSED" });
});

test("a printed store shows its place and options, and whether it is open", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir, schedule: "cache-aware" });
  const shown = `{ dir: ${inspect(dir)}, options: { schedule: 'cache-aware' }, isOpen: true }`;
  assert.equal(inspect(concertina, { breakLength: Infinity }), `Concertina ${shown}`);
  assert.equal(
    inspect({ a: { b: { concertina } } }).replace(/\s+/g, " "),
    "{ a: { b: { concertina: [Concertina] } } }",
  );
  await concertina.close();
  assert.match(inspect(concertina), /isOpen: false/);
});

test("a place is shown without a password", async () => {
  const { shownPlace } = await import("../dist/node/lib/binding/shown-place.js");
  for (const [url, shown] of [
    ["postgresql://user:hidden@host:5432/db?sslmode=require&password=hidden", "postgresql://user@host:5432/db"],
    ["postgres://host/db", "postgres://host/db"],
    ["postgresql://user:hidden@one,two:x/db", "(unreadable)"],
  ])
    assert.deepEqual(shownPlace({ url }), { url: shown, namespace: "concertina" });
});
