// Tests with the host's own pruner: what it does to folded and fetched results, and what its operator is told.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { chapterOfWords } from "./chapters.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, idsIn } from "./reading.mjs";

const FETCH = "fetch_original_data";
const COMMAND = "cat steps.log";
/** About 12,000 characters that stages cannot shorten without an id. */
const steps = Array.from(
  { length: 170 },
  (_, at) => `step ${at} leaves ${createHash("sha256").update(`step ${at}`).digest("hex").slice(0, 48)}`,
).join("\n");
/** Returns about 11,000 characters. The context must be long for the host but not full. */
const chapter = (number) => chapterOfWords(number, 110, "and writes that down before evening.");
const numbers = Array.from({ length: 14 }, (_, at) => at);

const CUT = "agent:main:cut";
const WHOLE = "agent:main:whole";
/** The session that uses Anthropic's own service. */
const CLEARED = "agent:other:cleared";

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "pruned", provider, api: "anthropic-messages", contextWindow: 100_000 });
  fs.writeFileSync(path.join(host.workspace, "steps.log"), steps);
  for (const number of numbers) fs.writeFileSync(path.join(host.workspace, `chapter-${number}.txt`), chapter(number));
  await host.install(packedPlugin(), { sccsCompressThreshold: 3000 });
  const config = host.readConfig();
  const { providers } = config.models;
  const url = `http://api.anthropic.com:${new URL(provider.url).port}`;
  providers.anthropic = {
    ...providers.scripted,
    baseUrl: url,
    apiKey: "sk-ant-api03-none",
    request: { allowPrivateNetwork: true },
  };
  config.agents.entries.other = { workspace: host.workspace, model: { primary: "anthropic/scripted" } };
  config.agents.defaults.contextPruning = { mode: "cache-ttl", ttl: "1s" };
  host.writeConfig(config);
  host.env.NODE_OPTIONS = `--import=${path.join(import.meta.dirname, "as-anthropic.mjs")}`;
  await host.start();
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

/** Folds a result, fetches it, and continues reading until both are old. */
const session = [
  { user: "Show the steps.", steps: [[{ name: "exec", args: { command: COMMAND } }], "Shown."] },
  { user: "What were they exactly?", recall: COMMAND },
  {
    user: "Read the chapters.",
    steps: [numbers.map((number) => ({ name: "read", args: { path: `chapter-${number}.txt` } })), "Read."],
  },
  { user: "Go on.", steps: ["Going on."] },
  { user: "Go on.", steps: ["Going on."] },
  { user: "Go on.", steps: ["Going on."] },
];
const last = [{ user: "And now?", steps: ["Nothing."] }];

const isFetch = ({ name }) => name === FETCH;
const warnings = () => host.log.split("\n").filter((line) => line.includes("the host's own pruner is on"));

/** Plays the session, waits until the cache is cold, and continues. */
async function prunedTurn(sessionKey) {
  await playTurns(host, provider, sessionKey, session);
  await sleep(1500);
  const [turn] = await playTurns(host, provider, sessionKey, last);
  return turn.requests[0];
}

test("where the host prunes after a pause, a fetched original is cut in words, and its operator is told what keeps it whole", async () => {
  const request = await prunedTurn(CUT);
  const arrived = findResult(request, isFetch).text;
  say(`of ${steps.length} characters arrive ${arrived.length}: ${JSON.stringify(arrived.slice(-120))}`);
  assert.match(arrived, /\[Tool result trimmed: kept first 1500 chars and last 1500 chars of \d+ chars\.\]$/);
  assert.equal(idsIn(findResult(request, about(COMMAND)).text).length, 1);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0], /contextPruning\.tools\.deny: \["fetch_original_data"\]/);
});

test("where the configuration says so, a fetched original stays whole, and others are cut", async () => {
  await host.stop();
  const config = host.readConfig();
  config.agents.defaults.contextPruning.tools = { deny: [FETCH] };
  host.writeConfig(config);
  host.log = "";
  await host.start();
  const request = await prunedTurn(WHOLE);
  assert.equal(findResult(request, isFetch).text, steps);
  assert.match(findResult(request, about("chapter-0.txt")).text, /Tool result trimmed/);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0], /fetched originals are kept out of it/);
});

test("with an Anthropic API key the provider is asked to clear old results, and not the fetched ones that the configuration names", async () => {
  const played = await playTurns(host, provider, CLEARED, session.slice(0, 2));
  const request = played.at(-1).requests.at(-1);
  const { context_management: asked } = request.body;
  say(`asked of Anthropic: ${JSON.stringify(asked)}`);
  const clearing = asked.edits.find(({ type }) => type === "clear_tool_uses_20250919");
  assert.deepEqual(clearing.keep, { type: "tool_uses", value: 3 });
  assert.deepEqual(clearing.exclude_tools, [FETCH]);
  assert.equal(findResult(request, isFetch).text, steps);
  assert.equal(warnings().length, 2);
  assert.match(warnings()[1], /the provider is asked to clear all but the three newest/);
  assert.deepEqual(provider.failures, []);
});
