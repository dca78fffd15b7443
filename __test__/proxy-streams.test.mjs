// Tests of the streams of all dialects: random sequences of events as providers and gateways write them.
import assert from "node:assert/strict";
import http from "node:http";
import { Readable, Writable } from "node:stream";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { noise } from "./conversation.mjs";
import { FETCH, startProxy, startUpstream } from "./proxy.mjs";

const { Copies } = await import("../dist/node/lib/proxy/copies.js");
const { Reply } = await import("../dist/node/lib/proxy/reply.js");
const { anthropic } = await import("../dist/node/lib/proxy/dialects/anthropic.js");
const { chat } = await import("../dist/node/lib/proxy/dialects/chat.js");
const { responses } = await import("../dist/node/lib/proxy/dialects/responses.js");

const DIALECTS = { anthropic, chat, responses };
const PATHS = { anthropic: "/v1/messages", chat: "/v1/chat/completions", responses: "/v1/responses" };
const MARKER = "[REF_ID: 0123456789abcdef]";

/** Returns a source of numbers, the same ones for a seed. */
function random(seed) {
  let x = seed + 1;
  const below = (limit) => ((x = (Math.imul(x, 1664525) + 1013904223) >>> 0) >>> 8) % limit;
  const one = (...values) => values[below(values.length)];
  const times = (most, make) => Array.from({ length: below(most + 1) }, (_, at) => make(at));
  /** Splits a text at random places. */
  const split = (text, most = 12) => {
    const parts = [];
    for (let at = 0; at < text.length; at += parts.at(-1).length) parts.push(text.slice(at, at + 1 + below(most)));
    return parts;
  };
  return { below, one, times, split };
}

/** The text of an event, named as Anthropic and the Responses API do it, or not, as chunks of chat are. */
const named = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const unnamed = (data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** The arguments of a call: with what looks like a marker, and, with `marks`, with one of no original. */
const someArguments = ({ one }, marks) =>
  JSON.stringify({
    list: ["[", ["["], "[REF_", { a: [] }],
    text: one("é✓", '\\"[', marks ? `${MARKER} or [REF_ID: ` : "[REF_ID"),
  });

/** The events of whole parts of an answer. A part is `{ text }` or `{ id, name, args }`. */
const PARTS = {
  anthropic(parts, { split }) {
    return parts.flatMap(({ text, id, name, args }, index) => [
      named({
        type: "content_block_start",
        index,
        content_block: name ? { type: "tool_use", id, name, input: {} } : { type: "text", text: "" },
      }),
      ...split(args ?? text).map((part) => {
        const delta = name ? { type: "input_json_delta", partial_json: part } : { type: "text_delta", text: part };
        return named({ type: "content_block_delta", index, delta });
      }),
      named({ type: "content_block_stop", index }),
    ]);
  },
  chat(parts, { split, one }) {
    const isIndexed = one(true, true, false);
    return parts.flatMap(({ text, id, name, args }, at) => {
      if (!name) return split(text).map((content) => ({ content }));
      const index = isIndexed ? { index: at } : {};
      const isLate = one(true, false);
      const begun = { ...index, id, type: "function", function: { ...(isLate ? {} : { name }), arguments: "" } };
      const ids = one(true, false) ? { id } : {};
      const deltas = split(args).map((part, number) => {
        const named = isLate && number === 0 ? { name } : {};
        return { ...index, ...ids, function: { ...named, arguments: part } };
      });
      const [first, ...rest] = deltas;
      const all = one(true, false)
        ? [{ ...begun, function: { name, ...first.function } }, ...rest]
        : [begun, ...deltas];
      return all.map((call) => ({ tool_calls: [call] }));
    });
  },
  responses(parts, { split }) {
    return parts.flatMap(({ text, id, name, args }, output_index) => {
      const item = name
        ? { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: args }
        : { type: "message", id: `m${output_index}`, role: "assistant", content: [{ type: "output_text", text }] };
      const at = { item_id: item.id, output_index };
      const [kind, field] = name ? ["function_call_arguments", "arguments"] : ["output_text", "text"];
      const begun = name ? { ...item, arguments: "" } : { ...item, content: [] };
      return [
        { type: "response.output_item.added", output_index, item: begun },
        ...split(args ?? text).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta })),
        { type: `response.${kind}.done`, ...at, [field]: args ?? text },
        { type: "response.output_item.done", output_index, item },
      ];
    });
  },
};

