// Tests the model that chooses names on labels that were not used for training: bench/names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gunzipSync } from "node:zlib";

const read = (file) => readFileSync(new URL(`../${file}`, import.meta.url));
const rounded = (share) => Math.round(1000 * share) / 1000;

/**
 * Returns the share of pairs of a needed and another name of the same output that a score orders correctly: the mean
 * over outputs, and over pairs.
 */
function area(outputs, score) {
  const each = outputs.map((rows) => {
    const scores = (isNeeded) => rows.filter((row) => row.at(-1) > 0 === isNeeded).map(score);
    const [needed, others] = [scores(true), scores(false)];
    const won = needed.flatMap((one) => others.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
    return { won: won.reduce((sum, share) => sum + share, 0), pairs: won.length };
  });
  const sum = (of) => each.reduce((total, output) => total + of(output), 0);
  return {
    outputs: each.length,
    mean: rounded(sum(({ won, pairs }) => won / pairs) / each.length),
    pairs: rounded(sum(({ won }) => won) / sum(({ pairs }) => pairs)),
  };
}

test("the model file states the results on the frozen labels, and the model is better than the rule", () => {
  const { metrics, bias, weights } = JSON.parse(read("src/summarize/identifiers/model.json"));
  const outputs = gunzipSync(read("bench/names/frozen.jsonl.gz"))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).rows);
  const table = Object.values(weights);
  const rule = area(outputs, ([, score]) => score);
  const learned = area(outputs, ([steps]) => steps.reduce((sum, step, at) => sum + table[at][step], bias));
  const said = metrics["on the frozen labels, by this model"];
  assert.deepEqual({ rule, learned }, { rule: said.rule, learned: said.learned });
  assert.ok(learned.mean > rule.mean && learned.pairs > rule.pairs);
});
