import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import test from "node:test";

import * as esm from "openclaw-concertina";

import { written } from "./conversation.mjs";

const require = createRequire(import.meta.url);

test("import and require give the same single copy of every name in the types, and no other names", () => {
  const cjs = require("openclaw-concertina");
  const types = readFileSync(new URL("../index.d.cts", import.meta.url), "utf8");
  const names = [...types.matchAll(/^(?:export )?(?:declare )?(?:function|const|class|namespace) (\w+)/gm)].map(
    (found) => found[1],
  );
  // The overloads of one function follow each other.
  const one = names.filter((name, at) => name !== names[at - 1]);
  assert.deepEqual(one.sort(), Object.keys(cjs).sort());
  for (const name of Object.keys(cjs)) assert.equal(esm[name], cjs[name], name);
});

test("names that are also names of test runners and programs stand in namespaces, too", () => {
  assert.equal(esm.errors.describe, esm.describe);
  assert.equal(esm.errors.describeError, esm.describe);
  assert.equal(esm.prose.expand, esm.expand);
  assert.equal(esm.fusion.stages, esm.stages);
  assert.deepEqual(
    [...Object.keys(esm.prose), ...Object.keys(esm.fusion)].filter((name) => !(name in esm)),
    [],
  );
});

test("a panic becomes an error with a code, on the event loop and on a worker", async () => {
  const { native } = require("../dist/node/lib/binding/native.js");
  const { calling, awaiting } = require("../dist/node/lib/binding/errors.js");
  assert.throws(() => calling(() => native().__panic()), {
    code: "CONCERTINA_PANIC",
    message: "internal error: asked for by a test",
  });
  await assert.rejects(
    awaiting(() => native().__panicOnWorker()),
    { code: "CONCERTINA_PANIC" },
  );
});

test("the platform name states the C library that Node itself uses", { skip: process.platform !== "linux" }, () => {
  const { platformName, usesMusl } = require("../dist/node/lib/binding/native.js");
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  assert.equal(platformName(), `linux-${process.arch}-${isGlibc ? "gnu" : "musl"}`);
  for (const [loader, is] of [
    ["/lib/ld-musl-aarch64.so.1", true],
    ["/lib64/ld-linux-x86-64.so.2", false],
  ]) {
    const file = Buffer.concat([
      Buffer.from("\x7fELF"),
      Buffer.alloc(700),
      Buffer.from(`${loader}\0`),
      Buffer.alloc(100_000),
    ]);
    assert.equal(usesMusl(written("program", file)), is, loader);
  }
});
