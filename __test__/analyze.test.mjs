// Tests of what `analyze` measures: recall and edits as in the bench, the charge for fetches, cache misses, costs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { countMessageTokens } from "openclaw-concertina";

import { root } from "../scripts/steps.mjs";
import { run } from "./cli.mjs";
import { freshDir, noise, staleConversation, toolRound, user, written } from "./conversation.mjs";

const require = createRequire(import.meta.url);
const { isCall } = require("../dist/node/lib/recall/transcript.js");
const { progressLine } = require("../dist/node/lib/terminal/progress.js");

const demo = path.join(root, "fixtures", "demo", "taking-over.messages.json.gz");
const MINUTE = 60_000;
const MODEL = "claude-opus-4-6";

const analysed = (...args) => {
  const { stdout, stderr, status } = run("analyze", ...args, "--json");
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
};

/** Returns the replay of a session by the bench, as `analyze` replays it. */
function benchOf(session, options) {
  const file = path.join(freshDir(), "bench.json");
  const asked = ["--mode", "host", "--policies", "cache-aware", "--config", JSON.stringify(options), "--json", file];
  const bench = path.join(root, "bench", "replay", "main.mjs");
  execFileSync(process.execPath, [bench, session, ...asked], { stdio: "ignore" });
  const { figures, sessions, options: used } = JSON.parse(readFileSync(file, "utf8"));
  const ours = ({ policy }) => policy === "cache-aware";
  return { figures: figures.find(ours), row: sessions[0].rows.find(ours), usd: used.usd };
}

/** Replays a session with the bench and with `analyze`, and returns the sums that both counted. */
function comparedWithBench(session, options = {}) {
  const { figures, row, usd } = benchOf(session, options);
  const { recall, fetchBill, unit } = analysed(session, "--options", JSON.stringify(options));
  const { shares, ...tally } = recall;
  for (const [name, value] of Object.entries(tally)) assert.equal(value, row.tally[name], name);
  for (const [name, value] of Object.entries(shares)) assert.equal(value, figures[name], name);
  assert.equal(unit, "usd");
  assert.ok(Math.abs(fetchBill - row.bill.fetches * usd) < 1e-9, `${fetchBill} for ${row.bill.fetches * usd}`);
  return tally;
}

test("recall and the charge for fetches equal those of the bench", () => {
  const usual = comparedWithBench(demo);
  assert.ok(usual.used > 500 && usual.fetches > 0 && usual.edits > 0, JSON.stringify(usual));
  const sparse = { staleCalls: 2, keepNames: 0, sccsCompressThreshold: 1000, keepPreviewChars: 0 };
  assert.ok(comparedWithBench(demo, sparse).unseen > usual.unseen);
});

test("the agreement of an edit whose text was folded equals that of the bench", () => {
  const text = Array.from({ length: 400 }, (_, at) => `\tvalue_${at} := compute(${at * 7919}) // step ${at * 31}`);
  const messages = [user("go"), ...toolRound("r", "read", { path: "a.go" }, text.join("\n"))];
  for (let at = 0; at < 16; at++)
    messages.push(user(`and ${at}?`, 1_000_000 + at), ...toolRound(`c${at}`, "exec", { at }, noise(5, at + 1)));
  const oldText = text.slice(200, 203).join("\n");
  messages.push(user("edit it"), ...toolRound("e", "edit", { path: "a.go", oldText, newText: "x" }, "ok"));
  for (const message of messages) if (message.role === "assistant") message.model = MODEL;
  const tally = comparedWithBench(written("edit.json", JSON.stringify(messages)), {
    fusion: { enabled: false },
    keepNames: 0,
  });
  assert.deepEqual([tally.edits, tally.editsInSight, tally.editsFetched], [1, 0, 1]);
});

