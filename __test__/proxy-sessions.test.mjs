// Tests of sessions without ids, of restarts and crashes, and of the commands.
//
// `CONCERTINA_KILLS=200` kills more proxies.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { Database, programs } from "../test/host/database.mjs";
import { cli, runWith } from "./cli.mjs";
import { freshDir, noise } from "./conversation.mjs";
import { FETCH, spawnProxy, startProxy, startUpstream } from "./proxy.mjs";

const TOOLS = [{ name: "exec", input_schema: { type: "object" } }];
const NO_DATABASE =
  programs() === undefined && "PostgreSQL's programs are not here: CONCERTINA_POSTGRES names their folder";
const OPTIONS = { sccsCompressThreshold: 3000 };
const user = (content) => ({ role: "user", content });

/** Returns an answer with a call, and its result, whose text is made from a seed. */
const round = (id, seed) => [
  { role: "assistant", content: [{ type: "tool_use", id, name: "exec", input: { seed } }] },
  user([{ type: "tool_result", tool_use_id: id, content: noise(260, seed) }]),
];

async function send(url, messages, fields = {}) {
  const body = { model: "claude-opus-4-6", max_tokens: 9, tools: TOOLS, messages, ...fields };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
  return response.text();
}

const sent = ({ requests }, at = -1) => requests.at(at).body.messages.map((message) => JSON.stringify(message));
const sessionsIn = ({ dir }) => readdirSync(path.join(dir, "proxy")).length;
const yes = () => ({ text: "Yes." });

test("a session goes on by what the client sends, also with cache breakpoints and a repeated question", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream, { options: OPTIONS });
  const history = [user("go"), ...round("a", 1)];
  await send(proxy.url, [user("go")]);
  await send(proxy.url, history);
  const first = sent(upstream);
  assert.match(first[2], /REF_ID/);
  const [question, answer, result] = structuredClone(history);
  result.content[0].cache_control = { type: "ephemeral" };
  await send(proxy.url, [question, answer, result]);
  assert.equal(sent(upstream)[2], first[2].replace(/\}\]\}$/, ',"cache_control":{"type":"ephemeral"}}]}'));
  await send(proxy.url, [...history, ...round("b", 2)]);
  assert.deepEqual(sent(upstream).slice(0, 3), first);
  await send(proxy.url, [...history, ...round("b", 2), user("other words")]);
  await send(proxy.url, [...history, ...round("b", 2), user("edited words")]);
  assert.equal(sessionsIn(proxy), 1);
});

test("a result with a cache breakpoint is folded at birth, and the breakpoint moves on", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream, { options: OPTIONS });
  const marked = (messages) => {
    const copy = structuredClone(messages);
    copy.at(-1).content.at(-1).cache_control = { type: "ephemeral" };
    return copy;
  };
  const history = [user("go"), ...round("a", 1)];
  await send(proxy.url, marked(history));
  const first = sent(upstream);
  assert.match(first[2], /REF_ID.*"cache_control":\{"type":"ephemeral"\}\}\]\}$/);
  await send(proxy.url, marked([...history, ...round("b", 2)]));
  assert.equal(sent(upstream)[2], first[2].replace(',"cache_control":{"type":"ephemeral"}', ""));
  assert.match(sent(upstream)[4], /REF_ID.*cache_control/);
});

test("a branch is a session of its own and shows what its beginning showed", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream, { options: OPTIONS });
  const begin = [user("go"), ...round("a", 1)];
  await send(proxy.url, begin);
  await send(proxy.url, [...begin, ...round("b", 2)]);
  const first = sent(upstream);
  await send(proxy.url, [...begin, ...round("c", 3)]);
  assert.deepEqual(sent(upstream).slice(0, 3), first.slice(0, 3));
  assert.equal(sessionsIn(proxy), 2);
  await send(proxy.url, [...begin, ...round("b", 2), ...round("d", 4)]);
  assert.deepEqual(sent(upstream).slice(0, 5), first);
  await send(proxy.url, [...begin, ...round("c", 3), ...round("d", 4)]);
  assert.equal(sessionsIn(proxy), 2);
});

