// Tests of the status during failures: chat, command line and page report the same, and the report ends with the
// failure.
//
// Covers each failure below in each interface, one after the other, and all of one kind of message. Each is reverted,
// and its report ends.

import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { after, test } from "node:test";

import { Concertina } from "openclaw-concertina";

import { statusText } from "../dist/node/lib/terminal/status.js";
import { registerCli } from "../dist/plugin/cli.js";
import { runSlashCommand } from "../dist/plugin/commands.js";
import { Conditions } from "../dist/plugin/conditions.js";
import { registerPage } from "../dist/plugin/page.js";
import { PluginState } from "../dist/plugin/state.js";
import { freshDir, noise, toolRound } from "./conversation.mjs";
import { IN_USE, registered } from "./registration.mjs";

const KEY = "agent:main:work";

/** Creates a gateway with a store, in which a session has had a turn. */
async function gateway({ fold = true, ...given } = {}) {
  const { api, state } = registered(freshDir(), { version: "1.2.3", ...given });
  state.sessions.noteTurn(KEY, { agentId: "main", sessionId: "s" }, { canFetch: true, model: "m" });
  if (fold)
    await state.use((store) =>
      store.admitToolResult({ sessionId: "s", message: toolRound("c", "exec", {}, noise(2000))[1] }),
    );
  after(() => state.letGo());
  return { api, state };
}

/** Returns the report of each interface. The command line and the page have their own registrations, as in the host. */
async function faces({ api, state }) {
  const chat = (await runSlashCommand(state, { args: "status", sessionId: "s", sessionKey: KEY })).text;
  const beside = new PluginState(api);
  const actions = new Map();
  const named = (name) =>
    new Proxy(
      {},
      {
        get: (_, word) => (given) =>
          word === "command" ? named(given) : (word === "action" && actions.set(name, given), named(name)),
      },
    );
  registerCli({ registerCli: (register) => register({ program: named("") }) }, beside);
  const write = process.stdout.write;
  let terminal = "";
  process.stdout.write = (data, ...rest) =>
    typeof data === "string" ? ((terminal += data), true) : write.call(process.stdout, data, ...rest);
  try {
    await actions.get("status")({});
  } finally {
    process.stdout.write = write;
    process.exitCode = undefined;
  }
  let html = "";
  const routes = { registerHttpRoute: ({ handler }) => (routes.handler = handler) };
  registerPage(routes, state);
  await routes.handler(
    { method: "GET", url: "/plugins/concertina/page" },
    { setHeader() {}, end: (text) => (html = text) },
  );
  const { health } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)[1]);
  const timeless = (text) => text.trim().replaceAll(/\(since [^)]*\)/g, "(since then)");
  return { chat: timeless(chat), terminal: timeless(terminal), page: timeless(statusText(health)) };
}

/** Checks that all interfaces report the same, and returns the report. */
async function said(at) {
  const { chat, terminal, page } = await faces(at);
  assert.equal(terminal, chat);
  assert.equal(page, chat);
  return chat;
}

/** Makes every write of a file fail with an error of the system. */
function failingWrites(context, code) {
  const mock = context.mock.method(fs, "writeFileSync", () => {
    throw Object.assign(new Error(`${code}: it fails, write`), { code });
  });
  syncBuiltinESMExports();
  return () => {
    mock.mock.restore();
    syncBuiltinESMExports();
  };
}

const file = (state) => state.storeFile();

/** The failures, with the expected report and the remedy of each. */
const TROUBLES = {
  "a full disk": {
    says: /inactive: the disk of \S+ is full, and nothing is folded\. Free some space/,
    begin: (_, context) => failingWrites(context, "ENOSPC"),
  },
  "a quota that is reached": {
    says: /inactive: the disk of \S+ is full/,
    begin: (_, context) => failingWrites(context, "EDQUOT"),
  },
  "a directory that cannot be written": {
    says: /inactive: the store in \S+ cannot be used: EACCES/,
    begin: (_, context) => failingWrites(context, "EACCES"),
  },
  "a disk that can only be read": {
    says: /inactive: the store in \S+ cannot be used: EROFS/,
    begin: (_, context) => failingWrites(context, "EROFS"),
  },
  "a file where the directory should be": {
    says: /inactive: the store in \S+ cannot be used: .*ENOTDIR/,
    given: { fold: false },
    begin({ state }) {
      fs.rmSync(state.directory(), { recursive: true, force: true });
      fs.writeFileSync(state.directory(), "");
      return () => fs.rmSync(state.directory());
    },
  },
  "a damaged file": {
    says: /inactive: the store at \S+ is damaged.*The gateway sets the file aside/s,
    given: { fold: false },
    begin({ state }) {
      fs.mkdirSync(state.directory(), { recursive: true, mode: 0o700 });
      fs.writeFileSync(file(state), "this was a store once".repeat(1000), { mode: 0o600 });
      return () => fs.rmSync(file(state));
    },
  },
  "a damaged file that was set aside": {
    says: /warning +\S+\.damaged-2026-01-02 is a damaged store that was set aside/,
    begin({ state }) {
      const aside = `${file(state)}.damaged-2026-01-02`;
      fs.writeFileSync(aside, "");
      return () => fs.rmSync(aside);
    },
  },
  "another engine": {
    says: /inactive: not in use: plugins\.slots\.contextEngine is "legacy"/,
    begin({ api }) {
      api.config = { plugins: { slots: { contextEngine: "legacy" } } };
      return () => (api.config = IN_USE);
    },
  },
  "a step that fails": {
    says: /warning +recording a turn failed \(no room\); the session continues without this record\. Run "openclaw gateway restart"/,
    begin({ state }) {
      state.complain("recording a turn", new Error("no room"), "the session continues without this record");
      return () => state.use(async () => {}, "recording a turn");
    },
  },
  "a parser that is disabled": {
    says: /warning +parser bash crashed or hung on 3 texts and is disabled until the next release/,
    begin(_, context) {
      const mock = context.mock.method(Concertina.prototype, "skipped", () => [
        { code: "bash", texts: 3, isOff: true },
      ]);
      return () => mock.mock.restore();
    },
  },
};

