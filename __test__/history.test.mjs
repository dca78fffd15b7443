// Tests of the identity of blocks, and of what may be evicted and why: cases in which a build lost or hid content that
// an agent relies on.
import assert from "node:assert/strict";
import test from "node:test";

import { Concertina, compressMessages } from "openclaw-concertina";

import { png } from "../test/png.mjs";
import { freshDir, idIn, isFolded, noise, staleConversation, talk, toolRound, user } from "./conversation.mjs";

const sessionId = "s1";
const textOf = (message) =>
  typeof message.content === "string" ? message.content : (message.content[0].text ?? message.content[0].content);

const opened = (options = {}) => Concertina.open({ dir: freshDir(), ...options });

/** Messages in the shape of OpenAI's API, which have no times. */
const asked = (text) => ({ role: "user", content: text });
const called = (id, name, args) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
});
const answered = (id, text) => ({ role: "tool", tool_call_id: id, content: text });

test("equal results of parallel calls at the same time are not duplicates of each other", async () => {
  const concertina = await opened();
  const text = noise(60);
  const twins = [
    {
      role: "assistant",
      content: ["a", "b"].map((id) => ({ type: "toolCall", id, name: "exec", arguments: { command: "make" } })),
      timestamp: 5,
    },
    ...["a", "b"].map((id) => ({
      role: "toolResult",
      toolCallId: id,
      toolName: "exec",
      content: [{ type: "text", text }],
      isError: false,
      timestamp: 6,
    })),
  ];
  const { messages } = await concertina.assemble({ sessionId, messages: [user("go", 1), ...twins, user("on", 7)] });
  assert.deepEqual(messages.filter(isFolded), []);
  // A third copy contains what both contain.
  const third = toolRound("c", "exec", { command: "make" }, text, 8);
  const later = await concertina.assemble({
    sessionId,
    messages: [user("go", 1), ...twins, user("on", 7), ...third, user("on", 9)],
  });
  assert.deepEqual(later.messages.map(isFolded), [false, false, true, true, false, false, false, false]);
});

test("a new copy of folded content is in sight, whatever the host has dropped", async () => {
  const concertina = await opened();
  const text = noise(60);
  const round = (id) => [called(id, "exec", { command: "make" }), answered(id, text)];
  const first = [asked("make it"), ...round("call_1"), ...talk(6)];
  assert.ok(isFolded((await concertina.assemble({ sessionId, messages: first })).messages[2]));
  // Compaction, a new conversation, a prompt that is sent again: the same words after other messages.
  for (const history of [
    [asked("Summary: it was made"), ...round("call_2")],
    [...round("call_2")].toSpliced(0, 0, asked("make it")),
    [asked("make it now"), ...round("call_1")],
  ]) {
    const { messages } = await concertina.assemble({ sessionId, messages: history });
    assert.deepEqual(messages, history);
  }
});

test("a folded duplicate is shown again when the host drops the later copy", async () => {
  const concertina = await opened();
  const text = noise(60);
  const first = [user("go", 1), ...toolRound("a", "exec", { command: "make" }, text, 2)];
  const second = [user("again", 10), ...toolRound("b", "exec", { command: "make" }, text, 11), user("on", 20)];
  const { messages } = await concertina.assemble({ sessionId, messages: [...first, ...second] });
  assert.deepEqual([isFolded(messages[2]), isFolded(messages[5])], [true, false]);
  const branch = [...first, user("another way", 30)];
  const back = await concertina.assemble({ sessionId, messages: branch });
  assert.deepEqual(back.messages, branch);
  assert.equal(back.report.epoch.reason, "returned: its duplicate or successor is gone");
});

test("two writers of one session always show what was written first", async () => {
  const dir = freshDir();
  const [one, other] = await Promise.all([
    Concertina.open({ dir, keepPreviewChars: 10 }),
    Concertina.open({ dir, keepPreviewChars: 100 }),
  ]);
  const messages = staleConversation();
  const shown = await Promise.all([one, other].map((writer) => writer.assemble({ sessionId, messages })));
  for (const writer of [one, other, await Concertina.open({ dir })]) {
    const again = await writer.assemble({ sessionId, messages });
    assert.ok(again.messages.some(isFolded));
    for (const { messages: then } of shown) assert.deepEqual(again.messages, then);
  }
});

