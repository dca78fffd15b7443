// Tests of the parts of the plugin that need no host.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Concertina } from "openclaw-concertina";

import { registerCli } from "../dist/plugin/cli.js";
import { complaintLine } from "../dist/plugin/repeated-warnings.js";
import { endSession } from "../dist/plugin/session-ends.js";
import { hostId } from "../dist/plugin/host-id.js";
import { prunerWarning } from "../dist/plugin/host-pruner.js";
import { runSlashCommand } from "../dist/plugin/commands.js";
import { registerPage } from "../dist/plugin/page.js";
import { isIncognito } from "../dist/plugin/sessions.js";
import { PluginState } from "../dist/plugin/state.js";
import { freshDir, noise, toolRound } from "./conversation.mjs";

const MINUTE_MS = 60_000;
const failure = (code, message = "it is away") => Object.assign(new Error(message), { code });

test("the same failure of a step is logged once in ten minutes, with the number of repetitions", () => {
  const say = (error, minute, step = "opening the store") =>
    complaintLine(step, error, "nothing is folded", minute * MINUTE_MS);
  assert.equal(say(failure("AWAY"), 0), "concertina: opening the store failed (it is away (AWAY)); nothing is folded");
  for (const minute of [0, 1, 5, 9.9]) assert.equal(say(failure("AWAY", "another message"), minute), undefined);
  assert.match(say(failure("FULL"), 5), /\(FULL\)/);
  assert.match(say(failure("AWAY"), 5, "the sweep"), /^concertina: the sweep failed/);
  assert.match(say(failure("AWAY"), 10), /repeated 4 times since the last such line\)$/);
  assert.equal(say(failure("AWAY"), 11), undefined);
  assert.match(say(failure("AWAY"), 20), /repeated 1 time since/);
});

test("an unavailable store is logged once, whatever step meets it", () => {
  for (const code of ["CONCERTINA_STORE_UNAVAILABLE", "CONCERTINA_STORE_NEWER"]) {
    assert.match(complaintLine("storing", failure(code), "so", 0), /^concertina: storing failed/);
    assert.equal(complaintLine("the sweep", failure(code), "so", 1), undefined);
  }
});

test("failures without a code are distinguished by their messages", () => {
  assert.ok(complaintLine("a step", new Error("one"), "so", 0));
  assert.ok(complaintLine("a step", new Error("two"), "so", 0));
  assert.equal(complaintLine("a step", new Error("one"), "so", 1), undefined);
});

test("the warning about the host's pruner depends on the provider and on the tools that it spares", () => {
  const on = (provider, tools) =>
    prunerWarning(
      { agents: { defaults: { contextPruning: { mode: "cache-ttl", tools } } } },
      { runtimeSettings: { model: { provider } } },
    );
  assert.match(on("anthropic"), /all but the three newest tool results/);
  assert.match(on("scripted"), /after a pause/);
  for (const tools of [undefined, { deny: ["exec"] }, { allow: ["fetch_*"] }])
    assert.match(on("anthropic", tools), /tools\.deny: \["fetch_original_data"\]$/);
  for (const tools of [{ deny: ["fetch_original_data"] }, { deny: ["*"] }, { allow: ["exec"] }])
    assert.match(on("anthropic", tools), /does not prune fetched originals$/);
  assert.equal(prunerWarning({ agents: { defaults: { contextPruning: { mode: "off" } } } }, {}), undefined);
  assert.equal(prunerWarning(undefined, {}), undefined);
});

test("a memory-only session is recognised by its key", () => {
  for (const key of ["agent:main:dashboard:incognito-1f", "agent:Other:subagent:incognito-2a"])
    assert.ok(isIncognito(key), key);
  for (const key of [
    undefined,
    "",
    "agent:main:incognito-1f",
    "agent:main:dashboard:1f",
    "agent:main:dashboard:incognito-a:b",
  ])
    assert.ok(!isIncognito(key), key);
});

