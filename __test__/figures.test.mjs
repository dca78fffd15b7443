// Tests of the figures: what was sent and billed, and what would have been without Concertina, computed from the turns
// that hosts report.
import assert from "node:assert/strict";
import test from "node:test";

import { Concertina, countMessageTokens, createContextEngine } from "openclaw-concertina";

import { freshDir, noise, staleConversation, toolRound, user } from "./conversation.mjs";

const sessionId = "s1";
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 0, 31, 12);
/** Claude's prices, in dollars per million tokens. */
const PRICES = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheTtlMs: 300_000, usdPerMillion: true };

const opened = (options = {}) => Concertina.open({ dir: freshDir(), ...options });
const answer = (at, usage, content = [{ type: "text", text: "done" }]) => ({
  role: "assistant",
  content,
  timestamp: at,
  model: "scripted",
  usage,
});
const call = (name, args = {}) => ({ type: "toolCall", id: "c", name, arguments: args });
const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-9, `${found} is not ${expected}`);

test("usage that the provider reported is shown and counted as measured", async () => {
  const concertina = await opened();
  const first = { input: 10, cacheRead: 0, cacheWrite: 990, output: 5 };
  const second = { input: 10, cacheRead: 900, cacheWrite: 190 };
  await concertina.commitTurn({
    sessionId,
    sessionKey: "agent:main:work",
    advancementKey: "1",
    messages: [user("go", NOON), answer(NOON + 1, first), answer(NOON + 2, second)],
    prices: PRICES,
  });
  const { unit, total, days, sessions } = await concertina.figures();
  assert.equal(unit, "usd");
  assert.deepEqual([total.requests, total.measured, total.sentTokens], [2, 2, 2100]);
  near(total.sentBill, (20 * 3 + 900 * 0.3 + 1180 * 3.75) / 1e6);
  // Nothing was folded, and nothing was added.
  assert.equal(total.withoutTokens, total.sentTokens);
  near(total.withoutBill, total.sentBill);
  assert.deepEqual(
    days.map(({ day, requests }) => [day, requests]),
    [["2026-01-31", 2]],
  );
  assert.deepEqual(
    sessions.map(({ sessionKey, lastAt }) => [sessionKey, lastAt]),
    [["agent:main:work", NOON + 2]],
  );
});

test("one request without a price changes the unit of all bills to input tokens", async () => {
  const concertina = await opened();
  const usage = { input: 1000, cacheRead: 0, cacheWrite: 0 };
  await concertina.commitTurn({ sessionId, advancementKey: "1", messages: [answer(NOON, usage)], prices: PRICES });
  near((await concertina.figures()).total.sentBill, 0.003);
  await concertina.commitTurn({ sessionId: "s2", advancementKey: "1", messages: [answer(NOON, usage)] });
  const both = await concertina.figures();
  assert.deepEqual([both.unit, both.total.sentBill], ["input tokens", 2000]);
  assert.equal((await concertina.figures({ sessionId })).unit, "usd");
});

test("requests without reported usage are counted with the tokenizer and not as measured", async () => {
  const concertina = await opened();
  const history = [user(noise(50), 1), answer(2)];
  await concertina.assemble({ sessionId, messages: history, now: 10 });
  const turn = [user("go", 11), answer(12)];
  await concertina.commitTurn({ sessionId, advancementKey: "1", messages: turn, now: 13 });
  const { total } = await concertina.figures();
  assert.deepEqual([total.requests, total.measured], [1, 0]);
  assert.equal(total.sentTokens, countMessageTokens([...history, turn[0]]) + total.overheadTokens);
  assert.ok(total.overheadTokens > 50, "the fetch tool is charged");
  assert.equal(total.withoutTokens, total.sentTokens - total.overheadTokens);
});

test("a turn without the fetch tool folds and saves nothing", async () => {
  const concertina = await opened();
  const engine = createContextEngine(concertina, { compact: async () => ({}) });
  const messages = staleConversation();
  const turn = async (advancementKey, tools) => {
    const { messages: sent } = await engine.assemble({ sessionId, messages, availableTools: new Set(tools) });
    const at = Date.now();
    const usage = { input: countMessageTokens(sent) };
    await engine.commitTurn({ sessionId, advancementKey, messages: [user("go", at), answer(at + 1, usage)] });
    const { sentTokens, withoutTokens } = (await concertina.figures()).total;
    return withoutTokens - sentTokens;
  };
  const saved = await turn("1", ["exec", "fetch_original_data"]);
  assert.ok(saved > 1000);
  assert.equal(await turn("2", ["exec"]), saved);
});

