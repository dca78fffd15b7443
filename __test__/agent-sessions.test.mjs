// Tests of the sessions of other agents: Copilot, Gemini, OpenCode, and the usage that Codex states.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { run } from "./cli.mjs";
import { freshDir, noise, written } from "./conversation.mjs";

const require = createRequire(import.meta.url);
const { readSession, recordedSessions } = require("../dist/node/lib/formats/session-file.js");

const at = (second) => new Date(Date.UTC(2026, 0, 31) + second * 1000).toISOString();
const lines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const read = (name, text) => readSession(written(name, text));

/** The session that every format records: a question, a thought with two calls, their results, and an answer. */
const LOG = noise(300);
const EXPECTED = [
  { role: "user", texts: ["Fix the build."] },
  { role: "assistant", texts: ["I look first.", "Looking."], calls: ["shell", "view"] },
  { role: "toolResult", texts: [LOG], tool: "shell", isError: false },
  { role: "toolResult", texts: ["no such file"], tool: "view", isError: true },
  { role: "assistant", texts: ["It is fixed."], calls: [] },
];

/** Reduces messages to what EXPECTED states. */
const outline = (messages) =>
  messages.map(({ role, content, toolName, isError }) => {
    const parts = typeof content === "string" ? [{ text: content }] : content;
    const texts = parts.flatMap(({ text, thinking }) => text ?? thinking ?? []);
    if (role === "toolResult") return { role, texts, tool: toolName, isError };
    const calls = parts.filter(({ type }) => type === "toolCall").map(({ name }) => name);
    return role === "assistant" ? { role, texts, calls } : { role, texts };
  });

/** Checks the messages, the arguments of the first call, the usage of both answers, and that the file is analysed. */
function check(name, text, usages) {
  checkRead(read(name, text), usages);
  checkAnalysis(written(name, text));
}

function checkRead(messages, usages) {
  assert.deepEqual(outline(messages), EXPECTED);
  const answers = messages.filter(({ role }) => role === "assistant");
  const [call] = answers[0].content.filter(({ type }) => type === "toolCall");
  assert.deepEqual(call.arguments, { command: "make" });
  assert.equal(messages[2].toolCallId, call.id);
  assert.deepEqual(
    answers.map(({ usage }) => usage),
    usages,
  );
  assert.ok(
    answers.every(({ model }) => model === "claude-sonnet-4-5"),
    "the model is known",
  );
  assert.ok(messages.every(({ timestamp }) => timestamp >= Date.parse(at(0))));
}

function checkAnalysis(...args) {
  const { stdout, stderr } = run("analyze", ...args, "--json");
  assert.equal(stderr, "");
  const { total, folded } = JSON.parse(stdout);
  assert.deepEqual([total.requests, folded[0].tool], [2, "shell"]);
}

const FIRST = { input: 200, output: 50, cacheRead: 800, cacheWrite: 0 };
const SECOND = { input: 600, output: 9, cacheRead: 1000, cacheWrite: 0 };

test("a session of Copilot is read, without the conversations of its sub-agents", () => {
  const event = (second, type, data, more) => ({ type, data, timestamp: at(second), id: `e${second}`, ...more });
  const usage = (inputTokens, outputTokens, cacheReadTokens) => ({ inputTokens, outputTokens, cacheReadTokens });
  const rows = [
    event(0, "session.start", { sessionId: "s", version: 1, copilotVersion: "1.0.34" }),
    event(0, "session.model_change", { newModel: "claude-sonnet-4-5" }),
    event(0, "system.message", { role: "system", content: "You are the CLI." }),
    event(1, "user.message", { content: "Fix it.", transformedContent: "Fix the build." }),
    event(2, "assistant.turn_start", { turnId: "0" }),
    event(2, "assistant.message", { content: "", reasoningText: "I look first.", toolRequests: [] }),
    event(2, "assistant.message", {
      content: "Looking.",
      toolRequests: [
        { toolCallId: "c1", name: "shell", arguments: { command: "make" } },
        { toolCallId: "c2", name: "view", arguments: '{"path":"a"}' },
      ],
    }),
    event(2, "assistant.usage", usage(1000, 50, 800)),
    event(3, "tool.execution_start", { toolCallId: "c1", toolName: "shell", arguments: { command: "make" } }),
    event(3, "assistant.message", { content: "Of a sub-agent." }, { agentId: "explore" }),
    event(3, "tool.execution_complete", { toolCallId: "c9", parentToolCallId: "c1", result: { content: "its own" } }),
    event(3, "tool.execution_complete", {
      toolCallId: "c1",
      success: true,
      result: { content: LOG, detailedContent: "for display" },
    }),
    event(4, "tool.execution_complete", { toolCallId: "c2", success: false, error: { message: "no such file" } }),
    event(5, "assistant.message", { content: "It is fixed.", toolRequests: [] }),
    event(5, "assistant.usage", usage(1600, 9, 1000)),
    event(6, "session.shutdown", { shutdownType: "routine" }),
  ];
  check("events.jsonl", lines(rows), [FIRST, SECOND]);
});

