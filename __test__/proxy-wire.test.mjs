// Tests of the proxy's connections: errors, aborts, chunks, slow readers, secrets, and what it refuses.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { Readable } from "node:stream";
import test from "node:test";
import zlib, { gzipSync } from "node:zlib";

import { noise } from "./conversation.mjs";
import { FETCH, startProxy, startUpstream } from "./proxy.mjs";

const PATHS = { anthropic: "/v1/messages", chat: "/v1/chat/completions", responses: "/v1/responses" };
const TOOLS = {
  anthropic: [{ name: "exec", input_schema: { type: "object" } }],
  chat: [{ type: "function", function: { name: "exec", parameters: { type: "object" } } }],
  responses: [{ type: "function", name: "exec", parameters: { type: "object" } }],
};

/** Returns a request of a dialect with one question. */
function asked(dialect, fields = {}) {
  const messages = [{ role: "user", content: "go" }];
  const history = dialect === "responses" ? { input: messages, store: false } : { messages };
  return { model: "m", max_tokens: 9, ...history, tools: TOOLS[dialect], stream: true, ...fields };
}

const post = (url, dialect, body, more = {}) =>
  fetch(url + PATHS[dialect], {
    method: "POST",
    headers: { "content-type": "application/json", ...more.headers },
    body: JSON.stringify(body),
    ...(more.signal ? { signal: more.signal } : {}),
  });

test("bodies are read as JSON.parse reads them, and written as JSON.stringify writes them", async () => {
  const { Bodies, jsonOf } = await import("../dist/node/lib/proxy/body.js");
  const bodies = new Bodies();
  let x = 1;
  const below = (limit) => ((x = (Math.imul(x, 1664525) + 1013904223) >>> 0) % 7919) % limit;
  const some = (make) => Array.from({ length: below(4) }, make);
  const text = () => some(() => ["\\", '"', "é", "[]", "{,", ":", "\n "][below(7)]).join("");
  const value = (depth) =>
    [
      () => below(9) - 4,
      text,
      () => null,
      () => some(() => value(depth - 1)),
      () => Object.fromEntries(some(() => [text(), value(depth - 1)])),
    ][below(depth > 0 ? 5 : 3)]();
  const parsed = (json) => {
    try {
      const body = JSON.parse(json);
      return typeof body === "object" && body !== null && !Array.isArray(body) ? body : undefined;
    } catch {
      return undefined;
    }
  };
  for (let at = 0; at < 20_000; at++) {
    const body = Object.fromEntries(some(() => [["messages", "tools", "__proto__", text()][below(4)], value(3)]));
    const whole = JSON.stringify(body, null, below(3));
    const cut = below(whole.length + 1);
    const junk = ["", '"', "[", "]", "}", ",", "\\", '"messages":[1],'][below(8)];
    const json = whole.slice(0, cut) + junk + whole.slice(cut + below(2));
    const [got, expected] = [bodies.parse(Buffer.from(json)), parsed(json)];
    assert.deepEqual(got, expected, json);
    if (got !== undefined) assert.equal(String(jsonOf(got)), JSON.stringify(expected));
  }
  // An element is expected behind the one that it followed before.
  const lists = [
    "[1,2]",
    "[1,23]",
    "[1,2,3]",
    "[1,2 , 3]",
    "[1,2",
    "[1,2}",
    "[1,2x]",
    "[1,2,]",
    '[1,"2"]',
    '[1,"2",3]',
  ];
  for (const list of [...lists, '[1,"2"3]', '[1,"2\\",3"]', "[1,2]"]) {
    const json = `{"messages":${list}}`;
    assert.deepEqual(bodies.parse(Buffer.from(json)), parsed(json), json);
  }
  const again = () => bodies.parse(Buffer.from('{"messages":[{"role":"user"}]}')).messages[0];
  assert.equal(again(), again());
  assert.ok(Object.isFrozen(again()));
});

test("in chunks of any size the client gets the same events", async (t) => {
  for (const dialect of Object.keys(PATHS)) {
    const got = [];
    for (const chunk of [1, 2, 3, 5, 7, 16, 61, 200, undefined]) {
      const steps = [
        {
          thinks: "hm",
          text: "Let me sée.\n",
          calls: [{ id: "f1", name: FETCH, args: { ref_ids: ["0123456789abcdef"] } }],
        },
        {
          text: "✓ both",
          calls: [
            { id: "c1", name: "exec", args: { command: "ls\n\n" } },
            { id: "f2", name: FETCH, args: { ref_ids: ["0123456789abcdef"] } },
          ],
        },
      ];
      const upstream = await startUpstream(t, (_request, number) => ({ ...steps[number - 1], chunk }));
      const proxy = await startProxy(t, upstream);
      const response = await post(proxy.url, dialect, asked(dialect));
      const text = await response.text();
      assert.ok(!text.includes(FETCH), text);
      assert.match(text, /both/);
      got.push(text);
    }
    for (const text of got) assert.equal(text, got[0], dialect);
  }
});

