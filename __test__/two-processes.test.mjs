// Tests of two processes with one store: whatever each of them decides, both send the same bytes from then on.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { Concertina } from "openclaw-concertina";

import { freshDir, noise, toolRound, user } from "./conversation.mjs";

const ROUNDS = 12;
const sessionId = "shared";

/** Returns the history after some turns. Each has results that later turns make stale or repeat. */
function history(turns) {
  const turn = (at) => [
    user(`do ${at}`, 100 * at + 1),
    ...toolRound(`a${at}`, "exec", { command: `make ${at}` }, noise(120, at), 100 * at + 2),
    ...toolRound(`b${at}`, "exec", { command: "make all" }, noise(120, at % 3), 100 * at + 4),
    ...toolRound(`w${at}`, "write", { path: `f${at}.rs`, content: noise(120, at + 50) }, "done", 100 * at + 6),
  ];
  return Array.from({ length: turns }, (_, at) => turn(at)).flat();
}

const hashes = (messages) =>
  messages.map((message) => createHash("sha256").update(JSON.stringify(message)).digest("hex"));

/** Runs one process: assembles on request, with its own options. */
async function work([dir, options]) {
  const concertina = await Concertina.open({ dir, ...JSON.parse(options) });
  process.on("message", async (turns) => {
    const { messages, report } = await concertina.assemble({ sessionId, messages: history(turns) });
    process.send({
      sent: hashes(messages),
      folded: report.actions.filter(({ reason }) => reason !== "replay").length,
      warning: report.warning ?? null,
    });
  });
  process.on("disconnect", () => process.exit());
  process.send("ready");
}

function started(dir, options) {
  // The output of the child is not a test report.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = fork(fileURLToPath(import.meta.url), [dir, JSON.stringify(options)], {
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const next = () =>
    new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", (code) => reject(new Error(`the process ended with ${code}`)));
    });
  return {
    child,
    next,
    assemble: (turns) => {
      const answer = next();
      child.send(turns);
      return answer;
    },
  };
}

if (process.send !== undefined && process.argv.length === 4) await work(process.argv.slice(2));
else {
  test("two processes that assemble one session at once always send the same bytes", { timeout: 120_000 }, async () => {
    const dir = freshDir();
    // Alone, they would show the same block differently and fold it at other times.
    const both = [
      { keepPreviewChars: 10, staleTurns: 2 },
      { keepPreviewChars: 300, staleTurns: 2 },
    ].map((options) => started(dir, { schedule: "every-turn", ...options }));
    await Promise.all(both.map(({ next }) => next()));
    let folded = 0;
    let before = [];
    for (let turns = 1; turns <= ROUNDS; turns++) {
      const answers = await Promise.all(both.map(({ assemble }) => assemble(turns)));
      for (const { warning } of answers) assert.equal(warning, null);
      assert.deepEqual(answers[0].sent, answers[1].sent, `after ${turns} turns`);
      folded += answers[0].folded + answers[1].folded;
      // Each assembles again: there are no new decisions.
      const again = await Promise.all(both.map(({ assemble }) => assemble(turns)));
      for (const answer of again) assert.deepEqual([answer.sent, answer.folded], [answers[0].sent, 0]);
      before = answers[0].sent;
    }
    assert.ok(folded > ROUNDS, `${folded} blocks folded`);
    for (const { child } of both) child.kill("SIGKILL");
    const third = await Concertina.open({ dir, schedule: "every-turn", keepPreviewChars: 50, staleTurns: 2 });
    const { messages } = await third.assemble({ sessionId, messages: history(ROUNDS) });
    assert.deepEqual(hashes(messages), before);
    await third.close();
  });
}
