import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import {
  answerFetch,
  Concertina,
  countTokens,
  createContextEngine,
  FETCH_TOOL,
  fetchToolDescription,
  fetchToolParameters,
  restore,
} from "openclaw-concertina";

import { freshDir, idIn, isFolded, noise, staleConversation, toolRound, user, written } from "./conversation.mjs";

const sessionId = "s1";

async function opened(options = {}) {
  const dir = options.dir ?? freshDir();
  return { dir, concertina: await Concertina.open({ dir, ...options }) };
}

/** Admits the output of a command and returns it with its id. */
async function admitted(concertina, text, scope = { sessionId }) {
  const [, message] = toolRound("c", "exec", {}, text);
  const { message: shown, report } = await concertina.admitToolResult({
    ...scope,
    message,
    args: { command: "sh build.sh" },
  });
  return { shown, report, id: report.actions[0]?.refId, original: message };
}

test("an oversize output becomes a reference from which its bytes can be fetched", async () => {
  const { concertina } = await opened();
  const text = noise(400);
  const { shown, report, id, original } = await admitted(concertina, text);
  assert.equal(idIn(shown.content[0].text), id);
  assert.match(shown.content[0].text, /^\[REF_ID: [0-9a-f]{16}\] \(Summary: /);
  assert.ok(shown.content[0].text.length < 800, "with what the first placeholder of a session explains");
  assert.equal(report.actions[0].reason, "large");
  assert.ok(report.tokensAfter < report.tokensBefore / 5);
  assert.deepEqual(shown.extra, { kept: true });
  assert.equal(original.content[0].text, text, "the input is never changed");
  for (const refId of [id, `[REF_ID: ${id}]`, `[[REWIND:sha256:${id}]]`]) {
    const { content } = await concertina.fetch({ refIds: [refId], sessionId, maxChars: 1e6 });
    assert.deepEqual(content, [{ type: "text", text }]);
  }
});

test("reads, small outputs, protected tools, fetches and instruction files are unchanged", async () => {
  const { concertina } = await opened({ protect: ["tool:secret_*"] });
  const text = noise(400);
  for (const [toolName, args, body] of [
    ["read", { path: "a.rs" }, text],
    ["exec", { command: "cd /ws && sed -n '1,400p' a.rs" }, text],
    ["shell", { command: ["bash", "-lc", "sed -n '1,400p' a.rs"] }, text],
    ["str_replace_based_edit_tool", { command: "view", path: "a.rs" }, text],
    ["Task", { prompt: "look into it" }, text],
    ["exec", {}, noise(5)],
    ["secret_tool", {}, text],
    [FETCH_TOOL, { ref_ids: [] }, text],
    ["exec", { path: "/ws/AGENTS.md" }, text],
    ["exec", {}, `# SOUL.md - Who You Are\n${text}`],
    ["exec", {}, `${text}\ntoken: ${"gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"}\n`],
  ]) {
    const [, message] = toolRound("c", toolName, args, body);
    const result = await concertina.admitToolResult({ sessionId, message, args });
    assert.equal(result.message, message, `${toolName} ${JSON.stringify(args)}`);
  }
});

test("a log that a command prints is folded at birth, and without exact tools every output is", async () => {
  const args = { command: "cat server.log" };
  const [, log] = toolRound("c", "exec", args, noise(400));
  assert.equal(
    (await (await opened()).concertina.admitToolResult({ sessionId, message: log, args })).report.actions[0].reason,
    "large",
  );
  const read = { command: "cat a.rs" };
  const [, file] = toolRound("c", "exec", read, noise(400));
  const { concertina } = await opened({ exactTools: [] });
  assert.equal(
    (await concertina.admitToolResult({ sessionId, message: file, args: read })).report.actions[0].reason,
    "large",
  );
});

test("the placeholder of a fold whose original expired stands for the text that was folded", async () => {
  const { concertina } = await opened({ sccsStorageTtlSeconds: 600 });
  const text = JSON.stringify(
    noise(60)
      .split("\n")
      .map((said, id) => ({ id, said, status: "active" })),
    null,
    2,
  );
  const now = 1e12;
  const args = { command: "units --json" };
  const [call, result] = toolRound("c", "exec", args, text, now);
  const { message, report } = await concertina.admitToolResult({ sessionId, message: result, args, now });
  assert.equal(restore(message.content[0].text), text);
  const messages = [
    user("go", now),
    call,
    message,
    ...Array.from({ length: 6 }, (_, turn) => user(`and ${turn}?`, now + 10 + turn)),
  ];
  const assembled = await concertina.assemble({ sessionId, messages, now: now + 700_000 });
  const shown = assembled.messages[2].content[0].text;
  assert.match(shown, /\(Summary: JSON array of 60 /);
  assert.equal(idIn(shown), report.actions[0].refId);
  const { content } = await concertina.fetch({ sessionId, refIds: [idIn(shown)], now: now + 700_000 });
  assert.deepEqual(content, [{ type: "text", text }]);
});

test("a quoted marker neither resolves nor exempts its block", async () => {
  const { concertina } = await opened();
  const fake = "0123456789abcdef";
  const { id } = await admitted(concertina, `see [REF_ID: ${fake}]\n${noise(400)}`);
  assert.ok(id && id !== fake);
  const { content, found } = await concertina.fetch({ refIds: [fake], sessionId });
  assert.equal(found, 0);
  assert.match(content[0].text, /^No original is stored under 0123456789abcdef: .* Asking again will not help/);
});

test("stale content is folded once and replayed byte for byte, also by another process", async () => {
  const { dir, concertina } = await opened();
  const messages = staleConversation();
  const first = await concertina.assemble({ sessionId, messages });
  const placeholder = first.messages[2].content[0].text;
  assert.ok(idIn(placeholder), placeholder);
  assert.equal(first.report.epoch.reason, "stale");
  assert.equal(first.messages[0], messages[0]);
  const longer = [...messages, { role: "user", content: "more", timestamp: 999 }];
  const second = await concertina.assemble({ sessionId, messages: longer });
  assert.equal(second.report.epoch, undefined);
  assert.equal(JSON.stringify(second.messages.slice(0, messages.length)), JSON.stringify(first.messages));
  await concertina.close();
  const script = `
    const { Concertina } = require("openclaw-concertina");
    Concertina.open({ dir: process.argv[1] })
      .then((concertina) => concertina.assemble({ sessionId: "s1", messages: JSON.parse(process.argv[2]) }))
      .then((folded) => console.log(JSON.stringify(folded.messages)));`;
  const cwd = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  const other = execFileSync(process.execPath, ["-e", script, dir, JSON.stringify(longer)], { cwd, encoding: "utf8" });
  assert.equal(other.trim(), JSON.stringify(second.messages));
});

test("a re-run with the same bytes is fresh although the first run is folded", async () => {
  const { concertina } = await opened();
  const text = noise(90);
  const messages = [...staleConversation(text), ...toolRound("again", "exec", { command: "sh build.sh" }, text, 5000)];
  const { messages: folded } = await concertina.assemble({ sessionId, messages });
  assert.ok(idIn(folded[2].content[0].text));
  assert.equal(folded.at(-1), messages.at(-1));
});

test("a fetched answer is not folded while fresh, and when stale refers to the same original", async () => {
  const { concertina } = await opened();
  const { id } = await admitted(concertina, noise(100));
  const { content } = await concertina.fetch({ refIds: [id], sessionId });
  const round = toolRound("f", FETCH_TOOL, { ref_ids: [id] }, content[0].text, 3);
  const again = await concertina.admitToolResult({ sessionId, message: round[1], args: { ref_ids: [id] } });
  assert.equal(again.message, round[1]);
  const messages = [...round];
  for (let turn = 0; turn < 6; turn++) messages.push({ role: "user", content: `t${turn}`, timestamp: 10 + turn });
  const { originals } = await concertina.stats();
  const { messages: folded } = await concertina.assemble({ sessionId, messages });
  assert.equal(idIn(folded[1].content[0].text), id);
  assert.equal((await concertina.stats()).originals, originals, "nothing is stored twice");
});

test("an old image is folded and fetched back as an image", async () => {
  const { concertina } = await opened();
  const data = readFileSync(new URL("../assets/icon.png", import.meta.url)).toString("base64");
  const messages = staleConversation("ok");
  messages[2].content.push({ type: "image", data, mimeType: "image/png" });
  const { messages: folded } = await concertina.assemble({ sessionId, messages });
  const { text } = folded[2].content[1];
  assert.match(text, /^\[image was here — \d+ tokens\] \[REF_ID: /);
  assert.equal(folded[2].content[0], messages[2].content[0], "the text beside it stays");
  const { content } = await concertina.fetch({ refIds: [idIn(text)], sessionId });
  assert.deepEqual(content, [{ type: "image", data, mimeType: "image/png" }]);
});

test("nothing is folded without the fetch tool", async () => {
  const { concertina } = await opened();
  const messages = staleConversation();
  const folded = await concertina.assemble({ sessionId, messages, availableTools: new Set(["read"]) });
  assert.equal(folded.messages, messages);
  const engine = createContextEngine(concertina, { compact: async () => ({}) });
  assert.equal((await engine.assemble({ sessionId, messages, availableTools: new Set(["read"]) })).messages, messages);
});

test("an id resolves for the agent whose session issued it and for sub-agents that inherit", async () => {
  const { concertina } = await opened();
  const { id } = await admitted(concertina, noise(400), { sessionId, agentId: "main" });
  const found = async (agentId) => (await concertina.fetch({ refIds: [id], agentId })).found;
  assert.deepEqual([await found("main"), await found("other"), await found("helper")], [1, 0, 0]);
  await concertina.inherit({ parent: { agentId: "main", sessionId }, child: { agentId: "helper", sessionId: "s2" } });
  assert.deepEqual([await found("other"), await found("helper")], [0, 1]);
});

test("an invalid id never reaches the store", async () => {
  const { concertina } = await opened();
  const bad = [
    "../../x",
    "/etc/passwd",
    "%2e%2e",
    "0123456789abcdef\0",
    "0".repeat(15),
    "0".repeat(65),
    "GBCDEF0123456789",
    "[REF_ID:  0123456789abcdef]",
    "",
  ];
  const { content, found } = await concertina.fetch({ refIds: bad, sessionId });
  assert.equal(found, 0);
  assert.equal(content.length, bad.length);
  for (const block of content) assert.match(block.text, /is not a valid REF_ID/);
  const none = await concertina.fetch({ refIds: [] });
  assert.match(none.content[0].text, /No valid REF_ID was provided/);
});

test("a large original is returned in pages, each of which names the call for the next", async () => {
  const { concertina } = await opened();
  const text = noise(3000);
  const { id } = await admitted(concertina, text);
  let [page, next, got] = ["", [id, id], ""];
  for (let call = 0; next && call < 100; call++) {
    [{ text: page }] = (await concertina.fetch({ refIds: next, maxChars: 8000 })).content;
    assert.ok(page.length <= 8000);
    const note = page.lastIndexOf("[lines ");
    got += page.slice(0, note);
    const continued = /continue with fetch_original_data (.*)\]$/.exec(page.slice(note))?.[1];
    next = continued && JSON.parse(continued).ref_ids;
  }
  assert.equal(got, `${text}\n`);
  const [{ text: few }] = (await concertina.fetch({ refIds: [id], lines: "41-43" })).content;
  assert.equal(few, `${text.split("\n").slice(40, 43).join("\n")}\n[lines 41-43 of 3000]`);
  const [{ text: hits }] = (await concertina.fetch({ refIds: [id], pattern: "^777 " })).content;
  assert.match(hits, /^776-775 .*\n777-776 .*\n778:777 .*\n779-778 .*\n780-779 .*\n\[1 of 1 matching lines\]$/);
  await assert.rejects(concertina.fetch({ refIds: [id], pattern: "(" }), {
    name: "TypeError",
    code: "CONCERTINA_BAD_PATTERN",
  });
  await assert.rejects(concertina.fetch({ refIds: [id], lines: "9-3" }), {
    name: "TypeError",
    message: /^lines is "9-3"; it must be a range/,
  });
});

test("a single long line is fetched by characters", async () => {
  const { concertina } = await opened();
  const text = "é".repeat(50_000);
  const { id } = await admitted(concertina, text);
  let [got, next] = ["", [id]];
  for (let call = 0; call < 10; call++) {
    const [{ text: page }] = (await concertina.fetch({ refIds: next, maxChars: 10_000 })).content;
    const note = page.lastIndexOf("\n[chars ");
    got += page.slice(0, note);
    const continued = /continue with fetch_original_data (.*)\]$/.exec(page.slice(note))?.[1];
    if (!continued) break;
    next = JSON.parse(continued).ref_ids;
  }
  assert.equal(got, text);
});

test("all message shapes are folded and unfolded alike", async () => {
  const text = noise(200);
  const turns = Array.from({ length: 6 }, (_, at) => ({ role: "user", content: `t${at}` }));
  const anthropic = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "bash", input: { command: "x" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: text }] },
    ...turns,
  ];
  const openai = [
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "bash", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: text },
    ...turns,
  ];
  const items = (output) => [
    { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
    { type: "function_call", id: "fc_1", call_id: "c", name: "bash", arguments: JSON.stringify({ command: "x" }) },
    { type: "function_call_output", call_id: "c", output },
    ...turns,
  ];
  for (const messages of [anthropic, openai, items(text), items([{ type: "input_text", text }])]) {
    const { concertina } = await opened();
    const { messages: folded } = await concertina.assemble({ sessionId, messages });
    const { content = [], output } = folded[2];
    const shown = output?.[0].text ?? output ?? content[0].content ?? content;
    const fetched = await concertina.fetch({ refIds: [idIn(shown)] });
    assert.equal(fetched.content[0].text, text);
    assert.deepEqual((await concertina.unfold({ sessionId, messages: folded })).messages, messages);
    assert.deepEqual((await concertina.unfold({ messages: folded })).messages, messages);
  }
});