test("another system prompt begins another session, and so does the same question asked again", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream);
  await send(proxy.url, [user("go")], { system: "one" });
  await send(proxy.url, [user("go")], { system: "two" });
  assert.equal(sessionsIn(proxy), 2);
  await send(proxy.url, [user("go"), ...round("a", 1)], { system: "one" });
  await send(proxy.url, [user("go")], { system: "one" });
  assert.equal(sessionsIn(proxy), 3);
  // A system prompt that changes on the way does not end a session.
  await send(proxy.url, [user("go"), ...round("a", 1), ...round("b", 1)], { system: "one, later" });
  assert.equal(sessionsIn(proxy), 3);
});

test("a session with thinking from elsewhere stays untouched", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream);
  const [call, result] = round("a", 1);
  const thinking = { type: "thinking", thinking: "hm", signature: "s" };
  const messages = [user("go"), { ...call, content: [thinking, ...call.content] }, result];
  await send(proxy.url, messages);
  await send(proxy.url, [...messages, ...round("b", 2)]);
  assert.ok(!upstream.requests.some(({ text }) => text.includes(FETCH)));
  assert.equal(JSON.stringify(upstream.requests[0].body.messages), JSON.stringify(messages));
});

/** Plays a session with two proxies in turn, and checks that what was sent is sent again. */
async function playsWithTwo(t, { dir = freshDir(), ...more } = {}) {
  let fetched = 0;
  const upstream = await startUpstream(t, ({ text }) => {
    const [, id] = /REF_ID: (\w+)|$/.exec(text);
    if (id === undefined || text.includes(`"f${id}"`)) return yes();
    fetched++;
    return { calls: [{ id: `f${id}`, name: FETCH, args: { ref_ids: [`${id}:1-2`] } }] };
  });
  const proxies = [];
  for (let at = 0; at < 2; at++) proxies.push(await startProxy(t, upstream, { options: OPTIONS, dir, ...more }));
  let messages = [user("go")];
  let before = [];
  for (let at = 0; at < 8; at++) {
    await send(proxies[at % 2].url, messages);
    const now = sent(upstream);
    assert.deepEqual(now.slice(0, before.length), before, `request ${at}`);
    before = now;
    messages = [...messages, ...round(`c${at}`, at)];
  }
  assert.ok(fetched > 0);
  assert.match(before.join(), /REF_ID/);
  assert.equal(sessionsIn({ dir }), 1);
  for (const proxy of proxies) {
    assert.deepEqual(proxy.log, []);
    await proxy.close();
  }
  return { dir, upstream };
}

test("two proxies on one store show the same bytes", async (t) => {
  await playsWithTwo(t);
});

test("the store can be a database, whose sessions can be purged", { skip: NO_DATABASE }, async (t) => {
  const database = await new Database().start();
  t.after(() => database.remove());
  const { dir } = await playsWithTwo(t, { place: { url: database.url } });
  const [file] = readdirSync(path.join(dir, "proxy"));
  const id = file.replace(".jsonl", "");
  const { stdout } = runWith({}, "stats", "--session", id, "--url", database.url, "--json");
  assert.equal(JSON.parse(stdout).total.requests, 9);
  const { status, stderr } = runWith({}, "purge", id, "--url", database.url, "--state", dir, "--yes");
  assert.equal(status, 0, stderr);
  assert.equal(sessionsIn({ dir }), 0);
  assert.deepEqual(database.query("SELECT count(*) FROM concertina.originals"), ["0"]);
});

