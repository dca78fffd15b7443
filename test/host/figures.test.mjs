// Tests of the figures: the displayed tokens equal those that the provider counted, and the displayed tokens without
// Concertina equal those that the host alone really sends, even if it compacts. Calls made by another engine are
// credited with no savings.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import { countTokens } from "../../index.js";
import { chapterOfCode, chapterOfWords, readingChapters } from "./chapters.mjs";
import { readRows } from "./dialects.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation, idsIn, partsOf } from "./reading.mjs";

const SESSION = "agent:main:work";
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TURNS = 30;
const WINDOW = 200_000;
/**
 * The number of turns with long user messages, which are never folded: together they exceed the window of the host
 * alone.
 */
const LONG = 12;

/** Counts the tokens of a message or of the tool list as a provider does: of texts and arguments. */
function count(part) {
  if (Array.isArray(part)) return countTokens(JSON.stringify(part));
  const rows = readRows({ messages: [part] });
  const texts = rows.flatMap((row) => [
    row.text,
    ...row.calls.flatMap(({ name, args }) => [name, JSON.stringify(args)]),
    ...row.results.map(({ text }) => text),
  ]);
  return texts.reduce((sum, text) => sum + countTokens(text), 0);
}

const turns = readingChapters(TURNS);
const longTurns = Array.from({ length: LONG }, (_, at) => ({
  user: `Here is part ${at}. ${chapterOfWords(at, 400, "in the old harbour.")}`,
  steps: ["I have read it."],
}));
const legacyTurns = Array.from({ length: 5 }, (_, at) => ({ user: `And ${at}?`, steps: ["Yes."] }));

const hosts = [];
const providers = [];
let with_;
let alone;
let fetching;
let figures;
/** The figures of the whole session, with the long turns. */
let grown;
let ofSession;
let analysis;
let health;
/** The number of requests before the long turns. */
let shortOf;

async function startHost(name, plugin) {
  const provider = await startProvider({ count });
  providers.push(provider);
  const host = new Host({ name, provider, cost: COST, contextWindow: WINDOW });
  hosts.push(host);
  for (let at = 0; at < TURNS; at++)
    fs.writeFileSync(path.join(host.workspace, `chapter-${at}.ts`), chapterOfCode(at, 90));
  if (plugin) await host.install(packedPlugin(), { skipCommands: ["seq 1 3000*"] });
  await host.start();
  return { host, provider };
}

const sum = (requests, of) => requests.reduce((total, request) => total + of(request), 0);
const tokensOf = (requests) => sum(requests, ({ tokens }) => tokens);
const dollars = (requests) =>
  sum(requests, ({ tokens, cached }) => ((tokens - cached) * COST.input + cached * COST.cacheRead) / 1e6);
const near = (found, expected, share) =>
  assert.ok(Math.abs(found / expected - 1) < share, `${found} is not within ${share} of ${expected}`);
const commands = (...args) => with_.host.run(["concertina", ...args]);

/** Returns the answer of `/concertina`. */
const slash = (words) => with_.host.slash(SESSION, `/concertina ${words}`.trim());

before(async () => {
  [with_, alone] = await Promise.all([startHost("with Concertina", true), startHost("without", false)]);
  await Promise.all([
    playTurns(with_.host, with_.provider, SESSION, turns),
    playTurns(alone.host, alone.provider, SESSION, turns),
  ]);
  // Without the plugin there is nothing to fetch, so the model answers at once.
  const ids = (request) => idsIn(conversation(request));
  fetching = {
    user: "What was in the first one?",
    steps: [(request) => [{ name: "fetch_original_data", args: { ref_ids: [ids(request)[0]] } }], "This."],
  };
  const thanks = { user: "Thanks.", steps: ["You are welcome."] };
  await Promise.all([
    playTurns(with_.host, with_.provider, SESSION, [fetching, thanks]),
    playTurns(alone.host, alone.provider, SESSION, [{ ...fetching, steps: ["This."] }, thanks]),
  ]);
  // Each is a separate process, so all run in parallel.
  [figures, ofSession, analysis, health] = await Promise.all(
    [["stats"], ["stats", "--session", SESSION], ["analyze", "--session", SESSION], ["status"]].map((args) =>
      with_.host.openclawJson(["concertina", ...args]),
    ),
  );
  shortOf = { with_: with_.provider.requests.length, alone: alone.provider.requests.length };
  await Promise.all([with_, alone].map(({ host, provider }) => playTurns(host, provider, SESSION, longTurns)));
  await alone.host.stop();
  grown = await with_.host.openclawJson(["concertina", "stats"]);
});

