// Tests with values that JSON cannot represent next to folded content: each value is returned unchanged, and a folded
// text is restored to the UTF-16 unit.
import assert from "node:assert/strict";
import test from "node:test";

import {
  answerFetch,
  compress,
  compressMessages,
  compressMessagesSync,
  Concertina,
  repairToolPairing,
  restoreMessages,
  squeeze,
} from "openclaw-concertina";

import { png } from "../test/png.mjs";
import { freshDir, idIn, noise, talk } from "./conversation.mjs";

class Point {
  constructor() {
    this.x = 1;
  }
}

/** Each kind of value that JSON cannot represent, and some of them inside plain values. */
const VALUES = {
  date: new Date(0),
  map: new Map([[1, 2]]),
  set: new Set([1]),
  bigint: 5n,
  function: () => 1,
  symbol: Symbol("s"),
  nan: NaN,
  infinity: -Infinity,
  "negative zero": -0,
  regexp: /a/u,
  bytes: new Uint8Array(3),
  error: new Error("x"),
  instance: new Point(),
  "lone surrogate": "\ud800",
  "long lone surrogate": `${"x".repeat(400)}\udc00 \ufffd ${"y".repeat(400)}`,
  nested: { deep: [{ at: new Date(1) }, "\udbff"] },
  list: [undefined, 1n],
};

const IMAGE = png(800, 600, (x, y) => [x & 255, y & 255, 9]).toString("base64");
/** An image that is too small to be evicted. */
const ICON = png(8, 8, () => [1, 2, 3]).toString("base64");
const TEXT = noise(300);

/**
 * One conversation in each shape: an image of a user, a call, its result with a text and an image, and further turns.
 * `meta` is at every place.
 */
const SHAPES = {
  openclaw: (meta, text, image) => [
    {
      role: "user",
      meta,
      content: [
        { type: "text", text: "look", meta },
        { type: "image", data: image, mimeType: "image/png", meta },
      ],
    },
    {
      role: "assistant",
      content: [{ type: "toolCall", id: "c", name: "exec", arguments: { command: "jobs", meta }, meta }],
    },
    {
      role: "toolResult",
      toolCallId: "c",
      toolName: "exec",
      meta,
      content: [
        { type: "text", text, meta },
        { type: "image", data: image, mimeType: "image/png", meta: { wrapped: [meta] } },
      ],
    },
  ],
  anthropic: (meta, text, image) => [
    {
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: image }, meta },
        { type: "text", text: "look", meta },
      ],
    },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c", name: "exec", input: { command: "jobs", meta }, meta }],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c",
          meta,
          content: [
            { type: "text", text, meta },
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: image },
              meta: { wrapped: [meta] },
            },
          ],
        },
      ],
    },
  ],
  openai: (meta, text, image) => [
    {
      role: "user",
      meta,
      content: [
        { type: "text", text: "look", meta },
        { type: "image_url", image_url: { url: `data:image/png;base64,${image}` }, meta },
      ],
    },
    {
      role: "assistant",
      content: null,
      meta,
      tool_calls: [
        { id: "c", type: "function", function: { name: "exec", arguments: '{"command":"jobs"}', meta }, meta },
      ],
    },
    {
      role: "tool",
      tool_call_id: "c",
      meta,
      content: [
        { type: "text", text, meta },
        { type: "image_url", image_url: { url: `data:image/png;base64,${image}` }, meta: { wrapped: [meta] } },
      ],
    },
  ],
  responses: (meta, text, image) => [
    {
      type: "message",
      role: "user",
      meta,
      content: [
        { type: "input_text", text: "look", meta },
        { type: "input_image", image_url: `data:image/png;base64,${image}`, meta },
      ],
    },
    { type: "function_call", call_id: "c", name: "exec", arguments: '{"command":"jobs"}', meta },
    {
      type: "function_call_output",
      call_id: "c",
      meta,
      output: [
        { type: "input_text", text, meta },
        { type: "input_image", image_url: `data:image/png;base64,${image}`, meta: { wrapped: [meta] } },
      ],
    },
  ],
};