test("the status reports that the native library does not load", async () => {
  const root = freshDir();
  for (const part of ["dist", "package.json"])
    cpSync(fileURLToPath(new URL(`../${part}`, import.meta.url)), path.join(root, part), { recursive: true });
  const [{ statusOf }, { PluginState }] = await Promise.all(
    ["status", "state"].map((name) => import(pathToFileURL(path.join(root, "dist", "plugin", `${name}.js`)).href)),
  );
  const state = new PluginState({ logger: { error() {} }, runtime: { state: { resolveStateDir: () => root } } });
  const { engine, why, findings } = await statusOf(state);
  const problems = findings.filter(({ level }) => level === "failure").map(({ key }) => key);
  assert.deepEqual(
    [engine, why, problems],
    [
      "inactive",
      `the native library does not load; see the gateway's log for the reason. Run "openclaw plugins install openclaw-concertina --force"`,
      ["engine"],
    ],
  );
});

/** Returns the actions of `openclaw concertina ...`, by command. */
function actionsOf(state) {
  const actions = new Map();
  const commandNamed = (name) =>
    new Proxy(
      {},
      {
        get: (_, word) => (argument) =>
          word === "command"
            ? commandNamed(argument)
            : (word === "action" && actions.set(name, argument), commandNamed(name)),
      },
    );
  const whole = "optionWarnings" in state ? state : { optionWarnings: [], ...state };
  whole.folding ??= whole;
  registerCli({ registerCli: (register) => register({ program: commandNamed("") }) }, whole);
  return actions;
}

/** Runs an action. Returns its output, its error output, and its exit status. */
async function runOf(context, action, ...given) {
  // The test runner reports on the same stream, in bytes.
  const taking =
    (write) =>
    (data, ...rest) =>
      typeof data === "string" || write(data, ...rest);
  const streams = ["stdout", "stderr"].map(
    (name) => context.mock.method(process[name], "write", taking(process[name].write.bind(process[name]))).mock,
  );
  try {
    await action(...given);
    const [printed, said] = streams.map(({ calls }) =>
      calls
        .map(({ arguments: [written] }) => written)
        .filter((written) => typeof written === "string")
        .join(""),
    );
    return { printed, said, status: process.exitCode ?? 0 };
  } finally {
    process.exitCode = undefined;
    context.mock.restoreAll();
  }
}

test("fetch prints an original of any length completely, and fails if one is missing", async (context) => {
  const dir = freshDir();
  const text = `${noise(2000)}\n`;
  const open = () => Concertina.open({ dir });
  const concertina = await open();
  const { report } = await concertina.admitToolResult({ sessionId: "s", message: toolRound("c", "exec", {}, text)[1] });
  await concertina.close();
  const fetch = actionsOf({ hasStore: true, open }).get("fetch <refs...>");
  const { refId } = report.actions[0];
  assert.deepEqual(await runOf(context, fetch, [refId], {}), { printed: text, said: "", status: 0 });
  const { said, status } = await runOf(context, fetch, [refId, "0123456789abcdef"], {});
  assert.equal(status, 1);
  assert.match(said, /^concertina: .*0123456789abcdef/);
  assert.match(
    said,
    /for agent main: it expired, was purged, or belongs to another agent \(--agent\), or the store's file was replaced\n$/,
  );
  const short = await runOf(context, fetch, [refId], { maxChars: "100" });
  assert.deepEqual([short.printed, short.status], ["", 1]);
  assert.match(short.said, /has more than 100 characters; raise --max-chars/);
  const page = await runOf(context, fetch, [refId], { maxChars: "1000" });
  assert.match(page.printed, new RegExp(`; continue with ${refId}:c?\\d+-\\]\\n?$`));
  const malformed = await runOf(context, fetch, ["zebra"], {});
  assert.match(malformed.said, /"zebra" is not a valid id/);
  for (const { printed: shown, said: told } of [page, short, malformed])
    assert.doesNotMatch(shown + told, /fetch_original_data|REF_ID|again/);
  for (const maxChars of ["many", "", "0"]) {
    const { said: complained, status: failed } = await runOf(context, fetch, [refId], { maxChars });
    assert.deepEqual(
      [complained, failed],
      [`concertina: --max-chars is "${maxChars}"; it must be a whole number of at least 1\n`, 1],
    );
  }
});