after(async () => {
  for (const host of hosts) await host.remove();
  for (const provider of providers) await provider.stop();
});

test("tokens and bill are what the provider counted, exactly", () => {
  const { failures } = with_.provider;
  const requests = with_.provider.requests.slice(0, shortOf.with_);
  assert.deepEqual(failures, []);
  const { unit, total, days, sessions } = figures;
  assert.equal(total.requests, requests.length);
  assert.equal(total.measured, requests.length);
  assert.equal(total.sentTokens, tokensOf(requests));
  assert.equal(unit, "usd");
  assert.ok(Math.abs(total.sentBill - dollars(requests)) < 1e-9, `${total.sentBill} and ${dollars(requests)}`);
  assert.equal(
    sum(days, ({ sentTokens }) => sentTokens),
    total.sentTokens,
  );
  assert.deepEqual(
    sessions.map(({ sessionKey, sentTokens }) => [sessionKey, sentTokens]),
    [[SESSION, total.sentTokens]],
  );
  assert.deepEqual(ofSession.total, total);
});

test("what would have been sent and billed is what the host alone sends and is billed", () => {
  const { total, kinds, fetched } = figures;
  const requests = alone.provider.requests.slice(0, shortOf.alone);
  say(
    `sent ${total.sentTokens}, without ${total.withoutTokens} modelled, ${tokensOf(requests)} really; bill ${total.sentBill.toFixed(4)}, ${total.withoutBill.toFixed(4)} modelled, ${dollars(requests).toFixed(4)} really`,
  );
  near(total.withoutTokens, tokensOf(requests), 0.01);
  near(total.withoutBill, dollars(requests), 0.01);
  assert.ok(total.sentTokens < 0.8 * total.withoutTokens);
  assert.deepEqual([total.fetches, fetched.length, fetched[0].sessionId !== null], [1, 1, true]);
  assert.ok(total.fetchTokens > fetched[0].tokens, "a fetch is charged with the request that it takes");
  assert.ok(
    total.overheadTokens > 50 * total.requests && total.overheadTokens < 300 * total.requests,
    String(total.overheadTokens),
  );
  assert.ok(
    kinds.some(({ kind, before, after }) => kind === "tool results" && before > 2 * after),
    JSON.stringify(kinds),
  );
});

test("what would have been is within a tenth of what the host alone sends and is billed also where it compacts", () => {
  const { total } = grown;
  const { requests, others } = alone.provider;
  const summaries = others
    .filter((json) => json.includes("context summarization assistant"))
    .map((json) => ({ tokens: sum(partsOf(JSON.parse(json)), count), cached: 0 }));
  const [tokens, bill] = [tokensOf(requests) + tokensOf(summaries), dollars(requests) + dollars(summaries)];
  say(
    `sent ${total.sentTokens}, without ${total.withoutTokens} modelled, ${tokens} really; bill ${total.sentBill.toFixed(4)}, ${total.withoutBill.toFixed(4)} modelled (${total.withoutLeast.toFixed(4)} to ${total.withoutMost.toFixed(4)}), ${bill.toFixed(4)} really`,
  );
  assert.ok(
    summaries.length > 0 && total.compacting > 0,
    `${summaries.length} summaries, ${total.compacting} modelled`,
  );
  assert.equal(total.sentTokens, tokensOf(with_.provider.requests.slice(0, total.requests)));
  near(total.withoutTokens, tokens, 0.1);
  near(total.withoutBill, bill, 0.1);
  assert.ok(total.withoutLeast <= total.withoutBill && total.withoutBill <= total.withoutMost);
  assert.ok(total.sentTokens < tokens);
});

/** Returns the sums of the rows of the store that match a condition. */
function rowsOf(condition) {
  const database = new DatabaseSync(figures.store.path, { readOnly: true });
  try {
    return database
      .prepare(
        `SELECT count(*) AS requests, max(without) AS largest, sum(sent) AS sent, sum(without) AS without FROM requests WHERE ${condition}`,
      )
      .get();
  } finally {
    database.close();
  }
}

test("no request of the host alone is larger than the window", () => {
  const { requests, largest } = rowsOf("true");
  assert.ok(requests > TURNS && largest > 100_000 && largest <= WINDOW, String(largest));
});

