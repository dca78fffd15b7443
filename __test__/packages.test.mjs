// Tests of the packages of a release: packed here, and installed without a compiler.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";

import { pack, platformManifest, rootManifest } from "../scripts/pack.mjs";
import { binaryOf, packageOf, platforms } from "../scripts/platforms.mjs";
import { root } from "../scripts/steps.mjs";
import { startRegistry } from "../test/registry.mjs";
import { withoutCompilers } from "../test/tools.mjs";

const { platformName } = await import("../dist/node/lib/binding/native.js");
const own = packageOf(platformName());
const demo = path.join(root, "fixtures", "demo", "taking-over.messages.json.gz");

/** The folder of all files, which take hundreds of megabytes. It is removed when the tests end. */
const scratch = mkdtempSync(path.join(tmpdir(), "concertina-packages-"));
const freshDir = () => mkdtempSync(path.join(scratch, "dir-"));

let packed;
let registry;
let env;

before(async () => {
  // The process that started the tests, perhaps npm, has settings that another npm must not inherit.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|CARGO|RUST)/i.test(name));
  env = { ...Object.fromEntries(inherited), PATH: withoutCompilers(freshDir()), npm_config_cache: freshDir() };
  packed = await pack(freshDir());
  registry = await startRegistry(packed);
});

after(async () => {
  await registry?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

/** Installs into an empty folder, without compilers or install scripts. */
async function installed(from, ...args) {
  const dir = freshDir();
  writeFileSync(path.join(dir, "package.json"), "{}");
  await promisify(execFile)("npm", ["install", "--ignore-scripts", `--registry=${from}`, ...args], { cwd: dir, env });
  return dir;
}

const COUNT = `import { countTokens } from "openclaw-concertina"; console.log(countTokens("hello world"))`;

/** Runs a module in a folder, and returns its output. */
function runIn(dir, code) {
  const { stdout, stderr, status } = spawnSync("node", ["--input-type=module", "-e", code], {
    cwd: dir,
    env,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

/** Returns the error of loading the package in a folder. */
const complaint = (dir) =>
  JSON.parse(
    runIn(
      dir,
      `import { countTokens } from "openclaw-concertina";
    try { countTokens("x") } catch ({ code, message }) { console.log(JSON.stringify({ code, message })) }`,
    ),
  );

test("without a compiler, both archives in an empty folder fold the demo session and return an original", async () => {
  for (const tool of ["cargo", "rustc", "cc", "gcc"])
    assert.equal(spawnSync(tool, { env }).error?.code, "ENOENT", tool);
  const archives = [rootManifest().name, own].map((name) => packed.find((one) => one.name === name).archive);
  const dir = await installed(registry.unknown, ...archives);
  const cli = path.join(dir, "node_modules", ".bin", "openclaw-concertina");
  const { stdout } = await promisify(execFile)(cli, ["analyze", demo], { cwd: dir, env });
  assert.match(stdout, /the original was restored byte for byte/);
});

test("the archive of `npm pack` in a clone works by itself", async () => {
  const out = freshDir();
  await promisify(execFile)("npm", ["pack", "--ignore-scripts", "--pack-destination", out], { cwd: root, env });
  const dir = await installed(registry.unknown, ...readdirSync(out).map((name) => path.join(out, name)));
  assert.equal(runIn(dir, COUNT), "2");
  assert.ok(!existsSync(path.join(dir, "node_modules", own)));
});

test("an install from the registry brings the binary of this platform and no other", async () => {
  const dir = await installed(registry.url, "openclaw-concertina");
  assert.equal(runIn(dir, COUNT), "2");
  const there = platforms
    .filter(({ name }) => existsSync(path.join(dir, "node_modules", packageOf(name))))
    .map(({ name }) => name);
  assert.deepEqual(there, [platformName()]);
  assert.ok(!existsSync(path.join(dir, "node_modules", "openclaw-concertina", "native")));
});

test("the error for a missing binary names the platform, the package and the remedy", async () => {
  const { code, message } = complaint(await installed(registry.unknown, "openclaw-concertina"));
  assert.equal(code, "CONCERTINA_NO_BINARY");
  for (const named of [`no binary for ${platformName()}`, `the package ${own}`, "--omit=optional", "npm run build"])
    assert.ok(message.includes(named), message);
});

test("a binary that does not load is named with the reason, and a locally built one is preferred", async () => {
  const dir = await installed(registry.url, "openclaw-concertina");
  const file = path.join(dir, "node_modules", own, binaryOf(platformName()));
  rmSync(file);
  writeFileSync(file, "not a library");
  const { code, message } = complaint(dir);
  assert.equal(code, "CONCERTINA_NO_BINARY");
  assert.ok(message.includes(`${realpathSync(file)} does not load: `), message);
  symlinkSync(path.join(root, "native"), path.join(dir, "node_modules", "openclaw-concertina", "native"));
  assert.equal(runIn(dir, COUNT), "2");
});

test("every platform package has the root's version and no install script", () => {
  const published = rootManifest();
  const manifests = platforms.map(platformManifest);
  assert.deepEqual(
    published.optionalDependencies,
    Object.fromEntries(manifests.map(({ name }) => [name, published.version])),
  );
  assert.deepEqual(
    published.openclaw.install.requiredPlatformPackages,
    manifests.map(({ name }) => name),
  );
  for (const manifest of [published, ...manifests]) {
    assert.equal(manifest.version, published.version);
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.private, undefined);
  }
  for (const { name, os, cpu, libc } of manifests) {
    assert.equal(
      name,
      ["openclaw-concertina", ...os, ...cpu, ...(libc ?? []).map((lib) => lib.replace("glibc", "gnu"))].join("-") +
        (os[0] === "win32" ? "-msvc" : ""),
    );
  }
});