test("a proxy that is killed in the middle of a stream goes on with the same bytes", async (t) => {
  const kills = Number(process.env.CONCERTINA_KILLS ?? 5);
  const upstream = await startUpstream(t, ({ text, body }, number) => {
    const [, id] = /REF_ID: (\w+)|$/.exec(text);
    if (number % 3 === 0 && id)
      return { text: "I look.", calls: [{ id: `f${number}`, name: FETCH, args: { ref_ids: [`${id}:1-2`] } }] };
    return {
      text: `Answer ${body.messages.length}`,
      ...(body.messages.length % 2 === 0 ? {} : { breaksAt: 700, hangs: number % 2 === 0 }),
    };
  });
  const dir = freshDir();
  let messages = [user("go")];
  let before = [];
  for (let at = 0; at < kills; at++) {
    const { child, url } = await spawnProxy(t, upstream, dir, "--options", JSON.stringify(OPTIONS));
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ model: "claude-opus-4-6", max_tokens: 9, tools: TOOLS, messages, stream: true }),
    });
    await response.body.getReader().read();
    child.kill("SIGKILL");
    await once(child, "exit");
    const now = sent(upstream);
    const shared = Math.min(before.length, now.length);
    assert.deepEqual(now.slice(0, shared), before.slice(0, shared), `kill ${at}`);
    before = now;
    if (at % 2 === 1) messages = [...messages, ...round(`c${at}`, at % 50)];
  }
});

test("purge removes a session with the proxy's notes, and a running proxy has it as a new one", async (t) => {
  const upstream = await startUpstream(t, ({ body }) => {
    const [, id] = /REF_ID: (\w+)|$/.exec(JSON.stringify(body.messages));
    const isFetched = JSON.stringify(body.messages).includes("fetched");
    return id && !isFetched ? { calls: [{ id: "fetched", name: FETCH, args: { ref_ids: [id] } }] } : yes();
  });
  const proxy = await startProxy(t, upstream, { options: OPTIONS });
  const planted = "planted-7f3a";
  const [answer, result] = round("a", 1);
  result.content[0].content += planted;
  const history = [user("go"), answer, result];
  await send(proxy.url, history);
  const notes = () => readdirSync(path.join(proxy.dir, "proxy"));
  const [file] = notes();
  const { status, stderr } = runWith({}, "purge", file.replace(".jsonl", ""), "--dir", proxy.dir, "--yes");
  assert.equal(status, 0, stderr);
  assert.deepEqual(notes(), []);
  const files = readdirSync(proxy.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files)
    assert.ok(!readFileSync(path.join(parentPath, name)).includes(planted), name);
  await send(proxy.url, history);
  assert.match(sent(upstream).at(-1), new RegExp(planted), "the original is there again");
  assert.deepEqual(notes(), [file]);
});

test("--observe sends everything untouched and shows what would have been saved", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream, { options: OPTIONS, mode: { observes: true } });
  let messages = [user("go")];
  for (let at = 0; at < 6; at++) {
    await send(proxy.url, messages);
    assert.equal(JSON.stringify(upstream.requests.at(-1).body.messages), JSON.stringify(messages));
    messages = [...messages, ...round(`c${at}`, at)];
  }
  await proxy.close();
  assert.match(proxy.log.at(-1), /6 model calls, [3-9]\d.* % saved/);
});

test("a session that is held out stays untouched", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream, { mode: { holdout: 0.5 } });
  const tools = [];
  for (let at = 0; at < 40; at++) {
    await send(proxy.url, [user(`question ${at}`)]);
    tools.push(upstream.requests.at(-1).body.tools.length);
  }
  const untouched = tools.filter((count) => count === 1).length;
  assert.ok(untouched > 8 && untouched < 32, `${untouched} of 40`);
});

const AGENT = `
  const url = process.env.ANTHROPIC_BASE_URL;
  const messages = ${JSON.stringify([user("go"), ...round("a", 1)])};
  const body = JSON.stringify({ model: "claude-opus-4-6", max_tokens: 9, messages, tools: ${JSON.stringify(TOOLS)} });
  fetch(url + "/v1/messages", { method: "POST", body }).then((response) => response.json()).then(({ content }) => {
    console.log(content[0].text, process.argv.slice(1).join());
    process.exit(7);
  });`;

/** Runs the command line without blocking this process, which is the provider. */
async function runs(args, env = {}) {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => (output[name] += chunk));
  const [status, signal] = await once(child, "close");
  return { ...output, status, signal };
}

