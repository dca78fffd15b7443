// Tests of what the replay measures besides the bill: uses of facts, edits, pruning by hosts and providers, kinds of
// tokens, left-out families.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { countMessageTokens } from "openclaw-concertina";

import { Kinds } from "../bench/replay/kinds.mjs";
import { POLICIES } from "../bench/replay/policies.mjs";
import { figures, report } from "../bench/replay/report.mjs";
import { replaySession } from "../bench/replay/session.mjs";
import { choose, combinations, frontier, leaveOneOut } from "../bench/replay/tune.mjs";
import { Catalogue } from "../dist/node/lib/recall/catalogue.js";
import { Agreement, Edits, oldTextsOf } from "../dist/node/lib/recall/edits.js";
import { Measured } from "../dist/node/lib/recall/measures.js";
import { root } from "../scripts/steps.mjs";
import { freshDir, noise, toolRound, user } from "./conversation.mjs";

const result = (text, id = "x") => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [{ type: "text", text }],
});
const call = (args, name = "edit") => ({
  role: "assistant",
  content: [{ type: "toolCall", id: "x", name, arguments: args }],
});
const thinks = (text) => ({ role: "assistant", content: [{ type: "thinking", thinking: text }] });
const options = {
  modes: ["full"],
  policies: ["never"],
  prices: ["0.1/1.25"],
  ttlMs: 300_000,
  config: {},
  window: 200_000,
  optimum: false,
};

/** Returns the uses of a session, each of whose requests shows only the messages at some indices. */
function usesOf(messages, shown) {
  const measured = new Measured(messages);
  const sight = measured.sight();
  let before = [];
  return shown.map((indices, at) => {
    const ids = indices.map((index) => measured.originals[index]);
    sight.turn(before, ids);
    before = ids;
    const { needed, missed, used, unseen } = sight.ask(at);
    return { needed, missed, used, unseen };
  });
}

test("each later call that writes a fact uses it, whether a result, an argument or thinking contained it", () => {
  const messages = [
    user("go"),
    call({ own: "own_argument" }),
    result("from_result"),
    thinks("from_thinking"),
    call({ a: "own_argument from_result from_thinking never_seen" }),
    call({ a: "from_result" }),
  ];
  const uses = usesOf(messages, [[0], [0, 1, 2], [0, 1, 2, 3], [0]]);
  assert.deepEqual(
    uses.map(({ used, unseen }) => [used, unseen]),
    [
      [0, 0],
      [0, 0],
      [3, 0],
      [1, 1],
    ],
  );
  // Only the first use of a fact that only a result contains is needed.
  assert.deepEqual(
    uses.map(({ needed, missed }) => [needed, missed]),
    [
      [0, 0],
      [0, 0],
      [1, 0],
      [0, 0],
    ],
  );
});

test("facts from users do not count as uses, and a fetched fact is not missed again", () => {
  const messages = [
    user("asked_for"),
    result("from_result"),
    call({ a: "asked_for" }),
    call({ a: "from_result" }),
    call({ a: "from_result" }),
  ];
  const uses = usesOf(messages, [[0], [0], [0]]);
  assert.deepEqual(
    uses.map(({ used, unseen }) => [used, unseen]),
    [
      [0, 0],
      [1, 1],
      [1, 1],
    ],
  );
  assert.deepEqual(
    uses.map(({ missed }) => missed),
    [0, 1, 0],
  );
});

test("an answer that failed before it was billed is not counted as a call", async () => {
  const failed = {
    role: "assistant",
    stopReason: "error",
    usage: { input: 0, output: 0 },
    content: [{ type: "text", text: "[failed]" }],
  };
  const cut = { ...failed, stopReason: "aborted", usage: { input: 900, output: 3 } };
  const bills = async (messages) =>
    (await replaySession({ name: "s", family: "f", messages }, options)).rows[0].tally.calls;
  assert.deepEqual(
    await Promise.all(
      [
        [user("go"), failed],
        [user("go"), cut],
        [user("go"), failed, user("go"), thinks("on")],
      ].map(bills),
    ),
    [0, 1, 1],
  );
});

