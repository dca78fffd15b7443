// Tests of signed thinking in a real host: the provider checks signatures and order as the real one does, and must not
// refuse any request.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { chapterOfWords, printLog } from "./chapters.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation, idsIn } from "./reading.mjs";
import { Signatures, thinkingIn } from "./signatures.mjs";

const SESSION = "agent:main:work";
const HOUR_MS = 3_600_000;
const COST = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 };
const TURNS = 8;

const started = [];
after(async () => {
  for (const { host, provider } of started) {
    await host.remove();
    await provider.stop();
  }
});

const reading = Array.from({ length: TURNS }, (_, at) => ({
  user: `Read chapter ${at}.`,
  steps: [[{ name: "read", args: { path: `chapter-${at}.txt` } }], [printLog(at)], `Chapter ${at} is read.`],
}));

/**
 * Plays the turns, with a pause of one hour before the last one. Resolves to the host and the first request of that
 * turn.
 */
async function play(model, binds) {
  const provider = await startProvider({ signatures: new Signatures({ binds }) });
  const host = new Host({ name: model, provider, api: "anthropic-messages", model, reasons: true, cost: COST });
  started.push({ host, provider });
  for (let at = 0; at < TURNS; at++)
    fs.writeFileSync(path.join(host.workspace, `chapter-${at}.txt`), chapterOfWords(at, 90, "before evening."));
  await host.install(packedPlugin(), { sccsCompressThreshold: 3000, staleCalls: 4 });
  await host.start();
  await playTurns(host, provider, SESSION, reading.slice(0, -1));
  await host.stop();
  host.shiftClock(HOUR_MS);
  await host.start();
  const [turn] = await playTurns(host, provider, SESSION, reading.slice(-1));
  const [request] = turn.requests;
  // Three answers per turn. None of the last turn's is in its first request.
  const all = 3 * (TURNS - 1);
  say(
    `${model}: ${thinkingIn(request)} of ${all} thoughts and ${idsIn(conversation(request)).length} references in the first request after an hour`,
  );
  assert.deepEqual(provider.failures, []);
  assert.deepEqual(provider.refused, []);
  assert.doesNotMatch(host.log, /degraded|quarantin|concertina:/i);
  return { host, request };
}

test("finished thinking leaves when the cache is cold, and the provider refuses nothing", async () => {
  const { host, request } = await play("claude-opus-4-6", false);
  assert.equal(thinkingIn(request), 0);
  assert.ok(idsIn(conversation(request)).length > 0);
  const { epochs } = await host.openclawJson(["concertina", "stats"]);
  assert.match(epochs[0].reason, /^cold/);
});

test("thinking that is bound to what stands before it leaves with the first change", async () => {
  const { request } = await play("claude-opus-5-5", true);
  assert.equal(thinkingIn(request), 0);
  assert.ok(idsIn(conversation(request)).length > 0);
});
