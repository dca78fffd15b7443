import assert from "node:assert/strict";
import test from "node:test";

import { agentOf, Concertina, createContextEngine, createSccsIntegration, scopeOf } from "openclaw-concertina";

import { freshDir, idIn, noise, staleConversation, toolRound, user } from "./conversation.mjs";

test("the agent is read from a session key as in OpenClaw", () => {
  for (const [key, agent] of [
    ["agent:main:work", "main"],
    ["agent:Helper:work", "helper"],
    ["AGENT:helper:subagent:0b8e", "helper"],
    ["  agent:helper:x  ", "helper"],
    ["agent: helper :x", "helper"],
    ["agent:my agent!:x", "my-agent"],
    ["agent:--Ünï--:x", "n"],
    ["agent:a_b-c:x", "a_b-c"],
    [`agent:${"x".repeat(70)}:y`, "x".repeat(64)],
    ["agent:!!!:x", "main"],
    ["agent:helper:x\ny", "helper"],
    // Keys without an agent, and keys that the host refuses to parse.
    ["work", "main"],
    ["telegram:group:1", "main"],
    ["global", "main"],
    ["", "main"],
    [undefined, "main"],
    ["agent:helper", "main"],
    ["agent:helper:", "main"],
    ["agent:helper::x", "main"],
    ["agent::x", "main"],
    ["agent: :x", "main"],
  ]) {
    assert.equal(agentOf(key), agent, JSON.stringify(key));
  }
});

test("the session key decides whose content it is, and without one the stated agent", () => {
  const sessionId = "s";
  assert.deepEqual(scopeOf({ sessionId }), { agentId: "main", sessionId });
  assert.deepEqual(scopeOf({ agentId: "Helper", sessionId }), { agentId: "helper", sessionId });
  assert.deepEqual(scopeOf({ agentId: "other", sessionKey: "agent:helper:x", sessionId }), {
    agentId: "helper",
    sessionId,
  });
  assert.deepEqual(scopeOf({ agentId: "other", sessionKey: "global", sessionId }), { agentId: "main", sessionId });
  assert.deepEqual(scopeOf({ agentId: "other", sessionKey: " ", sessionId }), { agentId: "other", sessionId });
});

test("content that the engine folded under a key is found under every spelling of that key", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const engine = createContextEngine(concertina, { compact: async () => ({}) });
  for (const [sessionKey, other] of [
    ["agent:Helper One:x", "agent:helper-one:y"],
    ["global", undefined],
  ]) {
    const messages = staleConversation(noise(200, sessionKey.length));
    const folded = await engine.assemble({ sessionId: `s of ${sessionKey}`, sessionKey, messages });
    const refIds = [idIn(folded.messages[2])];
    assert.equal((await concertina.fetch({ refIds, ...scopeOf({ sessionKey: other, sessionId: "s" }) })).found, 1);
    assert.equal((await concertina.fetch({ refIds, agentId: "stranger" })).found, 0);
  }
});

test("an integration's tool finds what its engine folded for the same agent", async () => {
  const { wrapContextEngine, tool } = createSccsIntegration({
    cfg: { sccsStorageDir: freshDir() },
    logger: console,
    sessionKey: "agent:Helper:x",
  });
  const given = [user("go"), ...toolRound("c", "exec", { command: "x" }, noise(400))];
  const { messages } = await wrapContextEngine({ assemble: async (parameters) => parameters }).assemble({
    sessionId: "s",
    sessionKey: "agent:helper:x",
    messages: given,
  });
  const id = idIn(messages[2]);
  assert.deepEqual((await tool.execute("call", { ref_ids: [id] })).content, [
    { type: "text", text: given[2].content[0].text },
  ]);
});
