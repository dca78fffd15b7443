// Tests of the sessions that `npm run record` wrote, and of their processing.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { countMessageTokens, repairToolPairing } from "openclaw-concertina";

import { neutral } from "../fixtures/record/neutral.mjs";
import { spread } from "../fixtures/record/times.mjs";
import { turns } from "../fixtures/record/work/main.mjs";

const require = createRequire(import.meta.url);
const { readSession } = require("../dist/node/lib/formats/session-file.js");
const at = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

const main = readSession(at("demo/taking-over.messages.json.gz"));
const delegated = readdirSync(at("sessions"))
  .filter((name) => name.startsWith("sub-agent-"))
  .map((name) => readSession(at(`sessions/${name}`)));
const sessions = [main, ...delegated];
const blocks = sessions
  .flat()
  .flatMap(({ content }) => (Array.isArray(content) ? content : [{ type: "text", text: content }]));

test("the recorded session is long and contains the usual tools and failures", () => {
  assert.ok(countMessageTokens(main) >= 150_000);
  assert.deepEqual(new Set(blocks.map(({ type }) => type)), new Set(["text", "thinking", "toolCall", "image"]));
  const tools = new Set(blocks.filter(({ type }) => type === "toolCall").map(({ name }) => name));
  for (const name of ["read", "edit", "write", "exec", "tool_call"]) assert.ok(tools.has(name), name);
  assert.equal(delegated.length, turns.filter((turn) => turn.delegated).length);
});

test("every call has its result, and times ascend with the scripted pauses", () => {
  for (const messages of sessions) {
    assert.equal(repairToolPairing(messages).messages, messages);
    const pauses = messages.slice(1).map(({ timestamp }, index) => timestamp - messages[index].timestamp);
    assert.ok(Math.min(...pauses) >= 0);
  }
  const users = main.filter(({ role }) => role === "user");
  assert.deepEqual(
    users.map(({ content }) => content),
    turns.map(({ user }) => user),
  );
  for (const [index, { after = 0 }] of turns.entries()) {
    const place = main.indexOf(users[index]);
    if (place > 0) assert.ok(users[index].timestamp - main[place - 1].timestamp >= after * 60_000, turns[index].user);
  }
});

test("recordings contain nothing about the machine that they were made on", () => {
  // Hosts mask (***) what looks like a secret.
  for (const messages of sessions)
    assert.doesNotMatch(JSON.stringify(messages), /concertina-host-|[^*]\*\*\*[^*]|\/root\/|registry\+/);
  const host = { workspace: "/none/workspace", home: "/none/home", root: "/none" };
  const messages = [{ content: "in /none/workspace/src, at /none/home, by ann" }];
  assert.deepEqual(neutral(messages, host, []), [{ content: "in /home/dev/concertina/src, at /home/dev, by ann" }]);
  assert.throws(() => neutral(messages, host, ["by ann"]), /tells of this machine.*\n"by ann"/);
});

test("scripted pauses and answer times shift all later messages of all sessions", () => {
  const answer = (timestamp, output) => ({ role: "assistant", content: [], usage: { output }, timestamp });
  const own = [
    { role: "user", content: "go", timestamp: 10 },
    answer(20, 60),
    { role: "toolResult", timestamp: 30 },
    { role: "user", content: "on", timestamp: 90 },
  ];
  const other = [{ role: "user", content: "a task", timestamp: 40 }, answer(50, 0)];
  const [first, second] = spread(
    [{ messages: own }, { messages: other }],
    [{ user: "go" }, { user: "on", after: 2 }],
    1000,
  );
  // 1.5 seconds to the first token, and a second for sixty tokens.
  assert.deepEqual(
    first.messages.map(({ timestamp }) => timestamp),
    [1000, 1010, 3520, 5080 + 120_000],
  );
  assert.deepEqual(
    second.messages.map(({ timestamp }) => timestamp),
    [3530, 3540],
  );
});
