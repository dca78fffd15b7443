// Parts of the plugin that need no host.

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Concertina } from "openclaw-concertina";

import { registerCli } from "../dist/plugin/cli.js";
import { complaintLine } from "../dist/plugin/complaints.js";
import { prunerWarning } from "../dist/plugin/host-pruner.js";
import { isIncognito } from "../dist/plugin/sessions.js";
import { freshDir, noise, toolRound } from "./conversation.mjs";

const MINUTE_MS = 60_000;
const failure = (code, message = "it is away") => Object.assign(new Error(message), { code });

test("the same failure of a step is one line in ten minutes, which then says how often it was", () => {
  const say = (error, minute, step = "opening the store") => complaintLine(step, error, "nothing is folded", minute * MINUTE_MS);
  assert.equal(say(failure("AWAY"), 0), "concertina: opening the store failed (it is away (AWAY)); nothing is folded");
  for (const minute of [0, 1, 5, 9.9]) assert.equal(say(failure("AWAY", "another message"), minute), undefined);
  assert.match(say(failure("FULL"), 5), /\(FULL\)/);
  assert.match(say(failure("AWAY"), 5, "the sweep"), /^concertina: the sweep failed/);
  assert.match(say(failure("AWAY"), 10), /and 4 times since this was last said\)$/);
  assert.equal(say(failure("AWAY"), 11), undefined);
  assert.match(say(failure("AWAY"), 20), /and 1 times since/);
});

test("failures without a code are told apart by what they say", () => {
  assert.ok(complaintLine("a step", new Error("one"), "so", 0));
  assert.ok(complaintLine("a step", new Error("two"), "so", 0));
  assert.equal(complaintLine("a step", new Error("one"), "so", 1), undefined);
});

test("the operator is told of the host's pruner, by route and by what it spares", () => {
  const on = (provider, tools) =>
    prunerWarning({ agents: { defaults: { contextPruning: { mode: "cache-ttl", tools } } } }, { runtimeSettings: { model: { provider } } });
  assert.match(on("anthropic"), /all but the three newest tool results/);
  assert.match(on("scripted"), /after a pause/);
  for (const tools of [undefined, { deny: ["exec"] }, { allow: ["fetch_*"] }]) assert.match(on("anthropic", tools), /tools\.deny: \["fetch_original_data"\]$/);
  for (const tools of [{ deny: ["fetch_original_data"] }, { deny: ["*"] }, { allow: ["exec"] }]) assert.match(on("anthropic", tools), /kept out of it$/);
  assert.equal(prunerWarning({ agents: { defaults: { contextPruning: { mode: "off" } } } }, {}), undefined);
  assert.equal(prunerWarning(undefined, {}), undefined);
});

test("a session that the host keeps in memory only is known by its key", () => {
  for (const key of ["agent:main:dashboard:incognito-1f", "agent:Other:subagent:incognito-2a"]) assert.ok(isIncognito(key), key);
  for (const key of [undefined, "", "agent:main:incognito-1f", "agent:main:dashboard:1f", "agent:main:dashboard:incognito-a:b"]) assert.ok(!isIncognito(key), key);
});

test("health says that the native library does not load", async () => {
  const root = freshDir();
  for (const part of ["dist", "package.json"]) cpSync(fileURLToPath(new URL(`../${part}`, import.meta.url)), path.join(root, part), { recursive: true });
  const [{ healthOf }, { PluginState }] = await Promise.all(["health", "state"].map((name) => import(pathToFileURL(path.join(root, "dist", "plugin", `${name}.js`)).href)));
  const state = new PluginState({ logger: { error() {} }, runtime: { state: { resolveStateDir: () => root } } });
  const { engine, why, warnings } = await healthOf(state, await state.store());
  assert.deepEqual([engine, why, warnings], ["inactive", "the native library does not load: the gateway's log says why", []]);
});

test("an original that is longer than an answer is printed whole, and one that cannot be had is a failure", async (context) => {
  const dir = freshDir();
  const text = `${noise(2000)}\n`;
  const open = () => Concertina.open({ dir });
  const concertina = await open();
  const { report } = await concertina.admitToolResult({ sessionId: "s", message: toolRound("c", "exec", {}, text)[1] });
  await concertina.close();
  const actions = new Map();
  const commandNamed = (name) => new Proxy({}, {
    get: (_, word) => (argument) => (word === "command" ? commandNamed(argument) : (word === "action" && actions.set(name, argument), commandNamed(name))),
  });
  registerCli({ registerCli: (register) => register({ program: commandNamed("") }) }, { hasStore: true, optionWarnings: [], open });
  const [printed, said] = ["stdout", "stderr"].map((name) => context.mock.method(process[name], "write", () => true).mock);
  const { refId } = report.actions[0];
  await actions.get("fetch <refs...>")([refId], {});
  assert.deepEqual([printed.calls.map(({ arguments: [written] }) => written).join(""), process.exitCode], [text, undefined]);
  await actions.get("fetch <refs...>")([refId, "0123456789abcdef"], {});
  const status = process.exitCode;
  process.exitCode = undefined;
  context.mock.restoreAll();
  assert.equal(status, 1);
  assert.match(said.calls.map(({ arguments: [written] }) => written).join(""), /^concertina: .*0123456789abcdef/);
});
