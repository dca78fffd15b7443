// Tests of every option of the plugin in a real host: with a valid and an invalid value, on the settings page, and with
// an unknown name.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { at, leaves, put } from "../options.mjs";
import { Host, packedPlugin } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, isFolded } from "./reading.mjs";
import { fillWorkspace, testOutput, turns } from "./session.mjs";

const CONFIG = "plugins.entries.concertina.config";
const RUN_THE_TESTS = turns.find(({ user }) => user.includes("Run the tests"));

/** For each option, an allowed value that is not the default, and one that is not allowed. */
const VALUES = {
  preset: ["max", "huge"],
  schedule: ["every-turn", "sometimes"],
  maxDeferredTurns: [50, 0],
  contextThresholdPercent: [60, 9],
  minTokensToFold: [80, 49],
  thinking: ["keep", "drop"],
  keepNames: [40, -1],
  nameScorer: ["rule", "chance"],
  staleTurns: [6, "soon"],
  thrift: ["high", "greedy"],
  staleCalls: [20, 0],
  models: [{ "*haiku*": { thrift: "high", keepNames: 40 } }, { "*haiku*": { staleCalls: 0 } }],
  minTokensToSqueeze: [300, 1.5],
  keepPreviewChars: [80, null],
  imageAgeTurns: [3, 0],
  compat: ["clawsqueezer", "squeezer"],
  sccsEnabled: [true, "yes"],
  skipCommands: [["git *"], "git *"],
  sccsCompressThreshold: [5000, "a lot"],
  sccsSummaryMaxChars: [200, 49],
  sccsEnableSmartSummary: [false, "no"],
  sccsStorageTtlSeconds: [3600, 599],
  sccsStorageDir: ["concertina/elsewhere", 42],
  // With an address the store would be in a database: see shared-store.test.mjs.
  sccsStoreUrl: ["", { id: "STORE" }],
  sccsStoreNamespace: ["team", 42],
  sccsMaxEntries: [2000, 999],
  storeMaxBytes: [2_000_000, 1000],
  purgeOnReset: [true, 1],
  secrets: ["redact", "publish"],
  skipTools: [["browser_*"], "browser_*"],
  exactTools: [["read"], [1]],
  onlyTools: [["exec"], { exec: true }],
  encoding: ["cl100k_base", "p50k_base"],
  "fusion.enabled": [false, "off"],
  "fusion.stages": [{ rle: false, ionizer: { order: 3 }, nexus: { maxPercent: 20 } }, "none"],
  "rules.refreshEveryTurns": [10, "ten"],
  "rules.level": ["light", 9],
  "rules.maxChars": [4000, 199],
  "rules.files": [["AGENTS.md"], "AGENTS.md"],
  "rules.scope": ["all", "everything"],
  "rules.abbreviations": ["words.json", true],
};

/** Keys that do not exist. */
const UNKNOWN = {
  treshold: 1,
  "models.*haiku*.encoding": "o200k_base",
  "rules.levle": 1,
  "fusion.stages.nope": false,
  "fusion.stages.rle.oder": 3,
};

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "options", provider });
  fillWorkspace(host.workspace);
  await host.install(packedPlugin());
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

const set = (values) =>
  host.run([
    "config",
    "set",
    "--batch-json",
    JSON.stringify(Object.entries(values).map(([name, value]) => ({ path: `${CONFIG}.${name}`, value }))),
  ]);

/** Waits until the log has `count` lines of ours. */
async function linesLogged(count) {
  for (const end = Date.now() + 60_000; host.ownLines.length < count && Date.now() < end;) await sleep(100);
  return host.ownLines;
}

const installedManifest = () => {
  const [found] = fs.globSync("npm/projects/**/openclaw-concertina/openclaw.plugin.json", { cwd: host.state });
  return path.join(host.state, found);
};

test("good values are taken, and are what the plugin works with", async () => {
  const { configSchema } = JSON.parse(fs.readFileSync(installedManifest(), "utf8"));
  assert.deepEqual(
    Object.keys(VALUES).toSorted(),
    leaves(configSchema)
      .map(([name]) => name)
      .toSorted(),
    "each option of the schema is tried",
  );
  const { code, output, errors } = await set(
    Object.fromEntries(Object.entries(VALUES).map(([name, [good]]) => [name, good])),
  );
  assert.equal(code, 0, `${output}${errors}`);
  const { options, wrongOptions, conditions, engine, store } = await host.openclawJson(["concertina", "status"]);
  assert.deepEqual(
    [wrongOptions, conditions, engine, path.dirname(store.path)],
    [[], [], "active", path.join(host.state, "concertina/elsewhere")],
  );
  for (const [name, [good]] of Object.entries(VALUES))
    assert.deepEqual(at(options, name), name === "rules.level" ? 1 : good, name);
});

test("where no engine is set, as after installing again, the log says so at the gateway's start", async () => {
  const config = host.readConfig();
  delete config.plugins.slots;
  host.writeConfig(config);
  await host.start();
  const [line] = await linesLogged(1);
  assert.match(
    line,
    /^concertina: not in use: plugins\.slots\.contextEngine is not set, as after uninstalling and installing again; "openclaw config set plugins\.slots\.contextEngine concertina" sets it$/,
  );
});

