// Tests of the proxy with the providers' own SDKs: what a client sees, and what a provider gets.
import assert from "node:assert/strict";
import test from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import { noise } from "./conversation.mjs";
import { FETCH, startProxy, startUpstream } from "./proxy.mjs";

const log = (turn) => noise(260, turn + 1);
const TURNS = 20;

/**
 * The clients: each plays a session against a base URL, runs the tool that the model calls, and returns the messages
 * that it has in the end. `turns` is called before each request.
 */
const CLIENTS = {
  async anthropic(url, { stream, turns = () => {}, tool = log, model = "claude-opus-4-6" }) {
    const client = new Anthropic({ baseURL: url, apiKey: "key", maxRetries: 0 });
    const messages = [{ role: "user", content: "Build it." }];
    const tools = [{ name: "exec", description: "runs a command", input_schema: { type: "object" } }];
    for (let turn = 0; ; turn++) {
      turns(turn);
      const body = { model, max_tokens: 1000, system: "You build.", messages, tools };
      const { content, usage } = stream
        ? await client.messages.stream(body).finalMessage()
        : await client.messages.create(body);
      messages.push({ role: "assistant", content });
      const calls = content.filter(({ type }) => type === "tool_use");
      if (calls.length === 0) return { messages, usage };
      const results = calls.map(({ id, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: tool(input.turn),
      }));
      messages.push({ role: "user", content: results });
    }
  },
  async chat(url, { stream, turns = () => {}, tool = log }) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 });
    const messages = [
      { role: "system", content: "You build." },
      { role: "user", content: "Build it." },
    ];
    const tools = [{ type: "function", function: { name: "exec", parameters: { type: "object", properties: {} } } }];
    for (let turn = 0; ; turn++) {
      turns(turn);
      const body = { model: "gpt-5.4", messages, tools };
      const answer = stream
        ? await client.chat.completions
            .stream({ ...body, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await client.chat.completions.create(body);
      const [{ message, finish_reason: reason }] = answer.choices;
      messages.push(JSON.parse(JSON.stringify(message)));
      if (reason === "stop") return { messages, usage: answer.usage };
      for (const { id, function: called } of message.tool_calls)
        messages.push({ role: "tool", tool_call_id: id, content: tool(JSON.parse(called.arguments).turn) });
    }
  },
  async responses(url, { stream, turns = () => {}, tool = log, stored = false }) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 });
    let input = [{ role: "user", content: "Build it." }];
    const seen = [...input];
    const tools = [{ type: "function", name: "exec", parameters: { type: "object", properties: {} }, strict: false }];
    let previous;
    for (let turn = 0; ; turn++) {
      turns(turn);
      const body = { model: "gpt-5.4", instructions: "You build.", tools, store: stored, input };
      if (previous) body.previous_response_id = previous;
      const answer = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
      const items = answer.output.map((item) => ({ ...item, parsed_arguments: undefined }));
      seen.push(...items);
      const results = items
        .filter(({ type }) => type === "function_call")
        .map((call) => ({
          type: "function_call_output",
          call_id: call.call_id,
          output: tool(JSON.parse(call.arguments).turn),
        }));
      seen.push(...results);
      if (results.length === 0) return { messages: seen, usage: answer.usage };
      input = stored ? results : [...seen];
      if (stored) previous = answer.id;
    }
  },
};

/** A transcript without what may differ: ids that the provider makes for each request. */
const plain = (messages) => JSON.stringify(messages).replace(/"(msg|rs|enc|sig)[_-]\d+"/g, '"id"');

/**
 * Returns a script of a build with a call in each turn. With `fetches`, the model first fetches of what was folded in
 * some of the turns, alone, and in others together with its own call.
 */
function script({ fetches, thinks }) {
  let [turn, fetched] = [0, -1];
  return ({ text, body }) => {
    const [, id] = /REF_ID: (\w+)|$/.exec(text);
    const fetch = { id: `fetch_${turn}`, name: FETCH, args: { ref_ids: [`${id}:1-3`] } };
    if (fetches && turn % 5 === 3 && fetched !== turn) {
      assert.ok(id, "something was folded");
      fetched = turn;
      return { calls: [fetch] };
    }
    if (fetches && fetched === turn) assert.match(JSON.stringify(body.messages ?? body.input), /0 unit_\w+ took/);
    const at = turn++;
    const call = { id: `call_${at}`, name: "exec", args: { turn: at } };
    if (at === TURNS) return { text: "It builds." };
    const both = fetches && at % 5 === 4 ? [call, { ...fetch, id: `both_${at}` }] : [call];
    return { ...(thinks ? { thinks: `step ${at}` } : {}), text: `Step ${at}.`, calls: both };
  };
}

