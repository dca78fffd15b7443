// The plugin's engine, with what it imports from the host in place of it.

import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

import { freshDir } from "./conversation.mjs";

/** The host's modules, as far as they are imported here. */
const HOST = {
  "openclaw/plugin-sdk/core": `export const buildMemorySystemPromptAddition = ({ availableTools, citationsMode, agentSessionKey }) => {
    if (citationsMode === "on") throw new Error("no memory today");
    return availableTools.has("memory_search") ? "## Memory Recall for " + agentSessionKey : undefined;
  };`,
  "openclaw/plugin-sdk/routing": `export const isSubagentSessionKey = (key) => key.includes(":subagent:");
    export const isCronSessionKey = (key) => key.includes(":cron:");`,
  "openclaw/plugin-sdk/logging-core": "export const redactToolPayloadText = undefined;",
};
const asUrl = (code) => `data:text/javascript,${encodeURIComponent(code)}`;
const urls = Object.fromEntries(Object.entries(HOST).map(([name, code]) => [name, asUrl(code)]));
register(asUrl(`const urls = ${JSON.stringify(urls)};
  export const resolve = (name, context, next) => (name in urls ? { url: urls[name], shortCircuit: true } : next(name, context));`));

const { createEngine } = await import("../dist/plugin/engine.js");
const { PluginState } = await import("../dist/plugin/state.js");

const KEY = "agent:main:work";
const TOOLS = ["exec", "fetch_original_data", "memory_search"];

/** The state of a plugin that was registered with some options, and what it logs. */
function plugin(pluginConfig = {}) {
  const lines = [];
  const log = (line) => lines.push(line);
  const directory = freshDir();
  const api = { pluginConfig, logger: { info() {}, warn: log, error: log }, runtime: { state: { resolveStateDir: () => directory } } };
  return { state: new PluginState(api), lines };
}

/** A turn, with an engine of its own as the host makes one. */
const assembled = (state, given) =>
  createEngine(state, undefined).assemble({ sessionId: "s", sessionKey: KEY, messages: [], availableTools: new Set(TOOLS), ...given });

test("the host's memory section stays in the system prompt, whatever becomes of the history", async () => {
  for (const options of [{}, { sccsEnabled: false }]) {
    const { state } = plugin(options);
    for (const given of [{}, { availableTools: new Set(["memory_search"]) }, { sessionKey: "agent:main:dashboard:incognito-1" }]) {
      const { systemPromptAddition } = await assembled(state, given);
      assert.equal(systemPromptAddition, `## Memory Recall for ${given.sessionKey ?? KEY}`);
    }
  }
});

test("there is no memory section where the host's own engine has none, or where it fails, which is logged", async () => {
  const { state, lines } = plugin();
  const codex = { runtimeSettings: { executionHost: { id: "codex-app-server" } } };
  for (const given of [{ availableTools: new Set(["exec"]) }, { sessionKey: "agent:main:subagent:1" }, { sessionKey: "agent:main:cron:1" }, codex]) {
    assert.equal((await assembled(state, given)).systemPromptAddition, undefined);
  }
  assert.ok(!lines.some((line) => line.includes("memory")), lines.join("\n"));
  assert.equal((await assembled(state, { citationsMode: "on" })).systemPromptAddition, undefined);
  assert.match(lines.at(-1), /memory section failed \(no memory today\)/);
});
