// Measures what the proxy adds to a request: `node bench/proxy.mjs [--streams N] [--requests N] [--tokens N]`.
//
// A provider on loopback answers at once with a short stream that calls a tool. Sessions that the proxy has seen before
// go on, each with a request of so many tokens that is one call and its result longer than the one before; every eighth
// result is large enough to be stored and folded. The same requests go to the provider without the proxy, in the same
// run: compare the two rows. At some request the proxy folds the whole history of a session, which takes longer; all
// sessions are of the same age, so this happens to all of them at once, and these requests have a row of their own.
// `--pace MS` is the pause of each stream between two requests. With `--renew N` a stream begins another session after
// so many requests, to see whether memory grows; the first request of a session is not measured.
import { once } from "node:events";
import http from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
    ...number(["renew", 0]),
  },
});
const names = ["streams", "requests", "tokens", "pace", "renew"];
const [streams, requests, tokens, pace, renew] = names.map((name) => Number(values[name]));

/** Returns the answer to a request: the call whose number its header states. */
function answerTo(id) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], usage };
  const block = { type: "tool_use", id, name: "exec", input: {} };
  const stop = { stop_reason: "tool_use", stop_sequence: null };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"command":"ls"}' } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

const provider = http.createServer((request, response) => {
  const answer = answerTo(request.headers["x-call"]);
  const headers = { "content-type": "text/event-stream", "x-received": request.headers["content-length"] };
  request.resume().on("end", () => response.writeHead(200, headers).end(answer));
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

const LINES = 150;
const perRound = countTokens(noise(LINES, 1)) + 60;
const rounds = Math.ceil(tokens / perRound);
const tools = [{ name: "exec", input_schema: { type: "object" } }];
const HEAD = Buffer.from(
  `{"model":"claude-opus-4-6","max_tokens":9,"stream":true,"tools":${JSON.stringify(tools)},"messages":[`,
);
const TAIL = Buffer.from("]}");

/** A session that a stream plays, as the JSON of its messages. */
class History {
  #parts;
  #seed;
  #calls = 0;
  /** The bytes of the last request as the provider received it. */
  received = 0;

  constructor(seed) {
    this.#seed = seed * 100_000_000;
    this.begin();
  }

  /** Begins another session with as many calls as fit into the tokens. */
  begin() {
    this.#seed += 10_000;
    this.#calls = 0;
    this.received = 0;
    this.#parts = [HEAD, Buffer.from(JSON.stringify({ role: "user", content: `session ${this.#seed}` }))];
    for (let at = 0; at < rounds; at++) this.add(LINES);
  }

  /** The number of calls since the session began. */
  get added() {
    return this.#calls - rounds;
  }

  /** Adds a call and its result. */
  add(lines) {
    const id = `c${this.#calls++}`;
    const call = { type: "tool_use", id, name: "exec", input: { command: "ls" } };
    const result = { type: "tool_result", tool_use_id: id, content: noise(lines, this.#seed + this.#calls) };
    const messages = [
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    this.#parts.push(...messages.map((message) => Buffer.from(`,${JSON.stringify(message)}`)));
  }

  get next() {
    return { call: `c${this.#calls}`, body: Buffer.concat([...this.#parts, TAIL]) };
  }
}

const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/**
 * Sends the next request of a session. Resolves to the milliseconds to the first byte of the answer's body, and whether
 * the provider received less than at the session's last request.
 */
async function timed(url, history) {
  const { call, body } = history.next;
  const begun = performance.now();
  const headers = { "content-length": body.length, "x-call": call };
  const request = http.request(`${url}/v1/messages`, { method: "POST", agent, headers });
  request.end(body);
  const [response] = await once(request, "response");
  let first;
  response.on("data", () => (first ??= performance.now() - begun));
  await once(response, "end");
  const received = Number(response.headers["x-received"]);
  const isFolded = received < history.received;
  history.received = received;
  return { first, isFolded };
}

const quantile = (times, share) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Plays all streams at once against a URL. Resolves to the times of all requests. */
async function play(url, histories) {
  const times = [];
  const each = Math.ceil(requests / streams / 4);
  await Promise.all(
    histories.map(async (history, stream) => {
      await pause((pace * stream) / streams);
      for (let at = 0; at < each; at++) {
        if (renew > 0 && history.added >= renew) {
          history.begin();
          await timed(url, history);
        }
        history.add((stream + at) % 8 === 0 ? 600 : 20);
        times.push(await timed(url, history));
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
const memory = () => readFileSync(`/proc/${child.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1] / 1024;
/** Returns the milliseconds that the proxy's threads have computed. The kernel counts in hundredths of a second. */
const computed = () => {
  const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${child.pid}/stat`, "utf8")
    .split(/\) /)[1]
    .split(" ");
  return (Number(user) + Number(system)) * 10;
};

try {
  const begun = () => Array.from({ length: streams }, (_, stream) => new History(stream));
  const size = begun()[0].next.body.length;
  console.log(
    `${streams} streams, requests of ${(size / 1024).toFixed(0)} KiB and ${rounds * perRound} tokens and more`,
  );
  const [alone, sessions] = [begun(), begun()];
  for (const history of sessions) await timed(behind, history);
  const used = [memory()];
  const before = computed();
  for (const [name, url, histories] of [
    ["without the proxy", direct, alone],
    ["behind the proxy", behind, sessions],
  ]) {
    const times = [];
    for (let quarter = 0; quarter < 4; quarter++) {
      times.push(...(await play(url, histories)));
      if (url === behind) used.push(memory());
    }
    for (const isFolded of [false, true]) {
      const some = times.filter((one) => one.isFolded === isFolded).map(({ first }) => first);
      if (some.length === 0) continue;
      const [half, most] = [0.5, 0.99].map((share) => quantile(some, share).toFixed(1));
      const what = isFolded ? "of them at which the history was folded" : "requests";
      console.log(`${name}: ${some.length} ${what}, first byte p50 ${half} ms, p99 ${most} ms`);
    }
    if (url === behind)
      console.log(`computed by the proxy for each request: ${((computed() - before) / times.length).toFixed(1)} ms`);
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
