// A session in which a person protects, restores and searches content and folds at once, and an agent searches what was
// folded, hands it to a fork, and releases what it fetched. Two more sessions stay untouched: one is observed, one held
// out.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Host, packedPlugin } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, conversation, findResult, isFolded } from "./reading.mjs";

const SESSION = "agent:main:work";

/** Returns lines that do not repeat, so that only a placeholder shortens them. */
const noise = (seed) =>
  Array.from(
    { length: 600 },
    (_, at) => `${at} unit_${((at + seed) * 2654435761) % 4294967296} took ${(at * seed) % 977} ms`,
  ).join("\n");

const texts = { first: noise(3), kept: noise(5), read: noise(7) };

let host;
let provider;

/** Plays one turn with one command or call, and returns its requests. */
async function play(user, ...steps) {
  const [{ requests }] = await playTurns(host, provider, SESSION, [{ user, steps: [...steps, "Done."] }]);
  return requests;
}

const running = (script) => [{ name: "exec", args: { command: `sh ${script}.sh` } }];
const resultOf = (request, script) => findResult(request, about(`sh ${script}.sh`)).text;
const slash = (words) => host.slash(SESSION, `/concertina ${words}`.trim());

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "pins", provider });
  // The host keeps the results that are played before the compaction.
  await host.configure(({ agents }) => (agents.defaults.compaction.keepRecentTokens = 14_000));
  for (const [name, text] of Object.entries(texts)) {
    fs.writeFileSync(path.join(host.workspace, `${name}.txt`), `${text}\n`);
    fs.writeFileSync(path.join(host.workspace, `${name}.sh`), `cat ${name}.txt\n`);
  }
  await host.install(packedPlugin());
  await host.start();
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

test("what is folded is shown in the chat, and restored at the next turn, also after a restart", async () => {
  const [, second] = await play("Run it.", running("first"));
  assert.notEqual(resultOf(second, "first").trim(), texts.first);
  const shown = await slash("show");
  const [, id] = /^([0-9a-f]{16}) .*first\.sh/m.exec(shown) ?? [];
  assert.ok(id, shown);
  assert.match(await slash(`restore ${id}`), /shown in full from the next turn on, and pinned/);
  await host.stop();
  await host.start();
  const [next] = await play("What does it say?");
  assert.equal(resultOf(next, "first").trim(), texts.first);
  assert.doesNotMatch(await slash("show"), new RegExp(id));
});

test("the results of a turn with <keep> are not folded at birth", async () => {
  const [, second] = await play("<keep> Run the other one.", running("kept"));
  assert.equal(resultOf(second, "kept").trim(), texts.kept);
});

test("all that may fold leaves at the next turn, and what is pinned stays", async () => {
  await play(
    "Run them.",
    running("read"),
    ...Array.from({ length: 4 }, (_, at) => [{ name: "exec", args: { command: `echo ${at}` } }]),
  );
  await play(
    "Read it.",
    [{ name: "read", args: { path: "read.txt" } }],
    ...Array.from({ length: 4 }, (_, at) => [{ name: "exec", args: { command: `echo b${at}` } }]),
  );
  const [before_] = await play("And?");
  const read = (request) => findResult(request, about("read.txt")).text;
  assert.match(read(before_), /unit_/);
  assert.match(await slash("fold"), /folded at the next turn/);
  const [next] = await play("Go on.");
  assert.ok(isFolded(read(next), texts.read), read(next));
  for (const script of ["first", "kept"]) assert.equal(resultOf(next, script).trim(), texts[script]);
  assert.match(await slash("show"), /folded on request|outdated/);
});

test("what is pinned stays in full in a fork, which is a sub-agent", async () => {
  const spawn = { agentId: "main", context: "fork", task: "Say what the first script printed." };
  const from = provider.requests.length;
  provider.play(
    [[{ name: "tool_call", args: { id: "sessions_spawn", args: spawn } }], "Asked.", "I see."],
    ["Five hundred lines."],
  );
  await host.turn(SESSION, "Ask a copy of yourself.");
  const ofChild = () =>
    provider.requests
      .slice(from)
      .find((request) => conversation(request).includes(spawn.task) && !conversation(request).includes("Asked."));
  for (let tries = 0; tries < 100 && ofChild() === undefined; tries++) await sleep(200);
  for (const script of ["first", "kept"]) assert.equal(resultOf(ofChild(), script).trim(), texts[script]);
});

