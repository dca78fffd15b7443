import assert from "node:assert/strict";
import { existsSync, linkSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { Concertina } from "openclaw-concertina";

import { run } from "./cli.mjs";
import { freshDir, idIn, noise, staleConversation, toolRound, user } from "./conversation.mjs";

const sessionId = "s1";

/** Creates a session with placeholders from birth and from assembly. Returns it with its original messages. */
async function folded(dir = freshDir(), options = {}) {
  const concertina = await Concertina.open({ dir, ...options });
  const messages = staleConversation();
  const [call, fresh] = toolRound("c9", "exec", { command: "sh big.sh" }, noise(400, 9), 900);
  const { message } = await concertina.admitToolResult({ sessionId, message: fresh, args: { command: "sh big.sh" } });
  const shown = await concertina.assemble({ sessionId, messages: [...messages, call, message] });
  assert.ok(idIn(shown.messages[2].content[0].text) && idIn(message.content[0].text));
  return { dir, concertina, originals: [...messages, call, fresh], shown: shown.messages };
}

test("a folded session is unfolded byte for byte, and unfolded messages are the same objects", async () => {
  const { concertina, originals, shown } = await folded();
  const { messages, unfolded, missing } = await concertina.unfold({ sessionId, messages: shown });
  assert.deepEqual(messages, originals);
  assert.deepEqual([unfolded, missing], [2, []]);
  assert.equal(messages[0], shown[0]);
  const plain = [user("hi")];
  assert.equal((await concertina.unfold({ messages: plain })).messages, plain);
});

test("a placeholder whose original is missing is kept and listed", async () => {
  const { concertina, shown } = await folded();
  const foreign = structuredClone(shown.slice(2, 3));
  const id = idIn(foreign[0].content[0].text);
  const other = await concertina.unfold({ sessionId: "s2", agentId: "stranger", messages: foreign });
  assert.equal(other.messages, foreign);
  assert.deepEqual(other.missing, [id]);
});

test("a sub-agent that inherits one named original can fetch only that one", async () => {
  const { concertina, shown } = await folded();
  const ids = [idIn(shown[2].content[0].text), idIn(shown.at(-1).content[0].text)];
  await concertina.inherit({
    parent: { sessionId },
    child: { agentId: "helper", sessionId: "child" },
    named: [ids[0]],
  });
  const found = (refId) =>
    concertina.fetch({ refIds: [refId], agentId: "helper", sessionId: "child" }).then((answer) => answer.found);
  assert.deepEqual([await found(ids[0]), await found(ids[1])], [1, 0]);
});

test("under the host's retention an original lives as long as its session", async () => {
  const { concertina, shown } = await folded(freshDir(), { retention: "host" });
  const [now, day] = [Date.now(), 86_400_000];
  const found = (at) =>
    concertina.fetch({ refIds: [idIn(shown[2].content[0].text)], sessionId, now: at }).then((answer) => answer.found);
  await concertina.sweep({ now: now + 90 * day });
  assert.equal(await found(now + 90 * day), 1);
  assert.deepEqual(await concertina.settle({ sessionIds: [sessionId], now: now + 91 * day }), { ended: 0 });
  assert.deepEqual(await concertina.settle({ sessionIds: [], now: now + 91 * day }), { ended: 1 });
  await concertina.sweep({ now: now + 200 * day });
  assert.equal(await found(now + 200 * day), 0);
});

test("a session that the host has ended is forgotten after its time to live", async () => {
  const { concertina } = await folded(freshDir(), { retention: "host" });
  const now = Date.now();
  await concertina.endSession({ sessionId, now });
  assert.equal((await concertina.sweep({ now: now + 200 * 86_400_000 })).originals, 2);
  assert.deepEqual(concertina.notices(), []);
});

test("a dry purge reports what a purge removes and removes nothing", async () => {
  const { concertina } = await folded();
  const dry = await concertina.purge({ sessionId, dry: true });
  assert.equal(dry.originals, 2);
  assert.equal((await concertina.stats()).originals, 2);
  assert.equal((await concertina.purge({ sessionId })).originals, 2);
  assert.equal((await concertina.stats()).originals, 0);
});

test("the unfold command writes a new file and never overwrites one", async () => {
  const { dir, concertina, originals, shown } = await folded();
  await concertina.close();
  const lines = (messages) =>
    [
      '{"type":"session", "id":1.0}',
      ...messages.map((message) => JSON.stringify({ type: "message", message })),
      "",
    ].join("\n");
  const folder = freshDir();
  const [session, out, link] = ["session.jsonl", "out.jsonl", "link.jsonl"].map((name) => path.join(folder, name));
  writeFileSync(session, lines(shown));
  linkSync(session, link);
  for (const taken of [session, link]) {
    const refused = run("unfold", session, "--dir", dir, "--session", sessionId, "--out", taken);
    assert.equal(refused.status, 1, refused.stderr);
    assert.match(refused.stderr, /already exists, and no file is overwritten/);
    assert.equal(readFileSync(session, "utf8"), lines(shown));
  }
  const done = run("unfold", session, "--dir", dir, "--session", sessionId, "--out", out);
  assert.deepEqual([done.status, done.stdout, done.stderr], [0, "", "2 placeholders unfolded, 0 left\n"]);
  assert.equal(readFileSync(out, "utf8"), lines(originals));
  const printed = run("unfold", session, "--dir", dir, "--session", sessionId);
  assert.equal(printed.stdout, lines(originals));
});

test("the unfold command names each missing original and exits with 1", async () => {
  const { dir, concertina, shown } = await folded();
  await concertina.close();
  const session = path.join(freshDir(), "session.json");
  writeFileSync(session, JSON.stringify(shown, null, 2));
  const done = run("unfold", session, "--dir", dir, "--agent", "stranger");
  assert.equal(done.status, 1);
  assert.equal(done.stdout, JSON.stringify(shown, null, 2));
  for (const message of [shown[2], shown.at(-1)])
    assert.ok(done.stderr.includes(idIn(message.content[0].text)), done.stderr);
});

test("the purge command removes nothing without consent", async () => {
  const { dir, concertina } = await folded();
  await concertina.close();
  const refused = run("purge", sessionId, "--dir", dir);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^This removes 2 originals \([\d,]+ bytes\) that only session s1 holds\./);
  assert.match(refused.stderr, /--yes/);
  const agreed = run("purge", sessionId, "--dir", dir, "--yes", "--json");
  assert.equal(agreed.status, 0, agreed.stderr);
  assert.equal(JSON.parse(agreed.stdout).originals, 2);
  assert.ok(existsSync(dir));
});

