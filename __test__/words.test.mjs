// Tests of the check of words in comments, documents and commit subjects.
import assert from "node:assert/strict";
import test from "node:test";

import { longSubjects, wordFaults } from "../scripts/words.mjs";

const long = "word ".repeat(25).trim();
const faultsOf = (file, text) => wordFaults(file, text).map((fault) => fault.split(" ", 1)[0]);
const isGood = (file) => (text) => assert.deepEqual(wordFaults(file, text), [], text);

test("a doc comment must not begin as a fragment", () => {
  const [fault] = wordFaults("a.rs", "/// What it holds.");
  assert.equal(fault, 'a.rs:1: a doc comment must not begin with "What": say what the item is or returns');
  assert.deepEqual(faultsOf("a.rs", "/// How it works.\n/// A line.\n//! Whether it is."), ["a.rs:1:", "a.rs:3:"]);
  assert.deepEqual(faultsOf("a.ts", "/** How it works. */\n/**\n * What it is.\n */"), ["a.ts:1:", "a.ts:3:"]);
  const good = ["/// It says\n/// What it is.", "/// What is it? A line.", "// How it works.", "/// Whatever it is."];
  good.forEach(isGood("a.rs"));
});

test("a line of prose has at most 120 characters", () => {
  assert.deepEqual(wordFaults("a.md", long), ["a.md:1: the line has more than 120 characters"]);
  assert.deepEqual(faultsOf("a.sql", `SELECT 1;\n-- ${long}`), ["a.sql:2:"]);
  const good = [`${long.slice(0, 119)}…`, `| ${long} |`, `\`\`\`\n${long}\n\`\`\``, `[a](b.md) ${long}`];
  good.forEach(isGood("a.md"));
  for (const file of ["a.mjs", "a.rs", "a.toml"]) isGood(file)(`f("${long}")`);
});

test("a banned word is named", () => {
  assert.deepEqual(wordFaults("a.yml", "# Amidst others."), ['a.yml:1: "Amidst" is not plain technical English']);
  isGood("fixtures/a.md")("amidst");
});

test("the subject of a commit has at most 72 characters", () => {
  const commits = [72, 73].map((length) => `0123abcd ${"ü".repeat(length)}`);
  assert.deepEqual(longSubjects(commits), [`commit ${commits[1]}: the subject has more than 72 characters`]);
});
