// Tests of two gateways with separate state directories and one database.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { Database, programs } from "./database.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, conversation, findResult, idsIn, isFolded, pieces } from "./reading.mjs";
import { fillWorkspace, testOutput, turns } from "./session.mjs";

const SESSION = "agent:main:work";
const NAMESPACE = "team";
const ADDRESS = { source: "env", provider: "default", id: "CONCERTINA_STORE" };
const skip = programs() === undefined && "PostgreSQL's programs are not here: CONCERTINA_POSTGRES names their folder";

let database;
let provider;
let one;
let two;
let played;

const thanks = (words) => ({ user: words, steps: ["You are welcome."] });
/**
 * Returns the conversation without the tools and the system prompt, which contain the gateway's own paths, and without
 * the host's trailing note with the current time.
 */
const sent = (request) => pieces(request).slice(2, -1);
/** Turns in which a user only says thanks. They are too few to make anything stale. */
const settled = Array.from({ length: 5 }, () => thanks("Thank you."));

/** Checks that a turn sends what an earlier one sent, byte for byte, and then more. */
function isContinued(before, after) {
  const [old, current] = [before, after].map(({ requests }) => sent(requests[0]));
  assert.ok(current.length > old.length);
  old.forEach((piece, at) => assert.equal(current[at], piece, `part ${at} of ${old.length}`));
}

/** Checks that a gateway's command line fetches all of these ids, each with more text than a placeholder. */
async function fetchesAll(host, ids) {
  const blocks = await host.openclawJson(["concertina", "fetch", ...ids, "--max-chars", "1000000"]);
  assert.equal(blocks.length, ids.length);
  for (const [at, { text, data }] of blocks.entries()) assert.ok((text ?? data).length > 500, ids[at]);
}

before(async () => {
  if (skip) return;
  [database, provider] = await Promise.all([new Database().start(), startProvider()]);
  [one, two] = ["one", "two"].map((name) => new Host({ name: `gateway ${name}`, provider }));
  for (const host of [one, two]) {
    host.env.CONCERTINA_STORE = database.url;
    await host.install(packedPlugin(), {
      schedule: "every-turn",
      sccsCompressThreshold: 3000,
      sccsStoreUrl: ADDRESS,
      sccsStoreNamespace: NAMESPACE,
    });
  }
  fillWorkspace(one.workspace);
  await one.start();
  played = await playTurns(one, provider, SESSION, [...turns.slice(0, 8), ...settled]);
  // The session moves with its workspace. Nothing is written while it is copied.
  process.kill(-one.gateway.pid, "SIGSTOP");
  for (const name of ["agents", "state"])
    fs.cpSync(path.join(one.state, name), path.join(two.state, name), { recursive: true, force: true });
  fs.cpSync(one.workspace, two.workspace, { recursive: true });
  process.kill(-one.gateway.pid, "SIGCONT");
  await playTurns(one, provider, "agent:main:only-one", [thanks("Hello.")]);
  // The host starts with no database that another process has open.
  await one.stop();
  await two.start();
});

after(async () => {
  for (const each of [one, two]) await each?.remove();
  await provider?.stop();
  database?.remove();
});

test("folded content is in the database and not on the gateway's disk", { skip }, () => {
  const output = findResult(
    played.find(({ user }) => user.includes("Run the tests")).requests[1],
    about("sh run-tests.sh"),
  );
  assert.ok(isFolded(output.text, testOutput(false)), output.text);
  assert.deepEqual(fs.globSync("**/concertina.sqlite*", { cwd: one.state }), []);
  assert.ok(Number(database.query(`SELECT count(*) FROM ${NAMESPACE}.originals`)[0]) > 3);
  for (const host of [one, two]) assert.deepEqual(host.ownLines, []);
});

