// Tests of the interval for a saving, against distributions whose true saving is known.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { randomFrom, savedShare } = createRequire(import.meta.url)("../dist/node/lib/library/bootstrap.js");

const SAVED = 0.3;
const RUNS = 200;

/** Returns the share of runs in which the interval holds the true saving of `draw(random)` and 70 % of it. */
function coverage(draw, sessions) {
  const random = randomFrom(5);
  const group = (share) =>
    Array.from({ length: sessions }, () => {
      const { cost, weight } = draw(random);
      return { cost: cost * share, weight };
    });
  let held = 0;
  for (let run = 0; run < RUNS; run++) {
    const { least, most } = savedShare(group(1 - SAVED), group(1), run);
    if (least <= SAVED && SAVED <= most) held++;
  }
  return held / RUNS;
}

test("the interval holds the true saving in 95 % of runs", () => {
  const found = coverage((random) => ({ cost: -Math.log(1 - random()), weight: 1 }), 50);
  // Two standard errors of 200 runs.
  assert.ok(Math.abs(found - 0.95) <= 0.031, `exponential costs: ${found}`);
  const perTurn = coverage((random) => {
    const turns = 1 + Math.floor(random() * 20);
    return { cost: turns * (0.5 + random()), weight: turns };
  }, 50);
  assert.ok(Math.abs(perTurn - 0.95) <= 0.031, `costs per turn: ${perTurn}`);
});

test("the saving is that of the sums, and the interval is the same every time", () => {
  const treated = Array.from({ length: 9 }, (_, at) => ({ cost: 10 + at * at, weight: 1 + (at % 3) }));
  const untreated = treated.map(({ cost, weight }) => ({ cost: cost / 0.75, weight }));
  const found = savedShare(treated, untreated, 7);
  assert.ok(Math.abs(found.share - 0.25) < 1e-12, `${found.share}`);
  assert.ok(found.least < found.share && found.share < found.most);
  assert.deepEqual(savedShare(treated, untreated, 7), found);
  assert.notDeepEqual(savedShare(treated, untreated, 8), found);
});

test("groups that are too small or cost nothing have no interval", () => {
  const one = [{ cost: 1, weight: 1 }];
  const free = [
    { cost: 0, weight: 1 },
    { cost: 0, weight: 1 },
  ];
  const two = [...one, ...one];
  for (const [treated, untreated] of [
    [one, two],
    [two, one],
    [[], []],
    [free, two],
    [two, free],
  ])
    assert.equal(savedShare(treated, untreated), undefined);
});