test("a turn is committed once", async () => {
  const { concertina } = await opened();
  const turn = { sessionId, advancementKey: "k1", messages: [] };
  assert.deepEqual(await concertina.commitTurn(turn), { status: "committed" });
  assert.deepEqual(await concertina.commitTurn(turn), { status: "duplicate" });
});

test("an original is deleted after its time to live, counted from the last context that contained it", async () => {
  const { concertina } = await opened();
  const [now, hour] = [Date.now(), 3_600_000];
  const [, message] = toolRound("c", "exec", {}, noise(400));
  const { message: shown } = await concertina.admitToolResult({ sessionId, message, now });
  const id = idIn(shown.content[0].text);
  const found = async (at) => (await concertina.fetch({ refIds: [id], now: at })).found;
  await concertina.assemble({ sessionId, messages: [shown], now: now + 20 * hour });
  await concertina.sweep({ now: now + 40 * hour });
  assert.equal(await found(now + 40 * hour), 1, "it was in context 20 hours ago");
  const { originals } = await concertina.sweep({ now: now + 50 * hour });
  assert.equal(originals, 1);
  assert.equal(await found(now + 50 * hour), 0);
});

test("the originals of a purged session are deleted", async () => {
  const { concertina } = await opened();
  const { id } = await admitted(concertina, noise(400));
  assert.equal((await concertina.purge({ sessionId })).originals, 1);
  assert.equal((await concertina.fetch({ refIds: [id] })).found, 0);
});

