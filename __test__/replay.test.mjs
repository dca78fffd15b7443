import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { countMessageTokens, countTokens } from "openclaw-concertina";

import { points } from "../bench/plot/plot.mjs";
import { billOf, growth, Meter, parsePrice } from "../bench/replay/billing.mjs";
import { Candidates, optimum } from "../bench/replay/optimum.mjs";
import { POLICIES } from "../bench/replay/policies.mjs";
import { replaySession, requests } from "../bench/replay/session.mjs";
import { familyOf, find, load, select } from "../bench/replay/sessions.mjs";
import { factsOf } from "../dist/node/lib/recall/facts.js";
import { Measured } from "../dist/node/lib/recall/measures.js";
import { Needs } from "../dist/node/lib/recall/needs.js";
import { CONTEXT_LINES } from "../dist/node/lib/recall/originals.js";
import { root } from "../scripts/steps.mjs";
import { freshDir, noise, toolRound, user } from "./conversation.mjs";

const says = (text, timestamp) => ({ role: "assistant", content: [{ type: "text", text }], timestamp });
const calls = (args) => ({
  role: "assistant",
  content: [{ type: "toolCall", id: "x", name: "edit", arguments: args }],
});
const result = (text, id = "x") => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "exec",
  content: [{ type: "text", text }],
});

/** Returns a meter of the requests of a session. */
function meterOf(messages, ttlMs = 300_000, model = undefined) {
  const measured = new Measured(messages);
  const { catalogue, originals, calls } = measured;
  return { meter: new Meter({ catalogue, sight: measured.sight(), ttlMs, calls, model }), originals, catalogue };
}

test("an unchanged prefix is billed as read and the rest as written", () => {
  const messages = [user("one"), says("two", 1000), user("three"), says("four", 2000)];
  const { meter } = meterOf(messages);
  meter.send(messages.slice(0, 1), 1000);
  meter.send(messages.slice(0, 3), 2000);
  const count = (...parts) => countMessageTokens(parts);
  assert.deepEqual(meter.series.read, [0, count(messages[0])]);
  assert.deepEqual(meter.series.write, [count(messages[0]), count(messages[1]) + count(messages[2])]);
});

test("a change in the history is billed from its position on and counted as an epoch", () => {
  const messages = [user("one"), result(noise(20)), says("two"), says("three")];
  const { meter, originals } = meterOf(messages);
  const folded = { ...messages[1], content: [{ type: "text", text: "folded" }] };
  meter.send(messages.slice(0, 2), 1000);
  meter.send([messages[0], folded, messages[2]], 2000);
  const outcome = meter.result(originals);
  assert.equal(outcome.series.read[1], countMessageTokens([messages[0]]));
  assert.equal(outcome.series.write[1], countMessageTokens([folded, messages[2]]));
  assert.equal(outcome.tally.epochs, 1);
  assert.equal(outcome.tally.rewritten, countMessageTokens([folded]));
  // The folded result is billed once in its original form, and does not count as untouched.
  assert.equal(outcome.tally.untouched.write, countMessageTokens([messages[0], messages[2]]));
});

// Covers a change at each message of a history, and entries within and beyond the reach of each provider.
test("after a change an entry of the provider's cache is read, or any prefix if it keeps those", () => {
  const messages = Array.from({ length: 40 }, (_, nth) => (nth % 2 ? says(`answer ${nth}`) : user(`question ${nth}`)));
  // The minimum of a cached prefix.
  messages[0] = user(noise(200));
  const ends = [15, 19, 23, 35];
  const entryOf = {
    "claude-opus-4-6": (changed) => ends.filter((end) => end <= changed && end >= messages.length - 20).at(-1) ?? 0,
    "gpt-6.2-sol": (changed) => ends.filter((end) => end <= changed).at(-1) ?? 0,
    "gemini-4-neon": (changed) => (changed === 0 ? 0 : Math.min(changed, ends.at(-1))),
  };
  for (const [model, entry] of Object.entries(entryOf)) {
    for (let changed = 0; changed < messages.length; changed++) {
      const { meter } = meterOf(messages, 300_000, model);
      ends.forEach((end, nth) => meter.send(messages.slice(0, end), 1000 + nth));
      const last = messages.map((message, nth) => (nth === changed ? says("changed") : message));
      meter.send(last, 2000);
      const read = countMessageTokens(last.slice(0, entry(changed)));
      assert.equal(meter.series.read.at(-1), read, `${model}, change at ${changed}`);
    }
  }
});

