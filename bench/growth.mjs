// What more of a text costs: every part of the work over every shape of text that is known to be hostile, at one length and at four
// times that. `npm run bench:instructions -- --growth`.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

/** Bytes of the shorter texts; those of works that take much of each byte are a quarter as long. */
const BYTES = 64 << 10;

/** More instructions than this many times those of a quarter of the text are a failure: n log n is 4.6 times at the most, lines that grow with
 * the text a little more, and what goes by the square 16 times. */
export const MOST = 5;

/** A walk in pairs would not end. */
const MINUTES_MAX = 20;

/** Fewer instructions are taken for so many: what is made once would be most of them. */
const LEAST = 200_000;

/** What each of the works that were asked for takes over each shape of so many bytes, as rows of work, shape and instructions. */
async function counted(program, bytes, works) {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-growth-"));
  try {
    const parts = ["--zero-before=*counted_part*", "--dump-before=*between_parts*"];
    const output = await valgrind(["--tool=callgrind", "-q", `--callgrind-out-file=${path.join(dir, "part")}`, ...parts, program, "--growth", String(bytes), ...works]);
    return output.trim().split("\n").map((line, index) => {
      const [work, shape] = line.split("\t");
      const instructions = Number(/^(?:summary|totals): (\d+)/m.exec(readFileSync(path.join(dir, `part.${index + 1}`), "latin1"))?.[1]);
      if (!Number.isFinite(instructions)) throw new Error(`valgrind says nothing of ${work} over ${shape}`);
      return { work, shape, instructions };
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

/** Prints how each work grows, and fails where one grows faster than its text. */
export async function growth(program, works) {
  // Processes of their own: tokens of a text that was counted are remembered.
  const short = () => counted(program, BYTES, works);
  const long = () => counted(program, 4 * BYTES, works);
  const [few, many] = availableParallelism() > 1 ? await Promise.all([short(), long()]) : [await short(), await long()];
  const rows = few.map(({ work, shape, instructions }, index) => ({ work, shape, few: instructions, many: many[index].instructions }));
  const names = [...new Set(rows.map(({ work }) => work))];
  const ratio = (row) => row.many / Math.max(row.few, LEAST);
  const told = (row) => `${row.work.padEnd(20)} ${String(row.few).padStart(11)} ${String(row.many).padStart(12)} ${ratio(row).toFixed(2).padStart(6)}  ${row.shape}`;
  console.log(`${"steepest".padEnd(20)} ${"n".padStart(11)} ${"4 n".padStart(12)} ${"ratio".padStart(6)}`);
  for (const name of names) {
    const [steepest] = rows.filter(({ work }) => work === name).toSorted((a, b) => ratio(b) - ratio(a));
    console.log(told(steepest));
  }
  const steep = rows.filter((row) => ratio(row) > MOST);
  console.log(`${names.length} works over ${rows.length / names.length} shapes, ${((rows.reduce((sum, row) => sum + row.few + row.many, 0)) / 1e9).toFixed(1)} thousand million instructions`);
  if (steep.length > 0) throw new Error(`four times the text takes more than ${MOST} times the instructions:\n${steep.map(told).join("\n")}`);
}
