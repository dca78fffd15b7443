// Tests of the plugin's store: its location, its owner, and when it is closed.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { Concertina } from "openclaw-concertina";

import { letGoWhenReplaced } from "../dist/plugin/session-ends.js";
import { noteOfMove } from "../dist/plugin/moved-store.js";
import { putWhole, withOwner } from "../dist/plugin/own-files.js";
import { freshDir, noise, toolRound } from "./conversation.mjs";
import { registered } from "./registration.mjs";

const stats = (store) => store.stats();

test("a released store closes with its last use, and a later use opens it again", async () => {
  const { state } = registered();
  const store = await state.store();
  const used = await state.use(async (open) => {
    await state.letGo();
    await state.use(stats);
    return open.stats();
  });
  assert.equal(used.originals, 0);
  await assert.rejects(store.stats(), { code: "CONCERTINA_CLOSED" });
  const [first, second] = [await state.use(async (open) => open), await state.use(async (open) => open)];
  assert.equal(first, second);
  assert.notEqual(first, store);
});

test("the store is released when its registration is replaced, and not when a session is cleaned up", async () => {
  const disposals = [];
  const cleanups = [];
  const registerRuntimeLifecycle = ({ cleanup }) => cleanups.push(cleanup);
  const onDispose = (dispose) => disposals.push(dispose);
  for (const lifecycle of [{ onDispose, registerRuntimeLifecycle }, { registerRuntimeLifecycle }]) {
    const { api, state } = registered(freshDir(), { lifecycle });
    letGoWhenReplaced(api, state);
    const store = await state.store();
    for (const cleanup of cleanups) await cleanup({ reason: "reset", sessionKey: "agent:main:work" });
    await store.stats();
    for (const dispose of disposals.splice(0)) await dispose();
    for (const cleanup of cleanups.splice(0)) await cleanup({ reason: "restart" });
    await assert.rejects(store.stats(), { code: "CONCERTINA_CLOSED" });
  }
  letGoWhenReplaced(registered().api, undefined);
});

test("a copied state directory gets a new gateway name and one log line if the store may be shared", async () => {
  const [parent, outside] = [freshDir(), freshDir()];
  const [first, copy, moved] = ["first", "copy", "moved"].map((name) => path.join(parent, name));
  const said = [];
  const nameIn = async (stateDir, pluginConfig) => {
    const { state, lines } = registered(stateDir, { pluginConfig });
    const { host } = await state.place();
    said.push(...lines);
    return host;
  };
  const shared = [
    { sccsStorageDir: outside },
    { sccsStorageDir: "../common" },
    { sccsStoreUrl: "postgresql://db.example/work" },
  ];
  const name = await nameIn(first, {});
  for (const options of shared) assert.equal(await nameIn(first, options), name);
  for (const [at, options] of shared.entries()) {
    const dir = `${copy}${at}`;
    cpSync(first, dir, { recursive: true });
    // Its own data was copied too.
    for (const own of [{}, { sccsStorageDir: "large" }, { sccsStorageDir: path.join(dir, "..large") }])
      assert.equal(await nameIn(dir, own), name);
    assert.deepEqual(said, []);
    const another = await nameIn(dir, options);
    assert.notEqual(another, name);
    assert.match(said.pop(), new RegExp(`a copy of that of gateway ${name}, .*: this gateway is now ${another}\\. `));
    for (const again of [...shared, {}]) assert.equal(await nameIn(dir, again), another);
  }
  renameSync(first, moved);
  for (const options of shared) assert.equal(await nameIn(moved, options), name);
  assert.deepEqual(said, []);
});

/** Creates a store with or without an original of this gateway. */
async function storeIn(dir, host) {
  const store = await Concertina.open({ dir, host: "this one", retention: "host" });
  if (host) await store.admitToolResult({ sessionId: "s", message: toolRound("c", "exec", {}, noise(1500))[1] });
  return store;
}

