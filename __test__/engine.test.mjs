// Tests of the plugin's engine, middleware and hook, with substitutes for what they import from the host.

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { createEngine } from "../dist/plugin/engine.js";
import { foldToolResult } from "../dist/plugin/middleware.js";
import { refreshRules } from "../dist/plugin/rules.js";
import { png } from "../test/png.mjs";
import { freshDir, idIn, isFolded, noise, toolRound, user } from "./conversation.mjs";
import "./host-modules.mjs";
import { registered } from "./registration.mjs";

const KEY = "agent:main:work";
const TOOLS = ["exec", "fetch_original_data", "memory_search"];

/** Registers a plugin with some options. Returns its state and its log lines. */
const plugin = (pluginConfig, directory) => registered(directory, { pluginConfig });

/** Assembles a turn with a new engine, as the host does. */
const assembled = (state, given) =>
  createEngine(state, undefined).assemble({
    sessionId: "s",
    sessionKey: KEY,
    messages: [],
    availableTools: new Set(TOOLS),
    ...given,
  });

test("the host's memory section is in the system prompt whether or not history is folded", async () => {
  for (const options of [{}, { sccsEnabled: false }]) {
    const { state } = plugin(options);
    for (const given of [
      {},
      { availableTools: new Set(["memory_search"]) },
      { sessionKey: "agent:main:dashboard:incognito-1" },
    ]) {
      const { systemPromptAddition } = await assembled(state, given);
      assert.equal(systemPromptAddition, `## Memory Recall for ${given.sessionKey ?? KEY}`);
    }
  }
});

test("there is no memory section if the host's engine has none, and a failure to get it is logged", async () => {
  const { state, lines } = plugin();
  const codex = { runtimeSettings: { executionHost: { id: "codex-app-server" } } };
  for (const given of [
    { availableTools: new Set(["exec"]) },
    { sessionKey: "agent:main:subagent:1" },
    { sessionKey: "agent:main:cron:1" },
    codex,
  ]) {
    assert.equal((await assembled(state, given)).systemPromptAddition, undefined);
  }
  assert.ok(!lines.some((line) => line.includes("memory")), lines.join("\n"));
  assert.equal((await assembled(state, { citationsMode: "on" })).systemPromptAddition, undefined);
  assert.match(lines.at(-1), /memory section failed \(no memory today\)/);
});

const OTHER = "agent:other:subagent:1";

/** Folds an output at birth in a session of the agent `main`. Returns its id and the message that shows it. */
async function born(state, seed) {
  const [, message] = toolRound("c", "exec", { command: "x" }, noise(1500, seed));
  const { message: shown } = await (await state.store()).admitToolResult({ sessionId: "s", agentId: "main", message });
  return { id: idIn(shown), shown };
}

const found = async (state, id, agentId, sessionId) =>
  (await (await state.store()).fetch({ refIds: [id], agentId, sessionId })).found;

test("a sub-agent of another agent may fetch what its first task or a later prompt names", async () => {
  const { state } = plugin();
  await assembled(state);
  const [first, second] = [await born(state, 1), await born(state, 2)];
  await createEngine(state, undefined).prepareSubagentSpawn({ parentSessionKey: KEY, childSessionKey: OTHER });
  const turn = (prompt) => assembled(state, { sessionId: "child", sessionKey: OTHER, prompt });
  const both = async () => [await found(state, first.id, "other"), await found(state, second.id, "other")];
  await turn(`Look at ${first.id}.`);
  assert.deepEqual(await both(), [1, 0]);
  await turn("Thank you.");
  assert.deepEqual(await both(), [1, 0]);
  await turn(`Now look at ${second.id.toUpperCase()}.`);
  assert.deepEqual(await both(), [1, 1]);
});

