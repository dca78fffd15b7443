// Tests of the checks behind `doctor`, the status and the page.
import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { after, test } from "node:test";

import { doctorStatus, doctorText, finding } from "../dist/node/lib/terminal/status.js";
import { checkSelf, isNewer } from "../dist/plugin/findings.js";
import { isElsewhere, modelsInUse } from "../dist/plugin/runtimes.js";
import { statusOf } from "../dist/plugin/status.js";
import { run } from "./cli.mjs";
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
async function gateway(config = IN_USE) {
  const { api, state } = registered(freshDir(), { version: "1.2.3", config });
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

test("each problem has a remedy, and those that stop folding come first", async () => {
  const config = { ...IN_USE, ...MODELS, agents: { ...MODELS.agents } };
  config.agents.defaults = { ...MODELS.agents.defaults, contextPruning: { mode: "cache-ttl" } };
  const { api, state } = await gateway(config);
  api.runtime.version = "2026.7.1";
  const { findings } = await statusOf(state);
  assert.equal(findings[0].key, "versions");
  assert.equal(findings[0].level, "failure");
  const problems = findings.filter(({ level }) => level === "failure" || level === "warning");
  assert.ok(
    problems.every(({ remedy }) => remedy !== null),
    JSON.stringify(problems),
  );
  const elsewhere = problems.find(({ key }) => key === "model");
  assert.match(elsewhere.text, /runs in claude-cli, whose turns do not pass through Concertina/);
  assert.match(elsewhere.remedy, /openclaw config set 'agents\.defaults\.models/);
  assert.ok(problems.some(({ key }) => key === "host's pruner"));
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
    ],
  );
  assert.equal(healthy.status, 0);
  const missing = run("doctor", "--dir", freshDir());
  assert.equal(missing.status, 1);
  assert.match(missing.stdout, /^failure +the store: .* contains no store/m);
});