test("without a fetch a stream is the provider's, byte for byte", async (t) => {
  for (const dialect of Object.keys(PATHS)) {
    const answer = {
      thinks: "hm",
      text: noise(20),
      calls: [{ id: "c1", name: "exec", args: { command: "é" } }],
      chunk: 11,
    };
    const upstream = await startUpstream(t, () => answer);
    const proxy = await startProxy(t, upstream);
    for (const stream of [true, false]) {
      const direct = await post(upstream.url, dialect, asked(dialect, { stream }));
      const behind = await post(proxy.url, dialect, asked(dialect, { stream }));
      const plain = (text) => text.replace(/_\d+"|-\d+"/g, '"').replace(/_tokens":\d+/g, "");
      assert.equal(plain(await behind.text()), plain(await direct.text()));
      assert.equal(behind.headers.get("content-type"), direct.headers.get("content-type"));
      assert.match(behind.headers.get("x-request-id"), /^req_/);
    }
  }
});

test("a client that offers the fetch tool itself gets its calls, byte for byte", async (t) => {
  for (const dialect of Object.keys(PATHS)) {
    const answer = { text: "I look.", calls: [{ id: "f1", name: FETCH, args: { ref_ids: ["00"] } }] };
    const upstream = await startUpstream(t, () => answer);
    const proxy = await startProxy(t, upstream);
    const [tool] = TOOLS[dialect];
    const own = tool.function ? { ...tool, function: { ...tool.function, name: FETCH } } : { ...tool, name: FETCH };
    for (const stream of [true, false]) {
      const texts = [];
      for (const url of [upstream.url, proxy.url])
        texts.push(await (await post(url, dialect, asked(dialect, { stream, tools: [tool, own] }))).text());
      const [direct, behind] = texts.map((text) => text.replace(/_\d+"|-\d+"/g, '"'));
      assert.equal(behind, direct);
      assert.match(behind, /fetch_original_data/);
    }
  }
});

test("an error of the provider reaches the client as it is", async (t) => {
  const body = '{"type":"error",  "error":{"type":"rate_limit_error","message":"slow down"}}';
  const upstream = await startUpstream(t, () => ({
    status: 429,
    headers: { "retry-after": "7", "content-type": "application/json" },
    body,
  }));
  const proxy = await startProxy(t, upstream);
  for (const dialect of Object.keys(PATHS)) {
    const response = await post(proxy.url, dialect, asked(dialect));
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("retry-after"), "7");
    assert.equal(await response.text(), body);
  }
  assert.equal(upstream.requests.length, 3);
});

test("an error after a fetch ends the stream with an event of the dialect", async (t) => {
  for (const dialect of Object.keys(PATHS)) {
    const body = '{"type":"error","error":{"type":"overloaded_error","message":"too much"}}';
    const upstream = await startUpstream(t, (_request, number) =>
      number === 1
        ? { text: "Wait.", calls: [{ id: "f", name: FETCH, args: { ref_ids: ["00"] } }] }
        : { status: 529, headers: { "content-type": "application/json" }, body },
    );
    const proxy = await startProxy(t, upstream);
    const text = await (await post(proxy.url, dialect, asked(dialect))).text();
    assert.match(text, /Wait\./);
    assert.match(text, /too much/);
  }
});

test("a stream that breaks off breaks off for the client", async (t) => {
  const upstream = await startUpstream(t, () => ({ text: noise(20), breaksAt: 900 }));
  const proxy = await startProxy(t, upstream);
  for (const dialect of Object.keys(PATHS)) {
    const response = await post(proxy.url, dialect, asked(dialect));
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
  }
});

test("a provider that cannot be reached is an error that says so", async (t) => {
  const proxy = await startProxy(t, { url: "http://127.0.0.1:9" });
  const response = await post(proxy.url, "anthropic", asked("anthropic"));
  assert.equal(response.status, 502);
  assert.match(await response.text(), /cannot be reached/);
});