test("old texts are found under every editor's argument names and in lists, and in no other argument", () => {
  assert.deepEqual(oldTextsOf(call({ old_string: "a", new_string: "b" })), ["a"]);
  assert.deepEqual(
    oldTextsOf(
      call({
        edits: [
          { oldText: "a", newText: "" },
          { oldText: "b", newText: "c" },
        ],
      }),
    ),
    ["a", "b"],
  );
  assert.deepEqual(
    oldTextsOf({
      role: "assistant",
      tool_calls: [{ id: "x", function: { name: "edit", arguments: '{"search":"a","replace":"b"}' } }],
    }),
    ["a"],
  );
  const patch =
    "*** Begin Patch\n*** Update File: a\n@@ fn a()\n one\n-two\n+2\n@@\n-three\n*** Add File: b\n+four\n*** End Patch";
  for (const args of [
    { input: patch },
    patch,
    { cmd: `apply_patch <<'E'\n${patch}\nE` },
    { command: ["apply_patch", patch] },
  ])
    assert.deepEqual(oldTextsOf(call(args, "apply_patch")), ["one\ntwo", "three"]);
  for (const args of [{ search: "a" }, { old_string: " \n", new_string: "b" }, "no json", null])
    assert.deepEqual(oldTextsOf(call(args)), []);
});

/** Returns the tally of the edits of a session whose last request shows `request` instead of the original messages. */
async function agreementOf(messages, request, fetch) {
  const catalogue = new Catalogue(() => []);
  const edits = new Edits(
    messages,
    catalogue,
    messages.map((message) => catalogue.idOf(message)),
  );
  const agreement = new Agreement(edits, fetch);
  await agreement.ask(
    edits.byCall.length - 1,
    request.map((message) => catalogue.idOf(message)),
  );
  return agreement.tally;
}

test("an edit agrees if every line of its old text is in sight byte for byte", async () => {
  const read = result("     1→func a() {\n     2→\treturn 1\n     3→}");
  const edit = call({ old_string: "func a() {\n\treturn 1\n\n}", new_string: "" });
  const messages = [user("go"), read, edit];
  const tally = async (shown) => {
    const { edits, editsInSight } = await agreementOf(messages, [user("go"), result(shown)]);
    return [edits, editsInSight];
  };
  assert.deepEqual(await tally(read.content[0].text), [1, 1]);
  // Indentation is part of a line.
  assert.deepEqual(await tally("func a() {\n  return 1\n}"), [1, 0]);
  assert.deepEqual(await tally("func a() {\n}"), [1, 0]);
});

test("an edit whose old text the session never showed is not charged to an engine", async () => {
  const tally = await agreementOf([user("go"), result("one"), call({ oldText: "two", newText: "" })], [user("go")]);
  assert.equal(tally.edits, 0);
});

test("an edit is one fetch away if fetching an id in sight returns every missing line", async () => {
  const lines = Array.from({ length: 50 }, (_, at) => `line_${at}`);
  const messages = [user("go"), result(lines.join("\n")), call({ oldText: "line_19\nline_30", newText: "" })];
  const id = "0123456789abcdef";
  const asked = [];
  const fetch = async (wanted, { whole, lines: range }) => {
    asked.push([wanted, range]);
    if (whole) return lines.join("\n");
    const [first, last] = range.split("-").map(Number);
    return lines.slice(first - 1, last).join("\n");
  };
  for (const marker of [`[REF_ID: ${id}] 50 lines`, `line_1\n[[REWIND:sha256:${id}]] original: 50 lines`]) {
    asked.length = 0;
    const tally = await agreementOf(messages, [user("go"), result(marker)], fetch);
    assert.deepEqual([tally.editsInSight, tally.editsFetched], [0, 1]);
    assert.ok(tally.editFetchTokens > 0);
    assert.deepEqual(asked, [
      [id, undefined],
      [id, "20-31"],
    ]);
  }
  const without = [
    ["gone", fetch],
    [`[REF_ID: ${id}]`, undefined],
    [`[REF_ID: ${id}]`, async () => "line_19"],
    [`[REF_ID: ${id}]`, async (_, { whole }) => (whole ? lines.join("\n") : "cut")],
  ];
  for (const [text, tool] of without)
    assert.equal((await agreementOf(messages, [user("go"), result(text)], tool)).editsFetched, 0);
});

test("a folded read is one fetch away from its edit", async () => {
  const text = Array.from({ length: 400 }, (_, at) => `\tvalue_${at} := compute(${at * 7919}) // step ${at * 31}`).join(
    "\n",
  );
  const messages = [user("go"), ...toolRound("r", "read", { path: "a.go" }, text)];
  for (let at = 0; at < 16; at++)
    messages.push(...toolRound(`c${at}`, "exec", { at }, noise(5, at + 1), 1_000_000 + at));
  messages.push(
    ...toolRound(
      "e",
      "edit",
      { path: "a.go", oldText: text.split("\n").slice(200, 203).join("\n"), newText: "x" },
      "ok",
      1_000_100,
    ),
  );
  const { rows } = await replaySession(
    { name: "s", family: "f", messages },
    {
      ...options,
      policies: ["never", "every-turn"],
      config: { fusion: { enabled: false }, keepNames: 0, staleCalls: 12 },
    },
  );
  const [never, folded] = rows.map(({ tally }) => [tally.edits, tally.editsInSight, tally.editsFetched]);
  assert.deepEqual(
    [never, folded],
    [
      [1, 1, 0],
      [1, 0, 1],
    ],
  );
});

