// A scripted provider on loopback, and a proxy in front of it, for tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import path from "node:path";

import { root } from "../scripts/steps.mjs";
import { cli } from "./cli.mjs";
import { freshDir } from "./conversation.mjs";

const { Proxy } = await import("../dist/node/lib/proxy/server.js");

const sse = (data, name) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
/** Splits a text, so that deltas come in several events. */
const parts = (text) => text.match(/[\s\S]{1,37}/g) ?? [];
const quarterOfBytes = (value) => Math.ceil(JSON.stringify(value).length / 4);

/** The dialects: how a request names its path, and how an answer is written, streamed and whole. */
const ANSWERS = {
  messages({ thinks, text, calls = [] }, { model, stream }, id, usage) {
    const content = [
      ...(thinks ? [{ type: "thinking", thinking: thinks, signature: `sig-${id}` }] : []),
      ...(text ? [{ type: "text", text }] : []),
      ...calls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.args })),
    ];
    const counted = { input_tokens: usage.input, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const message = { id: `msg_${id}`, type: "message", role: "assistant", model, content, stop_sequence: null };
    const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
    const total = { ...counted, output_tokens: usage.output };
    if (!stream) return JSON.stringify({ ...message, stop_reason, usage: total });
    const send = (type, fields) => sse({ type, ...fields }, type);
    const begun = { ...message, content: [], stop_reason: null, usage: { ...counted, output_tokens: 1 } };
    const blocks = content.map((block, index) => {
      const [empty, deltas] = {
        thinking: () => [
          { ...block, thinking: "", signature: "" },
          [
            ...parts(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature: block.signature },
          ],
        ],
        text: () => [{ ...block, text: "" }, parts(block.text).map((part) => ({ type: "text_delta", text: part }))],
        tool_use: () => [
          { ...block, input: {} },
          parts(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
        ],
      }[block.type]();
      return [
        send("content_block_start", { index, content_block: empty }),
        ...deltas.map((delta) => send("content_block_delta", { index, delta })),
        send("content_block_stop", { index }),
      ].join("");
    });
    const ended = { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } };
    return [
      send("message_start", { message: begun }),
      send("ping"),
      ...blocks,
      send("message_delta", ended),
      send("message_stop"),
    ].join("");
  },
  completions({ text, calls = [] }, { model, stream, stream_options: options }, id, { input, output }) {
    const tool_calls = calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.args) },
    }));
    const usage = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: 0 },
    };
    const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
    const common = { id: `chatcmpl-${id}`, created: 1_700_000_000, model };
    if (!stream) {
      const message = {
        role: "assistant",
        content: text ?? null,
        refusal: null,
        ...(calls.length > 0 ? { tool_calls } : {}),
      };
      return JSON.stringify({
        ...common,
        object: "chat.completion",
        choices: [{ index: 0, message, logprobs: null, finish_reason }],
        usage,
      });
    }
    const chunk = (delta, finish = null) =>
      sse({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
    return [
      chunk({ role: "assistant", content: text === undefined ? null : "" }),
      ...parts(text ?? "").map((content) => chunk({ content })),
      ...tool_calls.flatMap(({ function: called, ...call }, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { name: called.name, arguments: "" } }] }),
        ...parts(called.arguments).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk({}, finish_reason),
      ...(options?.include_usage ? [sse({ ...common, object: "chat.completion.chunk", choices: [], usage })] : []),
      "data: [DONE]\n\n",
    ].join("");
  },
  responses({ thinks, text, calls = [] }, { model, stream }, id, { input, output }) {
    const items = [
      ...(thinks ? [{ type: "reasoning", id: `rs_${id}`, summary: [], encrypted_content: `enc-${id}` }] : []),
      ...(text
        ? [
            {
              type: "message",
              id: `msg_${id}`,
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text, annotations: [] }],
            },
          ]
        : []),
      ...calls.map((call) => ({
        type: "function_call",
        id: `fc_${call.id}`,
        call_id: call.id,
        name: call.name,
        arguments: JSON.stringify(call.args),
        status: "completed",
      })),
    ];
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    };
    const response = {
      id: `resp_${id}`,
      object: "response",
      created_at: 1_700_000_000,
      model,
      status: "completed",
      error: null,
      output: items,
      usage,
    };
    if (!stream) return JSON.stringify(response);
    let sequence_number = 0;
    const send = (type, fields) => sse({ type, sequence_number: sequence_number++, ...fields }, type);
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    const events = [send("response.created", { response: begun }), send("response.in_progress", { response: begun })];
    items.forEach((item, output_index) => {
      const at = { item_id: item.id, output_index };
      if (item.type === "message") {
        events.push(
          send("response.output_item.added", { output_index, item: { ...item, status: "in_progress", content: [] } }),
        );
        events.push(
          send("response.content_part.added", {
            ...at,
            content_index: 0,
            part: { type: "output_text", text: "", annotations: [] },
          }),
        );
        for (const delta of parts(text))
          events.push(send("response.output_text.delta", { ...at, content_index: 0, delta, logprobs: [] }));
        events.push(send("response.output_text.done", { ...at, content_index: 0, text, logprobs: [] }));
        events.push(send("response.content_part.done", { ...at, content_index: 0, part: item.content[0] }));
      } else if (item.type === "function_call") {
        events.push(
          send("response.output_item.added", { output_index, item: { ...item, status: "in_progress", arguments: "" } }),
        );
        for (const delta of parts(item.arguments))
          events.push(send("response.function_call_arguments.delta", { ...at, delta }));
        events.push(
          send("response.function_call_arguments.done", { ...at, name: item.name, arguments: item.arguments }),
        );
      } else events.push(send("response.output_item.added", { output_index, item }));
      events.push(send("response.output_item.done", { output_index, item }));
    });
    return [...events, send("response.completed", { response })].join("");
  },
};