test("a cache that is read in units leaves the rest to be written", () => {
  const messages = [user(noise(200)), says("one"), user("two"), says("three")];
  const { meter } = meterOf(messages, 300_000, "gpt-5.5");
  meter.send(messages.slice(0, 2), 1000);
  meter.send(messages, 2000);
  const known = countMessageTokens(messages.slice(0, 2));
  assert.equal(meter.series.read[1], known - (known % 128));
  assert.equal(meter.series.read[1] + meter.series.write[1], countMessageTokens(messages));
});

test("after a pause longer than the cache lives everything is written, and no epoch is counted", () => {
  const messages = [user("one"), says("two"), says("three")];
  for (const [pause, read] of [
    [300_000, countMessageTokens([messages[0]])],
    [300_001, 0],
  ]) {
    const { meter } = meterOf(messages);
    meter.send(messages.slice(0, 1), 1000);
    meter.send([{ ...messages[0] }, messages[1]], 1000 + pause);
    assert.equal(meter.series.read[1], read);
    assert.equal(meter.tally.epochs, 0);
  }
});

test("a bill is the sum of its tokens at their prices", () => {
  const outcome = {
    series: { read: [0, 100], write: [100, 10], fetchRead: [0, 40], fetchWrite: [0, 20] },
    tally: { rewritten: 4, untouched: { read: 100, write: 100 }, overhead: { read: 0, write: 0 } },
  };
  const price = parsePrice("0.5/1.0");
  const bill = billOf(outcome, price);
  assert.deepEqual([bill.sent, bill.fetches, bill.total, bill.rewrites, bill.untouched], [160, 40, 200, 2, 150]);
  assert.deepEqual(growth(outcome, price), [100, 200]);
  for (const wrong of ["0.1", "2/1", "a/b", "-1/1"]) assert.throws(() => parsePrice(wrong), /must be READ\/WRITE/);
});

test("identifiers, paths, numbers and long lines are facts, and plain words are not", () => {
  const facts = (text, plain) => [...factsOf([text], plain)].sort();
  assert.deepEqual(facts("A quick and\nwell-known fact,\n42 times."), []);
  assert.deepEqual(facts("see src/plan/mod.rs:12"), ["mod.rs", "src/plan/mod.rs", "src/plan/mod.rs:12"]);
  assert.deepEqual(facts("parseArgs of MAX_LEN\nin 3000 ms, deadbee1"), ["MAX_LEN", "deadbee1", "parseArgs"]);
  assert.deepEqual(facts("300 to 9999\nand 10000, 1,200\nof v300, at 12:30"), ["1,200", "10000", "12:30", "v300"]);
  assert.deepEqual(facts("before-agent-start"), ["before-agent-start"]);
  assert.deepEqual(facts("before-agent-start", 6), ["before", "before-agent-start"]);
  assert.deepEqual(facts("   12→  this line is long enough to be copied "), ["this line is long enough to be copied"]);
  assert.deepEqual(facts("   12→  this line is long enough to be copied ", 6), [
    "copied",
    "enough",
    "this line is long enough to be copied",
  ]);
  assert.deepEqual(facts("---------------------------------"), []);
});

test("a call needs each fact that only tool results have shown, once", () => {
  const messages = [
    user("look at user_given"),
    says("I look"),
    result("user_given and shown_first and never_used"),
    calls({ text: "user_given shown_first unheard_of" }),
    result("more"),
    calls({ text: "shown_first" }),
  ];
  const needs = new Needs(messages);
  const first = needs.universe.get("shown_first");
  assert.deepEqual(needs.byCall, [[], [first], []]);
  assert.deepEqual([...needs.holders], [[first, [2]]]);
});

test("a fact that thinking contained is not needed from a result, and thinking needs no facts", () => {
  const thought = { role: "assistant", content: [{ type: "thinking", thinking: "shown_first or shown_next" }] };
  const needs = new Needs([user("go"), result("shown_first shown_next"), thought, calls({ text: "shown_next" })]);
  assert.deepEqual(needs.byCall, [[], []]);
});

