import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import test from "node:test";
import { setTimeout } from "node:timers/promises";

import {
  compress,
  compressMessages,
  compressMessagesSync,
  compressSync,
  countTokens,
  restore,
  restoreMessages,
  restoreReport,
  rewindTool,
  stages,
} from "openclaw-concertina";

import { png } from "../test/png.mjs";
import { noise, toolRound, user } from "./conversation.mjs";

const paragraph =
  "The very same paragraph stands here more than once, with enough words in it to be worth a reference instead.\n\n";
const repeated = `${paragraph}${noise(5)}\n\n${paragraph.repeat(8)}`;

test("a text is restored byte for byte from its compressed form", async () => {
  for (const text of [repeated, noise(50), "", "x", `${noise(3)}\r\n\0`, "漢字\n".repeat(200), '{"a":[1,2,3]}']) {
    const result = await compress(text);
    assert.equal(restore(result.text, result.originals), text);
    assert.equal(result.tokensAfter, countTokens(result.text));
    assert.ok(result.tokensAfter <= result.tokensBefore);
    const { stages: rows, ...same } = compressSync(text);
    const { stages: _rows, ...asynchronous } = result;
    assert.deepEqual(same, asynchronous);
    assert.ok(rows.every(({ gateMs, workMs }) => gateMs >= 0 && workMs >= 0));
    assert.equal((await compress(result.text)).text, result.text, "compressing twice is compressing once");
  }
});

test("JSON is parsed to the same value before, in and after folding", () => {
  const words = ["", "a b", "\u2028", "\ud83d\ude00", '\\"', "line\nend", "1e3", "null"];
  const items = Array.from({ length: 400 }, (_, n) => ({
    id: n * 7919,
    word: `${words[n % words.length]}${n * 31}`,
    rate: n % 5 === 0 ? -1e-7 / (n + 1) : n / 3,
    deep: { list: [null, n % 2 === 0, words[n % 3]], "": {} },
  }));
  const stagesOf = (...names) => Object.fromEntries(stages().map(({ name }) => [name, names.includes(name)]));
  for (const text of [
    JSON.stringify(items),
    JSON.stringify(items, null, 2),
    items.map((item) => JSON.stringify(item)).join("\n"),
  ]) {
    const lossless = compressSync(text, { preset: "lossless" });
    assert.ok(lossless.tokensAfter < lossless.tokensBefore / 1.5);
    const parsed = (json) =>
      json.startsWith("[") ? JSON.parse(json) : json.split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(parsed(restore(lossless.text)), items);
    const sampled = compressSync(text, { preset: "max", stages: stagesOf("cortex", "ionizer") });
    const shown = sampled.text
      .split("\n")
      .flatMap((line) => [/^(\d+): (\{[^]*\})$/.exec(line) ?? []].filter(([row]) => row));
    assert.ok(shown.length >= 5, sampled.text);
    for (const [, number, row] of shown) assert.deepEqual(JSON.parse(row), items[number - 1]);
    assert.deepEqual(parsed(restore(sampled.text, sampled.originals)), items);
  }
});

test("among codecs that can fold the same text the one that saves most wins, and the report lists the other offers", () => {
  const hits = Array.from(
    { length: 80 },
    (_, n) => `src/parts/unit_${n % 9}.rs:${n * 7 + 3}:    let value_${n % 5} = read(${n});`,
  );
  const { stages: rows } = compressSync(`${hits.toSorted().join("\n")}\n`);
  const offers = rows.filter(({ name }) => ["searchCrunch", "structuralCollapse"].includes(name));
  const [best, other] = offers.toSorted((a, b) => b.offered - a.offered);
  assert.ok(best.offered > other.offered && other.offered > 0, JSON.stringify(offers));
  assert.deepEqual([best.fired, other.fired], [true, false]);
  assert.equal(best.offered, best.tokensBefore - best.tokensAfter);
});

/** A stage that removes text, so that the original is needed. */
const shout = { name: "shout", order: 13, apply: ({ text }) => text.replaceAll(/ took \d+ ms é✓/g, "") };

test("a reversible result has its original and is forbidden under lossless", async () => {
  const text = noise(200);
  const result = await compress(text, { custom: [shout] });
  assert.equal(result.lossless, false);
  assert.equal(result.originals[0].data.toString(), text);
  assert.ok(result.text.includes(`[[REWIND:sha256:${result.originals[0].refId.slice(0, 16)}]]`));
  const lossless = await compress(text, { custom: [shout], lossless: true });
  assert.deepEqual(lossless.originals, []);
  assert.equal(restore(lossless.text), text);
});

