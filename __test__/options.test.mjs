// Tests of the options that a host passes to the plugin, and of the settings page that its manifest describes.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { stages } from "openclaw-concertina";

import plugin from "../dist/plugin/index.js";
import { HOST_DEFAULTS } from "../dist/node/lib/library/host-defaults.js";
import { statusOf } from "../dist/plugin/status.js";
import { PluginState } from "../dist/plugin/state.js";
import { at, leaves, put, UNKNOWN, VALUES } from "../test/options.mjs";
import { freshDir, staleConversation } from "./conversation.mjs";
import "./host-modules.mjs";
import { IN_USE } from "./registration.mjs";

const manifest = JSON.parse(readFileSync(new URL("../openclaw.plugin.json", import.meta.url), "utf8"));
const IMPOSSIBLE = { nothing: "is like this" };

/**
 * Returns the API that the host gives a plugin. It resolves paths during registration only, and relative ones in the
 * plugin's own package.
 */
function hostApi({ pluginConfig, config = IN_USE, home = freshDir() }) {
  const api = { lines: [], hooks: {}, stateDir: freshDir(), registers: true, registrationMode: "full", pluginConfig };
  const log = (line) => api.lines.push(line);
  return Object.assign(api, {
    logger: { info: log, warn: log, error: log },
    runtime: { state: { resolveStateDir: () => api.stateDir }, config: { current: () => config } },
    resolvePath: (input) =>
      api.registers ? path.resolve("/packages/concertina", input.replace(/^~/, home)) : undefined,
    registerContextEngine: (_id, factory) => (api.engine = () => factory({})),
    registerTool() {},
    registerAgentToolResultMiddleware() {},
    registerCommand() {},
    registerCli() {},
    registerHttpRoute() {},
    on: (name, handler) => (api.hooks[name] = handler),
  });
}

/** Registers the plugin, and returns the result as a host sees it. */
function registered(given) {
  const api = hostApi(given);
  plugin.register(api);
  api.registers = false;
  return api;
}

test("each option of the settings page has a type, a label, a help text and one section", () => {
  const { configSchema, uiHints, configGroups } = manifest;
  for (const [name, schema] of leaves(configSchema)) {
    assert.ok(schema.type ?? schema.enum ?? schema.anyOf, `${name} has no type`);
    const { label, help, advanced, tags } = uiHints[name] ?? {};
    assert.ok(label && help, `${name} has no label or help`);
    assert.equal(advanced, tags[0] !== "basic", name);
    assert.equal(schema.description, help, name);
  }
  const placed = configGroups.flatMap(({ properties }) => properties);
  assert.deepEqual(placed.toSorted(), Object.keys(configSchema.properties).toSorted());
  assert.deepEqual(
    configGroups.map(({ id }) => id),
    ["basic", "advanced", "expert"],
  );
  for (const { id, properties } of configGroups)
    for (const name of properties) assert.equal(uiHints[name].tags[0], id, name);
});

test("the schema has each stage with its settings", () => {
  const { properties } = manifest.configSchema.properties.fusion.properties.stages;
  assert.deepEqual(
    Object.keys(properties).toSorted(),
    stages()
      .map(({ name }) => name)
      .toSorted(),
  );
  const settingsOf = (name) => Object.keys(properties[name].anyOf[1].properties);
  assert.deepEqual(
    [settingsOf("rle"), settingsOf("nexus")],
    [
      ["enabled", "order"],
      ["enabled", "order", "maxPercent"],
    ],
  );
});

test("options for squeeze() only are not in the host's schema", () => {
  for (const name of ["pruneHeartbeats", "largeResultThreshold", "largeResultPreviewChars"])
    assert.equal(manifest.configSchema.properties[name], undefined, name);
});

test("the schema allows unknown keys at every depth, except in a secret reference", () => {
  const closed = (schema, name) =>
    Object.entries(schema).flatMap(([key, value]) =>
      key === "additionalProperties" && value === false
        ? [name]
        : value !== null && typeof value === "object"
          ? closed(value, `${name}.${key}`)
          : [],
    );
  for (const name of closed(manifest.configSchema, "")) assert.match(name, /^\.properties\.sccsStoreUrl\./);
});

test("no option is treated as a secret because of its name", () => {
  assert.equal(manifest.uiHints.secrets.sensitive, false);
});

test("the defaults in the schema are those of the plugin", () => {
  const { options, warnings } = inForce({});
  assert.deepEqual(warnings, []);
  const decided = ["minTokensToFold", "staleCalls", "keepPreviewChars"];
  for (const [name, schema] of leaves(manifest.configSchema)) {
    // Options that thrift decides have no default of their own: if a settings page stored one, they would no longer
    // follow thrift.
    assert.deepEqual(schema.default, decided.includes(name) ? undefined : at(options, name), name);
  }
  for (const [name, value] of Object.entries(HOST_DEFAULTS)) assert.equal(options[name], value, name);
});

/** Returns the effective options of a plugin with this configuration, and its warnings. */
function inForce(pluginConfig) {
  const state = new PluginState(hostApi({ pluginConfig }));
  return { options: state.options, warnings: state.optionWarnings };
}

test("a wrong option is replaced by its default, and one line names option, value and replacement", () => {
  const { options: defaults } = inForce({});
  for (const [name] of leaves(manifest.configSchema)) {
    const usual = at(defaults, name);
    const other = name === "staleTurns" ? "staleCalls" : "staleTurns";
    const pluginConfig = { [other]: 2 };
    put(pluginConfig, name, ["fusion.stages", "models"].includes(name) ? "all" : IMPOSSIBLE);
    const { options, warnings } = inForce(pluginConfig);
    assert.deepEqual([at(options, name), at(options, other)], [usual, 2], name);
    assert.equal(warnings.length, 1, warnings.join("\n"));
    const [line] = warnings;
    assert.ok(line.startsWith(`${name} is `) && line.endsWith(`using the default ${JSON.stringify(usual)}`), line);
  }
});