const GEMINI_HEAD = { sessionId: "s", projectHash: "abc", startTime: at(0), lastUpdated: at(0), kind: "main" };
const geminiTurns = [
  { id: "i", timestamp: at(0), type: "info", content: "Welcome." },
  { id: "u", timestamp: at(1), type: "user", content: [{ text: "Fix the build." }] },
  {
    id: "g1",
    timestamp: at(2),
    type: "gemini",
    content: "Looking.",
    thoughts: [{ subject: "", description: "I look first.", timestamp: at(2) }],
    tokens: { input: 1000, output: 40, cached: 800, thoughts: 10, tool: 0, total: 1050 },
    model: "claude-sonnet-4-5",
    toolCalls: [
      {
        id: "c1",
        name: "shell",
        args: { command: "make" },
        result: [{ functionResponse: { id: "c1", name: "shell", response: { output: LOG } } }],
        status: "success",
      },
      {
        id: "c2",
        name: "view",
        args: { path: "a" },
        result: [{ functionResponse: { id: "c2", name: "view", response: { error: "no such file" } } }],
        status: "error",
      },
    ],
  },
  {
    id: "g2",
    timestamp: at(5),
    type: "gemini",
    content: "It is fixed.",
    tokens: { input: 1600, output: 9, cached: 1000 },
    model: "claude-sonnet-4-5",
  },
];

test("a session of Gemini is read, as one object over several lines and as JSONL", () => {
  check("session-1.json", JSON.stringify({ ...GEMINI_HEAD, messages: geminiTurns }, null, 2), [FIRST, SECOND]);
  const [info, question, called, answered] = geminiTurns;
  const rows = [
    GEMINI_HEAD,
    info,
    question,
    { $set: { lastUpdated: at(1) } },
    // A message is written before its tools run, and again afterwards.
    { ...called, toolCalls: undefined },
    called,
    { id: "u2", timestamp: at(4), type: "user", content: [{ functionResponse: { name: "shell", response: {} } }] },
    { id: "u3", timestamp: at(4), type: "user", content: "Taken back." },
    { id: "g3", timestamp: at(4), type: "gemini", content: "Taken back, too." },
    { $rewindTo: "u3" },
    answered,
  ];
  check("session-2.jsonl", lines(rows), [FIRST, SECOND]);
  const replaced = [GEMINI_HEAD, { id: "x", type: "user", content: "gone" }, { $set: { messages: geminiTurns } }];
  check("session-3.jsonl", lines(replaced), [FIRST, SECOND]);
});

const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const TOKENS = (input, output, reasoning, cached) => ({ input, output, reasoning, cache: { read: cached, write: 0 } });
const tool = (callID, name, state) => ({ type: "tool", callID, tool: name, state });