/**
 * Plays two user turns of 15 calls, with an assembly before every `every` calls. Returns the figures, and separate
 * counts of what was sent and of what would have been.
 */
async function turnsOf({ every, measured, stamped, ids = (at) => `t${at}`, tools, lines = 80 }) {
  const concertina = await opened({ schedule: "cache-aware", thrift: "high" });
  const own = { sent: 0, without: 0 };
  const [history, raw] = [[], []];
  let [now, calls] = [NOON, 0];
  for (const turn of [1, 2]) {
    const messages = [user(`question ${turn}`, now)];
    const keep = (message, record = message, whole = message) => (
      history.push(message),
      raw.push(whole),
      messages.push(record)
    );
    [history, raw].forEach((list) => list.push(messages[0]));
    let [assembled, of] = [[], 0];
    for (let call = 0; call < 15; call++) {
      now += 10_000;
      if (call % every === 0) {
        assembled = (await concertina.assemble({ sessionId, messages: history.slice(), availableTools: tools, now }))
          .messages;
        of = history.length;
      }
      const sent = countMessageTokens([...assembled, ...history.slice(of)]);
      own.sent += sent;
      own.without += countMessageTokens(raw);
      const id = ids(calls++);
      const answer = {
        role: "assistant",
        content:
          call === 14
            ? [{ type: "text", text: `answer ${turn}` }]
            : [{ type: "tool_use", id, name: "exec", input: { command: `make ${calls}` } }],
      };
      keep(answer, {
        ...answer,
        ...(measured ? { usage: { input: sent } } : {}),
        ...(stamped ? { timestamp: now + 1000 } : {}),
      });
      if (call === 14) continue;
      const message = {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: noise(lines, calls) }],
      };
      const admitted = (await concertina.admitToolResult({ sessionId, message, toolName: "exec", now: now + 2000 }))
        .message;
      keep(tools ? message : admitted, undefined, message);
    }
    now += 10_000;
    await concertina.commitTurn({ sessionId, advancementKey: `${turn}`, messages, now });
  }
  const { total } = await concertina.figures();
  await concertina.close();
  // The simulated provider was not sent the tool.
  const overhead = measured ? 0 : total.overheadTokens;
  return {
    own,
    total,
    sent: total.sentTokens - overhead,
    without: total.withoutTokens + (measured ? total.overheadTokens : 0),
  };
}

const isAbout = (found, expected, what) =>
  assert.ok(Math.abs(found / expected - 1) < 0.03, `${what}: ${found} is not about ${expected}`);

test("figures describe what was sent, however often the history is assembled within a turn", async () => {
  for (const every of [1, 4, 15]) {
    for (const measured of [false, true]) {
      for (const stamped of [false, true]) {
        // If ids are missing or empty, the order of the calls is used.
        for (const ids of [undefined, () => ""]) {
          const { own, total, sent, without } = await turnsOf({ every, measured, stamped, ids });
          const what = JSON.stringify({ every, measured, stamped, ids: ids === undefined });
          assert.deepEqual([total.requests, total.measured], [30, measured ? 30 : 0], what);
          isAbout(sent, own.sent, what);
          if (stamped || every === 1) isAbout(without, own.without, what);
          // The times of the other calls are unknown, so the reported savings are lower than the real ones.
          else assert.ok(without < own.without * 1.01 && without >= sent, `${what}: ${without} of ${own.without}`);
        }
      }
    }
  }
});

test("if nothing is folded, the tokens sent equal the estimate without Concertina and the test's own count", async () => {
  for (const every of [1, 4, 15]) {
    const { own, total } = await turnsOf({ every, measured: false, stamped: false, tools: [] });
    assert.equal(total.sentTokens, total.withoutTokens);
    isAbout(total.sentTokens, own.sent, `every ${every}`);
    assert.equal(own.sent, own.without);
  }
});

