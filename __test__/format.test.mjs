// The golden folds of format version 1, restored by a decoder that was written from docs/format.md, and by the library.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { restore as restoreLibrary } from "../index.js";
import { restore } from "./format/decoder.mjs";

const folder = new URL("../fixtures/format/1/", import.meta.url);
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".fold"))
  .map((name) => name.slice(0, -".fold".length));
const read = (name) => readFileSync(new URL(name, folder), "utf8");

test("the decoder has less than 400 lines, as docs/format.md says", () => {
  const lines = readFileSync(new URL("format/decoder.mjs", import.meta.url), "utf8").split("\n").length - 1;
  assert.ok(lines < 400, `${lines}`);
});

test("there are golden folds", () => assert.ok(names.length > 50));

for (const name of names) {
  test(`${name} is restored without the library`, async () => {
    const fold = read(`${name}.fold`);
    assert.equal(restore(fold), read(`${name}.text`));
    assert.equal(await restoreLibrary(fold), read(`${name}.text`));
  });
}

test("a changed fold is reported as damaged", () => {
  for (const name of names) {
    const fold = read(`${name}.fold`);
    const changed = fold.replace(/^(\[\[FOLD:\S+ \d+) [a-z]{6}\]\]/m, "$1 azzzzz]]").replace(/^a[a-z]{5}$/m, "azzzzz");
    assert.throws(() => restore(changed), /CONCERTINA_FOLD_DAMAGED/, name);
  }
});
