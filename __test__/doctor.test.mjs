// Tests of the checks behind `doctor`, the status and the page.
import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { after, test } from "node:test";

import { Concertina } from "openclaw-concertina";

import { doctorStatus, doctorText, finding } from "../dist/node/lib/terminal/status.js";
import { checkSelf, isNewer } from "../dist/plugin/findings.js";
import { isElsewhere, modelsInUse } from "../dist/plugin/runtimes.js";
import { PluginState } from "../dist/plugin/state.js";
import { statusOf } from "../dist/plugin/status.js";
import { run, runWith } from "./cli.mjs";
import { freshDir, noise, toolRound } from "./conversation.mjs";
import { IN_USE, registered } from "./registration.mjs";

const MODELS = {
  agents: {
    defaults: {
      model: { primary: "anthropic/claude-opus-5" },
      models: {
        "anthropic/claude-opus-5": { agentRuntime: { id: "claude-cli" } },
        "vllm/*": { agentRuntime: { id: "openclaw" } },
      },
    },
    entries: {
      local: { model: "vllm/llama" },
      legacy: { model: "claude-cli/claude-opus-4-7" },
      own: {
        model: "anthropic/claude-opus-5",
        models: { "anthropic/claude-opus-5": { agentRuntime: { id: "auto" } } },
      },
      coder: { model: "openai/gpt-6" },
      silent: {},
    },
  },
  models: { providers: { vllm: { agentRuntime: { id: "other" } }, openai: { agentRuntime: { id: "codex" } } } },
};

test("the runtime of each model is found where the host looks for it, the most exact place first", () => {
  assert.deepEqual(
    modelsInUse(MODELS).map(({ agentId, runtime }) => [agentId, runtime]),
    [
      [undefined, "claude-cli"],
      ["local", "openclaw"],
      ["legacy", "claude-cli"],
      ["own", "auto"],
      ["coder", "codex"],
    ],
  );
  assert.deepEqual(
    modelsInUse(MODELS)
      .filter(isElsewhere)
      .map(({ agentId }) => agentId),
    [undefined, "legacy"],
  );
  assert.deepEqual(modelsInUse(undefined), []);
});

test("versions are compared by their numbers", () => {
  for (const [one, other, expected] of [
    ["2026.10.1", "2026.9.6", true],
    ["2026.9.6", "2026.9.6", false],
    ["2026.9.6-beta.1", "2026.9.6", false],
    ["2026.9", "2026.8.30", true],
    ["2026.8.1", "2026.9.6", false],
  ])
    assert.equal(isNewer(one, other), expected, `${one} and ${other}`);
});

test("the exit status tells failures from warnings", () => {
  const of = (...levels) => doctorStatus(levels.map((level) => finding("x", level, "y")));
  assert.deepEqual([of(), of("ok", "note"), of("ok", "warning"), of("warning", "failure")], [0, 0, 3, 1]);
});

/** Returns a gateway in whose store a session was folded. */
async function gateway(config = IN_USE, given = {}) {
  const { api, state } = registered(freshDir(), { version: "1.2.3", ...given, config });
  api.runtime.version = "2026.9.6";
  const message = toolRound("c", "exec", {}, noise(2000))[1];
  await state.use((store) => store.admitToolResult({ sessionId: "s", message }));
  after(() => state.letGo());
  return { api, state };
}

test("a healthy gateway has no failure and no warning, and every check is listed", async () => {
  const { state } = await gateway();
  const { findings } = await statusOf(state, { isThorough: true });
  assert.deepEqual(
    findings.filter(({ level }) => level === "failure" || level === "warning"),
    [],
  );
  const keys = findings.map(({ key }) => key);
  for (const key of ["engine", "the store", "last turn", "host's pruner", "versions", "rights", "self-check"])
    assert.ok(keys.includes(key), `${key} in ${keys.join(", ")}`);
  assert.match(doctorText(findings), /^ok +self-check: a text was folded and fetched back byte for byte$/m);
});