test("the turn's answers in an assembled history are not counted as calls of another turn", async () => {
  const concertina = await opened();
  const usage = { input: 100, cacheRead: 0, cacheWrite: 0 };
  const [first, second] = [
    [user("go", NOON), answer(NOON + 1, usage)],
    [user("go on", NOON + 3), answer(NOON + 4, usage, [call("exec")])],
  ];
  await concertina.assemble({ sessionId, messages: first.slice(0, 1), now: NOON });
  await concertina.commitTurn({ sessionId, advancementKey: "1", messages: first, now: NOON + 2 });
  await concertina.assemble({ sessionId, messages: [...first, second[0]], now: NOON + 3 });
  await concertina.assemble({ sessionId, messages: [...first, ...second], now: NOON + 5 });
  await concertina.commitTurn({
    sessionId,
    advancementKey: "2",
    messages: [...second, answer(NOON + 6, usage)],
    now: NOON + 7,
  });
  assert.equal((await concertina.figures()).total.requests, 3);
});

test("the saving of a result at birth counts in every request that contains it", async () => {
  const concertina = await opened();
  const [asked, result] = toolRound("c", "exec", { command: "sh build.sh" }, noise(400), NOON + 2);
  await concertina.assemble({ sessionId, messages: [], now: NOON });
  const { message, report } = await concertina.admitToolResult({ sessionId, message: result, now: NOON + 3 });
  const spared = report.tokensBefore - report.tokensAfter;
  const usage = { input: 5000, cacheRead: 0, cacheWrite: 0 };
  const turn = [user("go", NOON + 1), { ...asked, usage }, message, answer(NOON + 4, usage)];
  await concertina.commitTurn({ sessionId, advancementKey: "1", messages: turn, now: NOON + 5 });
  const one = (await concertina.figures()).total;
  assert.equal(one.withoutTokens, 10_000 + spared - one.overheadTokens);
  await concertina.assemble({ sessionId, messages: turn, now: NOON + 6 });
  await concertina.commitTurn({
    sessionId,
    advancementKey: "2",
    messages: [user("and?", NOON + 7), answer(NOON + 8, usage)],
    now: NOON + 9,
  });
  const two = (await concertina.figures()).total;
  assert.equal(two.withoutTokens - one.withoutTokens, 5000 + spared - one.overheadTokens / 2);
  // Text that the host would have truncated does not count as savings.
  const other = await opened();
  await other.assemble({ sessionId, messages: [], now: NOON });
  await other.admitToolResult({ sessionId, message: result, hostKeeps: 4000, now: NOON + 3 });
  await other.commitTurn({ sessionId, advancementKey: "1", messages: turn, now: NOON + 5 });
  assert.ok((await other.figures()).total.withoutTokens < one.withoutTokens - 1000);
});

test("a fetch is charged with its answer and the extra request", async () => {
  const concertina = await opened();
  const text = noise(400);
  const [, result] = toolRound("c", "exec", {}, text, NOON);
  const { report } = await concertina.admitToolResult({ sessionId, message: result, now: NOON });
  const [{ refId }] = report.actions;
  await concertina.assemble({ sessionId, messages: [], now: NOON + 1 });
  await concertina.fetch({ sessionId, refIds: [refId], maxChars: 100_000, now: NOON + 3 });
  const usage = { input: 30_000, cacheRead: 0, cacheWrite: 0 };
  const turn = [
    user("what?", NOON + 1),
    answer(NOON + 2, usage, [call("fetch_original_data", { ref_ids: [refId] })]),
    answer(NOON + 4, usage, [call("exec")]),
    answer(NOON + 5, usage),
  ];
  await concertina.commitTurn({ sessionId, advancementKey: "1", messages: turn, now: NOON + 6 });
  const { total, fetched } = await concertina.figures();
  const tokens = report.tokensBefore;
  assert.deepEqual(fetched, [{ at: NOON + 3, refId, tokens, sessionId, tool: "exec", isRerun: false }]);
  const own = total.overheadTokens / 3;
  assert.deepEqual([total.fetches, total.fetchTokens], [1, 30_000 - own + tokens]);
  // The first and the third call would also have been made without Concertina, and the third without the fetched
  // answer.
  assert.equal(total.withoutTokens, 2 * (30_000 - own) - tokens);
});