test("only the owner can read the store's files", { skip: process.platform === "win32" }, async () => {
  const { dir, concertina } = await opened({ dir: path.join(freshDir(), "deep", "er") });
  await admitted(concertina, noise(400));
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.equal(statSync(path.join(dir, "concertina.sqlite")).mode & 0o777, 0o600);
});

test("an unusable directory is an error with a code", async () => {
  const dir = written("file", "in the way");
  await assert.rejects(Concertina.open({ dir }), { code: "CONCERTINA_STORE_UNAVAILABLE" });
  const foreign = written("concertina.sqlite", "not a database, but long enough to look like one ".repeat(100));
  await assert.rejects(Concertina.open({ dir: path.dirname(foreign) }), { code: "CONCERTINA_STORE_DAMAGED" });
});

test("a method of a closed Concertina fails with CONCERTINA_CLOSED", async () => {
  const { concertina } = await opened();
  await concertina.close();
  await assert.rejects(concertina.stats(), { code: "CONCERTINA_CLOSED" });
  await assert.rejects(concertina.assemble({ sessionId, messages: [] }), { code: "CONCERTINA_CLOSED" });
});

test("two instances with one directory share its content", async () => {
  const { dir, concertina } = await opened();
  const { concertina: other } = await opened({ dir });
  const { id } = await admitted(concertina, noise(400));
  assert.equal((await other.fetch({ refIds: [id] })).found, 1);
});

