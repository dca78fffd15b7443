// Tests with messages in the shapes of Anthropic and OpenAI: without times, with their own usage fields and block
// types.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";

import { answerFetch, Concertina, countMessageTokens, countTokens, repairToolPairing } from "openclaw-concertina";

import { freshDir, idIn, noise } from "./conversation.mjs";

const sessionId = "s1";
const NOON = Date.UTC(2026, 10, 27, 12);
const PICTURE = readFileSync(new URL("../assets/icon.png", import.meta.url)).toString("base64");

/** Eight turns of words, behind which images and results are stale. */
const TURNS = Array.from({ length: 8 }, (_, at) => [
  { role: "assistant", content: "k" },
  { role: "user", content: `q${at}` },
]).flat();

/**
 * Returns the reasons of a session's epochs. Its turns are `pause` milliseconds apart, and `timed` sets the times of
 * its messages.
 */
async function reasons({ pause, timed = (message) => message, commits = false }) {
  const concertina = await Concertina.open({ dir: freshDir(), schedule: "cache-aware", thrift: "high" });
  const [messages, found] = [[], new Set()];
  let now = NOON;
  const say = (role, content) => messages.push(timed({ role, content }, now));
  const assemble = async () => {
    now += 5000;
    const { report } = await concertina.assemble({ sessionId, messages, now, model: "claude-opus-4-6" });
    if (report.epoch) found.add(report.epoch.reason);
  };
  for (let turn = 0; turn < 12; turn++) {
    const first = messages.length;
    now += pause;
    say("user", [{ type: "text", text: `question ${turn}` }]);
    await assemble();
    say("assistant", [{ type: "tool_use", id: `c${turn}`, name: "exec", input: { command: `ls ${turn}` } }]);
    say("user", [{ type: "tool_result", tool_use_id: `c${turn}`, content: noise(60, turn + 1) }]);
    await assemble();
    say("assistant", [{ type: "text", text: "done" }]);
    if (commits)
      await concertina.commitTurn({ sessionId, advancementKey: `${turn}`, messages: messages.slice(first), now });
  }
  await concertina.close();
  return [...found];
}

test("a pause makes the cache cold, whether times are numbers, texts or missing", async () => {
  const timed = (message, now) => ({ ...message, timestamp: new Date(now).toISOString() });
  for (const more of [{}, { commits: true }, { timed }]) {
    assert.ok((await reasons({ pause: 600_000, ...more })).includes("cold: idle"), JSON.stringify(more));
    assert.ok(!(await reasons({ pause: 1000, ...more })).includes("cold: idle"), JSON.stringify(more));
  }
});

test("usage is read in each provider's spelling", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const reported = {
    openclaw: { input: 100, cacheRead: 900, cacheWrite: 50 },
    anthropic: { input_tokens: 100, cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output_tokens: 7 },
    openai: { prompt_tokens: 1050, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 900 } },
  };
  for (const [id, usage] of Object.entries(reported)) {
    await concertina.commitTurn({
      sessionId: id,
      advancementKey: "1",
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: "a", usage },
      ],
    });
    const { measured, sentTokens } = (await concertina.figures({ sessionId: id })).total;
    assert.deepEqual([measured, sentTokens], [1, 1050], id);
  }
});

test("a recorded turn gives a call the id that its result names, and keeps items without a role", () => {
  const { toRecord } = createRequire(import.meta.url)("../dist/node/lib/binding/finished-turn.js");
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: "{}" };
  const [
    {
      content: [kept],
    },
  ] = toRecord([{ role: "assistant", content: [call], usage: { input_tokens: 9 } }]);
  assert.equal(kept.id, "c1");
  for (const item of [call, { ...call, role: null }]) assert.deepEqual(toRecord([item]), [item]);
});