test("search prints what a session or all sessions have, and a session key names those of this gateway", async (context) => {
  const { opened } = await twoHosts();
  const hostSessions = async () => [{ sessionId: "of one", sessionKey: "agent:main:work", agentId: "main" }];
  const actions = actionsOf({ hasStore: true, open: () => opened("one"), hostSessions });
  const search = (words, options) => runOf(context, actions.get("search <words...>"), words, options);
  const mine = await search(["ONE", "unit"], { session: "agent:main:work" });
  assert.match(mine.printed, /^[0-9a-f]{16}  exec  \(session of one of main\)\n1:one 0 unit_/);
  assert.deepEqual([mine.said, mine.status], ["", 0]);
  const all = JSON.parse((await search(["took"], { json: true })).printed);
  assert.deepEqual(all.originals.map(({ sessionId }) => sessionId).toSorted(), ["of one", "of two"]);
  const none = await search(["two unit"], { session: "agent:main:work", agent: "main" });
  assert.deepEqual([none.printed, none.status], ['[no original has all of the words "two unit"]\n', 1]);
  assert.match((await search(["x"], { session: "nowhere" })).said, /there is no session "nowhere"/);
});

test("a file or pipe receives exactly the bytes of an original without a final line break", async (context) => {
  const dir = freshDir();
  const text = noise(200);
  const open = () => Concertina.open({ dir });
  const concertina = await open();
  const { report } = await concertina.admitToolResult({ sessionId: "s", message: toolRound("c", "exec", {}, text)[1] });
  await concertina.close();
  const { printed } = await runOf(
    context,
    actionsOf({ hasStore: true, open }).get("fetch <refs...>"),
    [report.actions[0].refId],
    {},
  );
  assert.equal(printed, text);
});

test("the page does not show the engine as active if the store cannot be opened", async () => {
  const root = freshDir();
  writeFileSync(path.join(root, "concertina"), "");
  let answered = "";
  const response = { setHeader() {}, end: (html) => (answered = html) };
  const api = {
    version: "1.2.3",
    logger: { warn() {} },
    runtime: { state: { resolveStateDir: () => root } },
    registerHttpRoute: ({ handler }) => (api.handler = handler),
  };
  registerPage(api, new PluginState(api));
  await api.handler({ method: "GET", url: "/plugins/concertina/page" }, response);
  const { health, periods } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(answered)[1]);
  assert.deepEqual([health.engine, health.store.path, periods], ["inactive", "", []]);
  assert.match(health.why, /^the store in \S+ cannot be used: ENOTDIR/);
});

test("status reports why a store cannot be opened and shows nothing of its content", async (context) => {
  const dir = freshDir();
  mkdirSync(path.join(dir, "concertina"), { mode: 0o700 });
  writeFileSync(path.join(dir, "concertina", "concertina.sqlite"), "this was a store once".repeat(1000), {
    mode: 0o600,
  });
  const state = new PluginState({ version: "1.2.3", logger: {}, runtime: { state: { resolveStateDir: () => dir } } });
  const asked = actionsOf(state).get("status");
  const { printed, said, status } = await runOf(context, asked, {});
  assert.match(
    printed,
    /^Concertina {2}1\.2\.3, inactive: the store at .*concertina\.sqlite is damaged.*\nwarnings {4}no other\n$/,
  );
  assert.deepEqual([said, status], ["", 1]);
  assert.equal(JSON.parse((await runOf(context, asked, { json: true })).printed).engine, "inactive");
});

/**
 * Opens two hosts with one store. In each, the conversation `agent:main:work` is a separate session with an original.
 */