test("nothing is added to the prompt, and the tool adds at most 80 tokens to a request", async () => {
  const { concertina } = await opened();
  const { systemPromptAddition } = await concertina.assemble({ sessionId, messages: staleConversation() });
  assert.equal(systemPromptAddition, "");
  const tool = { name: FETCH_TOOL, description: fetchToolDescription, parameters: fetchToolParameters };
  const tokens = countTokens(JSON.stringify(tool));
  assert.ok(tokens <= 80, `${tokens} tokens`);
});

test("a search finds the words of a session, for a model and for people", async () => {
  const { concertina } = await opened();
  const text = `${noise(300)}\nthe planted line\n${noise(300, 7)}`;
  const { id } = await admitted(concertina, text);
  await concertina.admitToolResult({
    sessionId: "another",
    message: toolRound("call_1", "exec", {}, `planted elsewhere\n${noise(400)}`)[1],
  });
  const excerpt = /^299-.*\n300-.*\n301:the planted line\n302-.*\n303-.*\n\[1 of 1 matching lines\]$/;
  const mine = await concertina.search({ query: "PLANTED line", sessionId });
  assert.deepEqual([mine.matching, mine.note, mine.originals.length], [1, "", 1]);
  const [{ excerpt: lines, ...found }] = mine.originals;
  assert.deepEqual(found, { refId: id, label: "exec: sh build.sh", sessionId, agentId: "main" });
  assert.match(lines, excerpt);
  // The tool answers with the same lines, for its session only.
  const scope = { sessionId, agentId: "main" };
  for (const parameters of [
    { query: "planted" },
    { query: "planted", ref_ids: [] },
    { query: "planted", ref_ids: null },
  ])
    assert.deepEqual(await answerFetch(concertina, parameters, scope), [
      { type: "text", text: `${id} exec: sh build.sh\n${lines}` },
    ]);
  const [{ text: part }] = await answerFetch(concertina, { ref_ids: [id], query: "planted" }, scope);
  assert.match(part, excerpt);
  assert.equal(
    (await answerFetch(concertina, { ref_ids: [id], query: "" }, { ...scope, maxChars: 60_000 }))[0].text,
    text,
  );
  for (const parameters of [{}, { query: " " }])
    assert.match(
      (await answerFetch(concertina, parameters, scope))[0].text,
      /ref_ids is undefined; it must be an array/,
    );
  assert.match((await answerFetch(concertina, { query: "x" }, {}))[0].text, /sessionId is absent/);
  // Without a session all are searched.
  const all = await concertina.search({ query: "planted" });
  assert.deepEqual(all.originals.map((original) => original.sessionId).toSorted(), ["another", sessionId].toSorted());
  const none = await concertina.search({ query: '"line planted"', sessionId });
  assert.deepEqual(none, {
    originals: [],
    matching: 0,
    note: 'no original has all of the words "line planted"',
  });
  for (const [input, says] of [
    [{ query: "", sessionId }, /query is ""; it must be 1 to 16 words/],
    [{ sessionId }, /query is undefined/],
    [{ query: "x", agentId: "main" }, /agentId is "main"; it must be absent without a sessionId/],
    [{ query: "x", maxChars: 0 }, /maxChars is 0/],
  ])
    await assert.rejects(concertina.search(input), says);
  await assert.rejects(
    concertina.fetch({ sessionId }),
    /refIds is undefined; it must be an array, or absent with a query/,
  );
});

