import assert from "node:assert/strict";
import test from "node:test";

import { createSccsIntegration } from "openclaw-concertina";

import { freshDir, idIn, isFolded, noise, toolRound, user, written } from "./conversation.mjs";

class OtherEngine {
  #turns = 0;
  get info() {
    return { id: "other", turns: this.#turns };
  }
  async assemble({ messages }) {
    this.#turns++;
    return { messages: messages.slice(), estimatedTokens: 7, systemPromptAddition: "own words" };
  }
  async compact() {
    return { compacted: true, turns: this.#turns };
  }
}

const lines = [];
const logger = { warn: (line) => lines.push(line) };
const messages = () => [
  user("go"),
  ...toolRound("c", "exec", { command: "x" }, noise(400)),
  ...toolRound("d", "read", { path: "a.rs" }, noise(400, 5)),
];

test("a wrapped class instance keeps its private state, getters and methods", async () => {
  const { enabled, wrapContextEngine, tool } = createSccsIntegration({ cfg: { sccsStorageDir: freshDir() }, logger });
  assert.equal(enabled, true);
  const wrapped = wrapContextEngine(new OtherEngine());
  const given = messages();
  const result = await wrapped.assemble({ sessionId: "s", sessionKey: "agent:main:x", messages: given });
  assert.equal(result.estimatedTokens, 7);
  assert.equal(result.systemPromptAddition, "own words");
  const id = idIn(result.messages[2]);
  assert.equal(result.messages[4], given[4], "a read stays exact while fresh");
  assert.deepEqual(wrapped.info, { id: "other", turns: 1 });
  assert.deepEqual(await wrapped.compact(), { compacted: true, turns: 1 });
  const answer = await tool.execute("call", { ref_ids: [id] });
  assert.deepEqual(answer.content, [{ type: "text", text: given[2].content[0].text }]);
  const again = await wrapped.assemble({ sessionId: "s", sessionKey: "agent:main:x", messages: given });
  assert.deepEqual(again.messages, result.messages);
});

test("a frozen engine is wrapped like any other", async () => {
  const { wrapContextEngine } = createSccsIntegration({ cfg: { sccsStorageDir: freshDir() }, logger });
  const engine = Object.freeze({
    assemble: async ({ messages: given }) => ({ messages: given }),
    info: { id: "frozen" },
    compact() {
      return this === engine;
    },
  });
  const wrapped = wrapContextEngine(engine);
  const { messages: sent } = await wrapped.assemble({ sessionId: "s", messages: messages() });
  assert.ok(isFolded(sent[2]));
  assert.deepEqual([Object.keys(wrapped), wrapped.info, wrapped.compact()], [Object.keys(engine), engine.info, true]);
});

test("with sccsEnabled false the same engine is returned", () => {
  const engine = new OtherEngine();
  const { enabled, wrapContextEngine } = createSccsIntegration({ cfg: { sccsEnabled: false }, logger });
  assert.equal(enabled, false);
  assert.equal(wrapContextEngine(engine), engine);
});

test("if the store cannot be opened, the engine's own messages are used and one line is logged", async () => {
  const file = written("file", "");
  lines.length = 0;
  const wrapped = createSccsIntegration({ cfg: { sccsStorageDir: file }, logger }).wrapContextEngine(new OtherEngine());
  const given = messages();
  const result = await wrapped.assemble({ sessionId: "s", messages: given });
  assert.deepEqual(result.messages, given);
  assert.equal(lines.length, 1);
  assert.match(lines[0], /CONCERTINA_STORE_UNAVAILABLE.*; outputs are sent in full/);
});

test("options below their minimum are raised with one warning each", async () => {
  lines.length = 0;
  const cfg = { sccsStorageDir: freshDir(), sccsCompressThreshold: 5, sccsSummaryMaxChars: "many" };
  const { wrapContextEngine } = createSccsIntegration({ cfg, logger });
  await wrapContextEngine(new OtherEngine()).assemble({ sessionId: "s", messages: messages() });
  assert.equal(lines.length, 2, lines.join("\n"));
});