test("run starts an agent behind a proxy, passes its status on and prints one line", async (t) => {
  const upstream = await startUpstream(t, yes);
  const args = ["run", "--dir", freshDir(), "--upstream", upstream.url, "--", process.execPath];
  const { stdout, stderr, status } = await runs([...args, "-e", AGENT, "--", "-p", "hello"]);
  assert.equal(stdout, "Yes. -p,hello\n");
  assert.equal(status, 7);
  assert.match(stderr, /^concertina: [\d,]+ tokens sent in 1 model call, .*saved.*\n$/);
  const killed = await runs([...args, "-e", "process.kill(process.pid, 'SIGTERM')"]);
  assert.equal(killed.signal, "SIGTERM");
  const missing = await runs([...args.slice(0, -1), "no-such-agent"]);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /no-such-agent cannot be run/);
});

test("the command proxy serves until it is asked to end", async (t) => {
  const upstream = await startUpstream(t, yes);
  const { child, url } = await spawnProxy(t, upstream, freshDir());
  assert.match(await send(url, [user("go")]), /Yes\./);
  child.kill("SIGTERM");
  const [status] = await once(child, "exit");
  assert.equal(status, 0);
});

test("wrong usage of the commands is named", () => {
  const fault = (...args) => {
    const { status, stderr } = runWith({}, ...args);
    assert.equal(status, 2, stderr);
    return stderr;
  };
  assert.match(fault("proxy", "--host", "0.0.0.0"), /set a --token/);
  assert.match(fault("proxy", "--upstream", "nowhere"), /must be a URL/);
  assert.match(fault("proxy", "--holdout", "2"), /at most 1/);
  assert.match(fault("proxy", "--dir", "a", "--url", "postgresql://x"), /exclude each other/);
  assert.match(fault("proxy", "--host", "0.0.0.0", "--token", "short"), /at least 8/);
  assert.match(fault("run"), /an argument is missing/);
  assert.match(
    runWith({}, "proxy", "--print-env", "--port", "9").stdout,
    /^export ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:9\n/,
  );
});

test("no other command loads the proxy", () => {
  const code = `require(${JSON.stringify(cli.replace("cli.js", "index.js"))}); require(${JSON.stringify(cli.replace("cli.js", "for-plugin.js"))}); process.stdout.write(Object.keys(require.cache).filter((name) => /undici|lib.proxy/.test(name)).join())`;
  assert.equal(spawnSync(process.execPath, ["-e", code], { encoding: "utf8" }).stdout, "");
});

test("a breakpoint within a result stays where it points, and changes no other byte", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream, { options: OPTIONS });
  const point = { cache_control: { type: "ephemeral" } };
  const history = (count, at) => [
    user("go"),
    ...Array.from({ length: count }, (_, turn) => {
      const [call, result] = round(`c${turn}`, turn);
      const [block] = result.content;
      const parts = ["short", block.content].map((text) => ({ type: "text", text }));
      Object.assign(parts[1], turn === at ? point : {});
      return [call, user([{ ...block, content: parts }])];
    }).flat(),
  ];
  await send(proxy.url, history(1));
  const plain = sent(upstream);
  for (const [count, at] of [
    [1, 0],
    [2, 1],
    [3, 0],
    [3, 2],
  ]) {
    await send(proxy.url, history(count, at));
    const messages = upstream.requests.at(-1).body.messages;
    const points = messages.map(
      (message) => JSON.stringify(message).split(JSON.stringify(point).slice(1, -1)).length - 1,
    );
    assert.deepEqual(points, Object.assign(Array(messages.length).fill(0), { [2 + 2 * at]: 1 }));
    const [block] = messages[2 + 2 * at].content;
    assert.deepEqual(block.content.at(-1).cache_control, point.cache_control);
    assert.equal(JSON.stringify(messages[2]).replace(`,${JSON.stringify(point).slice(1, -1)}`, ""), plain[2]);
  }
  assert.match(plain[2], /REF_ID/);
  assert.equal(sessionsIn(proxy), 1);
});