test("a missing fact is fetched and stays in sight for twelve calls", () => {
  const early = Array.from({ length: 20 }, (_, call) => `fact_${call}`);
  const messages = [user("go"), result(early.join(" ")), ...early.map((fact) => calls({ fact }))];
  const measured = new Measured(messages);
  const sight = measured.sight();
  sight.turn([], [measured.originals[0]]);
  const fetched = early.map((_, call) => sight.ask(call).fetched.size);
  assert.deepEqual(
    fetched.flatMap((count, call) => (count > 0 ? [call] : [])),
    [0, 13],
  );
});

test("a fact that a call repeats from its own earlier arguments is fetched if it is out of sight", () => {
  const messages = [
    user("user_given"),
    calls({ a: "own_argument user_given" }),
    says("own_word"),
    calls({ a: "own_argument user_given own_word" }),
    result("own_argument"),
    calls({ a: "own_argument" }),
  ];
  const measured = new Measured(messages);
  const own = measured.needs.universe.get("own_argument");
  assert.deepEqual(measured.needs.ownByCall, [[], [], [[own, 1]], [[own, 4]]]);
  const sight = measured.sight();
  const asked = [0, 1, 2, 3].map((call) => sight.ask(call));
  assert.deepEqual(
    asked.map(({ missed, ownMissed, fetched }) => [missed, ownMissed, [...fetched.keys()]]),
    [
      [0, 0, []],
      [0, 0, []],
      [0, 1, [1]],
      [0, 0, []],
    ],
  );
});

test("a miss counts as recent if the fact was shown within the last four calls", () => {
  const missesRecent = (between) => {
    const messages = [user("go"), says("first"), result("shown_first")];
    for (let at = 0; at < between; at++) messages.push(says("on"));
    messages.push(calls({ a: "shown_first" }));
    const measured = new Measured(messages);
    const { missed, missesRecent: found } = measured.sight().ask(measured.calls - 1);
    assert.equal(missed, 1);
    return found;
  };
  assert.deepEqual([0, 3, 4, 9].map(missesRecent), [true, true, false, false]);
});

test("a fetch of a result returns the lines around what a call misses, and later calls see only these", () => {
  const lines = Array.from({ length: 500 }, (_, at) => `line_${at}`);
  const messages = [
    user("go"),
    result(lines.join("\n")),
    ...["line_200 line_210", `line_${210 + CONTEXT_LINES}`, "line_300", "line_0 line_499"].map((text) =>
      calls({ text }),
    ),
  ];
  const measured = new Measured(messages);
  const fetchedBy = (byRange) => {
    const sight = measured.sight(byRange);
    return [0, 1, 2, 3].map((call) => sight.ask(call).fetched.get(1)?.tokens ?? 0);
  };
  const around = (first, last) => countTokens(lines.slice(first - CONTEXT_LINES, last + CONTEXT_LINES + 1).join("\n"));
  const whole = countMessageTokens([messages[1]]);
  assert.deepEqual(fetchedBy(true), [around(200, 210), 0, around(300, 300), whole]);
  assert.deepEqual(fetchedBy(false), [whole, 0, 0, 0]);
});

test("a fetch is billed as one more request with its original", () => {
  const messages = [user("go"), result(`secret_word ${noise(10)}`), calls({ text: "secret_word" }), says("done")];
  const { meter } = meterOf(messages);
  meter.send([messages[0]], 1);
  const original = countMessageTokens([messages[1]]);
  assert.deepEqual(meter.series.fetchWrite, [original]);
  assert.deepEqual(meter.series.fetchRead, [countMessageTokens([messages[0]]) + original * 1]);
  assert.deepEqual(
    [meter.tally.needed, meter.tally.missed, meter.tally.fetches, meter.tally.originals, meter.tally.originalTokens],
    [1, 1, 1, 1, original],
  );
});

test("the policy never misses nothing and breaks no prefix, in both modes", async () => {
  const messages = [
    user("go"),
    ...toolRound("a", "exec", {}, noise(100)),
    ...toolRound("b", "exec", { text: "unit_" }, "ok"),
    user("on"),
    says("40 unit_"),
  ];
  const replayed = await replaySession(
    { name: "s", family: "c", messages },
    { modes: ["full", "host"], policies: ["never"], prices: ["0.1/1.25"], ttlMs: 1e9, config: {} },
  );
  const [full, host] = replayed.rows;
  assert.deepEqual([full.tally.missed, full.tally.epochs, full.tally.calls], [0, 0, 3]);
  assert.deepEqual(full.bill, host.bill);
});