/** Returns every value under the key `meta`, in order. Checks that no field is a marker of ours. */
function metas(value, found = []) {
  if (Array.isArray(value)) for (const item of value) metas(item, found);
  else if (
    value !== null &&
    typeof value === "object" &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  ) {
    for (const [key, field] of Object.entries(value)) {
      assert.ok(!key.startsWith("\0"), `a mark came back: ${JSON.stringify(key)}`);
      if (key === "meta") found.push(field?.wrapped?.[0] ?? field);
      else metas(field, found);
    }
  }
  return found;
}

/** Checks that all `meta` values of the conversation are in the result, each the same value. */
function assertSame(name, before, after) {
  const [given, back] = [metas(before), metas(after)];
  assert.equal(back.length, given.length, `${name}: a field is lost`);
  for (const [index, value] of back.entries()) {
    // Plain containers are copied with their contents.
    if (given[index]?.deep || Array.isArray(given[index])) assert.deepStrictEqual(value, given[index], name);
    else assert.ok(Object.is(value, given[index]), `${name}: field ${index} is ${String(value)}`);
  }
}

const after = () => talk(12);

for (const [shape, conversation] of Object.entries(SHAPES)) {
  test(`values that JSON cannot carry are returned as the same objects on every path, ${shape}`, async () => {
    for (const [kind, value] of Object.entries(VALUES)) {
      const name = `${shape} ${kind}`;
      const round = conversation(value, TEXT, IMAGE);
      const messages = [...round, ...after()];
      const squeezed = squeeze(messages);
      assert.ok(
        squeezed.stats.toolResultsEvicted > 0 && squeezed.stats.imagesEvicted > 0,
        `${name}: nothing was squeezed`,
      );
      assertSame(`squeeze ${name}`, messages, squeezed.messages);

      const twice = [...round, { ...round[1] }, ...conversation(value, TEXT, IMAGE).slice(1), ...after()];
      for (const compressed of [await compressMessages(twice), compressMessagesSync(twice)]) {
        assert.ok(compressed.report.blocks.length > 0, `${name}: nothing was compressed`);
        assertSame(`compressMessages ${name}`, twice, compressed.messages);
        assert.deepEqual(restoreMessages(compressed), twice);
      }

      // The result is too late in the messages, and is moved.
      const mixed = [round[0], round[1], ...talk(1), round[2], ...talk(1)];
      assertSame(`repair ${name}`, mixed.slice(0, 2), repairToolPairing(mixed).messages.slice(0, 2));
      assert.equal(metas(repairToolPairing(mixed).messages).length, metas(mixed).length);

      const dir = freshDir();
      let concertina = await Concertina.open({ dir });
      const born = await concertina.admitToolResult({
        sessionId: "b",
        message: round[2],
        toolName: "exec",
        args: { command: "jobs" },
      });
      assert.ok(born.report.actions.length > 0, `${name}: nothing was folded at birth`);
      assertSame(`admit ${name}`, round[2], born.message);
      const cold = await concertina.assemble({ sessionId: "s", messages });
      assert.ok(cold.report.actions.length > 0, `${name}: nothing was folded`);
      assertSame(`cold ${name}`, messages, cold.messages);
      const grown = [...messages, ...talk(1)];
      const warm = await concertina.assemble({ sessionId: "s", messages: grown });
      assertSame(`warm ${name}`, grown, warm.messages);
      await concertina.close();
      concertina = await Concertina.open({ dir });
      const replayed = await concertina.assemble({ sessionId: "s", messages: grown });
      assert.deepEqual(replayed.messages, warm.messages);
      for (const input of [{ sessionId: "s" }, {}]) {
        const { messages: back, missing } = await concertina.unfold({ ...input, messages: cold.messages });
        assert.deepEqual(missing, []);
        assert.deepEqual(back, messages, `unfold ${name}`);
      }
      const unfolded = await concertina.unfold({ messages: [born.message] });
      assert.deepEqual(unfolded.messages, [round[2]], `unfold of a birth, ${name}`);
      await concertina.close();
    }
  });
}