test("the saving is net of fetches, in the figures and in the text", () => {
  const { total, fetchBill, read, recall } = analysed(demo);
  assert.ok(fetchBill > 0);
  assert.ok(Math.abs(read[0].saved - (1 - (total.sentBill + fetchBill) / total.withoutBill)) < 1e-12);
  const { stdout } = run("analyze", demo);
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  assert.match(stdout, new RegExp(`^bill of prompts .*: ${percent(read[0].saved)} saved$`, "m"));
  assert.match(
    stdout,
    new RegExp(`^fetches +${recall.fetches} calls needed .*: ${recall.originals} originals, \\$`, "m"),
  );
  assert.match(stdout, new RegExp(`^use recall +${percent(recall.shares.useRecall)} of ${recall.used} uses`, "m"));
  assert.match(stdout, new RegExp(`^copy recall +${percent(recall.shares.copyRecall)} of ${recall.needed} first`, "m"));
  assert.match(stdout, new RegExp(`^edit agreement +100\\.0 % of ${recall.edits} edits, 100\\.0 % without`, "m"));
});

test("the page contains the findings that the text states", () => {
  const file = path.join(freshDir(), "page.html");
  assert.equal(run("analyze", demo, "--html", file).status, 0);
  const [, json] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(readFileSync(file, "utf8"));
  const { replayed } = JSON.parse(json);
  const { stdout } = run("analyze", demo);
  for (const [name, ...lines] of replayed) {
    assert.match(stdout, new RegExp(`^${name} `, "m"));
    for (const line of lines) assert.ok(stdout.includes(line), line);
  }
  assert.ok(replayed.some(([name]) => name === "use recall"));
});

test("the worst session is named with its folder if others have the same name", () => {
  const [one, two] = ["events.json", "events.json"].map((name) => written(name, JSON.stringify(staleConversation())));
  assert.notEqual(one, two);
  const { stdout } = run("analyze", one, two);
  assert.match(stdout, /^worst session +concertina-test-\w+.events\.json: [\d.]+ % saved$/m);
  assert.match(run("analyze", one, demo).stdout, /^worst session +[\w.]+\.json(\.gz)?: [\d.]+ % saved$/m);
});

/** Returns a session of model calls, each `[minute, model, input, cacheRead]`. */
const callsOf = (calls) => [
  user("go", 0),
  ...calls.map(([minute, model, input, cacheRead, more = {}]) => ({
    role: "assistant",
    model,
    content: [{ type: "text", text: "on" }],
    usage: { input, cacheRead, ...more },
    timestamp: minute * MINUTE,
  })),
];

test("recorded cache misses are counted by cause, with what writing costs beyond reading", () => {
  const calls = [
    [0, MODEL, 20_000, 0],
    [1, MODEL, 1000, 20_000],
    [2, MODEL, 1000, 21_000],
    // Six minutes later, the entries of five minutes have expired.
    [8, MODEL, 23_000, 0],
    [9, MODEL, 1000, 22_000],
    // The history was compacted.
    [10, MODEL, 9000, 1000],
    [11, MODEL, 1000, 9500],
    [12, "claude-sonnet-4-5", 12_000, 0],
    [13, "claude-sonnet-4-5", 1000, 12_000],
    [14, "claude-sonnet-4-5", 13_500, 0],
    [15, "claude-sonnet-4-5", 1000, 13_500],
    // It grew by more than its messages.
    [16, "claude-sonnet-4-5", 20_000, 0],
    [17, "claude-sonnet-4-5", 20_000, 0, { output: 4000 }],
    // It grew by the answer before and little more.
    [18, "claude-sonnet-4-5", 25_500, 0],
    [19, "claude-sonnet-4-5", 100, 25_500],
    [20, "claude-sonnet-4-5", 100, 25_600],
    [21, "claude-sonnet-4-5", 100, 25_700],
    [22, "claude-sonnet-4-5", 100, 25_800],
    [23, "claude-sonnet-4-5", 100, 25_900],
    [24, "claude-sonnet-4-5", 100, 26_000],
  ];
  const file = written("misses.json", JSON.stringify(callsOf(calls)));
  const { cacheMisses, unit } = analysed(file);
  assert.equal(cacheMisses.stating, 1);
  assert.equal(unit, "usd");
  const found = Object.fromEntries(
    cacheMisses.causes.map(({ cause, calls: count, tokens }) => [cause, [count, tokens]]),
  );
  assert.deepEqual(found, {
    idle: [1, 22_000],
    edit: [1, 9000],
    model: [1, 10_500],
    tools: [1, 14_500],
    unknown: [3, 13_000 + 40_000],
  });
  assert.match(run("analyze", file).stdout, /^ +tools or system prompt changed: 1 call, 14,500 tokens, \$/m);
  // Opus costs $5 for a million tokens, a written one 1.25 and a read one 0.1 of that.
  const idle = cacheMisses.causes.find(({ cause }) => cause === "idle");
  assert.ok(Math.abs(idle.cost - 22_000 * 1.15 * 5e-6) < 1e-9, String(idle.cost));
});