test("figures can be limited to a session and to a period", async () => {
  const concertina = await opened();
  const usage = { input: 100, cacheRead: 0, cacheWrite: 0 };
  for (const [session, at] of [
    ["a", NOON],
    ["a", NOON + DAY],
    ["b", NOON + DAY],
  ]) {
    await concertina.commitTurn({ sessionId: session, advancementKey: String(at), messages: [answer(at, usage)] });
  }
  const count = async (request) => (await concertina.figures(request)).total.requests;
  assert.deepEqual(
    [
      await count({}),
      await count({ sessionId: "a" }),
      await count({ since: NOON + 1 }),
      await count({ until: NOON + DAY }),
      await count({ sessionId: "c" }),
    ],
    [3, 2, 2, 1, 0],
  );
  assert.deepEqual(
    (await concertina.figures()).days.map(({ day, requests }) => [day, requests]),
    [
      ["2026-01-31", 1],
      ["2026-02-01", 2],
    ],
  );
  const known = await concertina.sessions();
  assert.deepEqual(known.map(({ sessionId: id, sessionKey }) => [id, sessionKey]).sort(), [
    ["a", null],
    ["b", null],
  ]);
});

test("figures list folded tokens by kind", async () => {
  const concertina = await opened();
  const [asked, result] = toolRound("c", "write", { path: "a.txt", content: noise(300) }, noise(300));
  const messages = [user("go"), asked, result, ...Array.from({ length: 8 }, (_, at) => user(`and ${at}?`))];
  await concertina.assemble({ sessionId, messages, now: NOON });
  const { kinds, lastFoldAt } = await concertina.figures();
  assert.deepEqual(kinds.map(({ kind }) => kind).sort(), ["tool arguments", "tool results"]);
  for (const { before, after } of kinds) assert.ok(before > 4 * after, JSON.stringify(kinds));
  assert.equal(lastFoldAt, NOON);
});

test("an expired session is still in the totals, and a purged one is not", async () => {
  const concertina = await opened();
  const usage = { input: 100, cacheRead: 0, cacheWrite: 0 };
  for (const id of ["old", "gone"])
    await concertina.commitTurn({
      sessionId: id,
      advancementKey: "1",
      messages: [answer(NOON, usage)],
      prices: PRICES,
      now: NOON,
    });
  await concertina.purge({ sessionId: "gone" });
  const before = await concertina.figures();
  assert.equal((await concertina.sweep({ now: NOON + 30 * DAY })).sessions, 1);
  const after = await concertina.figures();
  assert.deepEqual([after.total, after.days, after.unit], [before.total, before.days, "usd"]);
  assert.deepEqual([before.total.requests, before.sessions.length, after.sessions.length], [1, 1, 0]);
  assert.equal((await concertina.figures({ since: NOON + DAY })).total.requests, 0);
});

test("a turn that is committed twice counts once, and messages of the host itself are not requests", async () => {
  const concertina = await opened();
  const messages = [
    answer(NOON, { input: 100, cacheRead: 0, cacheWrite: 0 }),
    { ...answer(NOON + 1, { input: 0 }), provider: "openclaw", model: "delivery-mirror" },
    { ...answer(NOON + 2), stopReason: "error" },
  ];
  for (let time = 0; time < 2; time++) await concertina.commitTurn({ sessionId, advancementKey: "1", messages });
  const { total } = await concertina.figures();
  assert.deepEqual([total.requests, total.sentTokens], [1, 100]);
});

test("calls of an unfinished turn are counted with the next turn", async () => {
  const concertina = await opened();
  const usage = { input: 100, cacheRead: 0, cacheWrite: 0 };
  const before = [user("go", NOON), answer(NOON + 1, usage)];
  await concertina.assemble({ sessionId, messages: before, now: NOON + 2 });
  await concertina.commitTurn({
    sessionId,
    advancementKey: "1",
    messages: [user("first", NOON + 2), answer(NOON + 3, usage)],
  });
  assert.equal((await concertina.figures()).total.requests, 1, "what was there before is not ours");
  const history = [
    ...before,
    user("first", NOON + 2),
    answer(NOON + 3, usage),
    user("stop it", NOON + 4),
    answer(NOON + 5, { input: 30, cacheRead: 200, cacheWrite: 0 }),
  ];
  await concertina.assemble({ sessionId, messages: history, now: NOON + 6 });
  await concertina.commitTurn({
    sessionId,
    advancementKey: "3",
    messages: [user("go on", NOON + 6), answer(NOON + 7, usage)],
  });
  const { total } = await concertina.figures();
  assert.deepEqual([total.requests, total.measured, total.sentTokens], [3, 3, 430]);
});

