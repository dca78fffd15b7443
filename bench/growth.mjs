// What more of a text costs: every part of the work over every shape of text that is known to be hostile, at one
// length, at four times that and, where that was steep, at longer ones. `npm run bench:instructions -- --growth`.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

import { each } from "../scripts/steps.mjs";

/** Bytes of the texts; those of works that take much of each byte are a quarter as long. */
const BYTES = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/** Instructions at one length as a multiple of those at a quarter of it, from which on that is steep. What grows like n log n takes 4.6 times
 * as many, and what grows by the square 16 times. Where a length is the first for which something is done at all, a
 * step is steep and the next ones are not; a failure is that all are. */
export const MOST = 5;

/** A walk in pairs would not end. */
const MINUTES_MAX = 10;

/** Fewer instructions are taken for so many: what is made once would be most of them. */
const LEAST = 200_000;

/** Into how many processes the shapes of one length are split. */
const PARTS = availableParallelism();

/** What the cases that were asked for (works, or works and shapes) take over a part of the shapes of so many bytes, as rows of work, shape, bytes
 * and instructions. */
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
        if (!Number.isFinite(instructions)) throw new Error(`valgrind says nothing of ${work} over ${shape}`);
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

/** What the cases that were asked for take at some lengths, with a process at work for each processor. */
async function countedAt(program, lengths, cases) {
  // The longest first. Processes of their own for each length: tokens of a text that was counted are remembered.
  const jobs = lengths
    .toSorted((a, b) => b - a)
    .flatMap((bytes) => Array.from({ length: PARTS }, (_, part) => [bytes, part]));
  const rows = [];
  await each(jobs, PARTS, async ([bytes, part]) => rows.push(...(await counted(program, bytes, part, cases))));
  return rows;
}

/** Prints how each work grows, and fails where one grows faster than its text. */
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
    console.log(`steep up to ${BYTES[at] >> 10} KB, and so looked at further: ${steep.length}`);
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