test("an entry that was written to live for an hour has not expired after six minutes", () => {
  const hour = { cacheWrite: 20_000, cacheWrite1h: 20_000 };
  const calls = [
    [0, MODEL, 10, 0, hour],
    [1, MODEL, 10, 20_000],
    [2, MODEL, 10, 20_000, hour],
    [8, MODEL, 40_500, 100],
  ];
  const { cacheMisses } = analysed(written("hour.json", JSON.stringify(callsOf(calls))));
  assert.deepEqual(
    cacheMisses.causes.map(({ cause }) => cause),
    ["unknown"],
  );
});

test("a recording that states no cache reads has no figure for misses", () => {
  const silent = written("silent.json", JSON.stringify(staleConversation()));
  assert.deepEqual(analysed(silent).cacheMisses, { stating: 0, causes: [] });
  assert.match(run("analyze", silent).stdout, /^cache misses +unknown: no cache reads are recorded$/m);
  const { stdout } = run("analyze", silent, demo);
  assert.match(stdout, /^cache misses .*as recorded in 1 of 2 sessions$/m);
});

test("content costs one write and a read by each later call, and what the model wrote its price as an answer", () => {
  const answer = (text, timestamp) => ({
    role: "assistant",
    model: MODEL,
    content: [{ type: "text", text }],
    timestamp,
  });
  const messages = [
    user("go"),
    ...toolRound("a", "exec", {}, noise(50)),
    answer("one", 2),
    user("on"),
    answer("two", 3),
  ];
  messages[1].model = MODEL;
  const { shares, unit } = analysed(written("costs.json", JSON.stringify(messages)));
  assert.equal(unit, "usd");
  const shareOf = (kind) => shares.find((share) => share.kind === kind);
  const close = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-12, `${value} for ${expected}`);
  const result = shareOf("result of exec");
  close(result.cost, result.tokens * (1.25 + 0.1) * 5e-6);
  // Nothing was sent after the last answer; only its price as an answer counts, which is five times that of input.
  const args = shareOf("tool-call arguments");
  close(args.cost, args.tokens * (1.25 + 0.1 + 5) * 5e-6);
  const unpriced = messages.map((message) => ({ ...message, ...(message.model ? { model: "unheard-of" } : {}) }));
  const tokens = analysed(written("unpriced.json", JSON.stringify(unpriced)));
  assert.equal(tokens.unit, "input tokens");
  close(tokens.shares.find(({ kind }) => kind === "result of exec").cost, result.tokens * (1.25 + 0.1));
});

/** Returns a session with one priced model, of a result and an answer. */
const pricedSession = (...more) => {
  const messages = [user("go"), ...toolRound("a", "exec", {}, noise(50)), ...more];
  messages[1].model = MODEL;
  return messages;
};

test("an answer that the host wrote itself is no call and leaves the bill in dollars", () => {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const own = (fields) => ({ role: "assistant", content: [{ type: "text", text: "limited" }], usage, ...fields });
  const injected = own({ provider: "openclaw", model: "gateway-injected", timestamp: 2_000_000 });
  const synthetic = own({ provider: "anthropic", model: "<synthetic>" });
  const bare = analysed(written("bare.json", JSON.stringify(pricedSession())));
  const costOf = (of) => of.find(({ kind }) => kind === "tool-call arguments").cost;
  for (const message of [injected, synthetic]) {
    assert.equal(isCall(message), false);
    assert.equal(isCall({ ...message, usage: { ...usage, input: 7 } }), true, "it was billed");
    const { unit, total, shares } = analysed(written("own.json", JSON.stringify(pricedSession(message))));
    assert.deepEqual([unit, total.requests], ["usd", bare.total.requests], message.model);
    assert.equal(costOf(shares), costOf(bare.shares));
  }
});

