// Tests of every option of the plugin in a real host: with a valid and an invalid value, on the settings page, and with
// an unknown name.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { at, leaves, put, UNKNOWN, VALUES } from "../options.mjs";
import { Host, packedPlugin } from "./host.mjs";
import { startProvider } from "./provider.mjs";

const CONFIG = "plugins.entries.concertina.config";
const NOT_IN_USE =
  /^concertina: not in use: plugins\.slots\.contextEngine is not set, as after a reinstallation\. Run "openclaw config set plugins\.slots\.contextEngine concertina"$/;

const goodValues = Object.entries(VALUES).map(([name, [good]]) => [name, good]);
/** A typo of each option's name, with the options that a newer version may have. */
const typos = goodValues.filter(([name]) => name !== "sccsStoreUrl").map(([name, good]) => [`${name}er`, good]);
const unknown = [
  ...typos,
  ["planner", { deep: { er: [1] } }],
  ["rules.sources", { remote: { url: "x" } }],
  ...Object.entries(UNKNOWN),
];
/** Returns the options of some dotted names. */
function optionsOf(entries) {
  const options = {};
  for (const [name, value] of entries) put(options, name, value);
  return options;
}

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "options", provider });
  await host.install(packedPlugin());
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

/** Waits until the log has `count` lines of ours. */
async function linesLogged(count) {
  for (const end = Date.now() + 60_000; host.ownLines.length < count && Date.now() < end;) await sleep(100);
  return host.ownLines;
}

/** Returns the texts of the findings that need attention. */
const problemsIn = (findings) =>
  findings.filter(({ level }) => level === "failure" || level === "warning").map(({ text }) => text);

test("valid options are accepted and used", async () => {
  const [manifest] = fs.globSync("npm/projects/**/openclaw-concertina/openclaw.plugin.json", { cwd: host.state });
  const { configSchema } = JSON.parse(fs.readFileSync(path.join(host.state, manifest), "utf8"));
  assert.deepEqual(
    Object.keys(VALUES).toSorted(),
    leaves(configSchema)
      .map(([name]) => name)
      .toSorted(),
    "each option of the schema is tried",
  );
  const batch = goodValues.map(([name, value]) => ({ path: `${CONFIG}.${name}`, value }));
  await host.openclaw(["config", "set", "--batch-json", JSON.stringify(batch)]);
  const { options, findings, engine, store } = await host.openclawJson(["concertina", "status"]);
  assert.deepEqual(
    [problemsIn(findings), engine, path.dirname(store.path)],
    [[], "active", path.join(host.state, "concertina/elsewhere")],
  );
  for (const [name, good] of goodValues) assert.deepEqual(at(options, name), name === "rules.level" ? 1 : good, name);
});

test("if no engine is set, as after a reinstallation, the log reports it when the gateway starts", async () => {
  await host.configure(({ plugins }) => {
    delete plugins.slots;
    plugins.entries.concertina.config = optionsOf(unknown);
  });
  await host.start();
  const lines = await linesLogged(1 + unknown.length);
  assert.equal(lines.filter((line) => NOT_IN_USE.test(line)).length, 1, lines.join("\n"));
});

test("unknown options of a newer version do not stop the gateway, and log and status report each", async () => {
  const lines = host.ownLines.filter((line) => !NOT_IN_USE.test(line));
  await host.configure(({ plugins }) => (plugins.slots = { contextEngine: "concertina" }));
  const { findings, engine } = await host.openclawJson(["concertina", "status"]);
  const options = problemsIn(findings);
  assert.equal(engine, "active");
  assert.deepEqual(lines.toSorted(), options.map((line) => `concertina: ${line}`).toSorted());
  for (const [name] of typos) {
    if (name.startsWith("fusion.stages")) continue;
    assert.ok(options.includes(`${name} is not an option; it is ignored`), `${name} in\n${options.join("\n")}`);
  }
  const chat = await host.slash("agent:main:work", "/concertina status");
  // The host cuts a chat message that is as long as this one.
  const [shown] = chat.split("...(truncated)...");
  const listed = options.filter((line) => shown.includes(line));
  assert.deepEqual(listed, shown === chat ? options : options.slice(0, listed.length));
  assert.ok(listed.length > 20, chat);
});

test("the settings page shows each option with label, help and section, and hides only the address", async () => {
  await host.setOptions(optionsOf(goodValues));
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

test("each invalid value is refused by name", async () => {
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