test("a read supersedes only lines that it provably showed, and only for known read tools", async () => {
  const file = Array.from({ length: 80 }, (_, at) => `line ${at} of the file ${noise(1, at)}`);
  const folded = async (name, args, text, isError = false) => {
    const concertina = await opened();
    const second = toolRound("b", name, args, text, 10);
    second[1].isError = isError;
    const { messages } = await concertina.assemble({
      sessionId,
      messages: [
        user("go", 1),
        ...toolRound("a", "read", { path: "a.rs" }, file.join("\n"), 2),
        ...second,
        user("on", 20),
      ],
    });
    return isFolded(messages[2]);
  };
  const whole = file.map((line) => `${line}!`).join("\n");
  const cut = `${file.slice(0, 40).join("\n")}\n\n[40 more lines in file. Use offset=41 to continue]`;
  assert.equal(await folded("read", { path: "a.rs" }, whole), true);
  assert.equal(await folded("read", { path: "a.rs" }, cut), false, "the host cut it");
  assert.equal(await folded("read", { path: "a.rs", limit: 40 }, file.slice(0, 40).join("\n")), false);
  assert.equal(await folded("read", { path: "a.rs", pages: "1" }, whole), false, "an unknown argument");
  assert.equal(await folded("review_code", { path: "a.rs" }, whole), false);
  assert.equal(await folded("spreadsheet_query", { path: "a.rs", query: "all" }, whole), false);
  assert.equal(await folded("write", { path: "a.rs", content: "x" }, "Wrote 1 byte"), true);
  assert.equal(await folded("write", { path: "a.rs", content: "x" }, "sh: a.rs: Permission denied"), false);
  assert.equal(await folded("write", { path: "a.rs", content: "x" }, "failed\n\n(Command exited with code 1)"), false);
  assert.equal(await folded("write", { path: "a.rs", content: "x" }, "no", true), false);
});

test("a placeholder has a bounded length, however many names its original has", async () => {
  const concertina = await opened({ schedule: "cache-aware", sccsSummaryMaxChars: 50_000, keepNames: 100_000 });
  const text = Array.from(
    { length: 100_000 },
    (_, at) => `unique_name_${at.toString(36)}_x${(at * 7919) % 99991}`,
  ).join("\n");
  const [, message] = toolRound("c", "exec", {}, text);
  const { message: shown } = await concertina.admitToolResult({ sessionId, message, args: { command: "nm -a" } });
  assert.ok(isFolded(shown));
  assert.ok(textOf(shown).length <= 6000, `${textOf(shown).length} characters`);
});

test("a folded image keeps its cache breakpoint and its block type", async () => {
  const concertina = await opened();
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: png(800, 600, () => [9, 9, 9]).toString("base64") },
    cache_control: { type: "ephemeral" },
  };
  const history = [{ role: "user", content: [{ type: "text", text: "look" }, image] }, ...talk(6)];
  const { messages } = await concertina.assemble({ sessionId, messages: history });
  const [, shown] = messages[0].content;
  assert.equal(shown.type, "text");
  assert.deepEqual(shown.cache_control, image.cache_control);
});

test("content that the host cut is marked as cut wherever it is shown", async () => {
  const words = /cut by the host at [\d,]+ characters; the rest was never received/;
  for (const text of [noise(400), "the very same line of output\n".repeat(500)]) {
    const concertina = await opened();
    const [, message] = toolRound("c", "exec", {}, text);
    const born = async (hostCutAt) =>
      textOf((await concertina.admitToolResult({ sessionId, message, args: { command: "sh it" }, hostCutAt })).message);
    assert.doesNotMatch(await born(text.length + 1), words);
    const other = await opened();
    const shown = await other.admitToolResult({
      sessionId,
      message,
      args: { command: "sh it" },
      hostCutAt: text.length,
    });
    assert.match(textOf(shown.message), words);
    const { refId } = shown.report.actions[0];
    const page = async (chars) => (await other.fetch({ refIds: [refId], sessionId, chars })).content[0].text;
    assert.match(await page(`${text.length - 99}-`), words);
    assert.doesNotMatch(await page("1-100"), words);
  }
});

test("a text that the host cut before a surrogate pair is recognised as cut", async () => {
  const words = /cut by the host at 100,000 characters; the rest was never received/;
  const born = async (text) => {
    const concertina = await opened();
    const [, message] = toolRound("c", "exec", {}, text);
    return textOf(
      (await concertina.admitToolResult({ sessionId, message, args: { command: "sh it" }, hostCutAt: 100_000 }))
        .message,
    );
  };
  const text = noise(4000).slice(0, 99_999);
  assert.match(await born(`${text}!`), words, "100,000 units");
  assert.match(await born(text), words, "99,999: a pair did not fit");
  assert.match(await born(`${text.slice(0, -2)}😀`), words);
  assert.doesNotMatch(await born(text.slice(0, -1)), words, "99,998");
  assert.doesNotMatch(await born(`${text}!!`), words, "the host does not hand over as much");
  const short = `${noise(400)}😀`;
  const other = await opened();
  const [, message] = toolRound("c", "exec", {}, short);
  const { message: shown } = await other.admitToolResult({
    sessionId,
    message,
    args: { command: "sh it" },
    hostCutAt: short.length + 1,
  });
  assert.match(textOf(shown), /cut by the host at/);
});