const sentBy = (engine, messages, at) =>
  engine.send(messages, at).map((message) => message.content?.[0]?.text ?? message.content);

test("the modelled provider clears all but the last three results above its threshold, if that frees enough", () => {
  const rounds = (count, size) =>
    Array.from({ length: count }, (_, at) => toolRound(`c${at}`, "read", { at }, noise(size, at + 1))).flat();
  const clearedOf = (messages, window) => {
    const engine = POLICIES["server-clearing"].open({ window });
    return sentBy(engine, [user("go"), ...messages], 1).filter((text) => text === "[Old tool result content cleared]")
      .length;
  };
  const large = rounds(8, 700);
  const tokens = countMessageTokens(large);
  assert.ok(tokens > 60_000 && tokens < 120_000, `${tokens} tokens`);
  assert.equal(clearedOf(large, 200_000), 5);
  // The messages have fewer tokens than 30 % of a larger window.
  assert.equal(clearedOf(large, 500_000), 0);
  assert.equal(clearedOf(rounds(8, 100), 200_000), 0);
  // The old results exceed the threshold, but are too small to be worth rewriting the cache.
  assert.equal(clearedOf([...rounds(5, 100), ...rounds(3, 2000)], 200_000), 0);
});

test("the modelled host trims old results only after an idle hour, then clears them, and keeps both", () => {
  const messages = [user("go")];
  for (let at = 0; at < 6; at++) messages.push(...toolRound(`c${at}`, "read", { at }, noise(300, at + 1)));
  const tokens = countMessageTokens(messages);
  const kinds = (texts) =>
    texts
      .filter((_, index) => messages[index].role === "toolResult")
      .map((text) =>
        text.includes("[Tool result trimmed") ? "t" : text === "[Old tool result content cleared]" ? "c" : "w",
      )
      .join("");
  const hour = 3_600_000;
  const engine = (window) => POLICIES["host-pruning"].open({ window });
  const trims = engine(Math.round(tokens * 2));
  assert.equal(kinds(sentBy(trims, messages, 1)), "wwwwww");
  assert.equal(kinds(sentBy(trims, messages, hour)), "wwwwww");
  assert.equal(kinds(sentBy(trims, messages, 2 * hour)), "tttwww");
  assert.equal(kinds(sentBy(trims, messages, 2 * hour + 1)), "tttwww");
  const clears = engine(Math.round(tokens * 1.05));
  clears.send(messages, 1);
  assert.match(kinds(sentBy(clears, messages, 1 + hour)), /^c+t*www$/);
  const roomy = engine(tokens * 4);
  roomy.send(messages, 1);
  assert.equal(kinds(sentBy(roomy, messages, 1 + hour)), "wwwwww");
});

test("tokens are grouped by kind, and messages that the session does not contain count as changed", () => {
  const large = noise(60);
  const messages = [
    user("go"),
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "so it is" },
        { type: "text", text: "I read" },
        { type: "toolCall", id: "x", name: "read", arguments: { path: "a" } },
      ],
    },
    result(large),
    result("short"),
  ];
  const catalogue = new Catalogue(() => []);
  const kinds = new Kinds(messages, catalogue);
  const sent = [...messages, result("[REF_ID: 0123456789abcdef] folded")];
  const read = new Map(sent.map((message) => [catalogue.idOf(message), catalogue.tokens[catalogue.idOf(message)]]));
  const sums = kinds.sum(read, new Map());
  const present = Object.entries(sums)
    .filter(([, tokens]) => tokens.read > 1e-9)
    .map(([kind]) => kind);
  assert.deepEqual(present, [
    "user's words",
    "assistant's words",
    "thinking",
    "small arguments",
    "results",
    "small results",
    "results replaced",
  ]);
  const all = Object.values(sums).reduce((sum, tokens) => sum + tokens.read, 0);
  assert.ok(Math.abs(all - countMessageTokens(sent)) < 1e-6);
  assert.equal(sums.results.read, countMessageTokens([messages[2]]));
});

const variant = (name, bills, useRecall = 1) => ({
  options: { name },
  replays: Object.entries(bills).map(([family, bill]) => {
    const tally = { needed: 0, used: 1000, unseen: Math.round(1000 * (1 - useRecall)), edits: 0, kinds: {} };
    const row = (policy, total) => ({
      mode: "full",
      policy,
      price: "0.1/1.25",
      bill: { sent: total, fetches: 0, total, kinds: {} },
      tally,
      series: {},
    });
    return { name: family, family, calls: 1, rows: [row("never", 100), row("cache-aware", bill)] };
  }),
});

