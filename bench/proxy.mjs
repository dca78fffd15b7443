// Measures what the proxy adds to a request: `node bench/proxy.mjs [--streams N] [--requests N] [--tokens N]`.
//
// A provider on loopback answers at once with a short stream. Sessions that the proxy has seen before go on, each with
// a request of so many tokens. The same requests go to the provider without the proxy, in the same run: compare the two
// rows. `--pace MS` is the pause of each stream between two requests.
import { once } from "node:events";
import http from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { spawn } from "node:child_process";

import { countTokens } from "openclaw-concertina";

import { root } from "../scripts/steps.mjs";

const number = (name) => ({ [name[0]]: { type: "string", default: String(name[1]) } });
const { values } = parseArgs({
  options: {
    ...number(["streams", 100]),
    ...number(["requests", 1000]),
    ...number(["tokens", 100_000]),
    ...number(["pace", 2000]),
  },
});
const [streams, requests, tokens, pace] = ["streams", "requests", "tokens", "pace"].map((name) => Number(values[name]));

const EVENTS = [
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Yes." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
const ANSWER = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

const provider = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(ANSWER));
});
provider.listen(0, "127.0.0.1");
await once(provider, "listening");
const direct = `http://127.0.0.1:${provider.address().port}`;

/** Returns text that is folded only where it is stale. */
function noise(lines, seed) {
  let x = seed >>> 0;
  const next = () => (x = (Math.imul(x, 1664525) + 1013904223) >>> 0);
  return Array.from(
    { length: lines },
    () => `${next().toString(36)} ${next().toString(36)} took ${next() % 977} ms`,
  ).join("\n");
}

const perRound = countTokens(noise(150, 1)) + 60;
const rounds = Math.ceil(tokens / perRound);
const tools = [{ name: "exec", input_schema: { type: "object" } }];

/** Returns the messages of a session that a stream plays, with so many rounds. */
function history(stream, count) {
  const messages = [{ role: "user", content: `session ${stream}` }];
  for (let at = 0; at < count; at++) {
    const id = `c${at}`;
    messages.push({ role: "assistant", content: [{ type: "tool_use", id, name: "exec", input: { at } }] });
    messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: noise(150, stream * 1000 + at) }],
    });
  }
  return messages;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** Sends a request. Resolves to the milliseconds to the first byte of the answer's body. */
async function timed(url, body) {
  const begun = performance.now();
  const request = http.request(`${url}/v1/messages`, {
    method: "POST",
    agent,
    headers: { "content-length": body.length },
  });
  request.end(body);
  const [response] = await once(request, "response");
  let first;
  response.on("data", () => (first ??= performance.now() - begun));
  await once(response, "end");
  return first;
}

const quantile = (times, share) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Plays all streams at once against a URL. Resolves to the times of all requests. */
async function play(url, bodies) {
  const times = [];
  const each = Math.ceil(requests / streams / 4);
  await Promise.all(
    bodies.map(async (body, stream) => {
      await pause((pace * stream) / streams);
      for (let at = 0; at < each; at++) {
        times.push(await timed(url, body));
        await pause(pace);
      }
    }),
  );
  return times;
}

const dir = mkdtempSync(path.join(tmpdir(), "concertina-proxy-"));
const child = spawn(
  process.execPath,
  [path.join(root, "dist/node/lib/cli.js"), "proxy", "--port", "0", "--dir", dir, "--upstream", direct],
  { stdio: ["ignore", "inherit", "pipe"] },
);
const [line] = await once(child.stderr, "data");
const [behind] = /http:\/\/[^\s/;]+/.exec(String(line));
child.stderr.on("data", (chunk) => {
  const lines = String(chunk)
    .split("\n")
    .filter((text) => text !== "" && !text.includes(": session "));
  if (lines.length > 0) console.error(lines.join("\n"));
});
const memory = async () =>
  (await import("node:fs")).readFileSync(`/proc/${child.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1] / 1024;

try {
  const bodyOf = (stream) =>
    Buffer.from(
      JSON.stringify({
        model: "claude-opus-4-6",
        max_tokens: 9,
        stream: true,
        tools,
        messages: history(stream, rounds),
      }),
    );
  const bodies = Array.from({ length: streams }, (_, stream) => bodyOf(stream));
  console.log(
    `${streams} streams, requests of ${(bodies[0].length / 1024).toFixed(0)} KiB and about ${rounds * perRound} tokens`,
  );
  for (const body of bodies) await timed(behind, body);
  const used = [await memory()];
  for (const [name, url] of [
    ["without the proxy", direct],
    ["behind the proxy", behind],
  ]) {
    const times = [];
    for (let quarter = 0; quarter < 4; quarter++) {
      times.push(...(await play(url, bodies)));
      if (url === behind) used.push(await memory());
    }
    const [half, most] = [quantile(times, 0.5), quantile(times, 0.99)];
    console.log(`${name}: ${times.length} requests, first byte p50 ${half.toFixed(1)} ms, p99 ${most.toFixed(1)} ms`);
  }
  console.log(
    `memory of the proxy, before and after each quarter: ${used.map((size) => size.toFixed(0)).join(", ")} MiB`,
  );
} finally {
  child.kill();
  provider.close();
  agent.destroy();
  await once(child, "exit");
  rmSync(dir, { recursive: true, force: true });
}