test("a model's finding says that its provider ties reasoning to the prefix", async () => {
  for (const [model, isBound] of [
    ["anthropic/claude-opus-4-6", false],
    ["anthropic/claude-opus-5-5", true],
    ["openai/gpt-5.6", false],
    ["openai/gpt-6.2", true],
    ["vllm/llama", false],
  ]) {
    const { state } = await gateway({ ...IN_USE, agents: { defaults: { model: { primary: model } } } });
    const { findings } = await statusOf(state);
    const [{ text }] = findings.filter(({ key }) => key === "model");
    assert.equal(/ties reasoning to the exact prefix/.test(text), isBound, text);
  }
});

const [KEY, SCOPE] = ["agent:main:x", { agentId: "main", sessionId: "s" }];

/** Situations in which a check reports a failure or a warning, each with the key of that check. */
const PROBLEMS = {
  "a disabled plugin": ["engine", { config: { plugins: { entries: { concertina: { enabled: false } } } } }],
  "another engine": ["engine", { config: { plugins: { slots: { contextEngine: "legacy" } } } }],
  "no engine": ["engine", { config: {} }],
  "folding that is off": ["engine", { pluginConfig: { sccsEnabled: false } }],
  "an excluded tool": ["engine", { config: { ...IN_USE, tools: { deny: ["fetch_*"] } } }],
  "a session without a turn": ["engine", {}, () => {}, { sessionId: "unseen" }],
  "a session that is held out": [
    "engine",
    {},
    ({ state }) => state.sessions.noteTurn(KEY, SCOPE, { canFetch: true, isHeldOut: true, model: "m" }),
    { sessionId: "s" },
  ],
  "a session that is switched off": [
    "engine",
    {},
    ({ state }) => state.use((store) => store.switch({ sessionId: "s", agentId: "main", off: true })),
    { sessionId: "s" },
  ],
  "a session without the tool": [
    "engine",
    {},
    ({ state }) => state.sessions.noteTurn(KEY, SCOPE, { canFetch: false, model: "m" }),
    { sessionId: "s" },
  ],
  "an old host": ["versions", {}, ({ api }) => (api.runtime.version = "2026.7.1")],
  "a model elsewhere": ["model", { config: { ...IN_USE, ...MODELS } }],
  "the host's pruner": [
    "host's pruner",
    { config: { ...IN_USE, agents: { defaults: { contextPruning: { mode: "cache-ttl" } } } } },
  ],
  "an unknown option": ["option", { pluginConfig: { treshold: 1 } }],
  "files that others can reach": ["rights", {}, ({ state }) => fs.chmodSync(state.directory(), 0o755)],
  "a damaged store that was set aside": [
    "damaged store",
    {},
    ({ state }) => fs.writeFileSync(`${state.storeFile()}.damaged-2026-01-02`, ""),
  ],
  "a parser that is disabled": [
    "parser",
    {},
    (_, context) =>
      context.mock.method(Concertina.prototype, "skipped", () => [{ code: "bash", texts: 3, isOff: true }]),
  ],
  "a step that fails": ["storing", {}, ({ state }) => state.complain("storing", new Error("no room"), "it stays")],
  "a damaged store": [
    "the store",
    {},
    async ({ state }) => {
      await state.letGo();
      fs.writeFileSync(state.storeFile(), "this was a store once".repeat(1000));
    },
  ],
  "a store in another place": [
    "the place of the store",
    {},
    async ({ api, state }) => {
      const moved = new PluginState({ ...api, pluginConfig: { sccsStorageDir: path.join(state.stateDir, "moved") } });
      await moved.store();
      await moved.letGo();
    },
  ],
};