test(
  "the other gateway continues the session with the same bytes, and both fetch what either folded",
  { skip },
  async () => {
    const [turn] = await playTurns(two, provider, SESSION, [thanks("Go on here.")]);
    // The journal of parsers is on the gateway's own disk.
    assert.ok(fs.globSync("**/concertina.running-*", { cwd: two.state }).length > 0);
    isContinued(played.at(-1), turn);
    const ids = [...new Set(idsIn(conversation(turn.requests[0])))];
    assert.ok(ids.length > 3, `${ids.length} ids`);
    for (const host of [one, two]) await fetchesAll(host, ids);
    const [recalled] = await playTurns(two, provider, SESSION, [
      { user: "What did the first run print?", recall: "sh run-tests.sh" },
    ]);
    assert.equal(fetched(recalled), testOutput(false).trimEnd());
  },
);

test("neither gateway ends the sessions of the other", { skip }, async () => {
  for (const host of [one, two]) await host.openclaw(["concertina", "sweep"]);
  assert.deepEqual(database.query(`SELECT count(*) FROM ${NAMESPACE}.sessions WHERE ended_at IS NOT NULL`), ["0"]);
  assert.deepEqual(database.query(`SELECT count(DISTINCT host) FROM ${NAMESPACE}.session_hosts`), ["2"]);
});

test(
  "while the database is unavailable turns continue with one log line, and then the same bytes are sent",
  { skip },
  async () => {
    const [last] = await playTurns(two, provider, SESSION, [thanks("Again.")]);
    database.kill();
    const [without] = await playTurns(two, provider, SESSION, [thanks("And now?")]);
    assert.equal(without.reply, "You are welcome.");
    say(two.ownLines.join("\n"));
    assert.equal(two.ownLines.length, 1, two.ownLines.join("\n"));
    assert.match(two.ownLines[0], new RegExp(`127\\.0\\.0\\.1:${database.port}/postgres`));
    database.up();
    const [again] = await playTurns(two, provider, SESSION, [thanks("Once more.")]);
    isContinued(last, again);
  },
);

test("the address is never printed", { skip }, async () => {
  const { store, options } = await two.openclawJson(["concertina", "status"]);
  assert.deepEqual([store.path, options.sccsStoreUrl], [`127.0.0.1:${database.port}/postgres/${NAMESPACE}`, "***"]);
  const shown = [
    one.log,
    two.log,
    JSON.stringify(options),
    await two.openclaw(["concertina", "status"]),
    JSON.stringify(two.readConfig()),
  ];
  for (const text of shown) assert.ok(!text.includes("hidden-in-the-harbour"));
});

test("after a migration into a directory the session continues from there", { skip }, async () => {
  const last = (await playTurns(two, provider, SESSION, settled)).at(-1);
  await two.stop();
  const moved = await two.openclaw(["concertina", "migrate", "--to", "directory"]);
  say(moved.trim());
  const again = await two.run(["concertina", "migrate", "--to", "directory"]);
  assert.deepEqual([again.code, /it must be an empty store/.test(again.errors)], [1, true], again.errors);
  await two.configure(({ plugins }) => delete plugins.entries.concertina.config.sccsStoreUrl);
  database.kill();
  await two.start();
  const [next] = await playTurns(two, provider, SESSION, [thanks("On a disk now.")]);
  isContinued(last, next);
  await fetchesAll(two, [...new Set(idsIn(conversation(next.requests[0])))]);
});

test("with an address that cannot be resolved nothing is folded, and the log reports it", { skip }, async () => {
  await two.stop();
  two.log = "";
  delete two.env.CONCERTINA_STORE;
  await two.configure(({ plugins }) => (plugins.entries.concertina.config.sccsStoreUrl = ADDRESS));
  const { code, output, errors } = await two.run(["concertina", "status"]);
  say(`${code}: ${output}${errors}`);
  assert.equal(code, 1);
  assert.match(output, /plugins\.entries\.concertina\.config\.sccsStoreUrl cannot be resolved: /);
});
