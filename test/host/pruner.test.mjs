// The host's own pruner, switched on: what it does to folded and fetched results, and what its operator is told.

import assert from "node:assert/strict";
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
const steps = Array.from({ length: 300 }, (_, at) => `step ${at} of ${(at * 7919) % 9973}: took ${(at * 104_729) % 991} ms`).join("\n");
const chapter = (number) => Array.from({ length: 200 }, (_, at) => `const value_${number}_${at} = compute_${(at * 7919 + number * 104_729) % 99_991}("${((at + 1) * (number + 3) * 2_654_435_761).toString(36)}");`).join("\n");
const numbers = Array.from({ length: 9 }, (_, at) => at);

const running = [];

after(async () => {
  for (const each of running) await (each.remove ?? each.stop).call(each);
});

/** A host whose pruner is on, with files for about 130,000 characters of context. */
async function startHost(name, pruning, change = (config) => config) {
  const provider = await startProvider();
  running.push(provider);
  const host = new Host({ name, provider, api: "anthropic-messages", contextWindow: 100_000 });
  running.push(host);
  fs.writeFileSync(path.join(host.workspace, "steps.log"), steps);
  for (const number of numbers) fs.writeFileSync(path.join(host.workspace, `chapter-${number}.ts`), chapter(number));
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
  { user: "Read the chapters.", steps: [numbers.map((number) => ({ name: "read", args: { path: `chapter-${number}.ts` } })), "Read."] },
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
  assert.match(findResult(whole.requests[0], about("chapter-0.ts")).text, /Tool result trimmed/);
  assert.equal(warnings(host).length, 1);
  assert.match(warnings(host)[0], /fetched originals are kept out of it/);
  assert.deepEqual(provider.failures, []);
  await host.stop();
});

test("with an Anthropic API key the provider is asked to clear old results, and not the fetched ones that the configuration names", async () => {
  const { host, provider } = await startHost("pruned by Anthropic", { mode: "cache-ttl", tools: { deny: [FETCH] } }, (config, { url }) => {
    const { scripted } = config.models.providers;
    config.models.providers = { anthropic: { ...scripted, baseUrl: "https://api.anthropic.com", apiKey: "sk-ant-api03-none" } };
    config.agents.defaults.model.primary = "anthropic/scripted";
    running.at(-1).env = { NODE_OPTIONS: `--import=${path.join(import.meta.dirname, "as-anthropic.mjs")}`, CONCERTINA_SCRIPTED_MODEL: url };
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