const sizeOf = (upstream) => upstream.requests.reduce((sum, { text }) => sum + text.length, 0);

for (const [name, play] of Object.entries(CLIENTS)) {
  for (const stream of [true, false]) {
    test(`${name}, ${stream ? "streamed" : "whole"}: a session of 20 turns is the same, and much smaller`, async (t) => {
      const direct = await startUpstream(t, script({}));
      const folded = await startUpstream(t, script({ fetches: true }));
      const proxy = await startProxy(t, folded, { options: { sccsCompressThreshold: 3000 } });
      const [without, behind] = [await play(direct.url, { stream }), await play(proxy.url, { stream })];
      assert.equal(plain(behind.messages), plain(without.messages));
      assert.equal(folded.requests.length, direct.requests.length + 4);
      assert.ok(sizeOf(folded) < 0.6 * sizeOf(direct), `${sizeOf(folded)} of ${sizeOf(direct)} characters`);
      assert.deepEqual(proxy.log, []);
      await proxy.close();
      assert.match(proxy.log.join("\n"), /25 model calls, \d.* % saved/);
    });
  }
}

/** Returns each request as a list of its parts in the order in which the provider reads them. */
const prefixOf = ({ body }) =>
  [body.tools, body.system ?? body.instructions, ...(body.messages ?? body.input)].map((part) => JSON.stringify(part));

test("what was sent once is sent again byte for byte, fetches included", async (t) => {
  for (const play of Object.values(CLIENTS)) {
    const upstream = await startUpstream(t, script({ fetches: true, thinks: true }));
    const proxy = await startProxy(t, upstream, { options: { sccsCompressThreshold: 3000, staleCalls: 1000 } });
    await play(proxy.url, { stream: true });
    const sent = upstream.requests.map(prefixOf);
    sent.slice(1).forEach((parts, at) => assert.deepEqual(parts.slice(0, sent[at].length), sent[at]));
    await proxy.close();
  }
});

/** Returns the contents of the results in a request. */
const resultsIn = ({ messages, input }) =>
  (messages ?? input).flatMap(({ role, type, content, output }) => {
    if (role === "tool" || type === "function_call_output") return [content ?? output];
    return Array.isArray(content)
      ? content.flatMap((block) => (block.type === "tool_result" ? [block.content] : []))
      : [];
  });