test("a scaled image keeps the blocks beside it", async () => {
  const image = png(1800, 1200, (x, y) => [(x >> 3) & 255, (y >> 3) & 255, (x * y) & 7]).toString("base64");
  for (const [shape, conversation] of Object.entries(SHAPES)) {
    for (const kind of shape === "openclaw" ? ["date", "lone surrogate"] : ["bigint"]) {
      const [, , message] = conversation(VALUES[kind], "short", image);
      const concertina = await Concertina.open({ dir: freshDir() });
      const born = await concertina.admitToolResult({ sessionId: "b", message, toolName: "shot" });
      assert.ok(
        born.report.actions.some(({ reason }) => reason === "shrunk"),
        `${shape} ${kind}: ${JSON.stringify(born.report.actions)}`,
      );
      assertSame(`shrunk ${shape} ${kind}`, message, born.message);
      assert.deepEqual((await concertina.unfold({ sessionId: "b", messages: [born.message] })).messages, [message]);
      await concertina.close();
    }
  }
});

/**
 * Texts with lone surrogates: high or low, at either end and in the middle, one and many, next to U+FFFD and next to a
 * whole character.
 */
const ILL_FORMED = [
  `${TEXT} \ud83d`,
  `\udc00${TEXT}`,
  `${TEXT.slice(0, 700)}\ud83d${TEXT.slice(700)}`,
  `${TEXT}\ufffd\ud800\ufffd\u{1f600}\ud83d`,
  `${TEXT}\udc00\ud800`,
  TEXT.replaceAll("took", "\udfff\ufffd"),
  `${TEXT}\n${"\ud800 ".repeat(500)}`,
  `${"é✓\ud83d".repeat(6000)}`,
];

for (const [shape, conversation] of Object.entries(SHAPES)) {
  test(`a text with lone surrogates is folded without showing them and restored exactly, ${shape}`, async () => {
    for (const [index, text] of ILL_FORMED.entries()) {
      const name = `${shape} ${index}`;
      const messages = [...conversation("x", text, ICON), ...after()];
      const concertina = await Concertina.open({ dir: freshDir() });
      const { messages: folded, report } = await concertina.assemble({ sessionId: "s", messages });
      assert.equal(report.leftAlone, undefined, name);
      const shown = JSON.stringify(folded[2]);
      assert.ok(idIn(shown) && shown.isWellFormed() && !/\\ud[89a-f]/.test(shown), name);
      for (const input of [{ sessionId: "s" }, {}]) {
        assert.deepEqual((await concertina.unfold({ ...input, messages: folded })).messages, messages, name);
      }
      const whole = await concertina.fetch({ refIds: [idIn(shown)], sessionId: "s", maxChars: 2 ** 30 });
      assert.equal(whole.content[0].text, text, name);
      // A page states its range in characters of the whole.
      const page = await concertina.fetch({ refIds: [idIn(shown)], chars: "100-400", maxChars: 2000 });
      assert.ok(page.content[0].text.startsWith([...text.toWellFormed()].slice(99, 400).join("")), name);
      // Fetched text that the caller stores unchanged is recognised when it is stale.
      const born = await concertina.admitToolResult({ sessionId: "b", message: messages[2], toolName: "exec" });
      assert.ok(idIn(born.message), `${name}: birth`);
      assert.deepEqual((await concertina.unfold({ messages: [born.message] })).messages, [messages[2]], name);
      await concertina.close();
      assert.ok(JSON.stringify(squeeze(messages).messages[2]).length < JSON.stringify(messages[2]).length, name);
      // The stages cannot restore this text exactly, so compressMessages does not change it, and reports this.
      const compressed = await compressMessages(messages);
      assert.deepEqual(restoreMessages(compressed), messages, name);
      assert.match(compressed.report.leftAlone[0].why, /lone surrogate/);
      assert.equal(compressed.report.leftAlone[0].message, 2);
      assert.equal((await compress(text)).text, text);
    }
  });
}