test("figures that are read while an answer is under way are the same in the end", async (t) => {
  const lines = [];
  for (const reads of [false, true]) {
    const upstream = await startUpstream(t, async (_request, number) => {
      if (reads && number % 5 === 0) await fetch(proxy.page.replace("/concertina?", "/concertina/status?"));
      return number > 12 ? yes() : { calls: [{ id: `c${number}`, name: "exec", args: { seed: number } }] };
    });
    const proxy = await startProxy(t, upstream, { options: OPTIONS });
    let messages = [user("go")];
    for (let at = 1; at <= 13; at++) {
      await send(proxy.url, messages);
      messages = [...messages, ...round(`c${at}`, at)];
    }
    await proxy.close();
    lines.push(proxy.log.at(-1));
  }
  assert.match(lines[0], /13 model calls, .* % saved/);
  assert.equal(lines[1], lines[0]);
});

test("a session ends once, also among more than are kept in memory", async (t) => {
  const upstream = await startUpstream(t, yes);
  const proxy = await startProxy(t, upstream);
  const asks = (at) => [user(`question ${at}`), { role: "assistant", content: "Yes." }, user("again")];
  for (const length of [1, 3])
    for (let at = 0; at < 260; at += 20)
      await Promise.all(Array.from({ length: 20 }, (_, more) => send(proxy.url, asks(at + more).slice(0, length))));
  assert.deepEqual(proxy.log, []);
  await proxy.close();
  assert.equal(proxy.log.filter((line) => /: session .* 2 model calls/.test(line)).length, 260);
});

test("the notes of sessions that begin alike are read once", async (t) => {
  const { Journals } = await import("../dist/node/lib/library/journals.js");
  const upstream = await startUpstream(t, yes);
  const dir = freshDir();
  const asks = (at) => [user("the same context"), user(`task ${at}`), ...round("a", at)];
  const first = await startProxy(t, upstream, { dir });
  for (let at = 0; at < 9; at++) await send(first.url, asks(at));
  await first.close();
  const { url } = await startProxy(t, upstream, { dir });
  const { read } = Journals.prototype;
  const whole = [];
  t.after(() => (Journals.prototype.read = read));
  Journals.prototype.read = function (id, from) {
    if (from === 0) whole.push(id);
    return read.call(this, id, from);
  };
  for (let at = 9; at < 12; at++) await send(url, asks(at));
  assert.equal(new Set(whole).size, 12);
  // A new session has no notes before its first request.
  assert.ok(whole.length <= 15, whole.join());
});

test("with previous_response_id another proxy gives the provider the results of hidden fetches", async (t) => {
  const call = (id, name) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: '{"ref_ids":["00"]}',
  });
  const upstream = await startUpstream(t, ({ body }, number) => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      id: `resp_${number}`,
      object: "response",
      status: "completed",
      model: "m",
      output: body.previous_response_id ? [] : [call("f", FETCH), call("own", "exec")],
      usage: {},
    }),
  }));
  const dir = freshDir();
  const start = () => startProxy(t, upstream, { dir });
  const tools = [{ type: "function", name: "exec", parameters: {} }];
  const posts = async ({ url }, fields) => {
    const body = JSON.stringify({ model: "m", tools, ...fields });
    return (await fetch(`${url}/v1/responses`, { method: "POST", body })).json();
  };
  const first = await start();
  const answers = [];
  for (let at = 0; at < 3; at++) answers.push(await posts(first, { input: `go ${at}` }));
  const second = await start();
  const goesOn = async (proxy, { id }) => {
    const input = [{ type: "function_call_output", call_id: "own", output: "x" }];
    await posts(proxy, { previous_response_id: id, input });
    const outputs = upstream.requests.at(-1).body.input.map((item) => item.call_id);
    assert.deepEqual(outputs.toSorted(), ["f", "own"]);
  };
  await goesOn(first, answers[0]);
  await goesOn(second, answers[1]);
  for (const proxy of [first, second]) await proxy.close();
  await goesOn(await start(), answers[2]);
  assert.equal(first.log.filter((line) => /: session .* 2 model calls/.test(line)).length, 2);
});