test("a fetched image has the block type of its original", async () => {
  const url = `data:image/png;base64,${PICTURE}`;
  for (const image of [
    { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
    { type: "image_url", image_url: { url, detail: "low" } },
    { type: "input_image", image_url: url, detail: "high" },
  ]) {
    for (const rounds of [
      [],
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "exec", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c", content: "ok" },
      ],
    ]) {
      const concertina = await Concertina.open({
        dir: freshDir(),
        schedule: "every-turn",
        imageAgeTurns: 1,
        minTokensToSqueeze: 50,
      });
      const messages = [{ role: "user", content: [{ type: "text", text: "look" }, image] }, ...rounds, ...TURNS];
      for (let time = 0; time < 2; time++) {
        const shown = (await concertina.assemble({ sessionId, messages })).messages;
        assert.deepEqual(
          Object.keys(shown[0].content[1]).filter((key) => key !== "text"),
          ["type"],
        );
        assert.match(shown[0].content[1].text, /^\[image was here/);
        const back = await concertina.unfold({ sessionId, messages: shown });
        assert.equal(JSON.stringify(back.messages), JSON.stringify(messages));
      }
      await concertina.close();
    }
  }
});

test("the text of documents and search results is counted, and stale search results are folded", async () => {
  const text = noise(200, 3);
  const words = countTokens(text);
  const result = { type: "search_result", source: "u", title: "t", content: [{ type: "text", text }] };
  for (const block of [
    result,
    { ...result, citations: { enabled: true } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: text } },
  ]) {
    const counted = countMessageTokens([{ role: "user", content: [block] }]);
    assert.ok(counted >= words && counted < words + 10, `${counted} of ${words}`);
  }
  const concertina = await Concertina.open({ dir: freshDir(), schedule: "every-turn" });
  const history = (more) => [
    { role: "user", content: "q" },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "search", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [{ ...result, ...more }] }] },
    ...TURNS,
  ];
  const messages = history({});
  const folded = await concertina.assemble({ sessionId, messages });
  const [
    {
      content: [
        {
          content: [shown],
        },
      ],
    },
  ] = folded.messages[2].content;
  assert.match(shown.text, /^\[REF_ID/);
  assert.deepEqual((await concertina.unfold({ sessionId, messages: folded.messages })).messages, messages);
  const cited = history({ citations: { enabled: true } });
  const kept = await concertina.assemble({ sessionId: "s2", messages: cited });
  assert.equal(kept.messages, cited);
  assert.ok(kept.estimatedTokens >= words);
});

test("repair puts results before the other blocks of their message", () => {
  const call = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "exec", input: {} }] };
  const [words, result] = [
    { type: "text", text: "hello" },
    { type: "tool_result", tool_use_id: "a", content: "ok" },
  ];
  const { messages } = repairToolPairing([
    { role: "user", content: "go" },
    call,
    { role: "user", content: [words, result] },
  ]);
  assert.deepEqual(messages[2].content, [result, words]);
});

test("JSON arguments and the form openai give an answer in OpenAI's form", async () => {
  const concertina = await Concertina.open({
    dir: freshDir(),
    schedule: "every-turn",
    imageAgeTurns: 1,
    minTokensToSqueeze: 50,
  });
  const text = noise(400);
  const call = { role: "tool", tool_call_id: 7, name: "exec", content: text };
  const { report } = await concertina.admitToolResult({ sessionId, message: call, args: { command: "sh build.sh" } });
  const ask = (given) => answerFetch(concertina, given, { sessionId, maxChars: 100_000, form: "openai" });
  assert.equal(await ask(JSON.stringify({ ref_ids: [report.actions[0].refId] })), text);
  assert.match(await ask("{"), /^the arguments is "\{"; it must be JSON/);
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } };
  const { messages } = await concertina.assemble({
    sessionId,
    messages: [{ role: "user", content: [image] }, ...TURNS],
  });
  // Covers the image alone, before, after and between texts, twice, and with an unknown id.
  const [text1, picture, nowhere] = [report.actions[0].refId, idIn(messages[0]), "0123456789abcdef"];
  for (const ref_ids of [
    [picture],
    [picture, text1],
    [text1, picture],
    [text1, picture, nowhere],
    [picture, picture],
    [nowhere, picture],
  ]) {
    const { content, images } = await ask({ ref_ids });
    assert.equal(typeof content, "string");
    assert.match(content, /The image follows in a user message\.$/);
    assert.equal(content.startsWith(text), ref_ids.find((id) => id !== picture) === text1);
    assert.deepEqual(images, { role: "user", content: [image] });
  }
});

