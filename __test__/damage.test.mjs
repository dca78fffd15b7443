// Tests of a damaged store file: how it is reported, and that work continues.
import assert from "node:assert/strict";
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { Concertina } from "openclaw-concertina";

import { run } from "./cli.mjs";
import { freshDir, isFolded, noise, staleConversation, toolRound } from "./conversation.mjs";
import { registered } from "./registration.mjs";

const setAside = (dir) =>
  readdirSync(dir).filter((name) => /^concertina\.sqlite\.damaged-\d{4}-\d{2}-\d{2}$/.test(name));

/** Creates a directory with a store that is not empty. */
async function filled(dir = freshDir()) {
  const concertina = await Concertina.open({ dir });
  for (let call = 0; call < 40; call++) {
    const [, message] = toolRound("c", "exec", {}, noise(300, call));
    await concertina.admitToolResult({ sessionId: `s${call}`, message, args: { command: "make" } });
  }
  await concertina.close();
  return dir;
}

/** Overwrites the second half of the file. */
function damage(dir) {
  const file = path.join(dir, "concertina.sqlite");
  const half = statSync(file).size / 2;
  const opened = openSync(file, "r+");
  writeSync(opened, Buffer.alloc(half, 0xa5), 0, half, half);
  closeSync(opened);
}

test("stats and sweep fail with exit status 1 on a damaged file, name it and leave it in place", async () => {
  const dir = await filled();
  for (const command of [["stats"], ["sweep", "--yes"]]) assert.equal(run(...command, "--dir", dir).status, 0);
  damage(dir);
  for (const command of [["stats"], ["sweep", "--yes"]]) {
    const { status, stderr, stdout } = run(...command, "--dir", dir, "--json");
    assert.equal(status, 1, command[0]);
    assert.ok(stderr.includes(path.join(dir, "concertina.sqlite")), stderr);
    assert.equal(stdout, "");
  }
  assert.deepEqual(setAside(dir), []);
});

test("check reports a damaged file, and sets it aside if a date is given", async () => {
  const dir = await filled();
  const concertina = await Concertina.open({ dir });
  assert.equal(await concertina.check({ today: "2026-01-31" }), false);
  damage(dir);
  await assert.rejects(concertina.check(), { code: "CONCERTINA_STORE_DAMAGED" });
  assert.equal(await concertina.check({ today: "2026-01-31" }), true);
  assert.deepEqual(setAside(dir), ["concertina.sqlite.damaged-2026-01-31"]);
  assert.equal((await concertina.stats()).originals, 0);
  await concertina.close();
});

test("a damaged store is replaced if a switch says so, and not if that is off", async () => {
  const today = new Date().toISOString().slice(0, 10);
  const dir = freshDir();
  const file = path.join(dir, "concertina.sqlite");
  writeFileSync(file, "no database");
  await assert.rejects(Concertina.open({ dir, replaceDamaged: false, today }), { code: "CONCERTINA_STORE_DAMAGED" });
  const concertina = await Concertina.open({ dir, replaceDamaged: true });
  assert.deepEqual(setAside(dir), [`concertina.sqlite.damaged-${today}`]);
  assert.equal(await concertina.check({ replaceDamaged: true }), false);
  await concertina.close();
});

test("a gateway leaves a store of a newer version unchanged and logs one line with the remedy", async () => {
  const dir = await filled();
  const file = path.join(dir, "concertina.sqlite");
  const opened = openSync(file, "r+");
  // The offset of the schema version in an SQLite file.
  writeSync(opened, Buffer.from([0, 0, 0, 99]), 0, 4, 60);
  closeSync(opened);
  const before = readFileSync(file);
  const { state, lines } = registered(dir, { pluginConfig: { sccsStorageDir: dir } });
  assert.equal(await state.use((store) => store.stats()), undefined);
  assert.deepEqual([lines.length, setAside(dir)], [1, []], lines.join("\n"));
  assert.match(
    lines[0],
    /opening the store failed \(.* was written by a newer version: its schema version is 99 \(known: 1\); update this program .*, or use another directory \(CONCERTINA_STORE_NEWER\)\); context is sent to the model unchanged$/,
  );
  assert.deepEqual(readFileSync(file), before);
  const { status, stderr } = run("stats", "--dir", dir);
  assert.deepEqual([status, /was written by a newer version/.test(stderr)], [1, true], stderr);
});

test("a running gateway sets a damaged store aside, opens a new one and logs one line", async () => {
  const dir = await filled();
  const { state, lines } = registered(dir, { pluginConfig: { sccsStorageDir: dir } });
  const assembled = async (sessionId) => {
    const { messages, report } = await state.use((store) =>
      store.assemble({ sessionId, messages: staleConversation() }),
    );
    if (report.warning) state.complain("storing", report.warning, "new content is sent to the model unchanged");
    return isFolded(messages);
  };
  assert.ok(await assembled("a"));
  // Everything that the store remembers is written to the file before it is damaged.
  await state.use((store) => store.sweep({}));
  lines.length = 0;
  damage(dir);
  // The file is set aside and the line is logged asynchronously.
  for (let turn = 0; turn < 1500 && lines.length === 0; turn++) {
    // The recurring work of a gateway, which reads a damaged page sooner or later.
    for (const step of [(store) => store.stats(), (store) => store.figures(), (store) => store.sweep({})]) {
      await state.use(step).catch((error) => state.complain("a step", error, "it is done again"));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(setAside(dir).length, 1);
  assert.equal(lines.length, 1, lines.join("\n"));
  assert.match(lines[0], /is damaged .* was set aside as .*concertina\.sqlite\.damaged-.* a new store is in use/s);
  assert.ok(await assembled("b"), "work goes on");
  assert.equal(lines.length, 1, lines.join("\n"));
  await (await state.store()).close();
});