test("a changed store directory is reported once, unless the store was moved along", async () => {
  const dir = freshDir();
  const [usual, other, third] = ["concertina", "other", "third"].map((name) => path.join(dir, name));
  const [empty, used] = [await storeIn(other, false), await storeIn(third, true)];
  assert.equal(await noteOfMove(dir, { dir: usual }, empty), undefined);
  assert.equal(await noteOfMove(dir, { dir: other }, empty), undefined, "nothing was in the usual place");
  const { text, remedy } = await noteOfMove(dir, { dir: usual }, empty);
  assert.equal(text, `the store is now in ${usual}, but placeholders in transcripts refer to originals in ${other}`);
  assert.match(remedy, /^Set sccsStorageDir to that directory again/);
  assert.equal(await noteOfMove(dir, { dir: usual }, empty), undefined);
  await noteOfMove(dir, { dir: other }, empty);
  assert.equal(await noteOfMove(dir, { dir: third }, used), undefined, "what it holds came along");
  for (const store of [empty, used]) await store.close();
});

test("a change to a database is reported without its password", async () => {
  const dir = freshDir();
  const usual = path.join(dir, "concertina");
  (await storeIn(usual, true)).close();
  const empty = await storeIn(path.join(dir, "empty"), false);
  const database = { url: "postgresql://me:sesame@db.example:5433/work?password=sesame", namespace: "team" };
  const { text, remedy } = await noteOfMove(dir, database, empty);
  assert.equal(
    text,
    `the store is now in the database db.example:5433/work/team, but placeholders in transcripts refer to originals in ${usual}`,
  );
  assert.match(remedy, /"openclaw concertina migrate"/);
  assert.match(
    (await noteOfMove(dir, { ...database, namespace: "other" }, empty)).text,
    /refer to originals in the database db.example:5433\/work\/team$/,
  );
  assert.match(
    (await noteOfMove(dir, { dir: path.join(dir, "empty") }, empty)).text,
    /refer to originals in the database db.example:5433\/work\/other$/,
  );
  await noteOfMove(dir, database, empty);
  const files = readdirSync(usual).map((name) => readFileSync(path.join(usual, name), "latin1"));
  assert.ok(!files.some((text) => text.includes("sesame")));
  await empty.close();
});

test("the store's place is recorded only after the store was opened there", async () => {
  const stateDir = freshDir();
  await registered(stateDir).state.store();
  const blocked = path.join(stateDir, "blocked");
  writeFileSync(blocked, "");
  const closed = registered(stateDir, { pluginConfig: { sccsStorageDir: path.join(blocked, "store") } });
  assert.equal(await closed.state.store(), undefined);
  const { state, lines } = registered(stateDir, { pluginConfig: { sccsStorageDir: path.join(stateDir, "moved") } });
  await state.store();
  assert.match(lines.join("\n"), /refer to originals in \S+concertina\. Set sccsStorageDir to that directory again/);
});

test("an empty record of the store's place, as a full disk leaves it, is ignored", async () => {
  const dir = freshDir();
  const usual = path.join(dir, "concertina");
  mkdirSync(usual);
  writeFileSync(path.join(usual, "concertina.directory"), "");
  const store = await storeIn(usual, false);
  assert.equal(await noteOfMove(dir, { dir: usual }, store), undefined);
  await store.close();
});

test("a file that cannot be written is named in the error and leaves no partial file", () => {
  const dir = freshDir();
  const file = path.join(dir, "file");
  const place = () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  assert.throws(() => putWhole(file, "text", place), {
    code: "ENOSPC",
    message: `${file} cannot be written: ENOSPC: no space left on device, write`,
  });
  assert.deepEqual(readdirSync(dir), []);
});

test(
  "if files belong to another user, the error names the user and the remedy",
  { skip: process.getuid === undefined && "there are no such users here" },
  (context) => {
    const dir = freshDir();
    const refusal = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    assert.equal(withOwner(refusal, [dir]), refusal);
    const own = process.getuid();
    context.mock.method(process, "getuid", () => own + 1);
    const told = withOwner(refusal, [path.join(dir, "not there"), dir]);
    assert.equal(told.code, "EACCES");
    assert.ok(
      told.message.startsWith(
        `EACCES: permission denied; ${dir} has files of user ${own}, but this process runs as user ${own + 1}: `,
      ),
      told.message,
    );
    const full = Object.assign(new Error("full"), { code: "CONCERTINA_STORE_FULL" });
    assert.equal(withOwner(full, [dir]), full);
  },
);