/** Checks that the engine folds a conversation. */
async function assertFolds(api) {
  const messages = staleConversation();
  const view = await api.engine().assemble({
    sessionId: "s",
    sessionKey: "agent:main:s",
    messages,
    tokenBudget: 100_000,
    availableTools: new Set(["fetch_original_data"]),
  });
  assert.notDeepEqual(view.messages, messages);
}

test("a plugin with only wrong options is active and reports each of them once", async () => {
  const pluginConfig = {
    sccsCompressThreshold: "a lot",
    sccsStorageTtlSeconds: 5,
    staleTurns: 0,
    treshold: 1,
    pruneHeartbeats: true,
    rules: "AGENTS.md",
    fusion: { stages: { nope: false, rle: false } },
  };
  const api = registered({ pluginConfig });
  api.hooks.gateway_start();
  api.hooks.gateway_start();
  assert.deepEqual(api.lines.toSorted(), [
    "concertina: fusion.stages.nope is not a stage; it must be one of cortex, quantumLock, photon, rle, semanticDedup, ionizer, logCrunch, searchCrunch, diffCrunch, structuralCollapse, neurosyntax, nexus, tokenOpt, abbrev; it is ignored",
    "concertina: pruneHeartbeats is an option of squeeze() alone; it is ignored",
    'concertina: rules is "AGENTS.md"; it must be an object; using the defaults',
    'concertina: sccsCompressThreshold is "a lot"; it must be a whole number of at least 2000; using the default 10000',
    "concertina: sccsStorageTtlSeconds is 5; raised to the minimum 600",
    "concertina: staleTurns is 0; it must be a whole number of at least 1; using the default 4",
    "concertina: treshold is not an option; it is ignored",
  ]);
  await assertFolds(api);
  assert.equal(api.lines.length, 7, api.lines.join("\n"));
});

test("wrong options that the host did not check are reported once, and the plugin is active", async (context) => {
  // The lines of the test above are not repeated for ten minutes.
  context.mock.timers.enable({ apis: ["Date"], now: Date.now() + 600_000 });
  const bad = Object.entries(VALUES).map(([name, values]) => [name, values[1]]);
  const whole = ["fusion.stages", "models", "sccsStoreUrl"];
  const named = [...bad.filter(([name]) => !whole.includes(name)), ...Object.entries(UNKNOWN)];
  const pluginConfig = {};
  for (const [name, value] of named) put(pluginConfig, name, value);
  const api = registered({ pluginConfig });
  api.hooks.gateway_start();
  await assertFolds(api);
  assert.ok(existsSync(path.join(api.stateDir, "concertina/concertina.sqlite")));
  for (const [name] of named) {
    const about = api.lines.filter((line) =>
      [" is ", " is not "].some((is) => line.startsWith(`concertina: ${name}${is}`)),
    );
    assert.equal(about.length, 1, `${name} in\n${api.lines.join("\n")}`);
  }
  assert.equal(api.lines.length, named.length, api.lines.join("\n"));
});

test("options that are not an object are ignored", () => {
  for (const pluginConfig of [undefined, null, [], "x"]) assert.deepEqual(inForce(pluginConfig).warnings, []);
});

test("an absolute store directory is resolved at registration, and a relative one is below the state directory", async () => {
  const home = freshDir();
  const own = freshDir();
  for (const [sccsStorageDir, expected] of [
    [undefined, (stateDir) => path.join(stateDir, "concertina")],
    ["", (stateDir) => path.join(stateDir, "concertina")],
    [42, (stateDir) => path.join(stateDir, "concertina")],
    ["concertina/large", (stateDir) => path.join(stateDir, "concertina", "large")],
    ["~/originals", () => path.join(home, "originals")],
    [own, () => own],
  ]) {
    const api = hostApi({ pluginConfig: { sccsStorageDir }, home });
    const state = new PluginState(api);
    api.registers = false;
    const directory = expected(api.stateDir);
    assert.equal(state.directory(), directory);
    const store = await state.open();
    await store.close();
    assert.ok(existsSync(path.join(directory, "concertina.sqlite")), directory);
  }
});

test("if the host uses another engine, log and status report it with the remedy", async () => {
  const set = "openclaw config set plugins.slots.contextEngine concertina";
  for (const [config, says] of [
    [{}, "plugins.slots.contextEngine is not set, as after a reinstallation"],
    [{ plugins: { slots: { contextEngine: "legacy" } } }, 'plugins.slots.contextEngine is "legacy"'],
  ]) {
    const api = registered({ config });
    api.hooks.gateway_start();
    const [line] = api.lines;
    assert.ok(line.startsWith(`concertina: not in use: ${says}`) && line.includes(set), line);
    const { engine, why } = await statusOf(new PluginState(hostApi({ config })));
    assert.equal(engine, "inactive");
    assert.ok(
      `concertina: ${why}`.startsWith(`${line}. Before you uninstall it, run "openclaw concertina unfold"`),
      why,
    );
  }
  const api = registered({});
  api.hooks.gateway_start();
  assert.deepEqual(api.lines, []);
  assert.equal((await statusOf(new PluginState(hostApi({})))).engine, "active");
});