test("the agent and a person find a line of folded content, and another session does not", async () => {
  const planted = texts.read.split("\n")[417];
  const [query] = /unit_\d+/.exec(planted);
  const asks = [{ name: "fetch_original_data", args: { query } }];
  const isAnswer = ({ name, args }) => name === "fetch_original_data" && args.query === query;
  const answer = findResult((await play("Search.", asks))[1], isAnswer).text;
  assert.ok(answer.includes(planted), answer);
  assert.ok((await host.openclaw(["concertina", "search", query])).includes(planted));
  const [{ requests }] = await playTurns(host, provider, "agent:main:other", [
    { user: "Search.", steps: [asks, "No."] },
  ]);
  const elsewhere = findResult(requests[1], isAnswer).text;
  assert.ok(!elsewhere.includes(planted), elsewhere);
});

test("the agent releases a fetched text, and pins are counted in the figures", async () => {
  const shown = await slash("show");
  const [, id] = /^([0-9a-f]{16}) .*read/m.exec(shown) ?? [];
  const fetching = (args) => [{ name: "fetch_original_data", args }];
  const requests = await play("Look again.", fetching({ ref_ids: [id] }), fetching({ ref_ids: [], done: [id] }));
  assert.ok(conversation(requests[2]).includes(`[released: ${id}]`), conversation(requests[2]).slice(-500));
  await slash("fold");
  const [next] = await play("Thanks.");
  const answer = findResult(next, ({ name, args }) => name === "fetch_original_data" && args.ref_ids?.length > 0);
  assert.ok(isFolded(answer.text, texts.read), answer.text.slice(0, 500));
  const { total } = await host.openclawJson(["concertina", "stats"]);
  assert.ok(total.protectedTokens > 0, JSON.stringify(total));
});

test("after a compaction, what is pinned stays in full and the rest may fold", async () => {
  await play(
    "Run the first one again.",
    running("first"),
    [{ name: "read", args: { path: "read.txt" } }],
    ...Array.from({ length: 4 }, (_, at) => [{ name: "exec", args: { command: `echo c${at}` } }]),
  );
  const { compacted } = await host.call("sessions.compact", { key: SESSION });
  assert.equal(compacted, true);
  await slash("fold");
  const [next] = await play("Where were we?");
  assert.match(conversation(next), /compacted into the following summary/);
  const [pinned, read] = ["sh first.sh", "read.txt"].map((subject) => findResult(next, about(subject))?.text ?? "");
  assert.equal(pinned.trim(), texts.first);
  assert.ok(read !== "" && isFolded(read, texts.read), read.slice(0, 500));
  assert.match(await slash("unpin"), /[1-9]\d* pins? taken back/);
  assert.doesNotMatch(host.log, /concertina:/);
});

/** Plays a session whose results would be folded, under options. They stay. Returns the session's figures. */
async function untouched(name, options) {
  await host.setOptions(options);
  const sessionKey = `agent:main:${name}`;
  const turns = [
    { user: "Run them.", steps: [running("first"), running("read"), "Done."] },
    { user: "And?", steps: ["Nothing."] },
  ];
  const played = await playTurns(host, provider, sessionKey, turns);
  const [request] = played.at(-1).requests;
  for (const script of ["first", "read"]) assert.equal(resultOf(request, script).trim(), texts[script]);
  const { sessions } = await host.openclawJson(["concertina", "stats"]);
  return sessions.find((session) => session.sessionKey === sessionKey);
}

test("in observation nothing changes, and the figures show what folding would have done", async () => {
  const { sentTokens, withoutTokens } = await untouched("observed", { sccsEnabled: "observe" });
  assert.ok(sentTokens < withoutTokens, `${sentTokens} of ${withoutTokens}`);
  assert.match(
    await host.slash("agent:main:observed", "/concertina status"),
    /observing: nothing that is sent is changed/,
  );
});

test("a session that the hold-out chooses stays untouched and counts in its group", async () => {
  const { isHeldOut, sentTokens, withoutTokens } = await untouched("held", { holdout: 1 });
  assert.deepEqual([isHeldOut, sentTokens], [true, withoutTokens]);
});
