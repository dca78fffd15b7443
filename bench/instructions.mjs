// Counts the processor instructions of compression, by kind of text: `npm run bench:instructions`. See --help.
//
// Unlike times, instruction counts hardly differ from run to run, or between machines of one kind, so that changes of a
// few percent are visible.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { CHECKED } from "../scripts/cargo.mjs";
import { main, root } from "../scripts/steps.mjs";
import { growth, MOST as MOST_GROWTH } from "./growth.mjs";

const KINDS = ["json", "log", "search", "table", "diff", "code", "prose", "html", "everyday"];

/** Recorded figures: instructions per byte, by kind. */
const FILE = path.join(root, "bench", "instructions.json");

/** The highest permitted ratio to the recorded figures. */
const MOST = 1.05;

/**
 * Built without link-time optimization, which takes minutes and is not measured. Callgrind needs the names of
 * functions.
 */
const PLAIN = [
  "--locked",
  "--config",
  "profile.bench.lto=false",
  "--config",
  "profile.bench.codegen-units=16",
  "--config",
  'profile.bench.strip="none"',
];

const HELP = `Usage: npm run bench:instructions -- [--update] [KIND...]
       npm run bench:instructions -- --growth [WORK...]

Compresses one megabyte of each kind (${KINDS.join(", ")}) under callgrind (Debian: valgrind), and prints the instructions for
each byte beside those in bench/instructions.json. The texts are generated, except for "everyday", which is outputs of commands in the
fixtures. Fails if a kind takes more than ${Math.round(100 * MOST - 100)} % above the recorded figure.

  --update   write the counts to bench/instructions.json
  --growth   count each stage, and all other work on a text, on hostile texts of one length and of four times that length; fails if that
             takes more than ${MOST_GROWTH} times as much, also for longer texts`;

function binary(profile) {
  const args = ["bench", "--quiet", "--bench", "pipeline", "--no-run", "--message-format=json", ...profile];
  const lines = execFileSync("cargo", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 28,
  })
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line)).find((made) => made.executable && made.target.name === "pipeline")
    .executable;
}

/** Returns the number of instructions of a process of the benchmark, and of compressed bytes. */
function count(program, kind) {
  const args = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1", program, "--counted", kind];
  const output = execFileSync("valgrind", args, { cwd: root, encoding: "utf8" });
  const instructions = Number(/Collected : (\d+)/.exec(output)?.[1]);
  const bytes = Number(/^(\d+)$/m.exec(output)?.[1]);
  if (!Number.isFinite(instructions) || !Number.isFinite(bytes))
    throw new Error(`valgrind printed no count for ${kind}:\n${output}`);
  return { instructions, bytes };
}

main(import.meta, async () => {
  const { values, positionals } = parseArgs({
    options: { help: { type: "boolean" }, update: { type: "boolean" }, growth: { type: "boolean" } },
    allowPositionals: true,
  });
  if (values.help) return console.log(HELP);
  if (values.growth) return growth(binary(CHECKED), positionals);
  const unknown = positionals.find((kind) => !KINDS.includes(kind));
  if (unknown) throw new Error(`unknown kind ${unknown}; the kinds are ${KINDS.join(", ")}`);
  const recorded = JSON.parse(readFileSync(FILE, "utf8"));
  const program = binary(PLAIN);
  // The cost of loading the vocabulary and similar fixed costs.
  const start = count(program, "nothing").instructions;
  const worse = [];
  for (const kind of positionals.length > 0 ? positionals : KINDS) {
    const { instructions, bytes } = count(program, kind);
    const each = Math.round((instructions - start) / bytes);
    const ratio = each / recorded[kind];
    console.log(
      `${kind.padEnd(9)} ${String(each).padStart(7)} instructions for each byte, ${kind in recorded ? `${ratio.toFixed(3)} x` : "not"} what is recorded`,
    );
    if (!(ratio <= MOST)) worse.push(kind);
    if (values.update) recorded[kind] = each;
  }
  if (values.update) return writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`);
  if (worse.length > 0)
    throw new Error(
      `more than ${Math.round(100 * MOST - 100)} % above what is recorded, or not recorded: ${worse.join(", ")}`,
    );
});