test("a session without prices does not hide the dollars of the others", () => {
  const priced = written("priced.json", JSON.stringify(pricedSession()));
  const unpriced = pricedSession();
  unpriced[1].model = "unheard-of";
  const other = written("other.json", JSON.stringify(unpriced));
  const alone = analysed(priced);
  assert.equal(alone.unit, "usd");
  const both = analysed(priced, other);
  assert.equal(both.unit, "input tokens");
  const { sentBill, withoutBill } = alone.total;
  assert.deepEqual(both.priced, { sessions: 1, sentBill: sentBill + alone.fetchBill, withoutBill });
  assert.deepEqual(alone.priced, both.priced);
  const row = /^of which priced +\$[\d.]+ instead of \$[\d.]+, 1 of 2 sessions: /m;
  assert.match(run("analyze", priced, other).stdout, row);
  assert.doesNotMatch(run("analyze", priced).stdout, /of which priced/);
  const file = path.join(freshDir(), "page.html");
  assert.equal(run("analyze", priced, other, "--html", file).status, 0);
  assert.match(readFileSync(file, "utf8"), /"of which priced","\$/);
});

test("images are a kind of their own, also in results", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const text = { type: "text", text: "a picture" };
  const messages = [
    { role: "user", content: [{ type: "text", text: "go" }, image] },
    { role: "assistant", model: MODEL, content: [{ type: "tool_use", id: "a", name: "Read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [text, image, image] }] },
    { role: "assistant", model: MODEL, content: [{ type: "toolCall", id: "b", name: "look", arguments: {} }] },
    {
      role: "toolResult",
      toolCallId: "b",
      toolName: "look",
      content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
    },
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
  ];
  const { shares } = analysed(written("images.json", JSON.stringify(messages)));
  const tokens = Object.fromEntries(shares.map(({ kind, blocks, tokens: count }) => [kind, [blocks, count]]));
  assert.equal(tokens.images[0], 5);
  assert.equal(tokens["result of Read"][1], countMessageTokens([{ role: "user", content: [text] }]));
  assert.equal(tokens["result of look"], undefined);
  const sum = shares.reduce((all, share) => all + share.tokens, 0);
  assert.equal(sum, countMessageTokens(messages));
});

test("the first reported prompt beyond its messages is outside the recording, and sent in every call", () => {
  const calls = [
    [0, MODEL, 9000, 0],
    [1, MODEL, 100, 9000],
    [2, MODEL, 100, 9100],
  ];
  const file = written("outside.json", JSON.stringify(callsOf(calls)));
  const { shares, unit } = analysed(file);
  assert.equal(unit, "usd");
  const { kind, blocks, tokens, cost } = shares[0];
  assert.deepEqual([kind, blocks], ["system prompt and tools, outside the recording", 1]);
  assert.equal(tokens, 9000 - countMessageTokens([user("go")]));
  assert.ok(Math.abs(cost - tokens * (1.25 + 2 * 0.1) * 5e-6) < 1e-12, String(cost));
  const { stdout } = run("analyze", file);
  assert.match(
    stdout,
    /^not recorded +8,999 tokens of system prompt and definitions of tools in 1 session: \$[\d.]+, 9\d\.\d % of the bill/m,
  );
  assert.match(stdout, /^outside\.json: 4 messages, 4 tokens, 3 model calls$/m);
});

test("the progress names the session among all", (context) => {
  const lines = [];
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  context.after(() => (process.stderr.isTTY = isTTY));
  const write = context.mock.method(process.stderr, "write", (line) => lines.push(line) > 0);
  progressLine("a/b.json", 3, 7, [12, 100]);
  write.mock.restore();
  assert.match(lines.join(""), /session 12 of 100, 3 of 7 calls {2}b\.json$/);
});