test("nothing more is folded in a session that is switched off, and folds stay", async () => {
  const concertina = await opened();
  const [, result] = toolRound("c", "exec", {}, noise(400));
  const admit = async () => (await concertina.admitToolResult({ sessionId, message: result })).message;
  await concertina.switch({ sessionId, off: true });
  assert.equal(await admit(), result);
  const messages = [
    user("go"),
    ...toolRound("c", "exec", {}, noise(300, 7)),
    ...Array.from({ length: 8 }, (_, at) => user(`and ${at}?`)),
  ];
  assert.equal((await concertina.assemble({ sessionId, messages })).messages, messages);
  await concertina.switch({ sessionId, off: false });
  const folded = (await concertina.assemble({ sessionId, messages })).messages;
  assert.notEqual(folded, messages);
  await concertina.switch({ sessionId, off: true });
  assert.deepEqual((await concertina.assemble({ sessionId, messages })).messages, folded);
  assert.deepEqual(
    (await concertina.sessions()).map(({ isOff }) => isOff),
    [true],
  );
});

test("the output of a protected command is unchanged at birth and later", async () => {
  const concertina = await opened({ protect: ["command:git log*"] });
  const rounds = (command) => toolRound("c", "exec", { command }, noise(400));
  for (const [command, stays] of [
    ["git log --stat", true],
    ["cargo build", false],
  ]) {
    const [asked, result] = rounds(command);
    const { message } = await concertina.admitToolResult({ sessionId, message: result, args: { command } });
    assert.equal(message === result, stays, command);
    const messages = [user("go"), asked, result, ...Array.from({ length: 8 }, (_, at) => user(`and ${at}?`))];
    const folded = (await concertina.assemble({ sessionId: command, messages })).messages;
    assert.equal(folded === messages, stays, command);
  }
});

/** Reports a turn that was played to a store. */
const commit = (store, { key, messages, end }) =>
  store.commitTurn({ sessionId, advancementKey: key, messages, prices: PRICES, now: end });

/**
 * The ways in which Concertina can be absent from a turn. Each plays the turn as far as Concertina sees it, and returns
 * the store to continue with.
 */
const ABSENCES = {
  "another engine": async ({ store }) => store,
  "disabled or uninstalled, in another process": async ({ store, dir }) => (
    await store.close(),
    Concertina.open({ dir, ...FOLDING })
  ),
  "store away": async ({ store, history, turn }) => {
    const engine = createContextEngine(() => Promise.resolve(undefined), { compact: async () => ({}) });
    await engine.assemble({ sessionId, messages: history });
    await engine.commitTurn({ sessionId, advancementKey: turn.key, messages: turn.messages });
    return store;
  },
  "store away until the turn ends": async ({ store, turn }) => {
    await commit(store, turn);
    return store;
  },
  "killed within the turn": async ({ store, dir, history, turn }) => {
    await store.assemble({ sessionId, messages: history, turnBegins: true, now: turn.start });
    await store.close();
    return Concertina.open({ dir, ...FOLDING });
  },
  "killed, and the host tells of the turn later": async ({ store, dir, history, turn }) => {
    await store.assemble({ sessionId, messages: history, turnBegins: true, now: turn.start });
    await store.close();
    const next = await Concertina.open({ dir, ...FOLDING });
    await commit(next, turn);
    return next;
  },
  "switched off by option": async ({ store, dir, history, turn }) => {
    await store.close();
    const off = await Concertina.open({ dir, ...FOLDING, sccsEnabled: false });
    await off.assemble({ sessionId, messages: history, turnBegins: true, now: turn.start });
    await commit(off, turn);
    await off.close();
    return Concertina.open({ dir, ...FOLDING });
  },
};
const FOLDING = { schedule: "cache-aware", thrift: "normal", staleTurns: 1, staleCalls: 1, maxDeferredTurns: 1 };

/**
 * Plays nine turns, some of them without Concertina. Returns the final figures, and separate counts of the savings and
 * of the calls without Concertina.
 */