test("in mode host a history is assembled once for each user turn", async () => {
  const seen = [];
  const engine = {
    admit: (message) => message,
    assemble: (messages) => (seen.push(messages.length), messages),
    send: (messages) => messages,
  };
  const messages = [
    user("go"),
    ...toolRound("a", "exec", {}, "1"),
    ...toolRound("b", "exec", {}, "2"),
    user("on"),
    says("done"),
  ];
  const sent = [];
  for await (const request of requests(messages, engine, "host")) sent.push(request.messages.length);
  assert.deepEqual(
    [seen, sent],
    [
      [0, 5],
      [1, 3, 6],
    ],
  );
});

test("an engine receives the tool and arguments of each result, also if the result does not name them", async () => {
  const told = [];
  const engine = {
    admit: (message, call) => (told.push(call), message),
    assemble: (messages) => messages,
    send: (messages) => messages,
  };
  const openai = [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "view", arguments: '{"path":"a.rs"}' } }],
    },
    { role: "tool", tool_call_id: "a", content: "fn a() {}" },
  ];
  const messages = [user("go"), ...openai, ...toolRound("b", "exec", { command: "ls" }, "a.rs"), says("done")];
  for await (const request of requests(messages, engine, "full")) assert.ok(request.messages.length > 0);
  assert.deepEqual(told, [
    { toolName: "view", args: '{"path":"a.rs"}' },
    { toolName: "exec", args: { command: "ls" } },
  ]);
});

test("folding at once is billed as in the optimum's model", async () => {
  const messages = [user("go")];
  for (let round = 0; round < 30; round++)
    messages.push(...toolRound(`c${round}`, "exec", { round }, noise(60, round + 1), 1000 + round * 1000));
  const ttlMs = 300_000;
  const engine = await POLICIES["every-turn"].open({
    config: { fusion: { enabled: false } },
    prices: { input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheTtlMs: ttlMs },
  });
  const { meter, originals, catalogue } = meterOf(messages, ttlMs);
  const candidates = new Candidates();
  for await (const request of requests(messages, engine, "full")) {
    const { ids, cold } = meter.send(request.messages, request.at);
    candidates.add(ids, cold, catalogue.tokens);
  }
  await engine.close();
  assert.ok(candidates.steps.length > 5, `only ${candidates.steps.length} folds`);
  const price = parsePrice("0.1/1.25");
  const everyTurn = billOf(meter.result(originals), price).sent;
  const best = optimum(candidates, price);
  assert.ok(best.exact);
  assert.ok(best.bill < everyTurn, `${best.bill} is not below ${everyTurn}`);
  // If rewriting is free, folding at once is optimal.
  const free = { read: 1, write: 1 };
  assert.ok(Math.abs(optimum(candidates, free).bill - billOf(meter.result(originals), free).sent) < 1e-6);
});

test("curves of several sessions are summed, and a finished session keeps its bill", () => {
  const row = (read) => ({
    mode: "full",
    policy: "never",
    price: "0.5/1",
    series: { read, write: read.map(() => 0), fetchRead: read.map(() => 0), fetchWrite: read.map(() => 0) },
  });
  const replays = [{ rows: [row([2, 4])] }, { rows: [row([10])] }];
  const drawn = points(replays, { modes: ["full"], policies: ["never"], prices: ["0.5/1"] });
  assert.deepEqual(
    drawn.map(({ call, bill }) => [call, bill]),
    [
      [1, 6],
      [2, 8],
    ],
  );
});

