import assert from "node:assert/strict";
import test from "node:test";

import { Candidates, optimum } from "../bench/replay/optimum.mjs";

/** Returns a generator of small integers that are the same on every machine. */
function dice(seed) {
  let x = seed >>> 0;
  return (below) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return (x >>> 8) % below;
  };
}

/** Returns a sequence of requests with folds that is small enough to try every schedule. */
function randomCase(seed) {
  const roll = dice(seed);
  const calls = 4 + roll(2);
  const sent = [1 + roll(2)];
  for (let call = 1; call < calls; call++) sent.push(sent.at(-1) + roll(3));
  const tokens = Array.from({ length: sent.at(-1) }, () => 60 + roll(400));
  const cold = sent.map((_, call) => call === 0 || roll(6) === 0);
  const steps = [];
  for (let folds = 0; folds < 4; folds++) {
    const at = 1 + roll(calls - 1);
    const position = roll(sent[at - 1]);
    // A position may be folded twice, and its remaining tokens stay positive.
    steps.push({ position, at, gain: 1 + roll(28) });
  }
  return { tokens, sent, cold, steps };
}

/** Bills a schedule as a meter would: `cuts[t]` is the position of the epoch at call t, or Infinity. */
function bill({ tokens, sent, cold, steps }, cuts, { read, write }) {
  const now = [...tokens];
  const open = new Set(steps);
  let total = 0;
  sent.forEach((count, call) => {
    let changed = cold[call] ? 0 : (sent[call - 1] ?? 0);
    for (const step of open) {
      if (step.at > call || !(cold[call] || step.position >= cuts[call])) continue;
      now[step.position] -= step.gain;
      changed = Math.min(changed, step.position);
      open.delete(step);
    }
    for (let index = 0; index < count; index++) total += now[index] * (index < changed ? read : write);
  });
  return total;
}

function bestOfAll(example, prices) {
  const choices = [Infinity, ...new Set(example.steps.map((step) => step.position))];
  const cuts = [];
  let best = Infinity;
  const walk = (call) => {
    if (call === example.sent.length) {
      best = Math.min(best, bill(example, cuts, prices));
      return;
    }
    for (const cut of example.cold[call] ? [Infinity] : choices) {
      cuts[call] = cut;
      walk(call + 1);
    }
  };
  walk(0);
  return best;
}

test("the optimum is the lowest bill of all schedules of a small case", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const example = randomCase(seed);
    const prices = [
      { read: 0.1, write: 1.25 },
      { read: 0.5, write: 1 },
      { read: 0.9, write: 1 },
    ][seed % 3];
    const found = optimum(example, prices);
    assert.ok(found.exact);
    assert.ok(
      Math.abs(found.bill - bestOfAll(example, prices)) < 1e-6,
      `seed ${seed}: ${found.bill}, not ${bestOfAll(example, prices)}`,
    );
  }
});

test("a coarse grid is never below the optimum and is marked as inexact", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const example = randomCase(seed);
    const prices = { read: 0.5, write: 1 };
    const [fine, coarse] = [optimum(example, prices), optimum(example, prices, 0, 1)];
    assert.ok(coarse.bill >= fine.bill - 1e-6, `seed ${seed}`);
    if (coarse.bill > fine.bill + 1e-6) assert.equal(coarse.exact, false);
  }
});

test("a candidate is a position that is sent with different content later", () => {
  const found = new Candidates();
  const tokens = [10, 50, 5, 7];
  found.add([0, 1], false, tokens);
  found.add([0, 2, 3], false, tokens);
  assert.deepEqual(found.steps, [{ position: 1, at: 1, gain: 45 }]);
  assert.deepEqual(
    [found.tokens, found.sent, found.cold],
    [
      [10, 50, 7],
      [2, 3],
      [true, false],
    ],
  );
});
