// Tests with two gateways, one with Concertina and one without, that play the same sessions: a long session and a
// working session. With Concertina less is sent. The displayed tokens equal those that the provider counted, and the
// displayed tokens without Concertina equal those that the host alone really sends, even if it compacts. Calls made by
// another engine are credited with no savings.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";

import { countTokens } from "../../index.js";
import { chapterOfCode, chapterOfWords, readingChapters } from "./chapters.mjs";
import { readRows } from "./dialects.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns, totalChars } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation, idsIn, partsOf, prefixBreaks, prefixShare } from "./reading.mjs";
import { fillWorkspace, turns as workingTurns } from "./session.mjs";

const SESSION = "agent:main:work";
const WORKING = "agent:main:orders";
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TURNS = 30;
const WINDOW = 200_000;
/**
 * The number of turns with long user messages, which are never folded: together they exceed the window of the host
 * alone.
 */
const LONG = 12;
/**
 * The minimum number of tokens that a warm epoch frees in a context that is not small (MIN_BATCH_TOKENS in
 * src/plan/economics.rs).
 */
const LEAST_BATCH = 1500;

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

const chapter = (number) => chapterOfCode(number, 90);
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
/** The turns of the session as both played them. */
let played;
let baseline;
let figures;
/** The figures of the whole session, with the long turns. */
let grown;
let ofSession;
let analysis;
let health;
/** The number of requests of each before the long turns, and the log of the gateway with Concertina. */
let shortOf;