/** The events that a provider may write between those of an answer. */
const ELSEWHERE = {
  anthropic: [named({ type: "ping" }), ": wait\n\n", named({ type: "new_event", x: 1 }), "data: [DONE]\n\n"],
  chat: [": OPENROUTER PROCESSING\n\n", unnamed({ object: "new" }), "event: ping\ndata: {}\n\n", "retry: 9\r\n\r\n"],
  responses: [": keep-alive\n\n", "\n\n", "data:\r\r"],
};
const ERRORS = {
  anthropic: named({ type: "error", error: { type: "overloaded_error", message: "x" } }),
  chat: unnamed({ error: { message: "overloaded", code: 502 } }),
  responses: named({ type: "error", code: null, message: "overloaded", sequence_number: 99 }),
};

/** Returns the events of a whole answer. With `strange`, its end is one of those that only some gateways write. */
const ANSWERS = {
  anthropic(parts, source, { strange, round = 1 }) {
    const { one } = source;
    const stop_reason = parts.some(({ name }) => name) ? "tool_use" : "end_turn";
    const message = { id: `msg_${round}`, type: "message", role: "assistant", model: "m", content: [] };
    const delta = named({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } });
    const ping = named({ type: "ping" });
    const ends = [[delta], [delta, delta], [delta, ping], [ping, delta, ": x\n\n", delta]];
    return [
      named({ type: "message_start", message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } }),
      ...PARTS.anthropic(parts, source),
      ...(strange ? one(...ends) : [delta]),
      named({ type: "message_stop" }),
      ...(strange ? one([], ["data: [DONE]\n\n"], [ping]) : []),
    ];
  },
  chat(parts, source, { strange, round = 1 }) {
    const { one } = source;
    const finish = parts.some(({ name }) => name) ? one("tool_calls", strange ? "stop" : "tool_calls") : "stop";
    const common = { id: `c${round}`, object: "chat.completion.chunk", created: round, model: "m" };
    const chunk = (delta, finish_reason = null, more = {}) =>
      unnamed({ ...common, choices: [{ index: 0, delta, finish_reason }], ...more });
    const usage = { usage: { prompt_tokens: 10, completion_tokens: 5 } };
    const [style, deltas] = [strange ? source.below(5) : 0, PARTS.chat(parts, source)];
    const body = [{ role: "assistant", content: "" }, ...deltas].map((delta, at, all) => {
      const isLast = at === all.length - 1;
      return chunk(delta, [null, "", finish, isLast ? finish : null, null][style]);
    });
    const ends = [[chunk({}, finish)], [chunk({}, finish)], [chunk({ content: "" }, finish)], []];
    return [
      ...(strange ? one([], [unnamed({ ...common, choices: [], prompt_filter_results: [{}] })]) : []),
      ...body,
      ...(ends[style] ?? [chunk({}, finish), chunk({ content: "" }), chunk({}, finish, usage)]),
      ...one([], [unnamed({ ...common, choices: [], ...usage })]),
      ...one(["data: [DONE]\n\n"], strange ? [] : ["data: [DONE]\n\n"]),
    ];
  },
  responses(parts, source, { strange, round = 1 }) {
    const { one } = source;
    const events = PARTS.responses(parts, source);
    const output = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    const response = { id: `r${round}`, object: "response", model: "m", status: "in_progress", output: [] };
    const usage = { input_tokens: 10, output_tokens: 5 };
    const ended = { type: "response.completed", response: { ...response, status: "completed", output, usage } };
    const all = [{ type: "response.created", response }, ...events, ended];
    const isNumbered = one(true, !strange);
    return [
      ...all.map((event, sequence_number) => named({ ...event, ...(isNumbered ? { sequence_number } : {}) })),
      ...(strange ? one([], ["data: [DONE]\n\n"], ["data: [DONE]\n\n", ": bye\n\n"]) : []),
    ];
  },
};

/** Returns parts without a fetch. */
const someParts = ({ one, times, split }, marks) =>
  times(4, (at) =>
    one(true, false)
      ? { text: split("one [two] é✓ three\n", 9).join("") }
      : { id: `c${at}`, name: "exec", args: someArguments({ one }, marks) },
  );

