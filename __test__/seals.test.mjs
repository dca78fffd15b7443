// Tests of changed folds, and of texts whose original is missing: both are reported if a caller asks for that.
import assert from "node:assert/strict";
import { test } from "node:test";

import { compressSync, restore } from "openclaw-concertina";

const rows = Array.from({ length: 200 }, (_, row) => `step ${row} took ${(row * 7919) % 997} ms for item ${row % 13}`);
const text = rows.join("\n");
const folded = compressSync(text, { preset: "lossless" }).text;
const coded = (code) => (error) => error instanceof Error && error.code === code;

test("a sealed fold is restored with and without strict", () => {
  assert.match(folded, /^\[\[FOLD:\w+ \d+ a[a-z]{5}\]\]/);
  for (const options of [undefined, {}, { strict: false }, { strict: true }]) {
    assert.equal(restore(folded, [], options), text);
    assert.equal(restore(folded.replaceAll("\n", "\r\n"), [], options), text);
    assert.equal(restore("nothing of ours\n", [], options), "nothing of ours\n");
  }
});

// Covers another digit, a missing line, an additional line, another count, another seal, an unknown version.
test("a changed fold is unchanged by restore, and an error with strict", () => {
  const lines = folded.split("\n");
  const changed = {
    digit: folded.replace(/(\d)(\D*)$/, (_, digit, rest) => `${(Number(digit) + 1) % 10}${rest}`),
    "line less": [...lines.slice(0, 2), ...lines.slice(3)].join("\n"),
    "line more": [lines[0], lines[1], "1 2 3", ...lines.slice(2)].join("\n"),
    count: folded.replace(/ (\d+) /, (_, count) => ` ${Number(count) - 1} `),
    seal: folded.replace(
      / a([a-z]{5})\]\]/,
      (_, sum) => ` a${sum.replace(/^./, (first) => (first === "a" ? "b" : "a"))}]]`,
    ),
    version: folded.replace(/ a([a-z]{5})\]\]/, " z$1]]"),
  };
  for (const [name, other] of Object.entries(changed)) {
    assert.notEqual(other, folded, name);
    assert.equal(restore(other), other, name);
    assert.throws(() => restore(other, [], { strict: true }), coded("CONCERTINA_FOLD_DAMAGED"), name);
  }
  const foreign = folded.replace(/ a[a-z]{5}\]\]/, "]]");
  assert.equal(restore(foreign, [], { strict: true }), foreign, "a header without a seal is text from outside");
});

test("a missing original is an error with strict", () => {
  const marked = "short\n[[REWIND:sha256:0123456789abcdef]] original: 9 lines";
  assert.equal(restore(marked), marked);
  assert.throws(() => restore(marked, [], { strict: true }), coded("CONCERTINA_ORIGINAL_MISSING"));
  assert.throws(() => restore(marked, [], { strict: 1 }), coded("CONCERTINA_BAD_ARGUMENT"));
});
