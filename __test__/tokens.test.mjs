// Compares token counts with gpt-tokenizer, which shares no code with ours.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { countTokens } from "openclaw-concertina";

const TEXTS = 10_000;

/** Random numbers that are the same in each run. */
let state = 0x9e3779b9;
function below(limit) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % limit;
}

const fixtures = readdirSync(new URL("../fixtures/", import.meta.url), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(txt|log|json|md|rs|ts|py|diff|html)$/.test(entry.name))
  .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, "utf8"))
  .filter((text) => text.length > 200);

/**
 * Generators of the pieces of texts, from the shortest step of a vocabulary to characters that no vocabulary contains.
 * U+FEFF is excluded: only JavaScript's patterns treat it as a blank.
 */
const PIECES = [
  () => " ".repeat(1 + below(40)),
  () => ["\n", "\r\n", "\n\n", "\t", "\u00a0", "\u2028"][below(6)].repeat(1 + below(5)),
  () => String(below(10 ** (1 + below(9)))),
  () =>
    [
      "don't",
      "I'LL",
      "it’s",
      "naïve",
      "Straße",
      "ΣΊΣΥΦΟΣ",
      "İstanbul",
      "e\u0301te\u0301",
      "ﬁ",
      "漢字かな交じり文",
      "한국어",
      "हिन्दी",
      "👩‍👩‍👧‍👦",
      "🇩🇪",
      "\u0000",
      "\u200d",
    ][below(16)],
  () => ["<|endoftext|>", "<|fim_prefix|>", "</s>", "=>", "::", "/**", "```", "----", "…", "§"][below(10)],
  () =>
    String.fromCodePoint(
      ...Array.from(
        { length: 1 + below(6) },
        () => [below(0x80), 0xa0 + below(0x2000), 0x3000 + below(0x7000), 0x1f300 + below(0x500)][below(4)],
      ),
    ),
  () => "aZ09_-"[below(6)].repeat(1 + below(300)),
  () => {
    const text = fixtures[below(fixtures.length)];
    const from = below(text.length);
    return text.slice(from, from + below(400)).replaceAll("\ufeff", "");
  },
];

const random = () => Array.from({ length: 1 + below(12) }, () => PIECES[below(PIECES.length)]()).join("");

test("ten thousand random texts have as many tokens as gpt-tokenizer counts, in both vocabularies", () => {
  assert.ok(fixtures.length > 20);
  for (const [encoding, other] of [
    ["o200k_base", o200k],
    ["cl100k_base", cl100k],
  ]) {
    for (let at = 0; at < TEXTS; at++) {
      const text = random();
      assert.equal(
        countTokens(text, { encoding }),
        other(text, { disallowedSpecial: new Set() }),
        JSON.stringify(text),
      );
    }
  }
});