test("each id in a fetch can name its own part", async () => {
  const { concertina } = await opened();
  const text = noise(300);
  const { id } = await admitted(concertina, text);
  const lines = text.split("\n");
  const refIds = [
    `${id}:41-43`,
    `[REF_ID: ${id}]:7`,
    `[REF_ID: ${id}:300-]`,
    `${id}:c1-9`,
    `${id}:/^77 /`,
    `${id}:41-43`,
    `${id}:nowhere`,
  ];
  const { content, found } = await concertina.fetch({ refIds, sessionId });
  const texts = content.map((block) => block.text);
  assert.equal(found, 5, "the same part is answered once");
  assert.equal(texts[0], `${lines.slice(40, 43).join("\n")}\n[lines 41-43 of 300]`);
  assert.equal(texts[1], `${lines[6]}\n[lines 7-7 of 300]`);
  assert.equal(texts[2], `${lines[299]}\n[lines 300-300 of 300]`);
  assert.equal(texts[3], `${text.slice(0, 9)}\n[chars 1-9 of ${text.length}]`);
  assert.match(texts[4], /^76-75 .*\n77-76 .*\n78:77 .*\n79-78 .*\n80-79 .*\n\[1 of 1 matching lines\]$/);
  assert.match(texts[5], /names no part: after an id come lines/);
  await assert.rejects(concertina.fetch({ refIds: [`${id}:/(/`] }), {
    name: "TypeError",
    code: "CONCERTINA_BAD_PATTERN",
  });
});