test("answers are in no bill of prompts, and in one beside it", async () => {
  const { answered, answerTokens, answerBill, withoutAnswerBill } = figures.total;
  assert.equal(answered, figures.total.requests);
  assert.ok(
    answerTokens > 100 &&
      Math.abs(answerBill - (answerTokens * COST.output) / 1e6) < 1e-9 &&
      withoutAnswerBill < answerBill,
    JSON.stringify(figures.total),
  );
  assert.match((await commands("stats")).output, /and answers +\$[\d.]+, \$[\d.]+ without: /);
});

test("the chat shows whether it is active, and the same figures", async () => {
  const text = await slash("");
  assert.match(text, /Concertina +\d+\.\d+\.\d+, active/);
  assert.match(text, /warnings +none$/m);
  const { total } = grown;
  assert.match(text, new RegExp(`tokens sent +${total.sentTokens.toLocaleString("en-US")}, `));
  assert.match(text, /measured, as the provider reported them/);
});

test("status says that it is active", () => {
  assert.deepEqual([health.engine, health.why, health.conditions], ["active", null, []]);
  assert.ok(health.lastFoldAt > Date.now() - 3_600_000);
  assert.ok(fs.existsSync(health.store.path));
});

test("a session is analysed as the plugin would fold it", () => {
  const { read, failed, total, unit } = analysis;
  assert.deepEqual([read.length, failed.length, total.measured, unit], [1, 0, 0, "usd"]);
  assert.equal(total.requests, shortOf.with_);
  assert.ok(total.sentTokens < 0.8 * total.withoutTokens);
});

/** Makes the host use another engine from now on. */
async function useEngine(contextEngine) {
  const { host } = with_;
  await host.stop();
  const config = host.readConfig();
  host.writeConfig({ ...config, plugins: { ...config.plugins, slots: { ...config.plugins.slots, contextEngine } } });
  await host.start();
}

test("calls that another engine made are credited with nothing, and counted", async () => {
  await useEngine("legacy");
  const played = await playTurns(with_.host, with_.provider, SESSION, legacyTurns);
  await useEngine("concertina");
  await playTurns(with_.host, with_.provider, SESSION, [{ user: "Back?", steps: ["Yes."] }]);
  const { total } = await with_.host.openclawJson(["concertina", "stats"]);
  const others = played.flatMap(({ requests }) => requests);
  const bypassed = rowsOf("growth_reported IS NULL AND sent > 0");
  assert.deepEqual([total.bypassed, bypassed.requests], [others.length, others.length]);
  assert.deepEqual([bypassed.sent, bypassed.without], [tokensOf(others), tokensOf(others)]);
  assert.equal(total.sentTokens, tokensOf(with_.provider.requests));
  assert.equal(total.requests, with_.provider.requests.length);
});

test("a session that is switched off is folded no more, until it is switched on", async () => {
  const printing = (last) => ({
    user: `Print up to ${last}.`,
    steps: [[{ name: "exec", args: { command: `seq 1 ${last}` } }], "Printed."],
  });
  const shownIn = (turn) => turn.requests[1].rows.flatMap(({ results }) => results).at(-1).text;
  const play = async (last) => shownIn((await playTurns(with_.host, with_.provider, SESSION, [printing(last)]))[0]);
  assert.match(await slash("off"), /Nothing more is folded/);
  assert.match(await play(3999), /3998\n3999/);
  assert.match(await slash("status"), /inactive: it is switched off in this session/);
  assert.match(await slash("on"), /folded again/);
  assert.doesNotMatch(await play(4001), /3998\n3999/);
  assert.match(await play(3000), /2998\n2999/, "skipCommands");
});

test("the command line says what it does not know, and what it could", async () => {
  const unknown = [
    ["stats", "--session", "nobody"],
    ["purge", "--session", "nobody", "--yes"],
    ["unfold", "--session", "nobody"],
    ["analyze", "--session", "nobody"],
  ];
  const [bare, ...refused] = await Promise.all([commands(), ...unknown.map((args) => commands(...args))]);
  assert.deepEqual([bare.code, /Commands:/.test(bare.output)], [0, true], bare.errors);
  for (const { code, errors } of refused) {
    assert.equal(code, 1);
    assert.match(errors, /there is no session "nobody"\. These are known:\n +[0-9a-f-]{36} +agent:main:work/);
  }
});

test("a purge takes the key of a conversation", async () => {
  const { code, output } = await commands("purge", "--session", SESSION, "--yes", "--json");
  assert.equal(code, 0);
  assert.ok(JSON.parse(output).originals > 10, output);
  const { total } = await with_.host.openclawJson(["concertina", "stats"]);
  assert.equal(total.requests, 0);
});