/** Returns text of events with line ends of one style. */
const withEnds = (events, end) => events.map((event) => event.replaceAll("\n", end));

/** A client's side of a connection, which keeps what was written. */
class Client extends Writable {
  headersSent = false;
  chunks = [];
  writeHead() {
    this.headersSent = true;
  }
  flushHeaders() {}
  _write(chunk, _encoding, done) {
    this.chunks.push(chunk);
    done();
  }
  get bytes() {
    return Buffer.concat(this.chunks);
  }
}

/** Passes streams of the provider to a client as one exchange. Returns what the client gets, and the answers. */
async function relayed(
  dialect,
  streams,
  { split },
  { copies = new Copies(async (all) => all, false), most = 40 } = {},
) {
  const client = new Client();
  const reply = new Reply(dialect, copies, client, new AbortController().signal);
  const answers = [];
  for (const stream of streams) {
    const body = Readable.from(split([...Buffer.from(stream)], most).map((bytes) => Buffer.from(bytes)));
    answers.push(await reply.receive({ status: 200, headers: { "content-type": "text/event-stream" }, body }));
    if (answers.at(-1) === undefined) break;
  }
  if (answers.at(-1) !== undefined) await reply.finish();
  return { bytes: client.bytes, text: client.bytes.toString(), answers };
}

for (const [name, dialect] of Object.entries(DIALECTS)) {
  test(`${name}: without a fetch the client gets the provider's bytes, whatever their order`, async () => {
    for (let seed = 0; seed < 300; seed++) {
      const source = random(seed);
      const { one, below, times } = source;
      // A sign of life does not wait while something that looks like a copy may still become one.
      const marks = below(4) === 0;
      let events = ANSWERS[name](someParts(source, marks), source, { strange: true });
      if (!marks)
        for (const more of times(6, () => one(...ELSEWHERE[name], ERRORS[name])))
          events.splice(below(events.length + 1), 0, more);
      if (!marks && below(4) === 0) events.splice(below(events.length), 1 + below(2));
      if (!marks && below(4) === 0) events.splice(below(events.length), 0, ...times(3, () => one(...events)));
      if (below(4) === 0) events = withEnds(events, one("\r\n", "\r"));
      const text = events.join("").slice(0, one(undefined, undefined, -1));
      const got = await relayed(dialect, [text], source);
      assert.equal(got.text, text, `seed ${seed}`);
    }
  });

  test(`${name}: a stream that is passed on as it is has every byte of the provider, fetches included`, async () => {
    for (let seed = 0; seed < 300; seed++) {
      const source = random(seed);
      const parts = [...someParts(source, true), { id: "f", name: FETCH, args: '{"ref_ids":["00"]}' }];
      const events = ANSWERS[name](parts, source, { strange: true });
      for (const more of source.times(4, () => source.one(...ELSEWHERE[name], ERRORS[name], "data: {\n\n")))
        events.splice(source.below(events.length + 1), 0, more);
      const bytes = Buffer.concat([Buffer.from(events.join("")), Buffer.from([0xff, 0xc3])]);
      const stream = bytes.subarray(0, bytes.length - source.below(90));
      const client = new Client();
      const reply = new Reply(dialect, undefined, client, new AbortController().signal);
      const body = Readable.from(source.split([...stream], 50).map((part) => Buffer.from(part)));
      const headers = { "content-type": "text/event-stream" };
      if (await reply.receive({ status: 200, headers, body })) await reply.finish();
      assert.ok(client.bytes.equals(stream), `seed ${seed}`);
    }
  });

  test(`${name}: a fetch is hidden in each form, and the rounds are one answer`, async () => {
    for (let seed = 0; seed < 300; seed++) {
      const source = random(seed);
      const fetches = source.one(["f1"], ["f1", "f2"]);
      const calls = fetches.map((id) => ({ id, name: FETCH, args: '{"ref_ids":["00"]}' }));
      const first = ANSWERS[name]([{ text: "one [two] é✓." }, ...calls], source, { strange: true });
      const args = someArguments(source, false);
      const last = [{ text: "Done." }, { id: "own", name: "exec", args }];
      const second = ANSWERS[name](last, source, { strange: true, round: 2 });
      const { text, answers } = await relayed(dialect, [first.join(""), second.join("")], source);
      const found = answers.map(({ pieces }) => pieces.flatMap((piece) => dialect.callIn(piece) ?? []));
      assert.deepEqual(
        found.map((all) => all.map(({ id }) => id)),
        [fetches, ["own"]],
        `seed ${seed}\n${first.join("")}`,
      );
      assert.ok(
        answers.every(({ isWhole }) => isWhole),
        `seed ${seed}`,
      );
      assert.ok(
        !/fetch_original|"f[12]"|"msg_2|"c2"|"r2"/.test(name === "responses" ? text.replaceAll('"r2"', "") : text),
        `seed ${seed}\n${text}`,
      );
      assert.deepEqual(shownIn(name, text), { text: "one [two] é✓.Done.", args }, `seed ${seed}\n${text}`);
      const ends = {
        anthropic: /"type":"message_stop"/g,
        chat: /\[DONE\]/g,
        responses: /^event: response.completed/gm,
      };
      assert.ok((text.match(ends[name]) ?? []).length <= 1, `seed ${seed}\n${text}`);
      if (name !== "chat") assert.match(text, /"input_tokens":20/);
    }
  });

  test(`${name}: a stream that ends in a fetch shows nothing of it`, async () => {
    for (let seed = 0; seed < 4; seed++) {
      const source = random(seed);
      const parts = [{ text: "Wait." }, { id: "hid", name: FETCH, args: '{"ref_ids":["00"]}' }];
      const stream = ANSWERS[name](parts, source, {}).join("");
      for (let cut = 0; cut < stream.length; cut += 3) {
        const { text } = await relayed(dialect, [stream.slice(0, cut)], source);
        assert.ok(!/fetch_|ref_ids/.test(text), `${cut}\n${text}`);
        assert.ok(stream.startsWith(text.slice(0, 20)));
      }
    }
  });

  test(`${name}: originals stand for copies, in parts of any size`, async () => {
    for (let seed = 0; seed < 500; seed++) {
      const source = random(seed);
      const args = ["", MARKER, "[REF", ""].map((copy, at) => JSON.stringify({ list: ["["], [`x${at}`]: `<${copy}>` }));
      const parts = [{ text: "go." }, ...args.map((one, at) => ({ id: `c${at}`, name: "exec", args: one }))];
      const stream = ANSWERS[name](parts, source, { strange: true }).join("");
      const copies = new Copies(async (all) => all.map(() => "the original"), false);
      const { text } = await relayed(dialect, [stream], source, { copies });
      const expected = args.join("").replace(MARKER, "the original");
      assert.deepEqual(shownIn(name, text), { text: "go.", args: expected }, `seed ${seed}\n${text}`);
    }
  });
}

