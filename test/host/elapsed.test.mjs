// Tests of a gateway that starts again after 72 hours. Originals stay as long as the host can show their placeholders,
// over restarts and sweeps, and are removed with their session. A session whose cache is cold by then is folded at
// once, and finished thinking leaves: its provider checks signatures and order as the real one does, and must not
// refuse any request.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { chapterOfCode, chapterOfWords, printLog, readingChapters } from "./chapters.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation, idsIn } from "./reading.mjs";
import { fillWorkspace, installLog, testOutput, turns } from "./session.mjs";
import { Signatures, thinkingIn } from "./signatures.mjs";
import { originalsIn } from "./stored.mjs";
import { sessionsOf, transcriptOf } from "./transcripts.mjs";

const RESTING = "agent:main:resting";
const RESET = "agent:main:reset";
const COLD = "agent:main:cold";
const OTHERS = "agent:other:busy";
const REST_MS = 72 * 3_600_000;
/** The shortest possible retention; 72 hours are far longer. */
const TTL_SECONDS = 600;
const COST = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 };

const said = (words) => turns.find(({ user }) => user.includes(words));
const working = [said("Run the tests"), said("Install everything"), said("Thank you")];
/** Content of only one session. */
const leaving = {
  user: "What leaves?",
  steps: [[{ name: "exec", args: { command: "cat leaving.log" } }], "All of it."],
};
const leavingLog = Array.from(
  { length: 200 },
  (_, at) => `leaves ${createHash("sha256").update(`leaves ${at}`).digest("hex")}`,
).join("\n");

/** The agents whose models think, with their sessions. One model's thinking is bound to what stands before it. */
const thinkers = {
  free: { model: "claude-opus-4-6", binds: false },
  bound: { model: "claude-opus-5-5", binds: true },
};
const TURNS = 8;
const thinking = Array.from({ length: TURNS }, (_, at) => ({
  user: `Read chapter ${at}.`,
  steps: [[{ name: "read", args: { path: `chapter-${at}.txt` } }], [printLog(at)], `Chapter ${at} is read.`],
}));

let host;
let provider;
/** Session ids by key, and the ids of originals in each transcript, before any time passed. */
const sessions = new Map();
const printed = new Map();
let idsWhenWarm;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "elapsed time", provider, cost: COST });
  fillWorkspace(host.workspace);
  fs.writeFileSync(path.join(host.workspace, "leaving.log"), leavingLog);
  for (let at = 0; at < TURNS; at++) {
    fs.writeFileSync(path.join(host.workspace, `chapter-${at}.ts`), chapterOfCode(at, 130));
    fs.writeFileSync(path.join(host.workspace, `chapter-${at}.txt`), chapterOfWords(at, 90, "before evening."));
  }
  for (const [name, thinker] of Object.entries(thinkers)) {
    thinker.provider = await startProvider({ signatures: new Signatures(thinker) });
    const { provider, model } = thinker;
    await host.addAgent(name, { provider, model, api: "anthropic-messages", reasons: true, cost: COST });
  }
  await host.install(packedPlugin(), {
    sccsCompressThreshold: 3000,
    sccsStorageTtlSeconds: TTL_SECONDS,
    staleCalls: 4,
  });
  await host.start();
  for (const [name, { provider }] of Object.entries(thinkers))
    await playTurns(host, provider, `agent:${name}:work`, thinking.slice(0, -1));
  const warm = await playTurns(host, provider, COLD, readingChapters(TURNS));
  idsWhenWarm = idsIn(conversation(warm.at(-1).requests.at(-1))).length;
  await playTurns(host, provider, RESTING, [...working, leaving]);
  await playTurns(host, provider, RESET, working);
  // Before the clock is changed, because the host creates the database of an agent with the clocks of several
  // processes.
  await playTurns(host, provider, OTHERS, working);
  await host.call("sessions.reset", { key: RESET });
  await playTurns(host, provider, RESET, [{ user: "Good morning.", steps: ["Good morning."] }]);
  for (const [key, [sessionId]] of sessionsOf(host)) {
    sessions.set(key, sessionId);
    printed.set(key, idsIn(transcriptOf(host, sessionId)));
  }
  say(`ids in transcripts: ${[...printed].map(([key, ids]) => `${key} ${ids.length}`).join(", ")}`);
});

after(async () => {
  await host?.remove();
  for (const each of [provider, ...Object.values(thinkers).map((thinker) => thinker.provider)]) await each?.stop();
});

/** Returns the originals that exist at a given time. */
const originals = (ids, now) => originalsIn(path.join(host.state, "concertina"), host, ids, now);

/** Checks that originals are intact: every id is the beginning of the hash of its original's bytes. */
function assertWhole(ids, found) {
  assert.ok(ids.length > 0);
  for (const id of ids) {
    assert.ok(found.has(id), `${id} is gone`);
    assert.ok(createHash("sha256").update(found.get(id)).digest("hex").startsWith(id), `${id} has other bytes`);
  }
}

