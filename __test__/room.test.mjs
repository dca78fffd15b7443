// Tests of the size limit of a fetched answer, which follows from the host's report of a turn.

import assert from "node:assert/strict";
import { test } from "node:test";

import { FETCH_CHARS } from "../dist/node/lib/index.js";
import { noteBudget, roomIn } from "../dist/plugin/answer-budget.js";

test("the maximum length of an answer follows the token budget of the session's latest turn", () => {
  const room = (budget) => {
    noteBudget("one", budget);
    return roomIn("one");
  };
  assert.deepEqual([1_000_000, 200_000, 199_999, 100_000, 99_999].map(room), [
    63_900,
    63_900,
    31_900,
    31_900,
    FETCH_CHARS,
  ]);
  assert.equal(room(undefined), FETCH_CHARS);
});

test("an unknown or forgotten session has the limit of the smallest window", () => {
  noteBudget("one", 1_000_000);
  assert.deepEqual([roomIn("two"), roomIn(undefined)], [FETCH_CHARS, FETCH_CHARS]);
  for (let at = 0; at < 1000; at++) noteBudget(`session ${at}`, 1_000_000);
  assert.equal(roomIn("one"), FETCH_CHARS);
  assert.equal(roomIn("session 0"), 63_900);
});

test("all copies of the module in a process share the budgets", async () => {
  noteBudget("shared", 1_000_000);
  const copy = await import("../dist/plugin/answer-budget.js?copy");
  assert.notEqual(copy.roomIn, roomIn);
  assert.equal(copy.roomIn("shared"), 63_900);
});
