// Fuzzes with libFuzzer, guided by code coverage: `npm run fuzz:guided -- TARGET [SECONDS] [FLAG|FILE...]`, or `all`.
// It needs clang, which compiles the C parts with sanitizers. A finding is a file in fuzz/failures/. To run it alone,
// name it after the seconds.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

import { target as compiled } from "./cargo.mjs";
import { each, main, root, run } from "./steps.mjs";

const guided = path.join(root, "fuzz", "guided");

/** The directory of the compiled program and, by target, of its findings. */
const out = path.join(compiled, "guided");

/** The targets. The description is the first line of the target's file. */
const targets = Object.fromEntries(
  readdirSync(path.join(guided, "targets"))
    .filter((file) => file !== "mod.rs")
    .map((file) => [
      path.basename(file, ".rs"),
      readFileSync(path.join(guided, "targets", file), "utf8")
        .split("\n")[0]
        .slice(4),
    ]),
);

const COVERAGE = ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"];

/** `--cfg fuzzing` makes decoders accept wrong checksums, because mutations never produce right ones. */
const RUSTFLAGS = [
  "-Zsanitizer=address",
  "-Cpasses=sancov-module",
  ...COVERAGE.map((flag) => `-Cllvm-args=-sanitizer-coverage-${flag}`),
  "--cfg fuzzing",
  "-Ccodegen-units=16",
];

// The core aborts a parse after half a minute.
const LIMITS = ["-timeout=60", "-rss_limit_mb=4096", "-max_len=4200"];

/**
 * Fuzzes a target, or `all` of them in parallel on all processors, each for `seconds`. Without clang it reports that
 * and does nothing.
 */
export async function fuzz(asked, seconds, others = []) {
  const missing = ["clang", "clang++"].find((compiler) => spawnSync(compiler, ["--version"]).status !== 0);
  if (missing) return console.error(`▸ fuzz ${asked} led by coverage: not run, because ${missing} is missing`);
  const host = /^host: (.*)$/m.exec(execFileSync("rustc", ["-vV"], { encoding: "utf8" }))[1];
  const env = {
    RUSTC_BOOTSTRAP: "1",
    RUSTFLAGS: RUSTFLAGS.join(" "),
    CC: path.join(guided, "cc"),
    CXX: "clang++",
    CARGO_TARGET_DIR: out,
  };
  await run("build with sanitizers", "cargo", ["build", "--locked", "--release", "--target", host], {
    quiet: true,
    cwd: guided,
    env,
  });
  const program = path.join(out, host, "release", "guided");
  const names = asked === "all" ? Object.keys(targets) : [asked];
  // Parallel targets print only a summary each, and their whole output if they find something.
  await each(names, availableParallelism(), (name) => fuzzOne(program, name, seconds, others, names.length > 1));
}

async function fuzzOne(program, name, seconds, others, quiet) {
  const failures = path.join(root, "fuzz", "failures");
  const [found, seeds] = ["found", "seeds"].map((kind) => path.join(out, name, kind));
  for (const dir of [failures, found, seeds]) mkdirSync(dir, { recursive: true });
  const words = path.join(out, name, "words");
  const files = others.some((other) => !other.startsWith("-")) ? [] : [found, seeds];
  const flags = [
    ...LIMITS,
    `-max_total_time=${seconds}`,
    "-print_final_stats=1",
    `-dict=${words}`,
    `-artifact_prefix=${failures}/${name}-`,
  ];
  // Stores are small and written often, so they are in memory if possible. libFuzzer exits without cleaning up.
  const scratch = mkdtempSync(path.join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "concertina-fuzz-"));
  const env = {
    TMPDIR: scratch,
    CONCERTINA_TARGET: name,
    CONCERTINA_SEEDS: seeds,
    CONCERTINA_WORDS: words,
    UBSAN_OPTIONS: "print_stacktrace=1",
  };
  try {
    const printed = await run(`fuzz ${name} for ${seconds} s`, program, [...flags, ...others, ...files], {
      env,
      quiet,
      both: true,
    });
    if (quiet) console.error(`  ${name}: ${/DONE +(.*)/.exec(printed)?.[1]}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

main(import.meta, async () => {
  const [asked = "--help", seconds = "60", ...others] = process.argv.slice(2);
  if (asked !== "all" && !(asked in targets)) {
    console.log("npm run fuzz:guided -- TARGET|all [SECONDS] [FLAG|FILE...]\n");
    for (const [name, about] of Object.entries(targets)) console.log(`  ${name.padEnd(12)}${about}`);
    if (asked !== "--help") throw new Error(`unknown target ${asked}`);
    return;
  }
  await fuzz(asked, seconds, others);
});
