import assert from "node:assert/strict";
import test from "node:test";

import { repairToolPairing, squeeze } from "openclaw-concertina";

import { noise, staleConversation, toolRound, user } from "./conversation.mjs";

test("a stale result leaves a placeholder in the published wording", () => {
  const text = noise(200);
  const messages = staleConversation(text);
  const before = structuredClone(messages);
  const squeezed = squeeze(messages);
  const [block] = squeezed.messages[2].content;
  assert.match(
    block.text,
    new RegExp(
      `^\\[tool result squeezed — was ${text.length.toLocaleString("en-US")} chars, ~[\\d,]+ tokens\\]\\nPreview: `,
    ),
  );
  assert.equal(squeezed.stats.toolResultsEvicted, 1);
  assert.ok(squeezed.stats.tokensFreed > 1000);
  assert.deepEqual(messages, before, "the input is never changed");
  assert.deepEqual(squeezed.messages[2].extra, { kept: true });
  squeezed.messages.forEach(
    (message, index) => index === 2 || assert.equal(message, messages[index], `message ${index} is the same object`),
  );
});

test("the same array is returned if nothing changed", () => {
  const fresh = [user("hi"), ...toolRound("c", "exec", { command: "ls" }, noise(50))];
  assert.equal(squeeze(fresh).messages, fresh);
  assert.equal(repairToolPairing(fresh).messages, fresh);
});

test("a text with a lone surrogate is squeezed, and the placeholder shows none", () => {
  const messages = staleConversation(`${noise(200)}\ud800`);
  messages.splice(1, 0, ...toolRound("c0", "exec", { command: "a" }, noise(200, 9), 2));
  const squeezed = squeeze(messages);
  assert.notEqual(squeezed.messages[2], messages[2], "the well-formed one is squeezed");
  assert.notEqual(squeezed.messages[4], messages[4], "the ill-formed one, too");
  assert.ok(JSON.stringify(squeezed.messages).isWellFormed());
  assert.equal(squeezed.stats.leftAlone, undefined);
});

test("hostile texts are squeezed without a crash and in linear time", () => {
  for (const text of [
    "x".repeat(1e6),
    " ".repeat(8e4),
    "\n".repeat(4e4),
    `${"a b ".repeat(2.5e6)}`,
    "a\r\nb\0".repeat(1e4),
    "",
  ]) {
    const messages = staleConversation(text);
    const squeezed = squeeze(messages);
    assert.equal(squeezed.messages.length, messages.length);
  }
  let nested = "deep";
  for (let depth = 0; depth < 100; depth++) nested = { nested };
  let tooDeep = "deep";
  for (let depth = 0; depth < 5000; depth++) tooDeep = [tooDeep];
  const messages = [
    user("a", 1),
    ...toolRound("c", "t", { nested, tooDeep, body: noise(300) }, "ok", 2),
    { role: "user", content: null },
    user("b", 3),
  ];
  assert.equal(squeeze(messages).messages.length, messages.length);
});

test("a missing result is replaced and an orphan dropped", () => {
  const messages = [
    user("go"),
    { role: "assistant", content: [{ type: "toolCall", id: "a", name: "exec", arguments: {} }] },
    { role: "toolResult", toolCallId: "zzz", toolName: "exec", content: [{ type: "text", text: "x" }] },
  ];
  const { messages: repaired, stats } = repairToolPairing(messages);
  assert.deepEqual(
    { ...stats },
    { syntheticResultsInserted: 1, orphanResultsDropped: 1, duplicateResultsDropped: 0, repaired: true },
  );
  assert.equal(repaired.length, 3);
  assert.equal(repaired[2].toolCallId, "a");
  assert.equal(repaired[2].isError, true);
  assert.equal(repaired[0], messages[0]);
});

const calls = (...ids) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "exec", input: {} })),
});
const answers = (...ids) => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" })),
});

test("results of one answer in two user messages are merged without loss", () => {
  const words = { type: "text", text: "and go on", when: 10n };
  const first = { ...answers("a"), extra: 1 };
  first.content.push(words);
  const second = answers("b");
  second.content[0].content = "not well-formed: \ud800";
  const messages = [user("go"), calls("a", "b"), first, second, user("next")];
  const before = structuredClone(messages);
  const { messages: repaired, stats } = repairToolPairing(messages);
  assert.deepEqual(
    { ...stats },
    { syntheticResultsInserted: 0, orphanResultsDropped: 0, duplicateResultsDropped: 0, repaired: true },
  );
  assert.deepEqual(repaired, [
    user("go"),
    calls("a", "b"),
    { role: "user", content: [first.content[0], second.content[0], words], extra: 1 },
    user("next"),
  ]);
  assert.equal(repaired[2].content[2], words, "the same object");
  assert.deepEqual(messages, before, "the input is never changed");
  const apart = [calls("a"), answers("a"), calls("b"), answers("b")];
  assert.equal(repairToolPairing(apart).messages, apart);
});