async function playWithAbsence({ absence, absent, reported }) {
  const dir = freshDir();
  let store = await Concertina.open({ dir, ...FOLDING });
  const history = [];
  const own = { saved: 0, bypassed: 0 };
  let now = NOON;
  for (let at = 1; at <= 9; at++) {
    const isAbsent = absent.includes(at);
    const turn = { key: String(at), start: (now += 1000), messages: [] };
    const calls = at === 1 || at === 5 ? 2 : 1;
    const shown = isAbsent
      ? history
      : (
          await store.assemble({
            sessionId,
            messages: history.slice(),
            turnBegins: true,
            prices: PRICES,
            now: turn.start,
          })
        ).messages;
    turn.messages.push(user(`turn ${at}`, (now += 1000)));
    for (let call_ = 1; call_ <= calls; call_++) {
      const sent = countMessageTokens([...shown, ...turn.messages]);
      const usage = reported ? { input: sent, cacheRead: 0, cacheWrite: 0, output: 7 } : undefined;
      if (!isAbsent) own.saved += countMessageTokens([...history, ...turn.messages]) - sent;
      const isLast = call_ === calls;
      turn.messages.push(
        answer(
          (now += 1000),
          usage,
          isLast ? undefined : [{ type: "toolCall", id: `c${at}`, name: "exec", arguments: { command: `make ${at}` } }],
        ),
      );
      if (!isLast)
        turn.messages.push({
          role: "toolResult",
          toolCallId: `c${at}`,
          toolName: "exec",
          content: [{ type: "text", text: noise(300, at) }],
          isError: false,
          timestamp: (now += 1000),
        });
    }
    turn.end = now += 1000;
    if (isAbsent) {
      store = await ABSENCES[absence]({ store, dir, history: history.slice(), turn });
      own.bypassed += calls;
    } else {
      await commit(store, turn);
    }
    history.push(...turn.messages);
  }
  const figures = await store.figures();
  await store.close();
  return { own, figures };
}

// Covers every way of being absent x at the start, in the middle, at the end, twice x usage reported or not: 56
// sessions.
test("requests that were sent while Concertina was not in use are counted and credited with nothing", async () => {
  let folded = 0;
  for (const absence of Object.keys(ABSENCES)) {
    for (const absent of [
      [1, 2],
      [4, 5, 6],
      [8, 9],
      [3, 7],
    ]) {
      for (const reported of [true, false]) {
        const what = JSON.stringify({ absence, absent, reported });
        const {
          own,
          figures: { total, days, sessions },
        } = await playWithAbsence({ absence, absent, reported });
        // A provider that reports usage did not count the fetch tool.
        const saved = total.withoutTokens - total.sentTokens + total.overheadTokens;
        assert.ok(
          Math.abs(saved - own.saved) <= 0.03 * own.saved + 20,
          `${what}: ${saved} saved, ${own.saved} by one's own count`,
        );
        if (own.saved > 0) folded++;
        const isTold = /until the turn ends|tells of the turn/.test(absence);
        // Calls before the first record and after the last assembly are not reported by anyone. Calls after our own
        // assembly while the plugin was switched off count as ours.
        const isKnown = isTold || (absent[0] > 1 && absent.at(-1) < 9);
        const expected = absence === "switched off by option" ? 0 : isKnown ? own.bypassed : 0;
        assert.equal(total.bypassed, expected, what);
        for (const parts of [days, sessions]) {
          for (const name of Object.keys(parts[0]).filter((key) => typeof total[key] === "number"))
            near(
              parts.reduce((sum, part) => sum + part[name], 0),
              total[name],
            );
        }
      }
    }
  }
  assert.ok(folded > 40, `${folded} sessions saved something`);
});