test("sessions in every format are read, and a file that is none is named", () => {
  const dir = freshDir();
  const rows = [
    { type: "user", message: { role: "user", content: "go" }, timestamp: "2026-01-01T00:00:00Z" },
    {
      type: "assistant",
      message: {
        id: "m",
        role: "assistant",
        content: [{ type: "tool_use", id: "t1", name: "Read", input: { path: "a" } }],
      },
      timestamp: "2026-01-01T00:00:01Z",
    },
    {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "one" }] },
      timestamp: "2026-01-01T00:00:02Z",
    },
    {
      type: "assistant",
      message: { id: "m", role: "assistant", content: [{ type: "tool_use", id: "t2", name: "Grep", input: {} }] },
      timestamp: "2026-01-01T00:00:03Z",
    },
    {
      type: "user",
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t2", is_error: true, content: [{ type: "text", text: "two" }] }],
      },
      timestamp: "2026-01-01T00:00:04Z",
    },
  ];
  writeFileSync(path.join(dir, "claude.jsonl.gz"), gzipSync(rows.map((row) => JSON.stringify(row)).join("\n")));
  const { messages } = load(path.join(dir, "claude.jsonl.gz"));
  assert.deepEqual(
    messages.map(({ role, toolName, isError }) => [role, toolName, isError]),
    [
      ["user", undefined, undefined],
      ["assistant", undefined, undefined],
      ["toolResult", "Read", false],
      ["toolResult", "Grep", true],
    ],
  );
  assert.equal(messages[1].content.length, 2);

  // A resumed conversation, with a sub-agent's messages in it, and with those in a separate file.
  const main = rows.map((row, at) => ({ ...row, uuid: `row-${at}`, isSidechain: false }));
  const more = {
    ...main[0],
    uuid: "row-9",
    message: { role: "user", content: "go" },
    timestamp: "2026-01-01T00:01:00Z",
  };
  const [first, ...rest] = main.map((row) => ({ ...row, uuid: `again-${row.uuid}` }));
  const aside = rows.map((row, at) => ({ ...row, uuid: `aside-${at}`, isSidechain: true }));
  for (const [name, all, expected] of [
    [
      "resumed",
      [...main, ...aside, first, ...rest, more],
      [...messages, { role: "user", content: "go", timestamp: Date.parse(more.timestamp) }],
    ],
    ["agent-1", aside, messages],
  ]) {
    writeFileSync(path.join(dir, `${name}.jsonl`), all.map((row) => JSON.stringify(row)).join("\n"));
    assert.deepEqual(load(path.join(dir, `${name}.jsonl`)).messages, expected, name);
  }

  const pi = [
    { type: "session", id: "s" },
    { type: "message", message: user("go") },
    { type: "custom_message", customType: "note", content: "from the host" },
    { type: "message", message: says("done", 5) },
  ];
  writeFileSync(path.join(dir, "pi.jsonl"), pi.map((row) => JSON.stringify(row)).join("\n"));
  assert.deepEqual(
    load(path.join(dir, "pi.jsonl")).messages.map(({ role }) => role),
    ["user", "user", "assistant"],
  );

  writeFileSync(path.join(dir, "other.json"), '{"scripts": {}}');
  writeFileSync(path.join(dir, "words.jsonl"), "just words");
  for (const name of ["other.json", "words.jsonl"]) assert.throws(() => load(path.join(dir, name)), new RegExp(name));
  assert.throws(() => find([path.join(dir, "absent")]), /absent/);
  assert.deepEqual(
    find([dir]).map(({ file }) => path.basename(file)),
    ["agent-1.jsonl", "claude.jsonl.gz", "other.json", "pi.jsonl", "resumed.jsonl", "words.jsonl"],
  );
  assert.deepEqual(
    select(find([dir]), "p*").map(({ file }) => path.basename(file)),
    ["pi.jsonl"],
  );
  assert.equal(familyOf("/x/entire-cli-00c9e235.messages.json"), "entire-cli");
  assert.equal(familyOf("/x/main/0b7c.jsonl"), "main");
});

test("the command prints a bill and writes all of its figures", () => {
  const out = path.join(freshDir(), "out.json");
  const session = path.join(root, "fixtures", "demo", "taking-over.messages.json.gz");
  const args = [
    path.join(root, "bench", "replay", "main.mjs"),
    session,
    "--mode",
    "host",
    "--policies",
    "references",
    "--prices",
    "0.1/1.25,0.5/1.0",
    "--json",
    out,
  ];
  const printed = execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { figures } = JSON.parse(readFileSync(out, "utf8"));
  assert.deepEqual(
    figures.map(({ policy, price }) => [policy, price]),
    [
      ["never", "0.1/1.25"],
      ["references", "0.1/1.25"],
      ["never", "0.5/1.0"],
      ["references", "0.5/1.0"],
    ],
  );
  assert.equal(figures[0].bill, 1);
  assert.ok(figures[1].bill < 1 && figures[1].billWithFetches >= figures[1].bill);
  assert.ok(printed.includes(figures[1].billWithFetches.toFixed(3)));
});