test("a purge reports its consequences and does nothing without consent", async () => {
  const { code, errors } = await host.run(["concertina", "purge", "--session", sessions.get(RESTING)]);
  assert.equal(code, 1);
  assert.match(errors, /removes [1-9]\d* originals? for good\. The host still has its transcript/);
  assert.match(errors, /--yes/);
  assertWhole(printed.get(RESTING), await originals(printed.get(RESTING), Date.now()));
});

test("unfolded transcripts contain every original, and the host's own files are unchanged", async () => {
  const before = transcriptOf(host, sessions.get(RESTING));
  const out = path.join(host.root, "unfolded");
  const told = await host.openclaw(["concertina", "unfold", "--out", out]);
  for (const key of [RESTING, RESET]) {
    const file = path.join(out, "main", `${sessions.get(key)}.jsonl`);
    assert.ok(told.includes(file), told);
    const copy = fs.readFileSync(file, "utf8");
    assert.deepEqual(idsIn(copy), []);
    const texts = copy
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message?.role === "toolResult")
      .map(({ message }) => message.content[0].text);
    assert.ok(texts.includes(testOutput(false).trimEnd()));
    assert.ok(texts.includes(installLog().trimEnd()));
  }
  assert.equal(transcriptOf(host, sessions.get(RESTING)), before);
  assert.equal(fs.statSync(out).mode & 0o077, 0);
});

test("after 72 hours, a restart and a sweep every id of a resting and of a reset session is fetched byte for byte", async () => {
  await host.stop();
  host.shiftClock(REST_MS);
  await host.start();
  // The first turn after a start runs a sweep.
  await playTurns(host, provider, OTHERS, working);
  await sleep(1000);
  for (const key of [RESTING, RESET])
    assertWhole(printed.get(key), await originals(printed.get(key), Date.now() + REST_MS));
  const [id] = printed.get(RESTING);
  const [turn] = await playTurns(host, provider, RESTING, [
    { user: "What was that?", steps: [[{ name: "fetch_original_data", args: { ref_ids: [`${id}:1-20`] } }], "That."] },
  ]);
  const answer = turn.requests[1].rows.flatMap(({ results }) => results).at(-1).text;
  const wanted = (await originals([id], Date.now() + REST_MS)).get(id).split("\n").slice(0, 20).join("\n");
  assert.ok(answer.startsWith(wanted), answer);
});

test("a session that resumes with a cold cache is folded at once", async () => {
  const [turn] = await playTurns(host, provider, COLD, [{ user: "Good morning again.", steps: ["Good morning."] }]);
  const { epochs } = await host.openclawJson(["concertina", "stats", "--session", COLD]);
  assert.equal(epochs[0].reason, "cold: idle");
  assert.ok(idsIn(conversation(turn.requests[0])).length > idsWhenWarm);
});

/** Plays the last turn of a model that thinks. Returns its first request. */
async function resumed(name) {
  const { model, provider } = thinkers[name];
  const [{ requests }] = await playTurns(host, provider, `agent:${name}:work`, thinking.slice(-1));
  // Three answers per turn. None of the last turn's is in its first request.
  say(
    `${model}: ${thinkingIn(requests[0])} of ${3 * (TURNS - 1)} thoughts and ${idsIn(conversation(requests[0])).length} references in the first request after 72 hours`,
  );
  assert.deepEqual(provider.failures, []);
  assert.deepEqual(provider.refused, []);
  assert.doesNotMatch(host.log, /degraded|quarantin|concertina:/i);
  return requests[0];
}

test("thinking of finished turns is removed when the cache is cold, and the provider accepts the request", async () => {
  const request = await resumed("free");
  assert.equal(thinkingIn(request), 0);
  assert.ok(idsIn(conversation(request)).length > 0);
  const { epochs } = await host.openclawJson(["concertina", "stats", "--session", "agent:free:work"]);
  assert.match(epochs[0].reason, /^cold/);
});

test("thinking that is bound to its prefix is removed with the first change", async () => {
  const request = await resumed("bound");
  assert.equal(thinkingIn(request), 0);
  assert.ok(idsIn(conversation(request)).length > 0);
});

test("the originals of a deleted session are removed at the first sweep after their time to live, and no others", async () => {
  const own = printed.get(RESET);
  await host.call("sessions.delete", { key: RESTING });
  await sleep(1000);
  await host.stop();
  const later = REST_MS + 2 * TTL_SECONDS * 1000;
  host.shiftClock(later);
  const removed = await host.openclawJson(["concertina", "sweep"]);
  say(`swept: ${JSON.stringify(removed)}`);
  assert.ok(!sessionsOf(host).has(RESTING));
  assertWhole(own, await originals(own, Date.now() + later));
  const only = printed.get(RESTING).filter((id) => !own.includes(id));
  assert.ok(only.length > 0);
  assert.deepEqual([...(await originals(only, Date.now() + later)).keys()], []);
  const { code, errors } = await host.run(["concertina", "stats", "--session", sessions.get(RESTING)]);
  assert.equal(code, 1);
  assert.match(errors, /there is no session /);
});