/** Returns the text and the arguments that a client reads from a stream. */
function shownIn(name, stream) {
  const events = [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data));
  const shown = { text: "", args: "" };
  const add = (field, part) => (shown[field] += part ?? "");
  const calls = new Map();
  for (const { type, delta, choices } of events) {
    if (name === "anthropic") add(delta?.text === undefined ? "args" : "text", delta?.text ?? delta?.partial_json);
    else if (name === "responses") add(/text/.test(type) ? "text" : "args", delta);
    else {
      add("text", choices?.[0]?.delta.content);
      for (const {
        index,
        function: { arguments: part },
      } of choices?.[0]?.delta.tool_calls ?? [])
        calls.set(index, (calls.get(index) ?? "") + (part ?? ""));
    }
  }
  return { ...shown, args: shown.args + [...calls.values()].join("") };
}

const asked = (name, fields = {}) => {
  const messages = [{ role: "user", content: "go" }];
  const tool = { name: "exec", parameters: { type: "object" } };
  const tools = {
    anthropic: [{ name: "exec", input_schema: { type: "object" } }],
    chat: [{ type: "function", function: tool }],
    responses: [{ type: "function", ...tool }],
  };
  const history = name === "responses" ? { input: messages, store: false } : { messages };
  return { model: "m", max_tokens: 9, ...history, tools: tools[name], ...fields };
};