test("messages that are moved or kept preserve values that JSON cannot carry", () => {
  const late = answers("a", "ghost");
  late.content[0].content = "not well-formed: \ud800";
  late.content.push({ type: "text", text: "hi", when: new Date(0) });
  const { messages, stats } = repairToolPairing([user("go"), calls("a"), user("wait"), late]);
  assert.equal(stats.orphanResultsDropped, 1);
  assert.deepEqual(messages, [
    user("go"),
    calls("a"),
    { role: "user", content: [late.content[0]] },
    user("wait"),
    { role: "user", content: [late.content[2]] },
  ]);
});

test("repair changes nothing if an unreadable message may contain a call or result, and stats name it", () => {
  class Answer {
    constructor(content) {
      Object.assign(this, { role: "assistant", content });
    }
  }
  class Block {
    type = "tool_result";
    tool_use_id = "a";
  }
  for (const [messages, unreadable] of [
    [[user("go"), new Answer(calls("a").content), answers("a")], 1],
    [[user("go"), calls("a"), { role: "user", content: [new Block()] }], 2],
    [
      [
        user("go"),
        {
          role: "assistant",
          get content() {
            throw new Error("do not look");
          },
        },
        answers("a"),
      ],
      1,
    ],
    [[calls("a"), { role: "user", content: [{ type: "tool_result", tool_use_id: 10n, content: "ok" }] }], 1],
  ]) {
    const repaired = repairToolPairing(messages);
    assert.equal(repaired.messages, messages);
    assert.deepEqual(
      { ...repaired.stats },
      { syntheticResultsInserted: 0, orphanResultsDropped: 0, duplicateResultsDropped: 0, repaired: false, unreadable },
    );
  }
  const illFormed = [
    user("\ud800"),
    {
      role: "assistant",
      content: "\ud800",
      tool_calls: [{ id: "a", type: "function", function: { name: "x", arguments: "{}" } }],
    },
  ];
  assert.equal(repairToolPairing(illFormed).stats.syntheticResultsInserted, 1, "a string hides no call");
});

test("items of the Responses API are squeezed and repaired as items", () => {
  const text = noise(200);
  const messages = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "a",
      name: "write",
      arguments: JSON.stringify({ path: "a.txt", content: text }),
      status: "completed",
    },
    { type: "function_call", id: "fc_2", call_id: "b", name: "exec", arguments: "{}" },
    { type: "function_call_output", call_id: "b", output: [{ type: "input_text", text }] },
    { type: "function_call_output", call_id: "a", output: text },
    ...Array.from({ length: 6 }, (_, at) => ({ role: "user", content: `t${at}` })),
  ];
  assert.equal(repairToolPairing(messages).messages, messages, "outputs may stand in any order");
  const { messages: shown, stats } = squeeze(messages);
  assert.deepEqual([stats.toolResultsEvicted, stats.toolCallsEvicted], [2, 1]);
  assert.match(shown[4].output[0].text, /^\[tool result squeezed/);
  assert.match(shown[5].output, /^\[tool result squeezed/);
  assert.match(JSON.parse(shown[2].arguments).content, /chars elided by concertina/);
  assert.deepEqual({ ...shown[2], arguments: "" }, { ...messages[2], arguments: "" });
  for (const same of [0, 1, 3]) assert.equal(shown[same], messages[same]);
  const { messages: repaired, stats: repairs } = repairToolPairing([
    ...messages.slice(0, 4),
    { type: "function_call_output", call_id: "ghost", output: "x" },
    messages[6],
  ]);
  assert.deepEqual([repairs.syntheticResultsInserted, repairs.orphanResultsDropped], [2, 1]);
  assert.deepEqual(repaired.map(({ type, call_id }) => [type, call_id]).slice(2, 6), [
    ["function_call", "a"],
    ["function_call", "b"],
    ["function_call_output", "a"],
    ["function_call_output", "b"],
  ]);
});

test("a result of an aborted or failed call is an orphan, and a retried call keeps its own result", () => {
  for (const stopReason of ["aborted", "error"]) {
    const [call, result] = toolRound("c", "exec", { command: "ls" }, "ok");
    const failed = { ...call, stopReason };
    for (const messages of [
      [user("go"), failed, result, user("on")],
      [user("go"), result, failed, user("on")],
    ]) {
      const { messages: repaired, stats } = repairToolPairing(messages);
      assert.deepEqual(
        { ...stats },
        { syntheticResultsInserted: 0, orphanResultsDropped: 1, duplicateResultsDropped: 0, repaired: true },
      );
      assert.deepEqual(repaired, [user("go"), failed, user("on")]);
      assert.equal(repaired[1], failed);
    }
    const again = [failed, call, result];
    assert.equal(repairToolPairing(again).messages, again);
  }
});
