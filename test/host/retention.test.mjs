// Tests of retention: originals stay as long as the host can show their placeholders, over days, restarts and sweeps.
// They are removed with their session.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";

import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { idsIn } from "./reading.mjs";
import { fillWorkspace, installLog, testOutput, turns } from "./session.mjs";
import { originalsIn } from "./stored.mjs";

const RESTING = "agent:main:resting";
const RESET = "agent:main:reset";
const OTHERS = "agent:other:busy";
const HOUR_MS = 3_600_000;
const REST_MS = 72 * HOUR_MS;
/** The shortest possible retention; 72 hours are far longer. */
const TTL_SECONDS = 600;

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

let host;
let provider;
/** Session ids by key, and the ids of originals in each transcript, before any time passed. */
const sessions = new Map();
const printed = new Map();

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "retention", provider });
  fillWorkspace(host.workspace);
  fs.writeFileSync(path.join(host.workspace, "leaving.log"), leavingLog);
  await host.install(packedPlugin(), {
    schedule: "every-turn",
    sccsCompressThreshold: 3000,
    sccsStorageTtlSeconds: TTL_SECONDS,
  });
  await host.start();
  await playTurns(host, provider, RESTING, [...working, leaving]);
  await playTurns(host, provider, RESET, working);
  // Before the clock is changed, because the host creates the database of an agent with the clocks of several
  // processes.
  await playTurns(host, provider, OTHERS, working);
  await host.call("sessions.reset", { key: RESET });
  await playTurns(host, provider, RESET, [{ user: "Good morning.", steps: ["Good morning."] }]);
  for (const [key, [sessionId]] of transcripts()) {
    if (!sessions.has(key)) sessions.set(key, sessionId);
  }
  for (const [key, sessionId] of sessions) printed.set(key, idsIn(transcript(sessionId)));
  say(`ids in transcripts: ${[...printed].map(([key, ids]) => `${key} ${ids.length}`).join(", ")}`);
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

function hostDatabase(agent = "main") {
  return new DatabaseSync(path.join(host.state, "agents", agent, "agent", "openclaw-agent.sqlite"), { readOnly: true });
}

/** Returns the sessions of each key, the oldest first. */
function transcripts() {
  const database = hostDatabase();
  const found = new Map();
  for (const { session_key: key, session_id: id } of database
    .prepare("SELECT session_key, session_id FROM session_windows ORDER BY created_at")
    .all()) {
    found.set(key, [...(found.get(key) ?? []), id]);
  }
  database.close();
  return found;
}

/** Returns everything that the host has of a session, as text. */
function transcript(sessionId) {
  const database = hostDatabase();
  const rows = database.prepare("SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq").all(sessionId);
  database.close();
  return rows.map((row) => row.event_json ?? zstdDecompressSync(row.event_zstd).toString()).join("\n");
}

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

test("a purge says what it would strand and does nothing without an answer", async () => {
  const { code, errors } = await host.run(["concertina", "purge", "--session", sessions.get(RESTING)]);
  assert.equal(code, 1);
  assert.match(errors, /removes [1-9]\d* originals? for good\. The host still has its transcript/);
  assert.match(errors, /--yes/);
  assertWhole(printed.get(RESTING), await originals(printed.get(RESTING), Date.now()));
});

test("unfolded transcripts hold every original, and the host's own files stay as they are", async () => {
  const before = transcript(sessions.get(RESTING));
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
  assert.equal(transcript(sessions.get(RESTING)), before);
  assert.equal(fs.statSync(out).mode & 0o077, 0);
});

test("after 72 hours, a restart and a sweep every id of a resting session and of a reset one fetches byte for byte", async () => {
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

test("the originals of a deleted session go at the first sweep after their time, and no others", async () => {
  const own = printed.get(RESET);
  await host.call("sessions.delete", { key: RESTING });
  await sleep(1000);
  await host.stop();
  const later = REST_MS + 2 * TTL_SECONDS * 1000;
  host.shiftClock(later);
  const removed = await host.openclawJson(["concertina", "sweep"]);
  say(`swept: ${JSON.stringify(removed)}`);
  assert.ok(!transcripts().has(RESTING));
  assertWhole(own, await originals(own, Date.now() + later));
  const only = printed.get(RESTING).filter((id) => !own.includes(id));
  assert.ok(only.length > 0);
  assert.deepEqual([...(await originals(only, Date.now() + later)).keys()], []);
  const { code, errors } = await host.run(["concertina", "stats", "--session", sessions.get(RESTING)]);
  assert.equal(code, 1);
  assert.match(errors, /there is no session /);
});

test("after unfolding, uninstalling leaves no placeholder without its text", async () => {
  const out = path.join(host.root, "farewell");
  await host.openclaw(["concertina", "unfold", "--out", out]);
  await host.openclaw(["plugins", "uninstall", "concertina", "--force"]);
  const files = fs
    .readdirSync(out, { recursive: true })
    .map((name) => path.join(out, name))
    .filter((name) => fs.statSync(name).isFile());
  const copies = files.filter((name) => name.endsWith(".jsonl"));
  const standAlone = new Set(files.map((name) => path.parse(name).name));
  const folded = [...transcripts().values()].flat().filter((sessionId) => idsIn(transcript(sessionId)).length > 0);
  assert.ok(folded.length > 0);
  for (const sessionId of folded) {
    const copy = copies.find((name) => path.parse(name).name === sessionId);
    assert.ok(copy, `${sessionId} was not unfolded`);
    assert.deepEqual(
      idsIn(fs.readFileSync(copy, "utf8")).filter((id) => !standAlone.has(id)),
      [],
    );
  }
});