test("a forked session keeps its originals after the first session is deleted", async () => {
  const { state } = plugin();
  state.forkSource = async () => ({ agentId: "main", sessionId: "s" });
  const { id, shown } = await born(state, 1);
  const messages = [user("go", 1), shown];
  await assembled(state, { sessionId: "fork", messages });
  const store = await state.store();
  const { unfolded } = await store.unfold({ sessionId: "fork", agentId: "main", messages });
  assert.equal(unfolded, 1);
  await store.purge({ sessionId: "s" });
  assert.equal(await found(state, id, "main", "fork"), 1);
});

test("a fork by another agent inherits nothing", async () => {
  const { state } = plugin();
  state.forkSource = async () => ({ agentId: "main", sessionId: "s" });
  const { id, shown } = await born(state, 1);
  await assembled(state, { sessionId: "fork", sessionKey: "agent:other:work", messages: [user("go", 1), shown] });
  assert.equal(await found(state, id, "other"), 0);
});

test("an image that is too large for the host is scaled down, or the model is told why it is missing", async () => {
  const { state } = plugin();
  await assembled(state);
  const shown = async (data) => {
    const event = {
      toolName: "screenshot",
      toolCallId: "c",
      args: {},
      result: { content: [{ type: "image", mimeType: "image/png", data }], details: {} },
    };
    return (await foldToolResult(state, event, { runtime: "openclaw", sessionId: "s", sessionKey: KEY })).result
      .content;
  };
  let x = 1;
  const grain = () => (x = (Math.imul(x, 1664525) + 1013904223) >>> 0) >>> 24;
  const large = png(2000, 1000, () => [grain(), grain(), grain()]).toString("base64");
  assert.ok(large.length > 5_000_000);
  const [image] = await shown(large);
  assert.ok(image.type === "image" && image.data.length < 5_000_000, JSON.stringify(image).slice(0, 300));
  const [told] = await shown("A".repeat(5_000_001));
  assert.match(
    told.text,
    /^\[The tool answered with image\/png of 5000001 base64 characters, which is too large\. It cannot be shown: .* images of up to 5000000 base64 characters\.\]$/,
  );
});

/** Creates a workspace with rules. */
function workspace() {
  const directory = freshDir();
  writeFileSync(path.join(directory, "AGENTS.md"), "# Rules\n\nNever push to main.\n");
  return directory;
}

test("rules are repeated by counted turns, however few turns are in the history", async () => {
  const { state } = plugin({ rules: { refreshEveryTurns: 3 } });
  const workspaceDir = workspace();
  const repeated = [];
  for (let turn = 1; turn <= 9; turn++) {
    const messages = [{ role: "compactionSummary", summary: "all before" }, ...(turn > 1 ? [user("go")] : [])];
    if (await refreshRules(state, { prompt: "go", messages }, { workspaceDir, sessionId: "s", sessionKey: KEY }))
      repeated.push(turn);
    await createEngine(state, undefined).commitTurn({
      sessionId: "s",
      sessionKey: KEY,
      advancementKey: `${turn}`,
      messages: [user("go")],
    });
  }
  assert.deepEqual(repeated, [3, 6, 9]);
});

test("while folding is off, earlier turns are not counted for the rules and nothing is stored", async () => {
  const directory = freshDir();
  const { state: on } = plugin({}, directory);
  for (const turn of [1, 2])
    await createEngine(on, undefined).commitTurn({
      sessionId: "s",
      sessionKey: KEY,
      advancementKey: `${turn}`,
      messages: [user("go")],
    });
  const { state } = plugin({ sccsEnabled: false, rules: { refreshEveryTurns: 3 } }, directory);
  const workspaceDir = workspace();
  const repeated = [];
  for (let turn = 3; turn <= 9; turn++) {
    const messages = Array.from({ length: turn - 1 }, () => user("go"));
    if (await refreshRules(state, { prompt: "go", messages }, { workspaceDir, sessionId: "s", sessionKey: KEY }))
      repeated.push(turn);
  }
  assert.deepEqual(repeated, [3, 6, 9]);
  assert.deepEqual((await (await on.store()).stats({ sessionId: "s" })).receipts, []);
});

