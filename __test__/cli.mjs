// Runs the command line as a separate process, for tests.
import { spawnSync } from "node:child_process";
import path from "node:path";

import { root } from "../scripts/steps.mjs";

export const cli = path.join(root, "dist", "node", "lib", "cli.js");

/** Runs the command line to its end, with an environment and an input if they are given. */
export const runWith = (options, ...args) =>
  spawnSync(process.execPath, [cli, ...args], { encoding: "utf8", ...options });
export const run = (...args) => runWith({}, ...args);
