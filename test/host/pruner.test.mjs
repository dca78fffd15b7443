// The host's own pruner, switched on: what it does to folded and fetched results, and what its operator is told.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, idsIn } from "./reading.mjs";

const FETCH = "fetch_original_data";
const COMMAND = "cat steps.log";
/** About 12,000 characters that no stage can shorten without an id. */
const steps = Array.from({ length: 170 }, (_, at) => `step ${at} leaves ${createHash("sha256").update(`step ${at}`).digest("hex").slice(0, 48)}`).join("\n");
/** About 11,000 characters of words, which are fewer tokens than code of that length: the context must be long for the host and not full. */
const chapter = (number) => Array.from({ length: 110 }, (_, at) => `In chapter ${number} on page ${at} the harbour master counts ${(at * 37 + number) % 91} boats and writes that down before evening.`).join("\n");
const numbers = Array.from({ length: 14 }, (_, at) => at);

const running = [];

after(async () => {
  for (const each of running) await (each.remove ?? each.stop).call(each);
});

/** A host whose pruner is on, with files for about 150,000 characters of context. */
async function startHost(name, pruning, change = (config) => config) {
  const provider = await startProvider();
  running.push(provider);
  const host = new Host({ name, provider, api: "anthropic-messages", contextWindow: 100_000 });
  running.push(host);
  fs.writeFileSync(path.join(host.workspace, "steps.log"), steps);
  for (const number of numbers) fs.writeFileSync(path.join(host.workspace, `chapter-${number}.txt`), chapter(number));
  await host.install(packedPlugin(), { sccsCompressThreshold: 3000 });
  const config = change(host.readConfig(), provider);
  config.agents.defaults.contextPruning = pruning;
  host.writeConfig(config);
  await host.start();
  return { host, provider };
}

/** Folds a result, fetches it back, and reads on until both are old. */
const session = [
  { user: "Show the steps.", steps: [[{ name: "exec", args: { command: COMMAND } }], "Shown."] },
  { user: "What were they exactly?", recall: COMMAND },
  { user: "Read the chapters.", steps: [numbers.map((number) => ({ name: "read", args: { path: `chapter-${number}.txt` } })), "Read."] },
  { user: "Go on.", steps: ["Going on."] },
  { user: "Go on.", steps: ["Going on."] },
  { user: "Go on.", steps: ["Going on."] },
];
const last = [{ user: "And now?", steps: ["Nothing."] }];

const isFetch = ({ name }) => name === FETCH;
const warnings = (host) => host.log.split("\n").filter((line) => line.includes("the host's own pruner is on"));

test("where the host prunes after a pause, a fetched original is cut in words, and kept whole where the configuration says so", async () => {
  const { host, provider } = await startHost("pruned by the host", { mode: "cache-ttl", ttl: "1s" });
  await playTurns(host, provider, "agent:main:cut", session);
  await sleep(1500);
  const [cut] = await playTurns(host, provider, "agent:main:cut", last);
  const arrived = findResult(cut.requests[0], isFetch).text;
  say(`of ${steps.length} characters arrive ${arrived.length}: ${JSON.stringify(arrived.slice(-120))}`);
  assert.match(arrived, /\[Tool result trimmed: kept first 1500 chars and last 1500 chars of \d+ chars\.\]$/);
  assert.equal(idsIn(findResult(cut.requests[0], about(COMMAND)).text).length, 1);
  assert.equal(warnings(host).length, 1);
  assert.match(warnings(host)[0], /contextPruning\.tools\.deny: \["fetch_original_data"\]/);

  const config = host.readConfig();
  config.agents.defaults.contextPruning.tools = { deny: [FETCH] };
  await host.stop();
  host.writeConfig(config);
  host.log = "";
  await host.start();
  await playTurns(host, provider, "agent:main:whole", session);
  await sleep(1500);
  const [whole] = await playTurns(host, provider, "agent:main:whole", last);
  assert.equal(findResult(whole.requests[0], isFetch).text, steps);
  assert.match(findResult(whole.requests[0], about("chapter-0.txt")).text, /Tool result trimmed/);
  assert.equal(warnings(host).length, 1);
  assert.match(warnings(host)[0], /fetched originals are kept out of it/);
  assert.deepEqual(provider.failures, []);
  await host.stop();
});

test("with an Anthropic API key the provider is asked to clear old results, and not the fetched ones that the configuration names", async () => {
  const { host, provider } = await startHost("pruned by Anthropic", { mode: "cache-ttl", tools: { deny: [FETCH] } }, (config, { url }) => {
    const { scripted } = config.models.providers;
    config.models.providers = { anthropic: { ...scripted, baseUrl: `http://api.anthropic.com:${new URL(url).port}`, apiKey: "sk-ant-api03-none", request: { allowPrivateNetwork: true } } };
    config.agents.defaults.model.primary = "anthropic/scripted";
    running.at(-1).env = { NODE_OPTIONS: `--import=${path.join(import.meta.dirname, "as-anthropic.mjs")}` };
    return config;
  });
  const played = await playTurns(host, provider, "agent:main:cleared", session.slice(0, 2));
  const { context_management: asked } = played.at(-1).requests.at(-1).body;
  say(`asked of Anthropic: ${JSON.stringify(asked)}`);
  const clearing = asked.edits.find(({ type }) => type === "clear_tool_uses_20250919");
  assert.deepEqual(clearing.keep, { type: "tool_uses", value: 3 });
  assert.deepEqual(clearing.exclude_tools, [FETCH]);
  assert.equal(findResult(played.at(-1).requests.at(-1), isFetch).text, steps);
  assert.equal(warnings(host).length, 1);
  assert.match(warnings(host)[0], /the provider is asked to clear all but the three newest/);
});