test("if the client leaves, the provider's request is broken off", async (t) => {
  const upstream = await startUpstream(t, () => ({ text: noise(50), breaksAt: 500, hangs: true }));
  const proxy = await startProxy(t, upstream);
  for (const dialect of Object.keys(PATHS)) {
    const leaving = new AbortController();
    const response = await post(proxy.url, dialect, asked(dialect), { signal: leaving.signal });
    await response.body.getReader().read();
    leaving.abort();
    for (let at = 0; at < 100 && !upstream.requests.at(-1).aborted; at++)
      await new Promise((done) => setTimeout(done, 10));
    assert.ok(upstream.requests.at(-1).aborted, dialect);
  }
  assert.deepEqual(proxy.log, []);
});

test("a slow reader holds the provider back and loses nothing", async (t) => {
  const text = noise(100_000);
  const upstream = await startUpstream(t, () => ({ text, chunk: 65_536 }));
  const proxy = await startProxy(t, upstream);
  const { port } = new URL(proxy.url);
  const request = http.request({ port, path: PATHS.anthropic, method: "POST" });
  request.end(JSON.stringify(asked("anthropic", { model: "m" })));
  const [response] = await once(request, "response");
  await new Promise((done) => setTimeout(done, 300));
  assert.equal(upstream.requests[0].finished, false, "the provider waits");
  let got = "";
  for await (const chunk of response.setEncoding("utf8")) got += chunk;
  const deltas = [...got.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data).delta?.text ?? "").join("");
  assert.ok(deltas === text);
});

test("other requests pass byte for byte, to the provider that their headers name", async (t) => {
  const body = '{ "a":  1.0 }';
  const upstream = await startUpstream(t, () => ({ status: 201, headers: { "x-own": "1" }, body }));
  const proxy = await startProxy(t, upstream, {
    providers: { anthropic: upstream.url, openai: `${upstream.url}/base/v1` },
  });
  const files = await fetch(`${proxy.url}/v1/files?purpose=x`, { method: "POST", body, headers: { "x-api-key": "k" } });
  assert.deepEqual([files.status, files.headers.get("x-own"), await files.text()], [201, "1", body]);
  await fetch(`${proxy.url}/v1/models`);
  const [first, second] = upstream.requests;
  assert.deepEqual(
    [first.method, first.url, first.text, first.headers["x-api-key"]],
    ["POST", "/v1/files?purpose=x", body, "k"],
  );
  assert.equal(second.url, "/base/v1/models");
});

test("count_tokens counts what would be sent", async (t) => {
  const upstream = await startUpstream(t, () => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: '{"input_tokens":5}',
  }));
  const proxy = await startProxy(t, upstream);
  const messages = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "exec", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: noise(900) }] },
  ];
  const response = await fetch(`${proxy.url}/v1/messages/count_tokens`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages, tools: TOOLS.anthropic }),
  });
  assert.deepEqual(await response.json(), { input_tokens: 5 });
  const { text } = upstream.requests[0];
  assert.ok(text.includes(FETCH) && text.length < 20_000, `${text.length}`);
});

test("secrets in headers are passed on, and are in no file and no line of the log", async (t) => {
  const secret = "sk-ant-planted-0123456789abcdef";
  const upstream = await startUpstream(t, (_request, number) =>
    number % 2 === 0 ? { status: 500, body: "no" } : { text: "Yes." },
  );
  const proxy = await startProxy(t, upstream);
  for (const dialect of Object.keys(PATHS))
    for (let at = 0; at < 2; at++)
      await (
        await post(proxy.url, dialect, asked(dialect), {
          headers: { authorization: `Bearer ${secret}`, "x-api-key": secret, cookie: secret },
        })
      ).text();
  assert.ok(upstream.requests.every(({ headers }) => headers["x-api-key"] === secret && headers.cookie === secret));
  await proxy.close();
  const files = readdirSync(proxy.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length >= 3);
  for (const { parentPath, name } of files)
    assert.ok(!readFileSync(path.join(parentPath, name)).includes("planted"), name);
  assert.ok(!proxy.log.join("\n").includes("planted"));
});

test("a failure of folding sends the request as it came, and one line says so", async (t) => {
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const proxy = await startProxy(t, upstream);
  const { Folder } = await import("../dist/node/lib/proxy/fold.js");
  const { view } = Folder.prototype;
  Folder.prototype.view = () => Promise.reject(new Error("planned"));
  t.after(() => (Folder.prototype.view = view));
  const body = asked("anthropic");
  assert.match(await (await post(proxy.url, "anthropic", body)).text(), /Yes\./);
  assert.equal(upstream.requests[0].text, JSON.stringify(body));
  assert.deepEqual(proxy.log, ["concertina: folding failed (planned); the request goes on without it"]);
});

