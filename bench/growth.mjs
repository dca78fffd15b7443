// Measures how the cost grows with the length of a text: for every part of the work and every hostile shape of text, at
// one length, at four times that and, if the growth was steep, at greater lengths.
// `npm run bench:instructions -- --growth`.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

import { each } from "../scripts/steps.mjs";

/** The lengths of the texts, in bytes. Works with a high cost per byte use a quarter. */
const BYTES = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/**
 * The ratio of the instructions at one length to those at a quarter of it above which the growth is steep. Growth like
 * n log n has a ratio of 4.6, quadratic growth one of 16. A single steep step may only mean that some work starts at
 * that length, so the benchmark fails only if all steps are steep.
 */
export const MOST = 5;

/** The time limit. A quadratic walk would not end. */
const MINUTES_MAX = 10;

/**
 * The minimum number of instructions of a measurement. Lower numbers are raised to it, because fixed costs dominate
 * them.
 */
const LEAST = 200_000;

/** The number of processes among which the shapes of one length are divided. */
const PARTS = availableParallelism();

/**
 * Counts the selected cases (works, or works and shapes) on one part of the shapes of a length. Returns rows of work,
 * shape, bytes and instructions.
 */
async function counted(program, bytes, part, cases) {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-growth-"));
  try {
    const parts = ["--zero-before=*counted_part*", "--dump-before=*between_parts*"];
    const asked = ["--growth", String(bytes), String(part), String(PARTS), ...cases];
    const output = await valgrind([
      "--tool=callgrind",
      "-q",
      `--callgrind-out-file=${path.join(dir, "part")}`,
      ...parts,
      program,
      ...asked,
    ]);
    return output
      .split("\n")
      .filter(Boolean)
      .map((line, index) => {
        const [work, shape] = line.split("\t");
        const instructions = Number(
          /^(?:summary|totals): (\d+)/m.exec(readFileSync(path.join(dir, `part.${index + 1}`), "latin1"))?.[1],
        );
        if (!Number.isFinite(instructions)) throw new Error(`valgrind printed no count for ${work} on ${shape}`);
        return { work, shape, bytes, instructions };
      });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function valgrind(args) {
  return new Promise((resolve, reject) => {
    const child = spawn("valgrind", args, { stdio: ["ignore", "pipe", "inherit"], timeout: MINUTES_MAX * 60_000 });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const last = output.trim().split("\n").at(-1)?.split("\t").slice(0, 2).join(" over ");
      if (code === 0) resolve(output);
      else reject(new Error(`${signal ? `not done in ${MINUTES_MAX} minutes` : `exit ${code}`}, last at ${last}`));
    });
  });
}

/** Returns the counts of the selected cases at some lengths, with one process per processor. */
async function countedAt(program, lengths, cases) {
  // The longest first. Each length has its own processes, because token counts of a text are cached.
  const jobs = lengths
    .toSorted((a, b) => b - a)
    .flatMap((bytes) => Array.from({ length: PARTS }, (_, part) => [bytes, part]));
  const rows = [];
  await each(jobs, PARTS, async ([bytes, part]) => rows.push(...(await counted(program, bytes, part, cases))));
  return rows;
}

/** Prints how each work grows, and fails if one grows faster than its text. */
export async function growth(program, works) {
  const counts = await countedAt(program, BYTES.slice(0, 2), works);
  const find = ({ work, shape }, bytes) =>
    counts.find((count) => count.bytes === bytes && count.work === work && count.shape === shape);
  const step = (row, at) => find(row, BYTES[at]).instructions / Math.max(find(row, BYTES[at - 1]).instructions, LEAST);
  const rows = counts.filter(({ bytes }) => bytes === BYTES[1]).map((row) => ({ ...row, steps: [step(row, 1)] }));
  let steep = rows;
  for (let at = 1; ; at++) {
    steep = steep.filter(({ steps }) => steps.at(-1) > MOST);
    if (steep.length === 0 || at + 1 === BYTES.length) break;
    console.log(`steep up to ${BYTES[at] >> 10} KB, so measured further: ${steep.length}`);
    counts.push(
      ...(await countedAt(
        program,
        [BYTES[at + 1]],
        steep.map(({ work, shape }) => `${work}\t${shape}`),
      )),
    );
    for (const row of steep) row.steps.push(step(row, at + 1));
  }
  const least = ({ steps }) => Math.min(...steps);
  const told = ({ work, shape, instructions, steps }) =>
    `${work.padEnd(20)} ${String(instructions).padStart(11)} ${steps
      .map((step) => step.toFixed(2))
      .join(", ")
      .padStart(18)}  ${shape}`;
  console.log(`${"steepest".padEnd(20)} ${"at 4 n".padStart(11)} ${"4 n / n".padStart(18)}`);
  for (const name of new Set(rows.map(({ work }) => work))) {
    const [steepest] = rows.filter(({ work }) => work === name).toSorted((a, b) => least(b) - least(a));
    console.log(told(steepest));
  }
  const sum = counts.reduce((sum, { instructions }) => sum + instructions, 0);
  console.log(`${rows.length} works over shapes, ${(sum / 1e9).toFixed(1)} thousand million instructions`);
  if (steep.length > 0)
    throw new Error(
      `four times the text takes more than ${MOST} times the instructions, however long it is:\n${steep.map(told).join("\n")}`,
    );
}