test("only the first placeholder of a session contains the explanation", async () => {
  const { concertina } = await opened({ schedule: "every-turn" });
  const rounds = [1, 2, 3].flatMap((number) => [
    user(`run ${number}`, number * 100),
    ...toolRound(`call_${number}`, "exec", { command: `sh ${number}.sh` }, noise(200, number), number * 100 + 1),
  ]);
  const later = staleConversation("ok")
    .slice(3)
    .map((message) => ({ ...message, timestamp: message.timestamp + 1000 }));
  const explained = (messages) => JSON.stringify(messages).split("Where the summary is enough").length - 1;
  const early = await concertina.assemble({ sessionId, messages: [...rounds.slice(0, 3), ...later] });
  const all = await concertina.assemble({ sessionId, messages: [...rounds, ...later] });
  assert.deepEqual([explained(early.messages), explained(all.messages)], [1, 1]);
  assert.equal(all.messages.filter(isFolded).length, 3);
  assert.deepEqual(all.messages[2], early.messages[2]);
  // As after a compaction by the host: the placeholder with the explanation was removed.
  const compacted = [
    ...rounds.slice(3),
    ...toolRound("call_4", "exec", { command: "sh 4.sh" }, noise(200, 4), 401),
    ...later,
  ];
  const last = await concertina.assemble({ sessionId, messages: compacted });
  assert.equal(explained(last.messages), 1);
  assert.deepEqual((await concertina.assemble({ sessionId, messages: compacted })).messages, last.messages);
});

test("if a placeholder at birth contains the explanation, later ones do not", async () => {
  const { concertina } = await opened({ schedule: "every-turn" });
  const explains = (value) => JSON.stringify(value).includes("Where the summary is enough");
  const first = await concertina.admitToolResult({
    sessionId,
    message: toolRound("c1", "exec", { command: "sh 1.sh" }, noise(400, 1), 1)[1],
  });
  const second = await concertina.admitToolResult({
    sessionId,
    message: toolRound("c2", "exec", { command: "sh 2.sh" }, noise(400, 2), 2)[1],
  });
  const born = [
    user("go", 0),
    toolRound("c1", "exec", { command: "sh 1.sh" }, "", 1)[0],
    first.message,
    toolRound("c2", "exec", { command: "sh 2.sh" }, "", 2)[0],
    second.message,
  ];
  const { messages } = await concertina.assemble({ sessionId, messages: [...born, ...staleConversation()] });
  assert.ok(isFolded(messages.slice(born.length)), "something is folded later");
  assert.deepEqual(
    [explains(first.message), explains(second.message), explains(messages.slice(born.length))],
    [true, false, false],
  );
  const elsewhere = await concertina.admitToolResult({
    sessionId: "another",
    message: toolRound("c1", "exec", { command: "sh 1.sh" }, noise(400, 1), 1)[1],
  });
  assert.ok(explains(elsewhere.message));
});

test("instances with one directory and equal options share one open store", async () => {
  const dir = freshDir();
  const open = (options) => Concertina.open({ dir, ...options });
  const [one, same, other] = await Promise.all([open({}), open({ staleTurns: 9 }), open({ sccsMaxEntries: 2000 })]);
  rmSync(path.join(dir, "concertina.sqlite"));
  for (const concertina of [one, same, other]) await concertina.stats();
  const told = [one, same, other].map((concertina) => concertina.notices().length);
  assert.deepEqual([told[0] > 0, told[1] > 0, told[2] > 0], [true, false, true]);
  await one.close();
  assert.equal((await same.stats()).originals, 0);
  await assert.rejects(one.stats(), { code: "CONCERTINA_CLOSED" });
  await Promise.all([same.close(), other.close()]);
});

test("a store that was damaged while open is not shared, so the next instance can set it aside", async () => {
  const dir = freshDir();
  // Closing checkpoints the log into the file.
  await (await Concertina.open({ dir })).close();
  const broken = await Concertina.open({ dir });
  truncateSync(path.join(dir, "concertina.sqlite"), 5000);
  await assert.rejects(broken.stats(), { code: "CONCERTINA_STORE_DAMAGED" });
  const opened = await Concertina.open({ dir, today: "2026-01-31" });
  assert.match(opened.notices().join("\n"), /concertina\.sqlite\.damaged-2026-01-31/);
  assert.equal((await opened.stats()).originals, 0);
  await Promise.all([broken.close(), opened.close()]);
});