test("repeated rules of a memory-only session are not stored", async () => {
  const { state } = plugin({ rules: { refreshEveryTurns: 1 } });
  const context = { workspaceDir: workspace(), sessionId: "s", sessionKey: "agent:main:dashboard:incognito-1" };
  assert.ok(await refreshRules(state, { prompt: "go", messages: [] }, context));
  assert.deepEqual(await (await state.store()).sessions(), []);
});

test("while folding is off, an existing store still learns which sessions the host has", async () => {
  const directory = freshDir();
  const told = [];
  const off = () => {
    const { state } = plugin({ sccsEnabled: false }, directory);
    state.settle = async () => told.push("told");
    return state;
  };
  await assembled(off());
  assert.deepEqual([told, readdirSync(directory)], [[], []]);
  await born(plugin({}, directory).state, 1);
  const state = off();
  await assembled(state);
  await state.letGo();
  await state.use((store) => store.stats());
  assert.deepEqual(told, ["told"]);
});

test("while the host uses another engine, the store still learns which sessions the host has", async () => {
  const directory = freshDir();
  await born(plugin({}, directory).state, 1);
  const { state } = plugin({}, directory);
  const told = [];
  state.settle = async () => told.push("told");
  const event = {
    toolName: "exec",
    toolCallId: "c",
    args: {},
    result: { content: [{ type: "text", text: noise(1500, 2) }], details: {} },
  };
  for (let call = 0; call < 3; call++) {
    assert.equal(
      await foldToolResult(state, event, { runtime: "openclaw", sessionId: "s", sessionKey: KEY }),
      undefined,
    );
  }
  await state.letGo();
  await state.use((store) => store.stats());
  assert.deepEqual(told, ["told"]);
});

test("work in progress finishes after the host replaces the registration, and then the store is closed", async () => {
  const { state, lines } = plugin();
  // A sweep would use the store too, and closing the store would wait for it.
  state.sweepWhenDue = () => {};
  for (const method of ["assemble", "commitTurn"]) {
    const store = await state.store();
    store[method] = async function replaced(given) {
      await state.letGo();
      return Object.getPrototypeOf(store)[method].call(this, given);
    };
    if (method === "assemble") {
      const messages = [
        ...toolRound("c", "exec", { command: "x" }, noise(1500, 9)),
        ...Array.from({ length: 20 }, (_, at) => user(`and ${at}?`, 10 + at)),
      ];
      assert.ok(isFolded(await assembled(state, { messages, tokenBudget: 4000 })));
    } else
      await createEngine(state, undefined).commitTurn({
        sessionId: "s",
        sessionKey: KEY,
        advancementKey: "1",
        messages: [user("go")],
      });
    await assert.rejects(store.stats(), { code: "CONCERTINA_CLOSED" });
  }
  assert.equal((await (await state.store()).stats({ sessionId: "s" })).turns, 1);
  assert.ok(!lines.some((line) => line.includes("CONCERTINA_CLOSED")), lines.join("\n"));
});

test("Codex receives the history again only after an answer of another runtime", async () => {
  const { state } = plugin();
  const answer = (timestamp, by) => ({
    role: "assistant",
    content: [{ type: "text", text: "done" }],
    timestamp,
    ...by,
  });
  const codex = { provider: "openai", idempotencyKey: "codex-app-server:thread:turn" };
  const messages = [];
  const epochs = [];
  for (const by of [codex, codex, { provider: "anthropic" }, codex, codex, { provider: "openclaw" }]) {
    const at = 10 * epochs.length;
    messages.push(user("go", at), answer(at + 1, by));
    epochs.push(
      (await assembled(state, { messages, runtimeSettings: { executionHost: { id: "codex-app-server" } } }))
        .contextProjection.epoch,
    );
  }
  assert.equal(epochs[0], epochs[1]);
  assert.notEqual(epochs[1], epochs[2]);
  assert.equal(new Set(epochs.slice(2)).size, 1);
});