test("every combination of a grid is tried, in order", () => {
  assert.deepEqual(combinations({ a: [1, 2], b: 3, c: [true, false] }), [
    { a: 1, b: 3, c: true },
    { a: 1, b: 3, c: false },
    { a: 2, b: 3, c: true },
    { a: 2, b: 3, c: false },
  ]);
  assert.deepEqual(combinations([{ a: 1 }, { b: [2, 3] }]), [{ a: 1 }, { b: 2 }, { b: 3 }]);
});

test("the options for a family are chosen without that family", () => {
  const variants = [variant("suits x", { x: 10, y: 60, z: 60 }), variant("suits the rest", { x: 90, y: 50, z: 50 })];
  const { tuned, families } = leaveOneOut(variants, { mode: "full", price: "0.1/1.25", floor: 0.9 });
  assert.equal(tuned.options.name, "suits x");
  assert.deepEqual(
    families.map(({ family, left, own }) => [
      family,
      left.options.name,
      left.figures.billWithFetches,
      own.options.name,
    ]),
    [
      ["x", "suits the rest", 0.9, "suits x"],
      ["y", "suits x", 0.6, "suits the rest"],
      ["z", "suits x", 0.6, "suits the rest"],
    ],
  );
});

test("the frontier bills each family with the options chosen for the others", () => {
  const variants = [variant("suits x", { x: 10, y: 60, z: 60 }), variant("suits the rest", { x: 90, y: 50, z: 50 })];
  const [point, ...others] = frontier(variants, { mode: "full", price: "0.1/1.25" });
  assert.equal(others.length, 0);
  assert.equal(point.billWithFetches, (90 + 60 + 60) / 300);
});

test("the lowest bill with enough recall is chosen, or else the best recall", () => {
  const of = (billWithFetches, useRecall) => ({ figures: { billWithFetches, useRecall } });
  const variants = [of(0.5, 0.97), of(0.4, 0.96), of(0.3, 0.9)];
  assert.deepEqual(
    [0.95, 0.965, 0.99].map((floor) => choose(variants, floor).figures.billWithFetches),
    [0.4, 0.5, 0.5],
  );
});

test("the summary states the median session and the share that saves next to nothing", () => {
  const { replays } = variant("v", { x: 40, y: 94, z: 96, w: 120 });
  const of = figures(replays, { mode: "full", policy: "cache-aware", price: "0.1/1.25" });
  assert.deepEqual([of.median, of.saveLittle, of.worst.session], [0.95, 0.5, "w"]);
  const { text } = report(replays, { ...options, policies: ["never", "cache-aware"] });
  assert.match(text, /the median session's bill is 0\.950; 2 of 4 sessions \(50\.0 %\) save under 5\.0 %/);
});

test("the fetch tool is billed unless the bill is bare", async () => {
  const messages = [
    user("go"),
    ...toolRound("a", "exec", {}, "1"),
    { role: "assistant", content: [{ type: "text", text: "done" }], timestamp: 1_000_002 },
  ];
  const billed = async (bare) => {
    const { rows } = await replaySession(
      { name: "s", family: "f", messages },
      { ...options, policies: ["cache-aware"], bare },
    );
    return rows[0].bill;
  };
  const [full, bare] = [await billed(false), await billed(true)];
  assert.equal(bare.overhead, 0);
  assert.ok(full.overhead > 50 && Math.abs(full.total - bare.total - full.overhead) < 1e-6);
});

test("the command tunes on some families and reports on the others", () => {
  const dir = freshDir();
  for (const [name, seed] of [
    ["first-project-1", 1],
    ["second-project-1", 7],
  ]) {
    const messages = [user("go")];
    for (let at = 0; at < 20; at++)
      messages.push(...toolRound(`c${at}`, "exec", { at }, noise(40, seed + at), 1_000_000 + at));
    writeFileSync(path.join(dir, `${name}.json`), JSON.stringify(messages));
  }
  const args = [path.join(root, "bench", "replay", "main.mjs"), dir, "--tune", '{"staleCalls":[4,12]}'];
  const run = () => execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const printed = run();
  for (const family of ["first-project", "second-project"])
    assert.match(printed, new RegExp(`^${family} .*\\{"staleCalls":(4|12)\\}$`, "m"));
  assert.match(printed, /chosen on all: \{"staleCalls":(4|12)\}/);
  assert.equal(run(), printed);
});