test("the answer to a model has no lone surrogate, and the original does", async () => {
  const concertina = await Concertina.open({ dir: freshDir(), sccsCompressThreshold: 1000 });
  const text = `${noise(300)}\ud83d\n${noise(300, 7)}`;
  const message = { role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text }] };
  const born = await concertina.admitToolResult({ sessionId: "s", message });
  const refIds = [idIn(born.message)];
  const asked = { refIds, maxChars: 2 ** 31 };
  assert.equal((await concertina.fetch(asked)).content[0].text, text);
  for (const form of [undefined, "anthropic", "openai", "responses"]) {
    const answer = await answerFetch(concertina, { ref_ids: refIds }, { sessionId: "s", maxChars: 2 ** 31, form });
    assert.ok(JSON.stringify(answer).includes("\ufffd") && !JSON.stringify(answer).includes("\\ud83d"), form);
  }
  await concertina.close();
});

test("texts that differ only in a lone surrogate have different originals", async () => {
  const texts = ["\ud800", "\ud801", "\ufffd"].map((unit) => `${TEXT}${unit}`);
  const concertina = await Concertina.open({ dir: freshDir() });
  const ids = [];
  for (const [at, text] of texts.entries()) {
    const { message } = await concertina.admitToolResult({
      sessionId: `s${at}`,
      message: { role: "toolResult", toolCallId: "c", toolName: "exec", content: text },
    });
    ids.push(idIn(message));
    assert.equal((await concertina.fetch({ refIds: [ids.at(-1)], maxChars: 2 ** 30 })).content[0].text, text);
  }
  assert.equal(new Set(ids).size, 3);
  await concertina.close();
});

test("every report names what could not be read, with the reason", async () => {
  class Message {
    get role() {
      return "toolResult";
    }
    get content() {
      return TEXT;
    }
  }
  const loop = { type: "text" };
  loop.self = loop;
  for (const [message, path, why] of [
    [new Message(), "", /instance of a class \(Message\)/],
    [
      { role: "toolResult", toolCallId: "c", content: [new Point(), { type: "text", text: TEXT }] },
      "content[0]",
      /instance of a class \(Point\)/,
    ],
    [
      {
        role: "toolResult",
        toolCallId: "c",
        content: [
          {
            type: "text",
            get text() {
              throw new Error("do not look");
            },
          },
        ],
      },
      "content[0]",
      /cannot be read: do not look/,
    ],
    [
      {
        role: "toolResult",
        toolCallId: "c",
        get content() {
          throw new Error("do not look");
        },
      },
      "",
      /do not look/,
    ],
    [
      { role: "toolResult", toolCallId: "c", content: [{ type: "text", text: new Date(0) }] },
      "content[0].text",
      /Date/,
    ],
    [{ role: "toolResult", toolCallId: "c", content: 5n }, "content", /bigint/],
    [
      {
        role: "assistant",
        content: [
          { type: "toolCall", id: "d", name: "write", arguments: { path: "a", content: "\ud800", list: [1n] } },
        ],
      },
      "content[0].arguments.content",
      /lone surrogate/,
    ],
  ]) {
    const messages = [{ role: "user", content: "go", meta: new Date(0) }, message, ...after()];
    const concertina = await Concertina.open({ dir: freshDir() });
    const { report } = await concertina.assemble({ sessionId: "s", messages });
    const born = await concertina.admitToolResult({ sessionId: "s", message });
    await concertina.close();
    for (const [alone, index] of [
      [report.leftAlone, 1],
      [born.report.leftAlone, 0],
      [squeeze(messages).stats.leftAlone, 1],
      [compressMessagesSync(messages).report.leftAlone, 1],
      [(await compressMessages(messages)).report.leftAlone, 1],
    ]) {
      assert.equal(alone[0].message, index);
      assert.equal(alone[0].path, path);
      assert.match(alone[0].why, why);
      assert.ok(
        alone.every((row) => row.message === index),
        "a field beside the content keeps nothing from being folded",
      );
    }
  }
});