for (const [name, [key, given, begin = () => {}, asked = {}]] of Object.entries(PROBLEMS)) {
  test(`${name}: the finding has a remedy`, async (context) => {
    const { api, state } = await gateway(given.config, given);
    await begin({ api, state }, context);
    const { findings } = await statusOf(state, asked);
    const problems = findings.filter(({ level }) => level === "failure" || level === "warning");
    assert.ok(
      problems.some((problem) => problem.key === key),
      JSON.stringify(findings),
    );
    for (const { text, remedy } of problems) {
      assert.match(remedy, /^\S.*\w/, text);
      assert.ok(!text.includes(remedy), text);
    }
  });
}

test("the findings that stop folding come first, and the remedy of a model elsewhere is a command", async () => {
  const config = { ...IN_USE, ...MODELS };
  const { api, state } = await gateway(config);
  api.runtime.version = "2026.7.1";
  const { findings } = await statusOf(state);
  assert.deepEqual([findings[0].key, findings[0].level], ["versions", "failure"]);
  const elsewhere = findings.find(({ key, level }) => key === "model" && level === "warning");
  assert.match(elsewhere.text, /runs in claude-cli, whose turns do not pass through Concertina/);
  assert.match(elsewhere.remedy, /openclaw config set 'agents\.defaults\.models/);
});

test("every file of the plugin is its owner's, or the finding names it with the command that mends it", async () => {
  const { state } = await gateway();
  state.complain("storing", new Error("no room"), "it stays");
  const wide = [state.directory(), state.conditions.file, state.storeFile(), `${state.storeFile()}-wal`];
  for (const file of wide) fs.chmodSync(file, 0o755);
  const [found] = (await statusOf(state)).findings.filter(({ key }) => key === "rights");
  assert.equal(found.level, "warning");
  for (const file of wide) assert.ok(found.text.includes(`${file} (mode 755)`), found.text);
  execSync(/^Run "(.*)"$/.exec(found.remedy)[1]);
  const [mended] = (await statusOf(state)).findings.filter(({ key }) => key === "rights");
  assert.deepEqual([mended.level, mended.remedy], ["ok", null]);
});

test("a self-check that fails is a condition until it succeeds", async (context) => {
  const { state } = await gateway();
  const mock = context.mock.method(fs, "mkdtempSync", () => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  });
  syncBuiltinESMExports();
  await checkSelf(state);
  mock.mock.restore();
  syncBuiltinESMExports();
  const { findings } = await statusOf(state);
  assert.equal(findings[0].level, "failure");
  assert.match(findings[0].text, /self-check failed .*EMFILE.*folding does not work on this machine/);
  await checkSelf(state);
  assert.ok(!(await statusOf(state)).findings.some(({ level }) => level === "failure"));
});

test("without OpenClaw, doctor checks the machine and a store", async () => {
  const { state } = await gateway();
  await state.letGo();
  const healthy = run("doctor", "--dir", state.directory(), "--json");
  assert.deepEqual(
    JSON.parse(healthy.stdout).map(({ key, level }) => [key, level]),
    [
      ["versions", "ok"],
      ["self-check", "ok"],
      ["the store", "ok"],
      ["rights", "ok"],
    ],
  );
  assert.equal(healthy.status, 0);
  fs.chmodSync(state.storeFile(), 0o644);
  const wide = run("doctor", "--dir", state.directory());
  assert.equal(wide.status, 3);
  assert.match(wide.stdout, /^warning +rights: others .*concertina\.sqlite \(mode 644\)\n +Run "chmod go= /m);
  const missing = run("doctor", "--dir", freshDir());
  assert.equal(missing.status, 1);
  assert.match(missing.stdout, /^failure +the store: .* contains no store.*\n +Name a store/m);
  const broken = runWith({ env: { ...process.env, TMPDIR: "/nowhere" } }, "doctor");
  assert.equal(broken.status, 1);
  assert.match(broken.stdout, /^failure +self-check: .*\n +Mend what the error names/m);
  assert.equal(run("doctor", "--dir", "a", "--url", "b").status, 2);
});
