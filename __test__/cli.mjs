// The command line as a program of its own, for tests.
import { spawnSync } from "node:child_process";
import path from "node:path";

import { root } from "../scripts/steps.mjs";

export const cli = path.join(root, "dist", "node", "lib", "cli.js");

/** Runs it to its end, with an environment and an input of its own where they are given. */
export const runWith = (options, ...args) =>
  spawnSync(process.execPath, [cli, ...args], { encoding: "utf8", ...options });
export const run = (...args) => runWith({}, ...args);