async function twoHosts() {
  const dir = freshDir();
  const opened = (host) => Concertina.open({ dir, host, retention: "host" });
  const refIds = {};
  for (const host of ["one", "two"]) {
    const concertina = await opened(host);
    const { report } = await concertina.admitToolResult({
      sessionId: `of ${host}`,
      message: toolRound("c", "exec", {}, `${host} ${noise(2000)}`)[1],
    });
    await concertina.commitTurn({
      sessionId: `of ${host}`,
      advancementKey: "1",
      sessionKey: "agent:main:work",
      messages: [
        { role: "user", content: "Go." },
        { role: "assistant", content: [{ type: "text", text: "Done." }] },
      ],
    });
    refIds[host] = report.actions[0].refId;
    await concertina.close();
  }
  const has = async (host) => {
    const concertina = await opened("looks");
    const { found } = await concertina.fetch({ refIds: [refIds[host]] });
    await concertina.close();
    return found === 1;
  };
  return { opened, has };
}

test("a session key names sessions of this gateway, and a session of another gateway is named by its id", async (context) => {
  const { opened, has } = await twoHosts();
  const hostSessions = async () => [{ sessionId: "of one", sessionKey: "agent:main:work", agentId: "main" }];
  const actions = actionsOf({ hasStore: true, open: () => opened("one"), hostSessions, settle: async () => {} });
  const stats = JSON.parse(
    (await runOf(context, actions.get("stats"), { session: "agent:main:work", json: true })).printed,
  );
  assert.deepEqual(
    stats.sessions.map(({ sessionId }) => sessionId),
    ["of one"],
  );
  assert.match((await runOf(context, actions.get("stats"), { session: "" })).said, /there is no session ""/);
  await runOf(context, actions.get("purge"), { session: "agent:main:work", yes: true });
  assert.deepEqual([await has("one"), await has("two")], [false, true]);
});

test("a session that another gateway has is purged only with --elsewhere, after a question", async (context) => {
  const { opened, has } = await twoHosts();
  let [asked, told] = [0, 0];
  const hostSessions = async () => (asked++, [{ sessionId: "of one", sessionKey: "agent:main:work", agentId: "main" }]);
  const settle = async () => void told++;
  const purge = actionsOf({ hasStore: true, open: () => opened("one"), hostSessions, settle }).get("purge");
  for (const given of [{}, { yes: true }]) {
    const { said, status } = await runOf(context, purge, { session: "of two", ...given });
    assert.match(
      said,
      /^concertina: session of two was not purged: a gateway of this store \(two\) has it and would show placeholders/,
    );
    assert.match(said, /"openclaw concertina purge --session of two --elsewhere"/);
    assert.equal(status, 1);
  }
  const questioned = await runOf(context, purge, { session: "of two", elsewhere: true });
  assert.match(
    questioned.said,
    /removes 1 original for good\. The host no longer has its transcript\. Note that a gateway of this store \(two\) has it\. Nothing was purged/,
  );
  assert.deepEqual([asked, told], [3, 3], "once for each purge");
  assert.deepEqual([await has("one"), await has("two")], [true, true]);
  await runOf(context, purge, { session: "of two", elsewhere: true, yes: true });
  assert.deepEqual([await has("one"), await has("two")], [true, false]);
});

test("/concertina purge refuses a session that another gateway has", async () => {
  const { opened, has } = await twoHosts();
  const store = await opened("one");
  const state = { use: (run) => run(store), complain: (step, error) => assert.fail(error) };
  state.folding = state;
  for (const args of ["purge", "purge confirmed"]) {
    assert.match(
      (await runSlashCommand(state, { args, sessionId: "of two" })).text,
      /a gateway of this store \(two\) has it/,
    );
  }
  assert.match(
    (await runSlashCommand(state, { args: "purge", sessionId: "of one" })).text,
    /^This removes 1 original for good/,
  );
  assert.match((await runSlashCommand(state, { args: "purge confirmed", sessionId: "of one" })).text, /1/);
  assert.match(
    (await runSlashCommand(state, { args: "purge", sessionId: "of one" })).text,
    /^No originals are stored for this session alone/,
  );
  await store.close();
  assert.deepEqual([await has("one"), await has("two")], [false, true]);
});

