// Tests of the cache-aware schedule in a real host: epochs are rare and logged, a cold session is folded at once, a
// full window needs no compaction.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";

import { chapterOfCode, readingChapters } from "./chapters.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns, totalChars } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation, idsIn, prefixBreaks, prefixShare } from "./reading.mjs";

const SESSION = "agent:main:work";
const SMALL = "agent:other:work";
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const HOUR_MS = 3_600_000;
/**
 * The minimum number of tokens that a warm epoch frees in a context that is not small (MIN_BATCH_TOKENS in
 * src/plan/economics.rs).
 */
const LEAST_BATCH = 1500;

const hosts = [];
const providers = [];

after(async () => {
  for (const host of hosts) await host.remove();
  for (const provider of providers) await provider.stop();
});

const chapter = (number) => chapterOfCode(number, 130);

/** Adds the scripted model once more, with a smaller window, for the agent `other`. */
function addSmallWindow(host) {
  const config = host.readConfig();
  const { models } = config.models.providers.scripted;
  models.push({ ...models[0], id: "small", contextWindow: 32_000 });
  config.agents.entries.other = { workspace: host.workspace, model: { primary: "scripted/small" } };
  host.writeConfig(config);
}

async function startHost(name, plugin) {
  const provider = await startProvider();
  providers.push(provider);
  const host = new Host({ name, provider, cost: COST });
  hosts.push(host);
  for (let at = 0; at < 40; at++) fs.writeFileSync(path.join(host.workspace, `chapter-${at}.ts`), chapter(at));
  if (plugin) await host.install(packedPlugin());
  addSmallWindow(host);
  await host.start();
  return { host, provider };
}

/** Simulates elapsed time for a stopped host: makes every answer of the model in its transcripts older. */
function makeOlder(host, byMs) {
  const database = new DatabaseSync(path.join(host.state, "agents", "main", "agent", "openclaw-agent.sqlite"));
  const write = database.prepare(
    "UPDATE transcript_events SET event_json = ?, event_zstd = NULL, event_utf8_bytes = NULL WHERE session_id = ? AND seq = ?",
  );
  let changed = 0;
  for (const row of database.prepare("SELECT session_id, seq, event_json, event_zstd FROM transcript_events").all()) {
    const event = JSON.parse(row.event_json ?? zstdDecompressSync(row.event_zstd).toString());
    if (event.message?.role !== "assistant") continue;
    event.message.timestamp -= byMs;
    write.run(JSON.stringify(event), row.session_id, row.seq);
    changed++;
  }
  database.close();
  assert.ok(changed > 0, "the transcripts hold answers");
}

let long;
let alone;

before(async () => {
  long = await startHost("with Concertina", true);
  alone = await startHost("without", false);
});

test("thirty turns send at most 55 % of the characters, and their prefix breaks as often as an epoch is logged", async () => {
  const { host, provider } = long;
  const [played, baseline] = await Promise.all(
    [long, alone].map(({ host, provider }) => playTurns(host, provider, SESSION, readingChapters(30))),
  );
  const saved = 1 - totalChars(played) / totalChars(baseline);
  say(
    `characters sent in thirty turns: ${totalChars(baseline)} without, ${totalChars(played)} with, ${(100 * saved).toFixed(1)} % saved`,
  );
  assert.ok(saved >= 0.45, `saved ${saved}`);
  assert.deepEqual(provider.failures, []);
  assert.doesNotMatch(host.log, /degraded|quarantin|concertina:/i);
  const { epochs } = await host.openclawJson(["concertina", "stats"]);
  const breaks = prefixBreaks(provider.requests);
  say(
    `${breaks.length} prefix breaks, ${epochs.length} epochs: ${epochs.map(({ reason, tokensFreed }) => `${reason} ${tokensFreed}`).join(", ")}`,
  );
  say(`share of the prompt sent unchanged: ${prefixShare(provider.requests).toFixed(3)}`);
  assert.ok(epochs.length > 0);
  assert.equal(breaks.length, epochs.length);
  assert.ok(epochs.every(({ tokensFreed }) => tokensFreed >= LEAST_BATCH));
  assert.ok(idsIn(conversation(provider.requests.at(-1))).length > 10);
});

test("the words of a placeholder are enough to fetch the lines that matter", async () => {
  const { host, provider } = long;
  const told = /\[REF_ID: (?<id>[0-9a-f]+)\] \(Summary: [^[]*? L(?<line>\d+) (?<name>[^\s)]+)/;
  let asked = [];
  const ask = (request) => {
    const texts = request.rows.flatMap(({ results }) => results).map(({ text }) => told.exec(text)?.groups);
    asked = texts.filter((groups) => groups !== undefined).slice(-5);
    return asked.map(({ id, line }) => ({
      name: "fetch_original_data",
      args: { ref_ids: [`${id}:${line}-${Number(line) + 9}`] },
    }));
  };
  const [turn] = await playTurns(host, provider, SESSION, [{ user: "What were those lines?", steps: [ask, "These."] }]);
  assert.equal(asked.length, 5);
  const answers = turn.requests
    .at(-1)
    .rows.flatMap(({ results }) => results)
    .slice(-asked.length)
    .map(({ text }) => text);
  asked.forEach(({ name }, index) => assert.ok(answers[index].includes(name), `${name} is in\n${answers[index]}`));
  const mean = Math.round(answers.reduce((sum, { length }) => sum + length, 0) / answers.length);
  say(`a fetched answer has ${mean} characters on average, of originals of ${chapter(1).length}`);
  assert.ok(mean < chapter(1).length / 5);
});

test("a session that is resumed cold is folded at once", async () => {
  const { host, provider } = long;
  await host.stop();
  makeOlder(host, HOUR_MS);
  await host.start();
  const before = idsIn(conversation(provider.requests.at(-1))).length;
  const [turn] = await playTurns(host, provider, SESSION, [{ user: "Good morning again.", steps: ["Good morning."] }]);
  const { epochs } = await host.openclawJson(["concertina", "stats"]);
  assert.equal(epochs[0].reason, "cold: idle");
  assert.ok(idsIn(conversation(turn.requests[0])).length > before);
});

test("a window that makes the host alone compact twice needs no compaction", async () => {
  const count = (requests) =>
    new Set(
      requests.map((request) => /compacted into the following summary[\s\S]{0,400}/.exec(conversation(request))?.[0]),
    ).size - 1;
  const compactions = [];
  for (const { host, provider } of [alone, long]) {
    const others = provider.others.length;
    const played = await playTurns(host, provider, SMALL, readingChapters(24));
    compactions.push(count(played.flatMap(({ requests }) => requests)));
    say(
      `small window, ${host.name}: ${compactions.at(-1)} compactions, ${provider.others.length - others} requests of the host's own`,
    );
  }
  assert.ok(compactions[0] >= 2, `the host alone compacted ${compactions[0]} times`);
  assert.equal(compactions[1], 0);
});
