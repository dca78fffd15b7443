// Tests of prose and rule shortening through the JavaScript API.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  compressProse,
  compressProseAsync,
  compressProseSync,
  compressRules,
  compressRulesAsync,
  countTokens,
  expand,
  preprocess,
  preprocessAsync,
  protectedSpans,
  redactPrivate,
  tokenize,
} from "../index.js";

const text =
  "Please note that the configuration of the `the db` 🦀 is basically in /etc/app.conf; don't really delete it.";

test("the spans of a receipt add up, and each can be undone", async () => {
  const { text: short, receipt } = compressProse(text, { intensity: "full", objective: "chars" });
  assert.ok(
    short.length < text.length &&
      short.includes("`the db` 🦀") &&
      short.includes("/etc/app.conf") &&
      short.includes("don't"),
  );
  assert.deepEqual(Object.keys(receipt), [
    "tokens_before",
    "tokens_after",
    "saved_tokens",
    "saved_ratio",
    "compression_intensity",
    "substitutions",
  ]);
  assert.equal(receipt.tokens_before, countTokens(text));
  assert.equal(receipt.tokens_after, countTokens(short));
  assert.equal(receipt.saved_tokens, receipt.tokens_before - receipt.tokens_after);
  assert.deepEqual(receipt.substitutions, [{ long: "configuration", short: "config", count: 1 }]);
  assert.ok(expand(short).includes("configuration") && expand(short, receipt).includes("configuration"));
  assert.equal(expand(short, { substitutions: [] }), short);
  assert.deepEqual(await compressProseAsync(text, { objective: "chars" }), { text: short, receipt });
  assert.equal(compressProseSync, compressProse);
});

test("a receipt has its names in camelCase, too, and JSON has the published ones", async () => {
  for (const { receipt } of [compressProse(text), await compressProseAsync(text), compressProse("\ud800")]) {
    assert.deepEqual(
      [receipt.tokensBefore, receipt.tokensAfter, receipt.savedTokens, receipt.savedRatio],
      [receipt.tokens_before, receipt.tokens_after, receipt.saved_tokens, receipt.saved_ratio],
    );
    assert.equal(receipt.compressionIntensity, "full");
    assert.ok(!JSON.stringify(receipt).includes("tokensBefore"));
  }
});

test("the tokens of a text join to the text, and their spans are UTF-16 offsets", () => {
  assert.equal(
    tokenize(text)
      .map((token) => token.text)
      .join(""),
    text,
  );
  assert.ok(tokenize(text).some(({ kind, text: code }) => kind === "inline-code" && code === "`the db`"));
  const spans = protectedSpans(text).map(({ start, end, category }) => [category, text.slice(start, end)]);
  assert.deepEqual(
    spans.filter(([category]) => category !== "prose"),
    [
      ["inline-code", "`the db`"],
      ["path", "/etc/app.conf"],
      ["negation", "don't"],
      ["action", "delete"],
    ],
  );
});

test("a text with a lone surrogate is unchanged by every prose function", () => {
  const lone = "the really lone \ud800 one";
  assert.equal(compressProse(lone).text, lone);
  assert.equal(preprocess(lone, 2), lone);
  assert.equal(expand(lone), lone);
  assert.equal(
    tokenize(lone)
      .map((token) => token.text)
      .join(""),
    lone,
  );
});

test("redactPrivate removes private parts", () => assert.equal(redactPrivate("a <Private>b</private> c"), "a  c"));

test("the published token estimate is available as the encoding approx", () => {
  assert.equal(countTokens("a b c d", { encoding: "approx" }), 4);
  assert.equal(countTokens("abcdefghij", { encoding: "approx" }), 3);
});

test("rule files are joined within the budget, and files that do not fit are listed", async () => {
  const files = [
    { name: "b.md", text: "## Style\n\nUse the **configuration** of the repository.\n" },
    { name: "a.md", text: "---\npriority: 1\n---\nNever push to main.\n" },
    { name: "c.md", text: "A long rule about the style. ".repeat(40) },
  ];
  const done = compressRules(files, { maxChars: 120 });
  assert.equal(done.text, "---\npriority: 1\n---\nNever push to main.\n\n[Style]\nUse cfg of repo.");
  assert.deepEqual([done.included, done.omitted], [["a.md", "b.md"], ["c.md"]]);
  assert.equal(done.report.charsAfter, done.text.length);
  assert.equal(done.report.tokensAfter, countTokens(done.text));
  assert.ok(done.report.tokensAfter <= done.report.tokensBefore);
  assert.deepEqual(await compressRulesAsync(files, { maxChars: 120 }), done);
  assert.equal(preprocess(files[0].text, 0), files[0].text);
  assert.equal(await preprocessAsync(files[0].text, "light"), "[Style]\nUse the configuration of the repository.\n");
});

test("custom abbreviations take precedence, and an invalid one is named in the error", () => {
  const abbreviations = { entries: { "pull request": "PR" } };
  assert.equal(preprocess("Open a pull request there.", 2, { abbreviations }), "Open PR there.");
  const bad = { abbreviations: { entries: { "pull request": 7 } } };
  assert.throws(() => compressRules([], bad), {
    name: "TypeError",
    message: /^abbreviations\.entries\["pull request"\] is 7; it must be /,
  });
});

test("prose written with filler loses 30 percent of its tokens", () => {
  const filler = readFileSync(new URL("../fixtures/prose_filler/meeting-notes.md", import.meta.url), "utf8");
  assert.ok(compressProse(filler).receipt.saved_ratio >= 0.3);
});