async function startHost(name, plugin) {
  const provider = await startProvider({ count });
  providers.push(provider);
  const host = new Host({ name, provider, cost: COST, contextWindow: WINDOW });
  hosts.push(host);
  fillWorkspace(host.workspace);
  for (let at = 0; at < TURNS; at++) fs.writeFileSync(path.join(host.workspace, `chapter-${at}.ts`), chapter(at));
  if (plugin) await host.install(packedPlugin(), { protect: ["command:seq 1 3000*"] });
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

/** Plays turns on both gateways. */
const playBoth = (sessionKey, ofWith, ofAlone = ofWith) =>
  Promise.all([
    playTurns(with_.host, with_.provider, sessionKey, ofWith),
    playTurns(alone.host, alone.provider, sessionKey, ofAlone),
  ]);

before(async () => {
  [with_, alone] = await Promise.all([startHost("with Concertina", true), startHost("without", false)]);
  [played, baseline] = await playBoth(SESSION, turns);
  const fetch = (request) => [
    { name: "fetch_original_data", args: { ref_ids: idsIn(conversation(request)).slice(0, 1) } },
  ];
  const fetching = { user: "What was in the first one?", steps: [fetch, "This."] };
  const thanks = { user: "Thanks.", steps: ["You are welcome."] };
  // Without the plugin there is nothing to fetch, so the model answers at once.
  await playBoth(SESSION, [fetching, thanks], [{ ...fetching, steps: ["This."] }, thanks]);
  // Each is a separate process, so all run in parallel.
  [figures, ofSession, analysis, health] = await Promise.all(
    [["stats"], ["stats", "--session", SESSION], ["analyze", "--session", SESSION], ["status"]].map((args) =>
      with_.host.openclawJson(["concertina", ...args]),
    ),
  );
  shortOf = {
    with_: with_.provider.requests.length,
    alone: alone.provider.requests.length,
    log: with_.host.log,
  };
  await playBoth(SESSION, longTurns);
  grown = await with_.host.openclawJson(["concertina", "stats"]);
});

after(async () => {
  for (const host of hosts) await host.remove();
  for (const provider of providers) await provider.stop();
});

test("tokens and bill are exactly what the provider counted", () => {
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

test("the estimate without Concertina equals what the host alone sends and is billed", () => {
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

test("with compaction the estimate without Concertina is within a tenth of what the host alone sends and is billed", () => {
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

test("answers are in the bill with answers and not in that of prompts", async () => {
  const { answered, answerTokens, answerBill, withoutAnswerBill } = figures.total;
  assert.equal(answered, figures.total.requests);
  assert.ok(
    answerTokens > 100 &&
      Math.abs(answerBill - (answerTokens * COST.output) / 1e6) < 1e-9 &&
      withoutAnswerBill < answerBill,
    JSON.stringify(figures.total),
  );
  assert.match((await commands("stats")).output, /with answers +\$[\d.]+, \$[\d.]+ without: /);
});

test("the chat shows the status and the same figures", async () => {
  const text = await slash("");
  assert.match(text, /Concertina +\d+\.\d+\.\d+, active/);
  assert.match(text, /warnings +none$/m);
  const { total } = grown;
  assert.match(text, new RegExp(`tokens sent +${total.sentTokens.toLocaleString("en-US")}, `));
  assert.match(text, /measured, as the provider reported them/);
});

test("status reports that the engine is active", () => {
  const problems = health.findings.filter(({ level }) => level === "failure" || level === "warning");
  assert.deepEqual([health.engine, health.why, problems], ["active", null, []]);
  assert.ok(health.lastFoldAt > Date.now() - 3_600_000);
  assert.ok(fs.existsSync(health.store.path));
});

test("a session is analysed as the plugin would fold it", () => {
  const { read, failed, total, unit } = analysis;
  assert.deepEqual([read.length, failed.length, total.measured, unit], [1, 0, 0, "usd"]);
  assert.equal(total.requests, shortOf.with_);
  assert.ok(total.sentTokens < 0.8 * total.withoutTokens);
});

test("thirty turns send at most 55 % of the characters, and each changed prefix is a logged epoch", () => {
  const saved = 1 - totalChars(played) / totalChars(baseline);
  say(
    `characters sent in thirty turns: ${totalChars(baseline)} without, ${totalChars(played)} with, ${(100 * saved).toFixed(1)} % saved`,
  );
  assert.ok(saved >= 0.45, `saved ${saved}`);
  assert.doesNotMatch(shortOf.log, /degraded|quarantin|concertina:/i);
  const { epochs } = figures;
  const requests = with_.provider.requests.slice(0, shortOf.with_);
  const breaks = prefixBreaks(requests);
  say(
    `${breaks.length} prefix breaks, ${epochs.length} epochs: ${epochs.map(({ reason, tokensFreed }) => `${reason} ${tokensFreed}`).join(", ")}`,
  );
  say(`share of the prompt sent unchanged: ${prefixShare(requests).toFixed(3)}`);
  assert.ok(epochs.length > 0);
  assert.equal(breaks.length, epochs.length);
  assert.ok(epochs.every(({ tokensFreed }) => tokensFreed >= LEAST_BATCH));
  assert.ok(idsIn(conversation(requests.at(-1))).length > 10);
});

test("the text of a placeholder is enough to fetch the relevant lines", async () => {
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
  const asking = [{ user: "What were those lines?", steps: [ask, "These."] }];
  const [turn] = await playTurns(with_.host, with_.provider, SESSION, asking);
  assert.equal(asked.length, 5);
  const answers = turn.requests
    .at(-1)
    .rows.flatMap(({ results }) => results)
    .slice(-asked.length)
    .map(({ text }) => text);
  asked.forEach(({ name }, index) => assert.ok(answers[index].includes(name), `${name} is in\n${answers[index]}`));
  const mean = Math.round(sum(answers, ({ length }) => length) / answers.length);
  say(`a fetched answer has ${mean} characters on average, of originals of ${chapter(1).length}`);
  assert.ok(mean < chapter(1).length / 5);
});

test("calls of another engine are counted and credited with nothing", async () => {
  const useEngine = (name) => with_.host.configure(({ plugins }) => (plugins.slots.contextEngine = name));
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

test("nothing more is folded in a session that is switched off until it is switched on", async () => {
  const printing = (last) => ({
    user: `Print up to ${last}.`,
    steps: [[{ name: "exec", args: { command: `seq 1 ${last}` } }], "Printed."],
  });
  const shownIn = (turn) => turn.requests[1].rows.flatMap(({ results }) => results).at(-1).text;
  const play = async (last) => shownIn((await playTurns(with_.host, with_.provider, SESSION, [printing(last)]))[0]);
  assert.match(await slash("off"), /Nothing more is folded/);
  assert.match(await play(3999), /3998\n3999/);
  assert.match(await slash("status"), /inactive: it is switched off in this session/);
  assert.match(await slash("on"), /Folding is on/);
  assert.doesNotMatch(await play(4001), /3998\n3999/);
  assert.match(await play(3000), /2998\n2999/, "protect");
});

test("an unknown session is an error that lists the known ones", async () => {
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
    assert.match(errors, /there is no session "nobody"\. Known sessions:\n +[0-9a-f-]{36} +agent:main:work/);
  }
});

test("purge accepts a session key", async () => {
  const { code, output } = await commands("purge", "--session", SESSION, "--yes", "--json");
  assert.equal(code, 0);
  assert.ok(JSON.parse(output).originals > 10, output);
  const { total } = await with_.host.openclawJson(["concertina", "stats"]);
  assert.equal(total.requests, 0);
});

describe("in a working session", () => {
  let ofWith;
  let ofAlone;

  before(async () => ([ofWith, ofAlone] = await playBoth(WORKING, workingTurns)));

  test("with the defaults the requests are at least 45 % smaller than without the plugin", () => {
    const [before, after] = [totalChars(ofAlone), totalChars(ofWith)];
    const saved = 1 - after / before;
    say(`characters sent: ${before} without, ${after} with, ${(100 * saved).toFixed(1)} % saved`);
    for (const [name, all] of Object.entries({ without: ofAlone, with: ofWith })) {
      const share = prefixShare(all.flatMap(({ requests }) => requests));
      const times = all
        .slice(1)
        .map(({ ms }) => ms)
        .sort((a, b) => a - b);
      say(`share of the prompt sent unchanged ${name}: ${share.toFixed(3)}`);
      say(`a turn ${name}: median ${times[times.length >> 1]} ms, longest ${times.at(-1)} ms (after the first)`);
    }
    assert.ok(saved >= 0.45, `saved ${saved}`);
  });

  test("the system prompt explains the host's memory as it does without the plugin", () => {
    const section = ({ requests: [{ rows }] }) =>
      /## Memory Recall\n((?![#<]).+\n?)+/.exec(rows.find(({ role }) => role === "system").text)?.[0].trim();
    assert.ok(section(ofAlone[0]));
    for (const turn of ofWith) assert.equal(section(turn), section(ofAlone[0]));
  });
});