/** Plays a session of turns that read a file each, with a context window. Returns the figures after each turn. */
async function playInWindow({ contextWindow, tokens, turns, reported, calls, told }) {
  const store = await opened(FOLDING);
  const engine = createContextEngine(store, { compact: async () => ({}), pricesOf: () => PRICES });
  const history = [];
  const steps = [];
  let previous = await store.figures();
  for (let at = 1; at <= turns; at++) {
    const { messages: shown } = await engine.assemble({
      sessionId,
      messages: history.slice(),
      tokenBudget: told === "budget" ? Math.floor(contextWindow * 0.75) : undefined,
    });
    const turn = [user(`turn ${at}`, Date.now())];
    for (let call_ = 1; call_ <= calls; call_++) {
      const sent = Math.min(contextWindow, countMessageTokens([...shown, ...turn]));
      const isLast = call_ === calls;
      turn.push(
        answer(
          Date.now(),
          reported ? { input: sent, cacheRead: 0, cacheWrite: 0 } : undefined,
          isLast
            ? undefined
            : [
                {
                  type: "toolCall",
                  id: `c${at}.${call_}`,
                  name: "exec",
                  arguments: { command: `make ${at}.${call_}` },
                },
              ],
        ),
      );
      if (!isLast)
        turn.push({
          role: "toolResult",
          toolCallId: `c${at}.${call_}`,
          toolName: "exec",
          content: [{ type: "text", text: noise(Math.ceil(tokens / 24), at * 10 + call_) }],
          isError: false,
          timestamp: Date.now(),
        });
    }
    await engine.commitTurn({
      sessionId,
      advancementKey: String(at),
      messages: turn,
      runtimeContext: told === "window" ? { modelContextWindow: contextWindow } : undefined,
    });
    history.push(...turn);
    const figures = await store.figures();
    steps.push({
      without: figures.total.withoutTokens - previous.total.withoutTokens,
      compacting: figures.total.compacting - previous.total.compacting,
    });
    previous = figures;
  }
  await store.close();
  return { steps, figures: previous };
}

// Covers windows of five sizes x two sizes of turns x usage reported or not x calls of a turn x how the window is
// reported: 40 sessions.
test("the modelled requests without Concertina fit the window, and their bill is within its bounds", async () => {
  let compacted = 0;
  for (const contextWindow of [8_000, 16_000, 32_000, 64_000, 128_000]) {
    for (const share of [0.1, 0.3]) {
      for (const reported of [true, false]) {
        for (const [calls, told] of [
          [2, "window"],
          [3, "budget"],
        ]) {
          const what = JSON.stringify({ contextWindow, share, reported, calls, told });
          const {
            steps,
            figures: { total },
          } = await playInWindow({
            contextWindow,
            tokens: (contextWindow * share) / (calls - 1),
            turns: 14,
            reported,
            calls,
            told,
          });
          for (const { without, compacting } of steps)
            assert.ok(
              without <= contextWindow * 1.1 * (calls + compacting),
              `${what}: ${without} in a turn, with ${compacting} summaries`,
            );
          compacted += total.compacting > 0 ? 1 : 0;
          assert.ok(total.withoutLeast <= total.withoutBill && total.withoutBill <= total.withoutMost, what);
          assert.equal(total.withoutLeast < total.withoutMost, total.compacting > 0, what);
          assert.equal(total.requests, 14 * calls, "a summary of the host alone is no request");
        }
      }
    }
  }
  assert.ok(compacted >= 20, `${compacted} of 40 outgrow their window`);
});

test("the bill with answers is shown if the provider reports them and their price is known", async () => {
  const turn = (output) => [
    user("go", NOON),
    answer(NOON + 1, { input: 100, cacheRead: 0, cacheWrite: 0, ...(output === undefined ? {} : { output }) }),
  ];
  for (const [outputs, prices, expected] of [
    [[10, 20], { ...PRICES, output: 15 }, { answered: 2, answerTokens: 30, answerBill: (30 * 15) / 1e6 }],
    [[10, undefined], { ...PRICES, output: 15 }, { answered: 1, answerTokens: 10, answerBill: (10 * 15) / 1e6 }],
    [[10, 20], PRICES, { answered: 2, answerTokens: 30, answerBill: null }],
    [[undefined, undefined], { ...PRICES, output: 15 }, { answered: 0, answerTokens: 0, answerBill: null }],
  ]) {
    const concertina = await opened();
    for (const [at, output] of outputs.entries())
      await concertina.commitTurn({ sessionId, advancementKey: String(at), messages: turn(output), prices });
    const { total } = await concertina.figures();
    assert.deepEqual(
      {
        answered: total.answered,
        answerTokens: total.answerTokens,
        answerBill: total.answerBill === null ? null : Math.round(total.answerBill * 1e9) / 1e9,
      },
      expected,
    );
    near(total.sentBill, (200 * 3) / 1e6);
  }
});