test("/concertina shows what is folded, restores it, and pins and unpins what it restored", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const state = { use: (run) => run(concertina), tell: (step, error) => assert.fail(error) };
  const slash = async (args) =>
    (await runSlashCommand(state, { args, sessionId: "s", sessionKey: "agent:main:work" })).text;
  assert.equal(await slash("show"), "Nothing is folded in this session.");
  const text = noise(2000);
  const messages = [{ role: "user", content: "Go." }, ...toolRound("c", "exec", { command: "make" }, text)];
  const { message, report } = await concertina.admitToolResult({ sessionId: "s", message: messages[2] });
  const [{ refId }] = report.actions;
  messages[2] = message;
  assert.match(await slash("show"), new RegExp(`^id .*\n.*\n${refId} .*KiB +too long +\\d{4}-.* exec`));
  assert.match(
    await slash(`restore ${refId.toUpperCase()}`),
    new RegExp(`^${refId}: shown in full from the next turn on`),
  );
  assert.match(await slash("restore 0123456789abcdef"), /^0123456789abcdef: nothing is folded under it/);
  assert.match(await slash("restore what"), /what.* is not a/);
  const other = "0123456789abcdef";
  for (const copied of [
    `[REF_ID: ${refId}] ${other}`,
    `${refId},${other}`,
    `"${refId}", '${other}'.`,
    `\`${refId}\` [[REWIND:sha256:${other}]]`,
    `REF_ID:${refId};${other}`,
  ])
    assert.match(await slash(`restore ${copied}`), new RegExp(`^${refId}: shown in full.*\n${other}: nothing`), copied);
  assert.match(
    await slash("restore"),
    /^Unknown command: restore\. Use \/concertina alone or with one of .*restore ID/,
  );
  const assembled = await concertina.assemble({ sessionId: "s", messages });
  assert.equal(assembled.messages[2].content[0].text, text);
  assert.equal(await slash("show"), "Nothing is folded in this session.");
  assert.equal(await slash("unpin"), "1 pin taken back.");
  assert.match(await slash("pin"), /^The last result stays in sight/);
  assert.match(await slash("fold"), /^Everything that may fold/);
  const { messages: pinned } = await concertina.assemble({ sessionId: "s", messages });
  assert.equal(pinned[2].content[0].text, text, "a pinned placeholder is shown as its original");
  await concertina.close();
});

test("a reset does not purge a session that another gateway has, and logs that", async () => {
  const { opened, has } = await twoHosts();
  const store = await opened("one");
  const lines = [];
  const state = {
    hasStore: true,
    options: { purgeOnReset: true },
    use: (run) => run(store),
    warn: (line) => lines.push(line),
    complain: (step, error) => assert.fail(error),
  };
  state.folding = state;
  for (const host of ["one", "two"]) await endSession(state, { sessionId: `of ${host}`, reason: "reset" });
  await store.close();
  assert.deepEqual([await has("one"), await has("two")], [false, true]);
  assert.equal(lines.length, 1);
  assert.match(lines[0], /^session of two was not purged: a gateway of this store \(two\)/);
});

test("the end of a session does not create a store", async () => {
  const state = { hasStore: false, use: () => assert.fail("it was opened") };
  state.folding = state;
  await endSession(state, { sessionId: "s", reason: "reset" });
});

test("a gateway's name is generated once, and again if a full disk left an empty file", () => {
  const dir = freshDir();
  const id = hostId(dir, true, assert.fail);
  assert.equal(hostId(dir, true, assert.fail), id);
  const files = readdirSync(path.join(dir, "concertina"));
  assert.deepEqual(files, ["concertina.host-id"]);
  writeFileSync(path.join(dir, "concertina", files[0]), "");
  assert.match(hostId(dir, true, assert.fail), /^[0-9a-f-]{36}$/);
  writeFileSync(path.join(dir, "concertina", files[0]), "by-hand\n");
  assert.equal(hostId(dir, true, assert.fail), "by-hand");
});
