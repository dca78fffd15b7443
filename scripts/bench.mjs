// Runs every benchmark: `npm run bench`. The figures are ratios to a floor that is measured in the same run.
import path from "node:path";

import { build } from "./build.mjs";
import { main, root, run } from "./steps.mjs";

/**
 * Options that keep garbage collections out of the measurements. The ticker that watches the event loop produces
 * garbage of its own, and these make room for it.
 */
const QUIET = ["--min-semi-space-size=128", "--max-semi-space-size=128"];

main(import.meta, async () => {
  await build();
  await run("measure size, start and memory", process.execPath, [path.join(root, "bench", "start.mjs")]);
  const benches = ["store", "prose", "pipeline"].flatMap((name) => ["--bench", name]);
  await run("benchmark the store, prose and the pipeline", "cargo", ["bench", "--locked", "--quiet", ...benches]);
  await run("benchmark the assembly", process.execPath, [
    ...QUIET,
    path.join(root, "bench", "assemble.mjs"),
    ...process.argv.slice(2),
  ]);
});