test("a fetch that fails is told to the model, and the answer goes on", async (t) => {
  for (const dialect of Object.keys(PATHS)) {
    const steps = [
      { calls: [{ id: "f", name: FETCH, args: { ref_ids: ["0123456789abcdef"] } }] },
      { text: "Then not." },
    ];
    const upstream = await startUpstream(t, (_request, number) => steps[number - 1]);
    const proxy = await startProxy(t, upstream);
    const { Concertina } = await import("openclaw-concertina");
    const { fetch: own } = Concertina.prototype;
    Concertina.prototype.fetch = () => Promise.reject(new Error("disk gone"));
    try {
      assert.match(await (await post(proxy.url, dialect, asked(dialect))).text(), /Then not\./);
    } finally {
      Concertina.prototype.fetch = own;
    }
    assert.match(upstream.requests[1].text, /The original cannot be read: disk gone/);
    assert.match(proxy.log.join(), /fetching an original failed/);
  }
});

test("others need the token, and names that are not this machine's are refused", async (t) => {
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const proxy = await startProxy(t, upstream, { token: "secret-token" });
  const { origin } = new URL(proxy.url);
  assert.equal(proxy.url, `${origin}/secret-token`);
  assert.equal((await post(origin, "chat", asked("chat"))).status, 401);
  assert.equal((await post(`${origin}/other`, "chat", asked("chat"))).status, 401);
  assert.equal((await post(proxy.url, "chat", asked("chat"))).status, 200);
  assert.equal(
    (await post(origin, "chat", asked("chat"), { headers: { "x-concertina-token": "secret-token" } })).status,
    200,
  );
  assert.ok(upstream.requests.every(({ url, headers }) => url === PATHS.chat && !("x-concertina-token" in headers)));
  const request = http.request({ port: new URL(origin).port, path: "/v1/models", headers: { host: "evil.example" } });
  request.end();
  const [{ statusCode }] = await once(request, "response");
  assert.equal(statusCode, 403);
});

test("the page and the status need the page's token, and /healthz needs none", async (t) => {
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const proxy = await startProxy(t, upstream);
  await (await post(proxy.url, "chat", asked("chat"))).text();
  assert.equal((await (await fetch(`${proxy.url}/healthz`)).json()).status, "ok");
  assert.equal((await fetch(`${proxy.url}/concertina?token=no`)).status, 401);
  const page = await fetch(proxy.page);
  assert.match(page.headers.get("content-security-policy"), /default-src 'none'/);
  assert.match(await page.text(), /<html/);
  const status = await (await fetch(proxy.page.replace("/concertina?", "/concertina/status?"))).json();
  assert.equal(status.total.requests, 1);
});

test("requests go through the proxy that HTTP_PROXY names", async (t) => {
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const hosts = [];
  const tunnel = http.createServer().on("connect", (request, socket, head) => {
    hosts.push(request.url);
    const [host, port] = request.url.split(":");
    const to = net.connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      to.write(head);
      socket.pipe(to).pipe(socket);
    });
    for (const one of [socket, to]) one.on("error", () => one.destroy());
  });
  await new Promise((resolve) => tunnel.listen(0, "127.0.0.1", resolve));
  t.after(() => tunnel.close());
  process.env.HTTP_PROXY = `http://127.0.0.1:${tunnel.address().port}`;
  t.after(() => delete process.env.HTTP_PROXY);
  const proxy = await startProxy(t, upstream);
  assert.match(await (await post(proxy.url, "chat", asked("chat"))).text(), /Yes\./);
  assert.deepEqual(hosts, [new URL(upstream.url).host]);
});

test("a request that cannot be decompressed is for the provider to refuse", async (t) => {
  const upstream = await startUpstream(t, () => ({ status: 400, headers: {}, body: "no" }));
  const { url } = await startProxy(t, upstream);
  const whole = gzipSync(JSON.stringify(asked("chat", { note: noise(200) })));
  for (const [dialect, encoding, body] of [
    ["anthropic", "gzip", whole.subarray(0, 20)],
    ["chat", "gzip", Buffer.from("{}")],
    ["responses", "br", whole],
    ["chat", "zstd", whole],
  ]) {
    const headers = { "content-encoding": encoding };
    const answer = await fetch(url + PATHS[dialect], { method: "POST", headers, body });
    assert.deepEqual([answer.status, await answer.text()], [400, "no"], `${dialect}, ${encoding}`);
    const { headers: sent } = upstream.requests.at(-1);
    assert.deepEqual([sent["content-encoding"], sent["content-length"]], [encoding, String(body.length)]);
  }
});

