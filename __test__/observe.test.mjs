// Tests of observing and of the hold-out in the plugin: nothing that is sent changes, and the figures show what folding
// would have done, or compare the groups.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, test } from "node:test";

import { createEngine } from "../dist/plugin/engine.js";
import { foldToolResult } from "../dist/plugin/middleware.js";
import { statusOf } from "../dist/plugin/status.js";
import { freshDir, noise } from "./conversation.mjs";
import "./host-modules.mjs";
import { registered } from "./registration.mjs";

const { comparisonOf, isHeldOut, LEAST_SESSIONS } = createRequire(import.meta.url)(
  "../dist/node/lib/library/holdout.js",
);

const KEY = "agent:main:work";
const TOOLS = new Set(["exec"]);
const FETCH = "fetch_original_data";

function plugin(pluginConfig, directory = freshDir()) {
  const registration = registered(directory, { pluginConfig });
  after(() => registration.state.letGo());
  return { ...registration, directory };
}

/** Plays a turn as the host does: assembly, a result through the middleware, and the record. Returns what was sent. */
async function play(
  state,
  { sessionId = "s", sessionKey = KEY, messages, turn, tools = TOOLS, text = noise(1500, turn) },
) {
  const engine = createEngine(state, undefined);
  const sent = await engine.assemble({ sessionId, sessionKey, messages: [...messages], availableTools: tools });
  const id = `call${turn}`;
  const content = [{ type: "text", text }];
  const changed = await foldToolResult(
    state,
    { toolCallId: id, toolName: "exec", args: { command: `run ${turn}` }, result: { content, details: {} } },
    { sessionId, sessionKey, runtime: "openclaw" },
  );
  const at = Date.now();
  const call = { type: "toolCall", id, name: "exec", arguments: { command: `run ${turn}` } };
  const result = { role: "toolResult", toolCallId: id, toolName: "exec", content: changed?.result.content ?? content };
  const usage = { input: 5000 + turn, output: 20, cacheRead: 0, cacheWrite: 0 };
  const added = [
    { role: "user", content: `Question ${turn}`, timestamp: at },
    { role: "assistant", content: [call], timestamp: at, usage },
    { ...result, isError: turn % 2 === 1, timestamp: at },
    { role: "assistant", content: [{ type: "text", text: "Done." }], timestamp: at, usage },
  ];
  await engine.commitTurn({ sessionId, sessionKey, advancementKey: `${sessionId}:${turn}`, messages: added });
  return { sent: sent.messages, changed, history: [...messages, ...added] };
}

/** Plays turns of a session. Returns true if anything that was sent differs from the history. */
async function playAll(state, given = {}, turns = 8) {
  let [messages, isChanged] = [[], false];
  for (let turn = 0; turn < turns; turn++) {
    const played = await play(state, { ...given, messages, turn });
    isChanged ||= played.changed !== undefined || JSON.stringify(played.sent) !== JSON.stringify(messages);
    messages = played.history;
  }
  return isChanged;
}

const FOLDING = { staleTurns: 1, maxDeferredTurns: 1, sccsCompressThreshold: 2000 };

test("observing sends everything unchanged, and its figures are those of folding", async () => {
  const observing = plugin({ ...FOLDING, sccsEnabled: "observe" });
  assert.equal(await playAll(observing.state), false, "something was changed");
  const folding = plugin(FOLDING);
  assert.equal(await playAll(folding.state, { tools: new Set([...TOOLS, FETCH]) }), true);
  const [observed, folded] = await Promise.all(
    [observing, folding].map(({ state }) => state.use((store) => store.figures())),
  );
  assert.equal(observed.total.measured, 0, "what the provider reported is of what was sent");
  assert.equal(observed.total.requests, folded.total.requests);
  assert.ok(observed.total.sentTokens < 0.6 * observed.total.withoutTokens, JSON.stringify(observed.total));
  assert.deepEqual(
    observed.kinds.map(({ kind, before }) => [kind, before]),
    folded.kinds.map(({ kind, before }) => [kind, before]),
  );
  assert.ok(observed.total.sentTokens > 0);
});

test("observing goes on after a restart, and leaves the store of folded sessions alone", async () => {
  const { state, directory } = plugin({ ...FOLDING, sccsEnabled: "observe" });
  const first = await play(state, { messages: [], turn: 0 });
  await state.letGo();
  const again = plugin({ ...FOLDING, sccsEnabled: "observe" }, directory);
  const second = await play(again.state, { messages: first.history, turn: 1 });
  assert.deepEqual(second.sent, first.history);
  const { total, kinds } = await again.state.use((store) => store.figures());
  assert.ok(total.sentTokens < total.withoutTokens, "the first result is remembered as it would have been shown");
  assert.equal(kinds[0].kind, "tool results");
  assert.ok(!existsSync(path.join(directory, "concertina", "concertina.sqlite")));
  assert.ok(existsSync(path.join(directory, "concertina", "observed", "concertina.sqlite")));
  const status = await statusOf(again.state);
  assert.equal(status.engine, "observing");
  assert.equal(status.why, null);
});