for (const [name, { says, begin, given }] of Object.entries(TROUBLES)) {
  test(`status, chat and page report ${name} with the same words until it ends`, async (context) => {
    const at = await gateway(given);
    const before = await said(at);
    assert.match(before, /^Concertina +1\.2\.3, active$/m);
    assert.match(before, /^warnings +none$/m);
    for (let round = 0; round < 2; round++) {
      const end = await begin(at, context);
      assert.match(await said(at), says);
      await end();
      assert.equal(await said(at), before);
    }
  });
}

test("status, chat and page report an unavailable database with the same words and without its password", async () => {
  const at = await gateway({ fold: false, pluginConfig: { sccsStoreUrl: "postgresql://me:sesame@127.0.0.1:1/work" } });
  const text = await said(at);
  assert.match(text, /inactive: the database cannot be used: .*\. Make it reachable; turns continue unchanged/);
  assert.doesNotMatch(text, /sesame/);
});

test("log, status, chat and page report an unknown option", async () => {
  const at = await gateway({ pluginConfig: { treshold: 1, rules: { levle: 1 }, planner: { deep: { er: true } } } });
  const text = await said(at);
  assert.match(text, /active$/m);
  for (const unknown of ["treshold", "rules.levle"]) {
    assert.ok(text.includes(`${unknown} is not an option; it is ignored`), text);
  }
  assert.match(text, /^warning +planner is not an option/m);
});

test("conditions are shared by processes, and one that was raised during an operation does not end with it", () => {
  const dir = freshDir();
  const [one, other] = [new Conditions(dir), new Conditions(dir)];
  one.raise({ key: "a", text: "first", remedy: "mend it" }, 1000);
  one.raise({ key: "b", text: "second", remedy: "mend it" }, 2000);
  one.raise({ key: "a", text: "first", remedy: "mend it" }, 100_000);
  assert.deepEqual(
    other.list().map(({ key, since, lastSeen }) => [key, since, lastSeen]),
    [
      ["a", 1000, 100_000],
      ["b", 2000, 2000],
    ],
  );
  const mark = one.mark("a");
  other.raise({ key: "a", text: "first", remedy: "mend it" }, 100_001);
  one.end("a", mark);
  assert.equal(one.list().length, 2);
  one.end("a");
  other.end("b");
  assert.deepEqual(
    [one.list(), fs.existsSync(path.join(dir, "concertina", "concertina.conditions.json"))],
    [[], false],
  );
});

test("a warning to unfold is logged only if the plugin is disabled or uninstalled", async () => {
  const withEntry = (entry) => ({ plugins: { ...IN_USE.plugins, entries: { concertina: entry } } });
  for (const [now, isReminded] of [
    [withEntry({ enabled: false }), true],
    [withEntry(undefined), true],
    [withEntry({ config: { staleTurns: 9 } }), false],
  ]) {
    const lines = [];
    const { state } = registered(freshDir(), { config: withEntry({}), logger: { warn: (line) => lines.push(line) } });
    await state.store();
    const api = {
      config: withEntry({}),
      pluginConfig: {},
      logger: { warn: (line) => lines.push(line) },
      runtime: { state: { resolveStateDir: () => state.stateDir }, config: { current: () => now } },
    };
    await new PluginState(api).letGo();
    assert.equal(
      lines.some((line) => line.includes('"openclaw concertina unfold"')),
      isReminded,
      JSON.stringify(now),
    );
    await state.letGo();
  }
});
