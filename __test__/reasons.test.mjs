// Covers each reason code in the core's sources, and codes of other versions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { EPOCH_KINDS, epochReason, foldReason } from "../dist/node/lib/terminal/reasons.js";

/** Returns the codes of a source file: what follows `=>` in `as_str` and `reason`, and constants. */
function codesIn(file) {
  const text = readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8");
  const bodies = [...text.matchAll(/fn (?:as_str|reason)\(.*?\n {4}\}/gs)].map(([body]) => body).join("\n");
  const constants = [
    ...text.matchAll(/const (?:RETURNED_REASON|RESTORED_REASON|RESTORED|ASKED|LARGE|THINKING): &str = "([^"]+)"/g),
  ];
  return [...bodies.matchAll(/=> "([^"]+)"/g), ...constants].map(([, code]) => code);
}

test("each reason for an epoch has a text that is not its code", () => {
  const codes = [
    "plan/cache.rs",
    "plan/economics.rs",
    "history/mod.rs",
    "assemble/report.rs",
    "assemble/fold_commit.rs",
  ].flatMap(codesIn);
  assert.ok(codes.length >= 14, codes.join());
  for (const code of codes) {
    const words = epochReason(code);
    assert.match(words, /^[A-Z][a-z]+( [a-z]+)*(: [a-z ]+)?$/, code);
    if (code.startsWith("cold: ")) assert.match(words, /^Cold cache: ./, code);
  }
  assert.equal(new Set(EPOCH_KINDS.map(({ title }) => title)).size, EPOCH_KINDS.length);
});

test("each reason for a fold has a text, and an unknown code is returned unchanged", () => {
  for (const code of ["history/mod.rs", "assemble/report.rs", "assemble/birth.rs"].flatMap(codesIn)) {
    assert.notEqual(foldReason(code), code);
  }
  for (const code of ["newer: reason", "coldish", ""])
    assert.deepEqual([epochReason(code), foldReason(code)], [code, code]);
});