/** Sends a request as text. Returns the text that comes back until the connection is closed. */
async function sendsRaw(url, line, headers = "Host: 127.0.0.1\r\n") {
  const socket = net.connect(new URL(url).port, "127.0.0.1");
  socket.write(`${line} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
  const chunks = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

const ODD_PATHS = ["//", "//@", "//v1//models", "/v1/./a/../b", "/%2e%2e/a%2Fb", "/a?x='b'&c=|", "/a?", "/{a}/b\\c"];

test("a path reaches the provider as it came", async (t) => {
  const upstream = await startUpstream(t, () => ({ status: 200, headers: {}, body: "ok" }));
  const [open, closed] = [await startProxy(t, upstream), await startProxy(t, upstream, { token: "secret-token" })];
  for (const path of ODD_PATHS)
    for (const [url, target] of [
      [open.url, path],
      [open.url, `http://127.0.0.1${path}`],
      [closed.url, `/secret-token${path}`],
    ]) {
      assert.match(await sendsRaw(url, `GET ${target}`), /^HTTP\/1.1 200/, target);
      assert.equal(upstream.requests.at(-1).url, path);
    }
  await post(`${open.url}/`, "anthropic", asked("anthropic"));
  const { url, text } = upstream.requests.at(-1);
  assert.deepEqual([url, text.includes(FETCH)], ["//v1/messages", true]);
});

test("no target and no Host end the proxy, also without the token", async (t) => {
  const upstream = await startUpstream(t, () => ({ status: 200, headers: {}, body: "ok" }));
  for (const token of [undefined, "secret-token"]) {
    const proxy = await startProxy(t, upstream, token ? { token } : {});
    const status = token ? /^HTTP\/1.1 401/ : /^HTTP\/1.1 200/;
    for (const target of [...ODD_PATHS, "http://[", "http://a:99999/v1", "http://"])
      assert.match(await sendsRaw(proxy.url, `GET ${target}`), status, target);
    for (const host of ["a b", "[", "a:99999"])
      assert.match(await sendsRaw(proxy.url, "GET /v1/models", `Host: ${host}\r\n`), /^HTTP\/1.1 400/, host);
    assert.match(await sendsRaw(proxy.url, "OPTIONS *"), /^HTTP\/1.1 400/);
    assert.deepEqual(proxy.log, []);
  }
  const away = await startProxy(t, { url: "http://127.0.0.1:9" });
  assert.match(await sendsRaw(away.url, "GET //@"), /^HTTP\/1.1 502/);
  assert.match(away.log.join(), /GET \/\/@ failed/);
});