test("each of more than 200 blocks in one message is folded, fetched and replayed separately", async () => {
  const texts = Array.from({ length: 230 }, (_, at) => noise(12, at + 1));
  const parts = texts.map((text) => ({ type: "text", text }));
  const shapes = [
    [user("go", 1), ...toolRound("a", "exec", { command: "make" }, "", 2)].map((message) =>
      message.role === "toolResult" ? { ...message, content: parts } : message,
    ),
    [
      asked("go"),
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "exec", input: { command: "make" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: parts }] },
    ],
    [asked("go"), called("a", "exec", { command: "make" }), { role: "tool", tool_call_id: "a", content: parts }],
  ];
  for (const shape of shapes) {
    const concertina = await opened({ schedule: "every-turn", minTokensToSqueeze: 50 });
    const history = [...shape, ...talk(9)];
    const { messages } = await concertina.assemble({ sessionId, messages: history });
    const blocks = (message) =>
      message.content[0].type === "tool_result" ? message.content[0].content : message.content;
    const ids = blocks(messages[2]).map(idIn);
    assert.equal(new Set(ids).size, texts.length);
    for (const at of [0, 1, 199, 200, 201, 229]) {
      assert.equal((await concertina.fetch({ refIds: [ids[at]], sessionId })).content[0].text, texts[at]);
    }
    assert.deepEqual((await concertina.assemble({ sessionId, messages: history })).messages, messages);
    assert.deepEqual((await concertina.unfold({ sessionId, messages })).messages, history);
    assert.equal((await compressMessages(shape)).messages.length, shape.length);
  }
});

test("a text that equals the JSON of arguments with the same time is not confused with them", async () => {
  for (const schedule of ["every-turn", "cache-aware"]) {
    const concertina = await opened({ schedule });
    const args = { path: "a.rs", content: noise(150) };
    const [call, result] = toolRound("a", "write", args, "done", 5);
    const printed = { ...toolRound("b", "fetch_original_data", {}, JSON.stringify(args), 4)[1], timestamp: 5 };
    for (const round of [
      [call, result, printed],
      [printed, call, result],
    ]) {
      const history = [user("go", 1), ...round, ...talk(12)];
      const { messages } = await concertina.assemble({ sessionId, messages: history });
      for (const { content } of messages) {
        for (const part of Array.isArray(content) ? content : []) {
          assert.equal(typeof (part.text ?? part.arguments), part.type === "text" ? "string" : "object");
        }
      }
      assert.ok(schedule === "cache-aware" || /elided by concertina/.test(JSON.stringify(messages)));
      assert.deepEqual((await concertina.unfold({ sessionId, messages })).messages, history);
      const again = await concertina.assemble({ sessionId, messages: history });
      assert.deepEqual([again.messages, again.report.epoch], [messages, undefined]);
    }
  }
});

test("a clock that is set back neither folds a block twice nor undoes a fold", async () => {
  const HOUR = 3_600_000;
  for (const schedule of ["every-turn", "cache-aware"]) {
    const concertina = await opened({ schedule });
    const start = 1_700_000_000_000;
    const turns = (from, count, base) =>
      Array.from({ length: count }, (_, at) => [
        user(`go ${from + at}`, base + at * 1000),
        ...toolRound(
          `c${from + at}`,
          "exec",
          { command: `make ${from + at}` },
          noise(150, from + at),
          base + at * 1000 + 10,
        ),
        { role: "assistant", content: [{ type: "text", text: "done" }], timestamp: base + at * 1000 + 20 },
      ]).flat();
    const early = turns(0, 9, start);
    const first = await concertina.assemble({ sessionId, messages: early, now: start + 24 * HOUR });
    assert.ok(first.report.epoch && first.messages.some(isFolded));
    const { originals } = await concertina.stats();
    // The earlier epoch is in the future now, and so are the messages in the last of these cases.
    for (const now of [start + 24 * HOUR - 1, start + 20_000, start - 1000 * HOUR, 1]) {
      const again = await concertina.assemble({ sessionId, messages: early, now });
      assert.deepEqual(again.messages, first.messages, `${schedule} at ${now}`);
      assert.equal(again.report.epoch, undefined);
      assert.equal((await concertina.stats()).originals, originals);
    }
    // New turns have times of the new clock, which are before all earlier messages.
    const back = start - 1000 * HOUR;
    const grown = [...early, ...turns(9, 9, back)];
    const later = await concertina.assemble({ sessionId, messages: grown, now: back + 10 * HOUR });
    for (const [at, message] of first.messages.entries())
      if (isFolded(message)) assert.deepEqual(later.messages[at], message);
    for (const [at, message] of later.messages.entries()) {
      if (!isFolded(message)) continue;
      assert.equal(
        (await concertina.fetch({ refIds: [idIn(message)], sessionId, now: back + 10 * HOUR })).content[0].text,
        textOf(grown[at]),
      );
    }
    const settled = await concertina.assemble({ sessionId, messages: grown, now: back + 10 * HOUR });
    assert.deepEqual(settled.messages, later.messages);
    assert.equal(settled.report.epoch, undefined);
    await concertina.close();
  }
});
