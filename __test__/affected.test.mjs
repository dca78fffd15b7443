// Tests of which tests a change runs.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { affected } from "../scripts/affected.mjs";
import { root } from "../scripts/steps.mjs";

const lines = (...files) => affected(files).map((words) => words.join(" "));
const ENGINE = "cargo test --locked -p concertina --lib --test=foreign --test=sessions --test=store --test=texts";

test("a change in a crate runs the tests of its package", () => {
  assert.deepEqual(lines("crates/readers/src/log.rs", "crates/base/src/lib.rs", "crates/readers/src/severity.txt"), [
    "cargo test --locked -p concertina-readers -p concertina-base",
  ]);
  assert.deepEqual(lines("postgres/src/lib.rs", "tests/power/src/lib.rs"), [
    "cargo test --locked -p concertina-postgres -p concertina-power-test",
  ]);
});

test("a change in the engine runs its unit tests and its test programs", () => {
  for (const file of ["src/plan/mod.rs", "tests/stages/mod.rs", "fixtures/cases/links/a.txt"])
    assert.deepEqual(lines(file), [ENGINE]);
  assert.deepEqual(lines("tests/texts/rules.rs"), ["cargo test --locked -p concertina --test=texts"]);
});

test("a change in the library builds the JavaScript and runs all library tests", () => {
  const count = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.mjs")).length;
  for (const [file, how] of [
    ["node/lib/cli.ts", "--javascript"],
    ["node/src/lib.rs", "--checked"],
  ]) {
    const [build, run] = affected([file]);
    assert.deepEqual(build, ["node", "scripts/build.mjs", how]);
    assert.equal(run.length, "node --test".split(" ").length + count);
  }
});

test("a change in the plugin runs the tests that load it, also through a helper", () => {
  const [build, run] = affected(["plugin/state.ts"]);
  assert.deepEqual(build, ["node", "scripts/build.mjs", "--javascript"]);
  assert.ok(run.includes("__test__/plugin.test.mjs") && run.includes("__test__/damage.test.mjs"), run.join(" "));
  assert.ok(!run.includes("__test__/prose.test.mjs"));
  assert.ok(affected(["plugin/page/page.js"])[1].includes("__test__/page.test.mjs"));
});

test("a change in a test, a helper, a script or a document runs the tests that use it", () => {
  assert.deepEqual(lines("__test__/room.test.mjs"), ["node --test __test__/room.test.mjs"]);
  assert.deepEqual(lines("docs/format.md"), ["node --test __test__/docs.test.mjs", "node scripts/words.mjs"]);
  const [run] = affected([
    "__test__/registration.mjs",
    "bench/replay/kinds.mjs",
    "__test__/format/decoder.mjs",
    "scripts/words.mjs",
  ]);
  for (const name of ["damage", "replay", "format", "words"])
    assert.ok(run.includes(`__test__/${name}.test.mjs`), name);
  for (const file of run.slice(2)) assert.ok(existsSync(path.join(root, file)), file);
});

test("a change that no test covers runs nothing", () => assert.deepEqual(affected(["LICENSE", ".gitignore"]), []));