/** An export whose two model calls are one message, or one message each. */
function openCode(isJoined) {
  const first = [
    { type: "step-start" },
    { type: "reasoning", text: "I look first." },
    { type: "text", text: "Looking." },
    tool("c1", "shell", {
      status: "completed",
      input: { command: "make" },
      output: LOG,
      time: { end: Date.parse(at(3)) },
    }),
    tool("c2", "view", {
      status: "error",
      input: { path: "a" },
      error: "no such file",
      time: { end: Date.parse(at(4)) },
    }),
    { type: "step-finish", reason: "tool-calls", tokens: TOKENS(200, 40, 10, 800) },
  ];
  const second = [
    { type: "step-start" },
    { type: "text", text: "It is fixed." },
    { type: "step-finish", reason: "stop", tokens: TOKENS(600, 9, 0, 1000) },
    { type: "patch", hash: "abc", files: ["a"] },
  ];
  const info = (second) => ({
    role: "assistant",
    modelID: "claude-sonnet-4-5",
    providerID: "anthropic",
    time: { created: Date.parse(at(second)) },
    tokens: TOKENS(0, 0, 0, 0),
  });
  const question = {
    info: { role: "user", time: { created: Date.parse(at(1)) } },
    parts: [
      { type: "text", text: "Fix the build." },
      { type: "text", text: "shown to the user only", ignored: true },
    ],
  };
  const answers = isJoined
    ? [{ info: info(2), parts: [...first, ...second] }]
    : [
        { info: info(2), parts: first },
        { info: info(5), parts: second },
      ];
  return { info: { id: "ses_1", title: "Build", version: "1.2.5" }, messages: [question, ...answers] };
}

test("an export of OpenCode is read, with one answer for each model call", () => {
  for (const isJoined of [false, true])
    for (const space of [0, 2]) check("export.json", JSON.stringify(openCode(isJoined), null, space), [FIRST, SECOND]);
});

test("images, interrupted calls and errors in an export of OpenCode are told apart", () => {
  const picture = { type: "file", mime: "image/png", filename: "a.png", url: `data:image/png;base64,${IMAGE}` };
  const text = { type: "file", mime: "text/plain", filename: "a.txt", url: "data:text/plain;base64,YQ==" };
  const running = tool("c3", "shell", { status: "running", input: {} });
  const shot = tool("c4", "view", { status: "completed", input: {}, output: "a picture", attachments: [picture] });
  const messages = read(
    "export.json",
    JSON.stringify({
      info: { id: "ses_1" },
      messages: [
        { info: { role: "user" }, parts: [{ type: "text", text: "Look." }, picture, text] },
        { info: { role: "assistant", error: { name: "MessageAbortedError" } }, parts: [running, shot] },
      ],
    }),
  );
  const image = { type: "image", mimeType: "image/png", data: IMAGE };
  assert.deepEqual(messages[0].content, [{ type: "text", text: "Look." }, image]);
  assert.deepEqual(
    messages.map(({ role, toolCallId, stopReason }) => [role, toolCallId, stopReason]),
    [
      ["user", undefined, undefined],
      ["assistant", undefined, "error"],
      ["toolResult", "c4", undefined],
    ],
  );
  assert.deepEqual(messages[2].content, [{ type: "text", text: "a picture" }, image]);
});

/** Writes sessions as the files of OpenCode's storage. */
function openCodeStorage(sessions) {
  const directory = path.join(freshDir(), "storage");
  const write = (value, ...names) => {
    const file = `${path.join(directory, ...names)}.json`;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(value, null, 2));
    return file;
  };
  for (const { info, messages } of sessions) {
    write(info, "session", "global", info.id);
    // Later parts are written first, so that the order of the files is not that of their names.
    for (const [number, message] of [...messages.entries()].toReversed()) {
      const id = `msg_${info.id}_${number}`;
      write({ id, sessionID: info.id, ...message.info }, "message", info.id, id);
      for (const [at, part] of [...message.parts.entries()].toReversed())
        write({ id: `prt_${10 + at}`, messageID: id, ...part }, "part", id, `prt_${10 + at}`);
    }
  }
  return { directory, write };
}

/** Returns two sessions: the one that every format records, and one with a question only. */
function twoOpenCodeSessions() {
  const asked = { info: { role: "user", time: { created: 1 } }, parts: [{ type: "text", text: "Why?" }] };
  return [openCode(false), { info: { id: "ses_2", title: "Why" }, messages: [asked] }];
}