/** Covers every call that names a session, for two agents that have a session of that name. */
test("sessions of two agents with the same name are separate", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir });
  const sessionId = "work";
  const ids = {};
  for (const agentId of ["main", "b"]) {
    const [, message] = toolRound("c", "exec", { command: "sh big.sh" }, noise(400, agentId.length), 900);
    const { report } = await concertina.admitToolResult({ sessionId, agentId, message });
    ids[agentId] = report.actions[0].refId;
    await concertina.commitTurn({ sessionId, agentId, advancementKey: "1", messages: [] });
  }
  const isThere = async (agentId) => (await concertina.fetch({ refIds: [ids[agentId]], agentId })).found === 1;
  for (const agentId of ["main", "b"]) {
    assert.deepEqual(
      [
        (await concertina.stats({ sessionId, agentId })).turns,
        (await concertina.figures({ sessionId, agentId })).store.originals,
      ],
      [1, 1],
    );
  }
  assert.equal((await concertina.stats({ sessionId })).turns, 1);
  await concertina.endSession({ sessionId, agentId: "b" });
  const purge = (...more) => run("purge", sessionId, "--dir", dir, "--yes", ...more);
  const unclear = purge();
  assert.equal(unclear.status, 1);
  assert.match(unclear.stderr, /name the agent with --agent/);
  assert.match(purge("--agent", "c").stderr, /there is no session "work"/);
  assert.equal(
    JSON.parse(run("stats", "--dir", dir, "--session", sessionId, "--agent", "b", "--json").stdout).store.originals,
    1,
  );
  assert.equal((await concertina.purge({ sessionId, agentId: "c" })).sessions, 0);
  assert.equal((await concertina.purge({ sessionId, dry: true })).originals, 1);
  assert.equal((await concertina.purge({ sessionId })).sessions, 1);
  assert.deepEqual([await isThere("main"), await isThere("b")], [false, true]);
  assert.equal((await concertina.stats({ sessionId })).turns, 1, "the only agent that has one");
  assert.equal(purge("--agent", "b").status, 0);
  assert.equal(await isThere("b"), false);
  for (const call of ["stats", "figures"]) {
    await assert.rejects(concertina[call]({ agentId: "b" }), { code: "CONCERTINA_BAD_ARGUMENT", message: /^agentId / });
  }
  for (const call of ["stats", "figures", "purge", "endSession"]) {
    await assert.rejects(concertina[call]({ sessionId, agentId: 7 }), {
      code: "CONCERTINA_BAD_ARGUMENT",
      message: /^agentId /,
    });
  }
});