test("reminders that a client appends to an output stay in sight when the output is folded", async (t) => {
  const reminder = (text) => `<system-reminder>\n${text}\n</system-reminder>\n`;
  const [first, second] = [reminder("The file is long."), reminder("Use the task tools.")];
  const outputs = [`${log(0)}\n\n${first}\n${second}`, `${log(1)}\n${first}${log(2)}`, `short\n${first}`];
  for (const [name, play] of Object.entries(CLIENTS)) {
    const upstream = await startUpstream(t, script({}));
    const proxy = await startProxy(t, upstream, { options: { sccsCompressThreshold: 3000, staleCalls: 1000 } });
    await play(proxy.url, { stream: true, tool: (turn) => outputs[turn] ?? log(turn) });
    const [[folded, kept, ...none], whole, small] = resultsIn(upstream.requests.at(-1).body);
    assert.match(folded.text, /^\[REF_ID: /);
    assert.ok(!folded.text.includes("system-reminder"));
    const type = name === "responses" ? "input_text" : "text";
    assert.deepEqual([kept, none], [{ type, text: `${first}\n${second}` }, []]);
    assert.match(whole, /^\[REF_ID: /, "a reminder between lines of an output is a part of it");
    assert.equal(small, outputs[2]);
    const sent = upstream.requests.map(prefixOf);
    sent.slice(1).forEach((parts, at) => assert.deepEqual(parts.slice(0, sent[at].length), sent[at]));
    await proxy.close();
  }
});

test("thinking that is bound to its prefix is never refused", async (t) => {
  const made = new Map();
  const play = script({ fetches: true, thinks: true });
  const upstream = await startUpstream(t, (request, number) => {
    const { system, tools, messages } = request.body;
    for (const [at, { content }] of messages.entries()) {
      const index = Array.isArray(content) ? content.findIndex(({ type }) => type === "thinking") : -1;
      if (index === -1) continue;
      const prefix = JSON.stringify([system, tools, messages.slice(0, at)]);
      const { signature } = content[index];
      assert.equal(prefix, made.get(signature), `${signature} came behind another prefix`);
    }
    made.set(`sig-${number}`, JSON.stringify([system, tools, messages]));
    return play(request);
  });
  const proxy = await startProxy(t, upstream, { options: { sccsCompressThreshold: 3000, staleCalls: 4 } });
  const model = { model: "claude-opus-5-5" };
  const { messages } = await CLIENTS.anthropic(proxy.url, { stream: true, ...model });
  assert.ok(messages.length > 40);
  await proxy.close();
});

test("with previous_response_id births fold, and the provider gets the fetches of its own answers", async (t) => {
  for (const stream of [true, false]) {
    const direct = await startUpstream(t, script({}));
    const upstream = await startUpstream(t, script({ fetches: true }));
    const proxy = await startProxy(t, upstream, { options: { sccsCompressThreshold: 3000 } });
    for (const { url } of [direct, proxy]) await CLIENTS.responses(url, { stream, stored: true });
    const known = new Map();
    upstream.requests.forEach(({ body }, at) => {
      const calls = known.get(body.previous_response_id) ?? [];
      const results = body.input.filter(({ type }) => type === "function_call_output").map((item) => item.call_id);
      assert.deepEqual(results.toSorted(), calls.toSorted(), `request ${at}`);
      known.set(`resp_${at + 1}`, callsOf(upstream, at));
    });
    assert.ok(sizeOf(upstream) < 0.6 * sizeOf(direct), `${sizeOf(upstream)} of ${sizeOf(direct)} characters`);
    await proxy.close();
  }
});

/** Returns the ids of the calls in the answer to a request of `script`, from the outputs that came later. */
function callsOf({ requests }, at) {
  return (requests[at + 1]?.body.input ?? [])
    .filter(({ type }) => type === "function_call_output")
    .map((item) => item.call_id);
}

test("usage is that of all requests of an exchange", async (t) => {
  for (const [name, play] of Object.entries(CLIENTS)) {
    const steps = [
      { calls: [{ id: "c", name: "exec", args: { turn: 0 } }] },
      { calls: [{ id: "f", name: FETCH, args: { ref_ids: ["00"] } }] },
      { text: "Done." },
    ];
    for (const stream of [true, false]) {
      const upstream = await startUpstream(t, (_request, number) => steps[number - 1]);
      const proxy = await startProxy(t, upstream);
      const { usage } = await play(proxy.url, { stream });
      const input = upstream.requests
        .slice(1)
        .reduce((sum, { body }) => sum + Math.ceil(JSON.stringify(body).length / 4), 0);
      assert.equal(usage.input_tokens ?? usage.prompt_tokens, input, name);
      await proxy.close();
    }
  }
});

/** Returns the first placeholder in a request. */
function placeholderIn(value) {
  if (typeof value === "string") return value.startsWith("[REF_ID: ") ? value : undefined;
  const parts = typeof value === "object" && value !== null ? Object.values(value) : [];
  return parts.map(placeholderIn).find((found) => found !== undefined);
}

/** Returns the arguments of the calls in a transcript or a request, by the calls' ids. */
function argumentsIn(value, found = {}) {
  if (typeof value !== "object" || value === null) return found;
  const given = value.input ?? value.function?.arguments ?? value.arguments;
  const id = value.call_id ?? value.id;
  if (given !== undefined && id !== undefined) found[id] = typeof given === "string" ? JSON.parse(given) : given;
  for (const part of Object.values(value)) argumentsIn(part, found);
  return found;
}

/** Plays a session with each client, whole and in chunks. `answer` answers the request with the first placeholder. */
async function withCopies(t, { mode, answer, check }) {
  for (const [name, play] of Object.entries(CLIENTS))
    for (const chunk of [0, 1, 7, 1000]) {
      const upstream = await startUpstream(t, ({ body }, number) => {
        if (number === 1) return { calls: [{ id: "c0", name: "exec", args: { turn: 0 } }] };
        return { ...answer(placeholderIn(body), number), ...(chunk > 0 ? { chunk } : {}) };
      });
      const proxy = await startProxy(t, upstream, { options: { sccsCompressThreshold: 3000 }, mode });
      const { messages } = await play(proxy.url, { stream: chunk > 0 });
      check(messages, upstream, `${name}, ${chunk}`);
      assert.deepEqual(proxy.log, []);
      await proxy.close();
    }
}

test("a placeholder that the model copied into a call is replaced by the original", async (t) => {
  const other = { turn: 1, list: ["[REF_ID", "[REF_ID: 0123456789abcdef] [REF_ID:"] };
  await withCopies(t, {
    answer(copy, number) {
      if (number > 2) return { text: "Done." };
      const marker = copy.slice(0, copy.indexOf("]") + 1);
      const args = { turn: 1, "é\n": '\\"[', content: `<${copy}>\n`, more: [marker, { copy }], end: `${marker} 1` };
      return {
        text: "I write.",
        calls: [
          { id: "c1", name: "exec", args },
          { id: "c2", name: "exec", args: other },
        ],
      };
    },
    check(messages, upstream, name) {
      const { c1, c2 } = argumentsIn(messages);
      const [original, end] = [log(0), `${log(0)} 1`];
      const args = { turn: 1, "é\n": '\\"[', content: `<${original}>\n`, more: [original, { copy: original }], end };
      assert.deepEqual([c1, c2], [args, other], name);
      assert.equal(upstream.requests.length, 3);
    },
  });
});

test("with refusesCopies such a call is refused, and the client sees only the other ones", async (t) => {
  await withCopies(t, {
    mode: { refusesCopies: true },
    answer(copy, number) {
      const calls = [{ id: `bad${number}`, name: "exec", args: { turn: number, content: copy } }];
      if (number === 2) return { text: "I write.", calls };
      if (number === 3) return { calls: [...calls, { id: "good", name: "exec", args: { turn: 3 } }] };
      return { text: "Done." };
    },
    check(messages, { requests }, name) {
      assert.deepEqual(argumentsIn(messages), { c0: { turn: 0 }, good: { turn: 3 } }, name);
      assert.deepEqual(
        requests.map(({ text }) => text.split("This call was not run").length - 1),
        [0, 0, 1, 2],
        name,
      );
      assert.deepEqual(Object.keys(argumentsIn(requests[3].body)), ["c0", "bad2", "bad3", "good"], name);
    },
  });
});

test("a model that only fetches is stopped, and its answer ends", async (t) => {
  for (const play of Object.values(CLIENTS)) {
    const upstream = await startUpstream(t, (_request, number) => ({
      text: `${number}`,
      calls: [{ id: `f${number}`, name: FETCH, args: { ref_ids: ["00"] } }],
    }));
    const proxy = await startProxy(t, upstream);
    await play(proxy.url, { stream: true });
    assert.equal(upstream.requests.length, 8);
    await proxy.close();
  }
});

test("the tool is not added where a request has no tools or forbids them, and folds can be restored from the text", async (t) => {
  const { restore } = await import("openclaw-concertina");
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const proxy = await startProxy(t, upstream);
  const client = new Anthropic({ baseURL: proxy.url, apiKey: "key", maxRetries: 0 });
  const result = { type: "tool_result", tool_use_id: "c", content: noise(900) };
  const messages = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "exec", input: {} }] },
    { role: "user", content: [result] },
  ];
  const tools = [{ name: "exec", input_schema: { type: "object" } }];
  const common = { model: "claude-opus-4-6", max_tokens: 9, messages };
  await client.messages.create(common);
  await client.messages.create({ ...common, tools, tool_choice: { type: "none" } });
  for (const { body } of upstream.requests) {
    assert.ok(!JSON.stringify(body).includes(FETCH));
    const [{ content }] = body.messages[2].content;
    assert.ok(content.length < result.content.length);
    assert.equal(restore(content), result.content);
  }
  await proxy.close();
});