/** Checks a store with these two sessions. */
async function checkStore(place) {
  const recorded = await recordedSessions(place);
  assert.deepEqual(
    recorded.map(({ name }) => name),
    [`${place}: ses_1`, `${place}: ses_2`],
  );
  const [first, second] = await Promise.all(recorded.map((session) => session.read()));
  checkRead(first.messages, [FIRST, SECOND]);
  assert.deepEqual([first.sessionId, first.sessionKey], ["ses_1", "Build"]);
  assert.deepEqual(second.messages, [{ role: "user", content: [{ type: "text", text: "Why?" }], timestamp: 1 }]);
  for (const name of ["ses_1", "Build"]) checkAnalysis(place, "--session", name);
  assert.match(run("analyze", place).stderr, /contains 2 sessions; choose with --session or --all/);
  assert.match(
    run("analyze", place, "--session", "Test").stderr,
    /Known sessions:\n {2}ses_1 {2}Build\n {2}ses_2 {2}Why/,
  );
}

test("sessions in OpenCode's storage are read, and a torn file is named", async () => {
  const { directory, write } = openCodeStorage(twoOpenCodeSessions());
  writeFileSync(path.join(directory, "part", "msg_ses_2_0", ".oc-prt_99.json"), '{"type":');
  await checkStore(directory);
  const torn = write("", "message", "ses_2", "msg_ses_2_1");
  writeFileSync(torn, '{"role":');
  const [, session] = await recordedSessions(directory);
  await assert.rejects(session.read(), new RegExp(`${torn} is not JSON: .*; OpenCode's storage`));
  const { stdout, stderr } = run("analyze", directory, "--all", "--json");
  assert.equal(JSON.parse(stdout).total.requests, 2);
  assert.match(stderr, /msg_ses_2_1\.json is not JSON/);
});

test("sessions in OpenCode's database are read, or an old Node says which one can", async (t) => {
  const database = path.join(freshDir(), "opencode.db");
  const { DatabaseSync } = await import("node:sqlite").catch(() => ({}));
  if (DatabaseSync === undefined) {
    writeFileSync(database, "SQLite format 3\0");
    t.diagnostic("reading was not tested: this Node has no SQLite");
    return assert.rejects(recordedSessions(database), /opencode\.db cannot be read: .* use Node 22\.15 or later/);
  }
  const open = new DatabaseSync(database);
  open.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT NOT NULL, time_created INTEGER NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT NOT NULL);`);
  const insert = (table, ...values) =>
    open.prepare(`INSERT INTO ${table} VALUES (${values.map(() => "?").join()})`).run(...values);
  for (const [at, { info, messages }] of twoOpenCodeSessions().entries()) {
    insert("session", info.id, info.title, at);
    for (const [number, message] of [...messages.entries()].toReversed()) {
      // The times and not the ids of messages have their order.
      const id = `msg_${info.id}_${9 - number}`;
      insert("message", id, info.id, number, JSON.stringify(message.info));
      for (const [place, part] of [...message.parts.entries()].toReversed())
        insert("part", `prt_${id}_${10 + place}`, id, info.id, JSON.stringify(part));
    }
  }
  // OpenCode may be running.
  await checkStore(database);
  open.close();
});

test("the usage that Codex states belongs to the answer before it", () => {
  const item = (second, payload) => ({ timestamp: at(second), type: "response_item", payload });
  const said = (role, text) => ({ type: "message", role, content: [{ type: "input_text", text }] });
  const count = (input_tokens, cached_input_tokens, output_tokens) => ({
    timestamp: at(9),
    type: "event_msg",
    payload: { type: "token_count", info: { last_token_usage: { input_tokens, cached_input_tokens, output_tokens } } },
  });
  const rows = [
    count(1, 1, 1),
    item(1, said("user", "Go.")),
    item(2, said("assistant", "One.")),
    count(1000, 800, 50),
    { timestamp: at(3), type: "event_msg", payload: { type: "token_count", info: null } },
    item(4, said("user", "On.")),
    item(5, said("assistant", "Two.")),
    count(1600, 1000, 9),
  ];
  const usages = read("rollout.jsonl", lines(rows)).map(({ usage }) => usage);
  assert.deepEqual(usages, [undefined, FIRST, undefined, SECOND]);
});