test("stages can be disabled and reordered, and an unknown stage is an error that names it", async () => {
  const names = stages().map(({ name }) => name);
  assert.ok(names.includes("semanticDedup"), names.join());
  const without = await compress(repeated, { stages: { semanticDedup: false } });
  assert.ok(!without.stages.some(({ name }) => name === "semanticDedup"));
  const moved = await compress(repeated, { stages: { semanticDedup: { order: 49 } } });
  assert.equal(moved.stages.at(-1).name, "semanticDedup");
  await assert.rejects(compress("x", { stages: { bogus: false } }), { name: "TypeError", message: /bogus/ });
});

test("a custom stage runs between the built-in ones, is measured, and can be undone", async () => {
  const seen = [];
  const custom = [
    {
      name: "shout",
      order: 13,
      shouldApply: ({ text }) => text.includes("unit_"),
      apply: (context) => {
        seen.push(context.contentType);
        return context.text.replaceAll(/ took \d+ ms é✓/g, "");
      },
    },
  ];
  const text = noise(200);
  const result = await compress(text, { custom });
  assert.ok(seen.length > 0);
  assert.ok(result.stages.find(({ name }) => name === "shout").fired);
  assert.ok(result.tokensAfter < result.tokensBefore);
  assert.equal(restore(result.text, result.originals), text);
  assert.equal(compressSync(text, { custom }).text, result.text);
  const longer = await compress(text, { custom: [{ name: "grow", order: 46, apply: ({ text: it }) => it + it }] });
  assert.equal(longer.text, compressSync(text).text, "what does not pay is not taken");
  await assert.rejects(compress(text, { custom: [{ name: "bad", order: 1, apply: () => 7 }] }), { name: "TypeError" });
});

test("a repeat across messages becomes a reference, and messages of users are unchanged", async () => {
  const text = noise(100);
  const messages = [
    user(text),
    ...toolRound("a", "exec", { command: "x" }, text),
    ...toolRound("b", "exec", { command: "x" }, text),
  ];
  const { messages: shorter, report, originals } = await compressMessages(messages);
  assert.equal(shorter[0], messages[0]);
  assert.match(shorter[4].content[0].text, /\[\[DEDUP_REF:\d+:\d+\]\]/);
  assert.ok(report.tokensAfter < report.tokensBefore);
  assert.deepEqual(compressMessagesSync(messages).messages, shorter);
  assert.ok(originals.length <= 1);
  await assert.rejects(compressMessages(messages, { custom: [] }), { name: "TypeError" });
});

/** Returns an image with more pixels than a model perceives, as base64. */
function picture(width = 2000, height = 1500) {
  let grain = 7;
  const next = () => (grain = (Math.imul(grain, 1664525) + 1013904223) >>> 0) >>> 28;
  return png(width, height, (x, y) => {
    // The filter byte before a row consumes a random number too.
    if (x === 0) next();
    const at = y * (1 + 3 * width) + 1 + 3 * x;
    return [at, at + 1, at + 2].map((place) => ((place / 3000) % 200) + next());
  }).toString("base64");
}

test("a scaled image is restored byte for byte, and the rewind tool returns it as an image", async () => {
  const data = picture();
  const messages = [
    user("look"),
    ...toolRound("c", "browser", {}, "seen"),
    ...toolRound("d", "browser", {}, "seen again"),
  ];
  messages[2].content.push(
    { type: "image", data, mimeType: "image/png", extra: 1 },
    { type: "image", data, mimeType: "image/png" },
  );
  const compressed = await compressMessages(messages);
  assert.deepEqual(
    compressed.report.blocks.map(({ action }) => action),
    ["shrunk", "shrunk"],
  );
  assert.equal(compressed.messages[2].content.length, 5);
  assert.equal(JSON.stringify(restoreMessages(compressed)), JSON.stringify(messages));
  const hash = /\[REF_ID: \w+\]/.exec(JSON.stringify(compressed.messages))[0];
  assert.match(
    (await rewindTool.handle({ name: "rewind_retrieve", arguments: { hash } })).content,
    /^The original is an image \(image\/png\)/,
  );
});

