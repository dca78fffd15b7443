// Tests of what a person protects and an agent releases, through the library.
import assert from "node:assert/strict";
import { test } from "node:test";

import { answerFetch, Concertina, squeeze } from "openclaw-concertina";
import { freshDir, isFolded, noise, staleConversation, toolRound, user } from "./conversation.mjs";

const sessionId = "s";
const text = noise(200);

/** Returns the text of the first result that an assembly shows. */
async function shown(concertina, messages, options = {}) {
  const { messages: view, report } = await concertina.assemble({ sessionId, messages, ...options });
  assert.equal(report.warning, undefined);
  return view.find(({ role }) => role === "toolResult").content[0].text;
}

test("an original is restored, listed no more, and folds again only once it is unpinned", async () => {
  const dir = freshDir();
  let concertina = await Concertina.open({ dir });
  const messages = staleConversation(text);
  assert.ok(isFolded(await shown(concertina, messages), text));
  const [{ refId, ...listed }] = await concertina.folded({ sessionId });
  assert.deepEqual(
    [listed.reason, listed.label, listed.bytes],
    ["stale", "exec: sh build.sh", Buffer.byteLength(text)],
  );
  assert.ok(Math.abs(listed.at - Date.now()) < 60_000);
  assert.deepEqual(await concertina.restore({ sessionId, refIds: [`[REF_ID: ${refId}]`, "f".repeat(16)] }), {
    restored: [refId],
    unknown: ["f".repeat(16)],
  });
  await concertina.close();
  concertina = await Concertina.open({ dir });
  const { messages: view, report } = await concertina.assemble({ sessionId, messages });
  assert.equal(view, messages);
  assert.equal(report.epoch.reason, "restored: it is pinned or protected");
  assert.deepEqual(await concertina.folded({ sessionId }), []);
  assert.deepEqual(await concertina.unpin({ sessionId }), { unpinned: 1 });
  assert.ok(isFolded(await shown(concertina, messages), text));
  await concertina.close();
});

test("the last result is pinned, and everything else folds on request", async () => {
  const concertina = await Concertina.open({ dir: freshDir(), schedule: "cache-aware" });
  const messages = [user("go", 1), ...toolRound("c", "exec", { command: "make" }, text, 2)];
  await shown(concertina, messages, { now: 5 });
  await concertina.pin({ sessionId, now: 6 });
  for (let at = 0; at < 4; at++)
    messages.push(...toolRound(`d${at}`, "exec", { command: "ls" }, noise(200, at + 2), 10 + at));
  await concertina.foldAll({ sessionId });
  const { messages: view, report } = await concertina.assemble({ sessionId, messages, now: 50 });
  const texts = view.filter(({ role }) => role === "toolResult").map(({ content }) => content[0].text);
  assert.equal(texts[0], text);
  assert.ok(isFolded(texts[1], noise(200, 2)));
  assert.equal(texts[4], noise(200, 5), "the newest result stays");
  assert.match(report.epoch.reason, /^(asked|cold: )/);
  await concertina.close();
});

test("a person's <keep> protects the results of a turn, also at their birth", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const [, result] = toolRound("c", "exec", { command: "make" }, noise(2000));
  for (const [prompt, stays] of [
    ["<keep> the log", true],
    ["go on", false],
    [undefined, false],
  ]) {
    await concertina.assemble({ sessionId, messages: [], turnBegins: true, prompt });
    const { message } = await concertina.admitToolResult({ sessionId, message: result });
    assert.equal(message === result, stays, prompt);
  }
  await concertina.close();
});

test("an agent releases what it fetched through its tool, and nothing else", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const messages = staleConversation(text);
  await shown(concertina, messages);
  const [{ refId }] = await concertina.folded({ sessionId });
  const ask = async (parameters, scope = { sessionId }) => (await answerFetch(concertina, parameters, scope))[0].text;
  assert.equal(await ask({ ref_ids: [refId] }), text);
  messages.push(...toolRound("f", "fetch_original_data", { ref_ids: [refId] }, text, 900));
  const last = async () => (await concertina.assemble({ sessionId, messages })).messages.at(-1).content[0].text;
  assert.equal(await last(), text);
  assert.match(await ask({ ref_ids: [], done: [refId] }, { sessionId: "t" }), /^\[not released, /);
  assert.match(await ask({ ref_ids: [], done: [refId] }, {}), /^\[not released, /);
  assert.match(await ask({ ref_ids: [], done: refId }), /^done is "/);
  assert.equal(await last(), text);
  assert.equal(await ask({ ref_ids: [], done: [refId] }), `[released: ${refId}]`);
  assert.ok(isFolded(await last(), text));
  await concertina.close();
});

test("squeeze leaves protected content in place", () => {
  const messages = staleConversation(text);
  const isKept = (options) => squeeze(messages, options).messages[2].content[0].text === text;
  const options = [{}, { protect: ["tool:exec"] }, { protect: ["!tool:exec"] }, { skipTools: ["exec"] }];
  assert.deepEqual(options.map(isKept), [false, true, false, true]);
  assert.throws(() => squeeze(messages, { onlyTools: ["exec"] }), {
    code: "CONCERTINA_BAD_ARGUMENT",
    message: 'onlyTools is now a part of protect; it must be written as protect: ["tool:*", "!tool:NAME"]',
  });
  assert.throws(() => squeeze(messages, { protect: ["content:["] }), /^TypeError: protect is "content:\["; it must be/);
});
