// A session in which a person protects and restores content, folds at once, and an agent releases what it fetched.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

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

test("the agent releases a fetched text, and pins are counted in the figures", async () => {
  const shown = await slash("show");
  const [, id] = /^([0-9a-f]{16}) .*read/m.exec(shown) ?? [];
  const fetching = (args) => [{ name: "fetch_original_data", args }];
  const requests = await play("Look again.", fetching({ ref_ids: [id] }), fetching({ ref_ids: [], done: [id] }));
  assert.ok(conversation(requests[2]).includes(`[released: ${id}]`), conversation(requests[2]).slice(-500));
  await slash("fold");
  const [next] = await play("Thanks.");
  const answer = findResult(next, ({ name, args }) => name === "fetch_original_data" && args.ref_ids.length > 0);
  assert.ok(isFolded(answer.text, texts.read), answer.text.slice(0, 500));
  assert.match(await slash("unpin"), /pins? taken back/);
  assert.doesNotMatch(host.log, /concertina:/);
});
