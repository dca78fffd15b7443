// Where prices come from: charges in the transcript, the host's configuration, the published list.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

import { Concertina } from "openclaw-concertina";

import { freshDir } from "./conversation.mjs";

const require = createRequire(import.meta.url);
const { pricesOf } = require("../dist/plugin/prices.js");

const question = { role: "user", content: "q" };
const answer = (model, usage) => ({ role: "assistant", content: "a", model, usage });

/** Returns the unit and the dollars of prompts and answers of a session with one turn. */
async function billed(messages, prices) {
  const concertina = await Concertina.open({ dir: freshDir() });
  await concertina.commitTurn({ sessionId: "s", advancementKey: "1", messages, prices });
  const { unit, total } = await concertina.figures();
  await concertina.close();
  const round = (dollars) => (dollars === null ? null : Number(dollars.toFixed(6)));
  return [unit, round(total.sentBill), round(total.answerBill)];
}

test("what the host charged is the bill, whatever its configuration states", async () => {
  const cost = { input: 0.003, cacheRead: 0.03, cacheWrite: 0.012, output: 0.0012, total: 0.0462 };
  const charged = answer("mock-1", { input: 1000, cacheRead: 50_000, cacheWrite: 2000, output: 100, cost });
  const list = { input: 9, cacheRead: 1, cacheWrite: 10, output: 50, usdPerMillion: true };
  for (const prices of [undefined, list]) {
    assert.deepEqual(await billed([question, charged], prices), ["usd", 0.045, 0.0012]);
  }
});

test("the published price applies to what nobody states, and a price step to all of a large request", async () => {
  const small = { input: 1000, cacheRead: 50_000, cacheWrite: 2000, output: 100 };
  const large = { ...small, cacheRead: 300_000 };
  // Dollars per million tokens: input 2, cached 0.1, write 2.5, answers 10; above 272,000 tokens twice that, and 15.
  assert.deepEqual(await billed([question, answer("gpt-6.2-sol", small)]), ["usd", 0.012, 0.001]);
  assert.deepEqual(await billed([question, answer("gpt-6.2-sol", large)]), ["usd", 0.074, 0.0015]);
  assert.deepEqual(await billed([question, answer("gpt-6.2-sol", small)], { cacheTtlMs: 1000 }), ["usd", 0.012, 0.001]);
  assert.equal((await billed([question, answer("mock-1", small)]))[0], "input tokens");
  assert.equal((await billed([question, answer("gpt-6.3-sol", small)]))[0], "input tokens");
});

test("prices that nobody can read are refused by name", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const assembled = (prices) => concertina.assemble({ sessionId: "s", messages: [question], prices });
  await assert.rejects(assembled({ cacheRead: 1 }), {
    message: "prices.input is missing; it must be a number above 0 beside prices.cacheRead",
  });
  await assert.rejects(assembled({ input: 0 }), /prices\.input is 0; it must be a number above 0/);
  await concertina.close();
});

test("the host's configuration states prices in full, in part, or only the life of the cache", () => {
  const config = (cost, cacheRetention) => ({
    models: { providers: { p: { models: [{ id: "m", cost }] } } },
    agents: { defaults: { params: { cacheRetention } } },
  });
  const params = {
    sessionId: "s",
    messages: [],
    runtimeSettings: { model: { resolved: "m", provider: "p" } },
  };
  for (const [given, expected] of [
    [
      config({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }),
      { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, usdPerMillion: true },
    ],
    [
      config({ input: 3, cacheRead: 0.3, cacheWrite: 0 }),
      { input: 3, cacheRead: 0.3, cacheWrite: 3, usdPerMillion: true },
    ],
    [config({ input: 3 }), { input: 3, usdPerMillion: true }],
    [config({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }), {}],
    [config(undefined), {}],
    [config(undefined, "long"), { cacheTtlMs: 3_600_000 }],
    [undefined, {}],
  ]) {
    assert.deepEqual(pricesOf(given, params), expected, JSON.stringify(given));
  }
});