test("what was folded before can be fetched while observing", async () => {
  const { state, directory } = plugin(FOLDING);
  const { changed } = await play(state, { messages: [], turn: 0, tools: new Set([...TOOLS, FETCH]) });
  const [, id] = /REF_ID: ([0-9a-f]+)/.exec(JSON.stringify(changed.result.content));
  await state.letGo();
  const again = plugin({ ...FOLDING, sccsEnabled: "observe" }, directory);
  assert.ok(again.state.folding.hasStore);
  const { found } = await again.state.folding.use((store) => store.fetch({ refIds: [id], sessionId: "s" }));
  assert.equal(found, 1);
});

test("a share of sessions stays untouched, with its sub-agents, and is compared with the others", async () => {
  const { state } = plugin({ ...FOLDING, holdout: 0.5 });
  const tools = new Set([...TOOLS, FETCH]);
  const ids = Array.from({ length: 12 }, (_, at) => `session-${at}`);
  const untouched = ids.filter((id) => isHeldOut(id, 0.5));
  assert.ok(untouched.length > 2 && untouched.length < 10, `${untouched.length} of 12`);
  for (const sessionId of ids) {
    const isChanged = await playAll(state, { sessionId, sessionKey: `agent:main:${sessionId}`, tools }, 3);
    assert.equal(isChanged, !untouched.includes(sessionId), sessionId);
  }
  // The child's own hash does not count.
  for (const [parent, child] of [untouched[0], ids.find((id) => !untouched.includes(id))].map((id, at) => [
    id,
    `child-${at}`,
  ])) {
    state.sessions.noteSpawn(`agent:main:${parent}`, `agent:main:subagent:${child}`);
    const isChanged = await playAll(state, { sessionId: child, sessionKey: `agent:main:subagent:${child}`, tools }, 2);
    assert.equal(isChanged, !untouched.includes(parent), child);
  }
  const { comparison, sessions } = await state.use((store) => store.figures());
  assert.equal(comparison.untouched.sessions, untouched.length + 1);
  assert.equal(comparison.folded.sessions, ids.length - untouched.length + 1);
  assert.equal(comparison.untouched.turns, 3 * untouched.length + 2);
  assert.equal(comparison.untouched.failures, untouched.length + 1, "each second turn has a failed call");
  assert.equal(comparison.perTurn, null);
  assert.equal(
    comparison.missing,
    LEAST_SESSIONS - Math.min(comparison.folded.sessions, comparison.untouched.sessions),
  );
  for (const { sessionId, sessionKey, isHeldOut: isOut } of sessions) {
    assert.ok(sessionKey.startsWith("agent:main:"), sessionKey);
    if (!sessionId.startsWith("child")) assert.equal(isOut, untouched.includes(sessionId), sessionId);
  }
  const status = await statusOf(state, { sessionId: untouched[0] });
  assert.match(status.why, /left untouched/);
});

test("a session keeps its group when the option changes", async () => {
  const { state, directory } = plugin({ ...FOLDING, holdout: 1 });
  const tools = new Set([...TOOLS, FETCH]);
  const first = await play(state, { messages: [], turn: 0, tools });
  assert.equal(first.changed, undefined);
  await state.letGo();
  const again = plugin(FOLDING, directory);
  const second = await play(again.state, { messages: first.history, turn: 1, tools });
  assert.equal(second.changed, undefined, "it began untouched");
  const other = await play(again.state, { sessionId: "t", sessionKey: "agent:main:t", messages: [], turn: 0, tools });
  assert.notEqual(other.changed, undefined);
  await again.state.letGo();
  const third = plugin({ ...FOLDING, holdout: 1 }, directory);
  const more = await play(third.state, {
    sessionId: "t",
    sessionKey: "agent:main:t",
    messages: other.history,
    turn: 1,
    tools,
  });
  assert.notEqual(more.changed, undefined, "it began folded");
});

/** Returns sessions of both groups: a folded turn costs `share` of an untouched one, and is modelled to save 30 %. */
function outcomes(count, share) {
  const one = (at, isOut) => {
    const turns = 1 + (at % 7);
    const sentBill = turns * (80 + (at % 41)) * (isOut ? 1 : share);
    return {
      isHeldOut: isOut,
      turns,
      failures: 0,
      requests: turns,
      fetches: 0,
      answered: 0,
      answerBill: null,
      withoutAnswerBill: null,
      sentBill,
      withoutBill: isOut ? sentBill : sentBill / 0.7,
    };
  };
  return Array.from({ length: count }, (_, at) => [one(at, true), one(at, false)]).flat();
}

test("the measured saving counts once there are enough sessions, and says where the model is wrong", () => {
  assert.equal(comparisonOf([]), null);
  assert.equal(comparisonOf(outcomes(LEAST_SESSIONS - 10, 0.7)).missing, 10);
  const right = comparisonOf(outcomes(LEAST_SESSIONS, 0.7));
  assert.equal(right.missing, 0);
  assert.ok(Math.abs(right.modelled - 0.3) < 1e-9);
  assert.ok(right.perTurn.least < 0.3 && right.perTurn.most > 0.3 && !right.disagrees, JSON.stringify(right));
  const wrong = comparisonOf(outcomes(LEAST_SESSIONS, 1.1));
  assert.ok(wrong.disagrees && wrong.perTurn.most < 0.3, JSON.stringify(wrong));
  assert.ok(wrong.perSession.most >= wrong.perSession.least);
});
