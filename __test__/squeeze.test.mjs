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
  assert.match(block.text, new RegExp(`^\\[tool result squeezed — was ${text.length.toLocaleString("en-US")} chars, ~[\\d,]+ tokens\\]\\nPreview: `));
  assert.equal(squeezed.stats.toolResultsEvicted, 1);
  assert.ok(squeezed.stats.tokensFreed > 1000);
  assert.deepEqual(messages, before, "the input is never changed");
  assert.deepEqual(squeezed.messages[2].extra, { kept: true });
  squeezed.messages.forEach((message, index) => index === 2 || assert.equal(message, messages[index], `message ${index} is the same object`));
});

test("the same array comes back when nothing changed", () => {
  const fresh = [user("hi"), ...toolRound("c", "exec", { command: "ls" }, noise(50))];
  assert.equal(squeeze(fresh).messages, fresh);
  assert.equal(repairToolPairing(fresh).messages, fresh);
});

test("a lone surrogate leaves its part untouched and the rest works", () => {
  const messages = staleConversation(`${noise(200)}\ud800`);
  messages.splice(1, 0, ...toolRound("c0", "exec", { command: "a" }, noise(200, 9), 2));
  const squeezed = squeeze(messages);
  assert.notEqual(squeezed.messages[2], messages[2], "the well-formed one is squeezed");
  assert.equal(squeezed.messages[4], messages[4], "the ill-formed one is the same object");
});

test("hostile texts are squeezed without a crash and in linear time", () => {
  for (const text of ["x".repeat(1e6), " ".repeat(8e4), "\n".repeat(4e4), `${"a b ".repeat(2.5e6)}`, "a\r\nb\0".repeat(1e4), ""]) {
    const messages = staleConversation(text);
    const squeezed = squeeze(messages);
    assert.equal(squeezed.messages.length, messages.length);
  }
  let nested = "deep";
  for (let depth = 0; depth < 100; depth++) nested = { nested };
  let tooDeep = "deep";
  for (let depth = 0; depth < 5000; depth++) tooDeep = [tooDeep];
  const messages = [user("a", 1), ...toolRound("c", "t", { nested, tooDeep, body: noise(300) }, "ok", 2), { role: "user", content: null }, user("b", 3)];
  assert.equal(squeeze(messages).messages.length, messages.length);
});

test("a missing result is replaced and an orphan dropped", () => {
  const messages = [
    user("go"),
    { role: "assistant", content: [{ type: "toolCall", id: "a", name: "exec", arguments: {} }] },
    { role: "toolResult", toolCallId: "zzz", toolName: "exec", content: [{ type: "text", text: "x" }] },
  ];
  const { messages: repaired, stats } = repairToolPairing(messages);
  assert.deepEqual({ ...stats }, { syntheticResultsInserted: 1, orphanResultsDropped: 1, duplicateResultsDropped: 0, repaired: true });
  assert.equal(repaired.length, 3);
  assert.equal(repaired[2].toolCallId, "a");
  assert.equal(repaired[2].isError, true);
  assert.equal(repaired[0], messages[0]);
});

test("a result of an aborted or failed call is an orphan, and one that was tried again keeps its own", () => {
  for (const stopReason of ["aborted", "error"]) {
    const [call, result] = toolRound("c", "exec", { command: "ls" }, "ok");
    const failed = { ...call, stopReason };
    for (const messages of [[user("go"), failed, result, user("on")], [user("go"), result, failed, user("on")]]) {
      const { messages: repaired, stats } = repairToolPairing(messages);
      assert.deepEqual({ ...stats }, { syntheticResultsInserted: 0, orphanResultsDropped: 1, duplicateResultsDropped: 0, repaired: true });
      assert.deepEqual(repaired, [user("go"), failed, user("on")]);
      assert.equal(repaired[1], failed);
    }
    const again = [failed, call, result];
    assert.equal(repairToolPairing(again).messages, again);
  }
});