test("the settings page has each option with its label and help, in its section, and hides none but the address with a password", async () => {
  const { uiHints, schema } = await host.call("config.schema", {});
  for (const name of Object.keys(VALUES)) {
    const { label, help, advanced, sensitive, tags } = uiHints[`${CONFIG}.${name}`];
    assert.deepEqual([Boolean(label && help), sensitive === true], [true, name === "sccsStoreUrl"], name);
    assert.equal(advanced, tags[0] !== "basic", name);
  }
  const { groups } = uiHints[CONFIG];
  assert.deepEqual(
    groups.map(({ title }) => title),
    ["Basic", "Advanced", "Expert"],
  );
  const shown = at(schema, "properties.plugins.properties.entries.properties.concertina.properties.config.properties");
  assert.deepEqual(groups.flatMap(({ properties }) => properties).toSorted(), Object.keys(shown).toSorted());
  const { config } = await host.call("config.get", {});
  assert.equal(at(config, CONFIG).secrets, "redact");
});

test("each bad value is refused by name", async () => {
  const before = host.readConfig();
  const { hash } = await host.call("config.get", {});
  const refusal = async (name, value) => {
    const config = structuredClone(before);
    config.plugins.entries.concertina.config = {};
    put(config.plugins.entries.concertina.config, name, value);
    return host.call("config.set", { raw: JSON.stringify(config), baseHash: hash }).then(() => "", String);
  };
  for (const [name, [, bad]] of Object.entries(VALUES))
    assert.ok((await refusal(name, bad)).includes(`${CONFIG}.${name}`), name);
  assert.deepEqual(host.readConfig(), before);
});

// Covers a typo of each option's name, the keys of UNKNOWN, and objects of options as a newer version may have.
test("a configuration of a newer version keeps no gateway from starting: each unknown option is one line in the log and in the status", async () => {
  await host.stop();
  const config = host.readConfig();
  const unknown = Object.keys(VALUES)
    .filter((name) => name !== "sccsStoreUrl")
    .map((name) => [`${name}er`, VALUES[name][0]]);
  const newer = [
    ["planner", { deep: { er: [1] } }],
    ["rules.sources", { remote: { url: "x" } }],
  ];
  const given = {};
  for (const [name, value] of [...unknown, ...newer, ...Object.entries(UNKNOWN)]) put(given, name, value);
  config.plugins.entries.concertina.config = given;
  config.plugins.slots = { contextEngine: "concertina" };
  host.writeConfig(config);
  host.log = "";
  await host.start();
  const lines = await linesLogged(unknown.length + newer.length + Object.keys(UNKNOWN).length);
  const { wrongOptions: options, engine } = await host.openclawJson(["concertina", "status"]);
  assert.equal(engine, "active");
  assert.deepEqual(lines.toSorted(), options.map((line) => `concertina: ${line}`).toSorted());
  for (const [name] of unknown) {
    if (name.startsWith("fusion.stages")) continue;
    assert.ok(
      options.includes(`${name} is not an option; it is ignored. The nearest option is ${name.slice(0, -2)}`),
      `${name} in\n${options.join("\n")}`,
    );
  }
  const chat = await host.slash("agent:main:work", "/concertina status");
  for (const line of options) assert.ok(chat.includes(line), line);
});

test("wrong options that nobody checked cost themselves and are named once, and the plugin is on", async () => {
  await host.stop();
  const manifest = installedManifest();
  fs.writeFileSync(
    manifest,
    JSON.stringify({ ...JSON.parse(fs.readFileSync(manifest, "utf8")), configSchema: { type: "object" } }),
  );
  const config = host.readConfig();
  const wrong = {};
  const named = [
    ...Object.entries(VALUES)
      .map(([name, values]) => [name, values[1]])
      .filter(([name]) => !["fusion.stages", "models", "sccsStoreUrl"].includes(name)),
    ...Object.entries(UNKNOWN),
  ];
  for (const [name, value] of named) put(wrong, name, value);
  config.plugins.entries.concertina.config = wrong;
  config.plugins.slots = { contextEngine: "concertina" };
  host.writeConfig(config);
  host.log = "";
  await host.start();
  const [played] = await playTurns(host, provider, "agent:main:work", [RUN_THE_TESTS]);
  assert.ok(isFolded(findResult(played.requests[1], about("sh run-tests.sh")).text, testOutput(false)));
  assert.ok(fs.existsSync(path.join(host.state, "concertina/concertina.sqlite")));
  const lines = await linesLogged(named.length);
  for (const [name] of named) {
    const about = lines.filter((line) =>
      [" is ", " is not "].some((is) => line.startsWith(`concertina: ${name}${is}`)),
    );
    assert.equal(about.length, 1, `${name} in\n${lines.join("\n")}`);
  }
  assert.equal(lines.length, named.length, lines.join("\n"));
  assert.ok(
    lines.includes(
      'concertina: sccsCompressThreshold is "a lot"; it must be a whole number of at least 2000; using the default 10000',
    ),
    lines.join("\n"),
  );
});