/**
 * Starts the provider. `script(request, number)` returns the answer to a request: `{ thinks, text, calls: [{ id, name,
 * args }] }`, or `{ status, headers, body }`. With `chunk` an answer is written in pieces of so many bytes, with
 * `breaksAt` the connection ends after so many, and `hangs` keeps it open there. It stops when the test ends.
 * `requests` has every request. `tokensOf` counts the tokens of a request and of an answer for the usage.
 */
export async function startUpstream(t, script, { tokensOf = quarterOfBytes } = {}) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = text.startsWith("{") ? JSON.parse(text) : text;
    const record = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      text,
      body,
      aborted: false,
      finished: false,
    };
    response.on("close", () => (record.aborted = !response.writableFinished));
    requests.push(record);
    const answer = await script(record, requests.length);
    if (answer.status !== undefined) return response.writeHead(answer.status, answer.headers).end(answer.body);
    const kind = request.url.split("?")[0].split("/").at(-1);
    const usage = { input: tokensOf(body), output: tokensOf([answer.text, answer.calls]) };
    const bytes = Buffer.from(ANSWERS[kind](answer, body, requests.length, usage));
    const { chunk = bytes.length, breaksAt } = answer;
    response.writeHead(200, {
      "content-type": body.stream ? "text/event-stream" : "application/json",
      "x-request-id": `req_${requests.length}`,
    });
    for (let at = 0; at < Math.min(bytes.length, breaksAt ?? bytes.length); at += chunk) {
      if (!response.write(bytes.subarray(at, Math.min(at + chunk, breaksAt ?? bytes.length))))
        await once(response, "drain");
      if (chunk < bytes.length) await new Promise(setImmediate);
    }
    if (answer.hangs) return undefined;
    if (breaksAt !== undefined) return setTimeout(() => response.destroy(), 20);
    record.finished = true;
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  t.after(() => (server.closeAllConnections(), server.close()));
  return { url, requests };
}

/** Starts a proxy on a store in `dir`, until the test ends or `close` is called. `log` has its lines. */
export async function startProxy(t, upstream, { dir = freshDir(), mode = {}, options = {}, ...more } = {}) {
  const log = [];
  const proxy = await Proxy.start({
    port: 0,
    host: "127.0.0.1",
    place: { dir },
    notes: path.join(dir, "proxy"),
    options,
    providers: { anthropic: upstream.url, openai: upstream.url },
    mode: { observes: false, holdout: 0, refusesCopies: false, ...mode },
    log: (line) => log.push(line),
    ...more,
  });
  let closed;
  const close = () => (closed ??= proxy.close());
  t.after(close);
  return { dir, log, url: proxy.url, page: proxy.page, close };
}

/** Starts the command `proxy` as a process of its own, to be killed. */
export async function spawnProxy(t, upstream, dir, ...args) {
  const child = spawn(
    process.execPath,
    [cli, "proxy", "--port", "0", "--dir", dir, "--upstream", upstream.url, ...args],
    { cwd: root },
  );
  t.after(() => child.kill("SIGKILL"));
  const lines = [];
  for await (const chunk of child.stderr) {
    lines.push(String(chunk));
    const [url] = /http:\/\/[^\s/;]+/.exec(lines.join("")) ?? [];
    if (url) return { child, url };
  }
  throw new Error(lines.join(""));
}

export const FETCH = "fetch_original_data";