test("keys go to the provider that they are of", async (t) => {
  const answer = () => ({ status: 200, headers: {}, body: "{}" });
  const [anthropic, openai] = [await startUpstream(t, answer), await startUpstream(t, answer)];
  const providers = { anthropic: anthropic.url, openai: openai.url };
  const { url } = await startProxy(t, anthropic, { providers });
  const ofOpenAI = { authorization: "Bearer sk-proj-1" };
  const ofAnthropic = { authorization: "Bearer sk-ant-oat01-1" };
  for (const [method, path, headers, provider] of [
    ["POST", "/v1/threads/thread_1/messages", ofOpenAI, openai],
    ["GET", "/v1/models", ofOpenAI, openai],
    ["GET", "/v1/models", { "x-api-key": "k" }, anthropic],
    ["GET", "/api/oauth/profile", { ...ofOpenAI, "anthropic-beta": "oauth-2025-04-20" }, anthropic],
    ["GET", "/api/oauth/profile", ofAnthropic, anthropic],
    ["POST", "/v1/messages", {}, anthropic],
    ["POST", "/v1/chat/completions", ofAnthropic, openai],
    ["HEAD", "/", {}, anthropic],
  ]) {
    const before = provider.requests.length;
    await fetch(url + path, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
    assert.equal(provider.requests.length, before + 1, `${method} ${path}`);
  }
});

test("only WebSockets are refused among the protocols that a client offers", async (t) => {
  const upstream = await startUpstream(t, () => ({ status: 200, headers: {}, body: "ok" }));
  const { url } = await startProxy(t, upstream);
  const offer = (name) => `Host: 127.0.0.1\r\nUpgrade: ${name}\r\nHTTP2-Settings: AAMA\r\n`;
  assert.match(await sendsRaw(url, "GET /v1/models", offer("h2c")), /^HTTP\/1.1 200/);
  assert.equal(upstream.requests[0].headers.upgrade, undefined);
  assert.match(
    await sendsRaw(url, "GET /v1/responses", offer("WebSocket")),
    /^HTTP\/1.1 426[^]*\r\nupgrade: websocket\r\n/i,
  );
});

test("headers of an answer keep their bytes, and may be long", async (t) => {
  const long = "a".repeat(100_000);
  const server = http.createServer({ maxHeaderSize: 2 ** 18 }, (request, response) => {
    request.resume();
    const type = request.url === PATHS.chat ? "application/json" : "text/event-stream";
    const utf8 = Buffer.from("é✓").toString("latin1");
    response.writeHead(200, { "x-name": utf8, "x-own": request.headers["x-own"] ?? "", "content-type": type });
    response.end(Buffer.from("{}"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { url } = await startProxy(t, { url: `http://127.0.0.1:${server.address().port}` });
  for (const target of ["GET /v1/models", ...Object.values(PATHS).map((path) => `POST ${path}`)]) {
    const more = target.startsWith("POST") ? "Content-Length: 0\r\n" : "";
    const got = await sendsRaw(url, target, `Host: 127.0.0.1\r\nX-Own: ${long}\r\n${more}`);
    assert.equal(Buffer.from(/^x-name: (.*)\r$/m.exec(got)?.[1] ?? got, "latin1").toString(), "é✓", target);
    assert.ok(got.includes(long), target);
  }
});

test("a request is too large by its bytes or by what they decode to, and others can be in any encoding", async (t) => {
  const { bytesOf, decoded, TooLarge } = await import("../dist/node/lib/proxy/upstream.js");
  const upstream = await startUpstream(t, () => ({ text: "Yes." }));
  const { url } = await startProxy(t, upstream);
  const [piece, pieces] = [Buffer.alloc(2 ** 24, 32), Array.from({ length: 17 })];
  const body = {
    async *[Symbol.asyncIterator]() {
      for (const _ of pieces) yield piece;
    },
  };
  const headers = { "content-encoding": "gzip" };
  for (const more of [
    { body, duplex: "half" },
    { body: gzipSync(Buffer.alloc(17 * 2 ** 24)), headers },
  ]) {
    const answer = await fetch(url + PATHS.chat, { method: "POST", ...more });
    assert.equal(answer.status, 413);
    assert.match(await answer.text(), /too large/);
  }
  assert.equal(upstream.requests.length, 0);
  const zstd = zlib.zstdCompressSync;
  const encodings = { gzip: gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync, zstd };
  encodings["GZIP, identity,br"] = (plain) => zlib.brotliCompressSync(gzipSync(plain));
  for (const [name, encode] of Object.entries(encodings)) {
    if (encode === undefined) continue;
    const encoded = encode(Buffer.from(JSON.stringify(asked("chat", { encoding: name }))));
    await (
      await fetch(url + PATHS.chat, { method: "POST", body: encoded, headers: { "content-encoding": name } })
    ).text();
    const { text } = upstream.requests.at(-1);
    assert.ok(text.includes(name) && text.includes(FETCH), name);
    const broken = decoded(Readable.from([encoded.subarray(0, -9)], { objectMode: false }), name);
    await assert.rejects(bytesOf(broken), (error) => !(error instanceof TooLarge));
  }
  // Nobody reads, and nothing is thrown.
  decoded(Readable.from([Buffer.from("plain")], { objectMode: false }), "gzip");
  await new Promise(setImmediate);
  assert.equal(decoded(Readable.from([]), "gzip, other"), undefined);
});

test("an event that comes in many chunks is read whole", async () => {
  const { EventReader } = await import("../dist/node/lib/proxy/sse.js");
  const [reader, chunk] = [new EventReader(), Buffer.from("x".repeat(1024))];
  reader.read(Buffer.from("data: "));
  for (let at = 0; at < 16_384; at++) assert.deepEqual(reader.read(chunk), []);
  const [{ raw }, ...none] = reader.read(Buffer.from("\r\n\r\ndata: 1\n"));
  assert.deepEqual([raw.length, none, reader.end()], [6 + 2 ** 24 + 4, [], "data: 1\n"]);
});