test("an answer is read by its type in any case, and by its beginning where the type says nothing", async (t) => {
  const whole = (content, stop_reason) =>
    JSON.stringify({ id: "m", type: "message", role: "assistant", model: "m", content, stop_reason, usage: {} });
  const call = { id: "f", name: FETCH, args: "{}" };
  const block = { type: "tool_use", id: "f", name: FETCH, input: {} };
  const bodies = {
    stream: [[call], [{ text: "Done." }]].map((parts) => ANSWERS.anthropic(parts, random(1), {}).join("")),
    whole: [whole([block], "tool_use"), whole([{ type: "text", text: "Done." }], "end_turn")],
  };
  const types = {
    stream: ["text/event-stream", "Text/Event-Stream; charset=utf-8", "TEXT/EVENT-STREAM", "text/plain", undefined],
    whole: ["application/json", "Application/JSON", "application/vnd.x+JSON", "text/plain; charset=utf-8", undefined],
  };
  for (const [form, all] of Object.entries(types))
    for (const type of all) {
      const upstream = await startUpstream(t, (_request, number) => ({
        status: 200,
        headers: type ? { "content-type": type } : {},
        body: bodies[form][number - 1],
      }));
      const proxy = await startProxy(t, upstream);
      const body = JSON.stringify(asked("anthropic", { stream: form === "stream" }));
      const text = await (await fetch(proxy.url + PATHS.anthropic, { method: "POST", body })).text();
      assert.ok(text.includes("Done.") && !text.includes(FETCH), `${form}, ${type}: ${text}`);
      await proxy.close();
    }
});

test("answers of another form pass with their bytes and headers, also those that cannot be decoded", async (t) => {
  const zipped = gzipSync(noise(40));
  const answers = [
    { status: 429, headers: { "content-type": "application/json", "content-encoding": "gzip" }, body: '{"no":1}' },
    { status: 500, headers: { "content-type": "application/json", "content-encoding": "gzip" }, body: zipped },
    { status: 500, headers: { "content-type": "text/event-stream", "content-encoding": "br" }, body: zipped },
    { status: 200, headers: { "content-encoding": "gzip" }, body: zipped },
    { status: 200, headers: { "content-type": "text/html" }, body: "<p>{</p>" },
    { status: 200, headers: { "content-type": "application/json", "content-encoding": "new" }, body: zipped },
    { status: 200, headers: {}, body: "" },
    { status: 204, headers: {}, body: "" },
  ];
  for (const answer of answers) {
    const upstream = await startUpstream(t, () => answer);
    const proxy = await startProxy(t, upstream);
    const { port } = new URL(proxy.url);
    const got = await new Promise((resolve, reject) => {
      const request = http.request({ port, path: PATHS.chat, method: "POST" }, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => resolve({ response, bytes: Buffer.concat(chunks) })).on("error", reject);
      });
      request.on("error", reject).end(JSON.stringify(asked("chat")));
    });
    assert.equal(got.response.statusCode, answer.status);
    assert.equal(got.response.headers["content-encoding"], answer.headers["content-encoding"]);
    assert.ok(got.bytes.equals(Buffer.from(answer.body)), JSON.stringify(answer.headers));
    assert.deepEqual(proxy.log, []);
    await proxy.close();
  }
});

test("where a request allows a list of tools, folds can be restored from the text", async (t) => {
  const { restore } = await import("openclaw-concertina");
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const proxy = await startProxy(t, upstream);
  const [content, list] = [noise(900), { mode: "auto", tools: [{ type: "function", name: "exec" }] }];
  const call = { name: "exec", arguments: "{}" };
  const bodies = {
    chat: asked("chat", {
      tool_choice: { type: "allowed_tools", allowed_tools: list },
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: call }] },
        { role: "tool", tool_call_id: "c", content },
      ],
    }),
    responses: asked("responses", {
      tool_choice: { type: "allowed_tools", ...list },
      input: [
        { role: "user", content: "go" },
        { type: "function_call", call_id: "c", ...call },
        { type: "function_call_output", call_id: "c", output: content },
      ],
    }),
  };
  for (const [name, body] of Object.entries(bodies)) {
    await (await fetch(proxy.url + PATHS[name], { method: "POST", body: JSON.stringify(body) })).text();
    const { body: sent, text } = upstream.requests.at(-1);
    const shown = sent.messages?.[2].content ?? sent.input[2].output;
    assert.ok(!text.includes(FETCH) && shown.length < content.length, name);
    assert.equal(restore(shown), content);
  }
});