test("the form responses gives an answer in the form of the Responses API", async () => {
  const concertina = await Concertina.open({
    dir: freshDir(),
    schedule: "every-turn",
    imageAgeTurns: 1,
    minTokensToSqueeze: 50,
  });
  const text = noise(400);
  const fresh = { type: "function_call_output", call_id: "c", output: text };
  const { message, report } = await concertina.admitToolResult({
    sessionId,
    message: fresh,
    toolName: "exec",
    args: { command: "sh build.sh" },
  });
  assert.deepEqual({ ...message, output: "" }, { ...fresh, output: "" });
  assert.match(message.output, /^\[REF_ID: /);
  const ask = (ref_ids) =>
    answerFetch(concertina, JSON.stringify({ ref_ids }), { sessionId, maxChars: 100_000, form: "responses" });
  assert.equal(await ask([report.actions[0].refId]), text);
  const image = { type: "input_image", image_url: `data:image/png;base64,${PICTURE}`, detail: "auto" };
  const { messages } = await concertina.assemble({
    sessionId,
    messages: [{ role: "user", content: [image] }, ...TURNS],
  });
  assert.equal(messages[0].content[0].type, "input_text");
  assert.deepEqual((await ask([idIn(messages[0])])).at(-1), image);
  // Without a session the shape is inferred from the block.
  const plain = { type: image.type, image_url: image.image_url };
  assert.deepEqual((await concertina.unfold({ messages })).messages[0].content, [plain]);
});

test("the items of one answer of the Responses API are one request", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const round = (id) => [
    { type: "reasoning", id: `rs_${id}`, summary: [], encrypted_content: "x" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look" }] },
    { type: "function_call", call_id: `${id}1`, name: "exec", arguments: "{}" },
    { type: "function_call", call_id: `${id}2`, name: "exec", arguments: "{}" },
    { type: "function_call_output", call_id: `${id}1`, output: noise(20) },
    { type: "function_call_output", call_id: `${id}2`, output: noise(20, 2) },
  ];
  const turn = [{ role: "user", content: "go" }, ...round("a"), ...round("b")];
  const history = [];
  const assemble = async () => concertina.assemble({ sessionId, messages: history });
  for (const message of turn) {
    // As an agent does: before each answer.
    if (message.type === "reasoning") await assemble();
    history.push(message);
  }
  await concertina.commitTurn({ sessionId, advancementKey: "1", messages: turn });
  const { requests, sentTokens } = (await concertina.figures({ sessionId })).total;
  assert.equal(requests, 2);
  const counted = countMessageTokens(turn.slice(0, 1)) + countMessageTokens(turn.slice(0, 7));
  assert.ok(sentTokens >= counted && sentTokens < counted + 200, `${sentTokens} of ${counted}`);
  // An aborted turn with calls has no message of the model.
  await concertina.commitTurn({
    sessionId: "s2",
    advancementKey: "1",
    messages: turn.filter(({ role }) => role !== "assistant").slice(0, 5),
  });
  assert.equal((await concertina.figures({ sessionId: "s2" })).total.requests, 1);
});

test("a part with a prompt_cache_breakpoint is unchanged", async () => {
  const concertina = await Concertina.open({ dir: freshDir(), schedule: "every-turn" });
  const image = { type: "input_image", image_url: `data:image/png;base64,${PICTURE}` };
  const history = (output) => [
    { role: "user", content: "go" },
    { type: "function_call", call_id: "c", name: "exec", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output },
  ];
  const marked = { type: "input_text", text: noise(400), prompt_cache_breakpoint: { mode: "explicit" } };
  for (const [part, stays] of [
    [marked, true],
    [{ ...marked, prompt_cache_breakpoint: null }, false],
  ]) {
    const messages = history([part, image]);
    const admitted = await concertina.admitToolResult({ sessionId, message: messages[2], toolName: "exec" });
    assert.equal(admitted.message === messages[2], stays);
  }
});
