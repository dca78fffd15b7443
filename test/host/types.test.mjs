// Tests of what users compile: the packed package's types with the SDKs whose messages it accepts, for each way of
// resolving modules, and the plugin with the types of the host that is installed here.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

// Below this folder, so that the SDKs are found in its node_modules.
mkdirSync(path.join(here, "out"), { recursive: true });
const dir = mkdtempSync(path.join(here, "out", "types-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const installed = path.join(dir, "node_modules", "openclaw-concertina");
mkdirSync(installed, { recursive: true });
assert.equal(
  spawnSync("tar", ["xzf", process.env.CONCERTINA_TARBALL, "--strip-components=1", "-C", installed]).status,
  0,
);

function compiles(...args) {
  const { stdout, status } = spawnSync(process.execPath, [tsc, ...args], { cwd: dir, encoding: "utf8" });
  assert.equal(status, 0, stdout);
}

/**
 * The ways in which a program can resolve modules, with the suffixes of its files: ESM, CommonJS, or either with a
 * bundler.
 */
const PROGRAMS = [
  { module: "node16", moduleResolution: "node16", endings: ["mts", "cts"] },
  { module: "nodenext", moduleResolution: "nodenext", endings: ["mts", "cts"] },
  { module: "esnext", moduleResolution: "bundler", endings: ["ts"] },
];

/**
 * Checks for the module kind of the types: an ES module has only the default export that it declares, and CommonJS is
 * required.
 */
const PROBES = {
  mts: `// @ts-expect-error\nimport whole from "openclaw-concertina";\nexport const it: unknown = whole;\n`,
  cts: `import whole = require("openclaw-concertina");\nexport const tokens: number = whole.countTokens("x");\n`,
};

/** Compiles some consumers and the probes. */
function consumers({ endings, ...options }, kinds, skipLibCheck) {
  const program = mkdtempSync(path.join(dir, "program-"));
  for (const ending of endings) {
    for (const kind of kinds)
      copyFileSync(path.join(here, "consumers", `${kind}.ts`), path.join(program, `${kind}.${ending}`));
    if (ending in PROBES) writeFileSync(path.join(program, `probe.${ending}`), PROBES[ending]);
  }
  const compilerOptions = {
    ...options,
    target: "es2023",
    types: ["node"],
    strict: true,
    noEmit: true,
    esModuleInterop: true,
    skipLibCheck,
  };
  writeFileSync(path.join(program, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*"] }));
  compiles("-p", program);
}

for (const program of PROGRAMS) {
  const how = `${program.moduleResolution}, ${program.endings.join(" and ")}`;

  test(`messages of Anthropic's and OpenAI's SDKs are accepted and returned with their types: ${how}`, () =>
    consumers(program, ["anthropic", "openai", "responses"], false));

  // The host's own declarations have type errors of their own.
  test(`messages and engines of OpenClaw's SDK are accepted and returned with their types: ${how}`, () =>
    consumers(program, ["openclaw"], true));
}

test("the plugin compiles against the host's own types", () => compiles("-p", here));