test("a compressed conversation with repeats is restored byte for byte", async () => {
  const text = noise(100);
  const rows = JSON.stringify(
    Array.from({ length: 60 }, (_, id) => ({ id, name: `unit ${id}`, isActive: id % 2 === 0 })),
  );
  const edited = text.replace("7 unit_", "7 part_");
  const bare = { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] };
  const rounds = [text, text, rows, edited, `again:\n${text}`];
  const openclaw = [
    user("go"),
    ...rounds.flatMap((output, at) => toolRound(`c${at}`, "exec", { command: "x" }, output)),
  ];
  const items = [
    user("go"),
    ...rounds.flatMap((output, at) => [
      { type: "function_call", call_id: `c${at}`, name: "exec", arguments: "{}" },
      { type: "function_call_output", call_id: `c${at}`, output },
    ]),
    bare,
  ];
  for (const messages of [openclaw, items]) {
    const compressed = await compressMessages(messages);
    assert.match(JSON.stringify(compressed.messages), /\[\[DEDUP_REF:\d+:\d+\]\] same as /);
    assert.equal(JSON.stringify(restoreMessages(compressed)), JSON.stringify(messages));
    // As a caller stores it and continues the conversation.
    const report = JSON.parse(JSON.stringify(compressed.report));
    const later = { ...compressed, messages: [...compressed.messages, user("next")], report };
    assert.deepEqual(restoreMessages(later), [...messages, user("next")]);
    for (const { action, refId } of compressed.report.blocks) {
      if (action === "repeat")
        assert.equal(compressed.originals.find((original) => original.refId === refId).data.toString(), text);
    }
    assert.throws(() => restoreMessages({ ...compressed, originals: [] }), {
      name: "TypeError",
      message: /^report\.blocks\[\d+\] is a block whose original is /,
    });
    assert.throws(() => restoreMessages({ ...compressed, messages: compressed.messages.slice(1) }), {
      name: "TypeError",
      message: /^report\.blocks\[\d+\] is of other messages/,
    });
  }
  const untouched = [user("hi")];
  assert.equal(restoreMessages(await compressMessages(untouched)), untouched);
});

test("the rewind tool answers an item of the Responses API with an item", async () => {
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "rewind_retrieve", arguments: "{}" };
  const { output, ...item } = await rewindTool.handle(call);
  assert.deepEqual(item, { type: "function_call_output", call_id: "call_1" });
  assert.match(output, /^The arguments have no string named hash/);
});

test("the rewind tool returns originals of texts that this process compressed", async () => {
  const original = noise(200);
  const { text, originals } = await compress(original, { custom: [shout] });
  const marker = /\[\[REWIND:sha256:\w+\]\]/.exec(text)[0];
  for (const hash of [marker, originals[0].refId, originals[0].refId.slice(0, 16), originals[0].refId.toUpperCase()]) {
    const answer = await rewindTool.handle({
      id: "c1",
      function: { name: "rewind_retrieve", arguments: JSON.stringify({ hash }) },
    });
    assert.deepEqual(answer, { role: "tool", tool_call_id: "c1", content: original });
  }
  const unknown = await rewindTool.handle({ name: "rewind_retrieve", arguments: { hash: "../../etc/passwd" } });
  assert.match(unknown.content, /^No original is stored/);
});

test("a text with a lone surrogate is unchanged", async () => {
  const text = `${repeated}\udc00`;
  assert.equal((await compress(text)).text, text);
  assert.equal(restore(text), text);
});

test("jobs leave free the threads on which Node reads files", () => {
  const script = `
    import { stat } from "node:fs/promises";
    import { compress } from "openclaw-concertina";
    import { noise } from "./conversation.mjs";
    let done = 0;
    const jobs = [1, 2, 3].map((seed) => compress(noise(5000, seed)).then(() => done++));
    await stat(".");
    console.log(done);
    await Promise.all(jobs);
    console.log(done);`;
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    env,
    encoding: "utf8",
  });
  assert.deepEqual(printed.trim().split("\n"), ["0", "3"]);
});

test("at most two jobs run at a time, however many copies of the library are loaded", async () => {
  const require = createRequire(import.meta.url);
  const once = require("openclaw-concertina");
  for (const file of Object.keys(require.cache)) if (!file.endsWith(".node")) delete require.cache[file];
  const again = require("openclaw-concertina");
  assert.notEqual(again.compress, once.compress);
  const order = [];
  const job = (library, name, lines, seed) => library.compress(noise(lines, seed)).then(() => order.push(name));
  const long = [1, 2].map((seed) => job(once, "long", 20_000, seed));
  // A text is handed over in slices, so a job of a short text that comes at the same time may start first.
  await setTimeout(100);
  await Promise.all([...long, job(again, "short", 300, 3)]);
  assert.deepEqual(order.toSorted(), ["long", "long", "short"]);
  assert.equal(order[0], "long");
});

test("a report of restoring says what is left", () => {
  const { text, originals } = compressSync(noise(200), {
    custom: [{ name: "mine", order: 1, apply: () => "short\n" }],
  });
  assert.deepEqual(restoreReport(text, originals), { text: noise(200), isWhole: true, left: null });
  const { text: kept, isWhole, left } = restoreReport(text);
  assert.deepEqual([kept, isWhole, left.code], [text, false, "CONCERTINA_ORIGINAL_MISSING"]);
  assert.ok(left.message.includes(originals[0].refId.slice(0, 16)), left.message);
  assert.throws(() => restoreReport(5), { name: "TypeError", code: "CONCERTINA_BAD_ARGUMENT" });
});
