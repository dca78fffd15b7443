// What is compiled, how, and where that goes.
import { homedir } from "node:os";
import path from "node:path";

import { root, run } from "./steps.mjs";

/** Where cargo puts the sources of crates. */
export const crates = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "registry", "src");

/** Where cargo puts what it compiles. */
export const target = process.env.CARGO_TARGET_DIR ?? path.join(root, "target");

/**
 * How everything but a release is compiled: always of the whole workspace, because a crate alone gets its dependencies
 * with fewer features, and all is compiled again.
 */
export const CHECKED = ["--locked", "--profile", "checked", "--workspace"];

/**
 * Compiles the libraries, the addon among them, and an example: without one, dependencies would lack the features that
 * tests ask for.
 */
export function compileChecked(title, name = "describe_options") {
  return run(title, "cargo", ["build", ...CHECKED, "--lib", "--example", name], { quiet: true });
}

/** Runs an example. `cargo run` would compile its crate alone. */
export async function example(title, name, args = [], options = {}) {
  await compileChecked(`compile ${name}`, name);
  return run(title, path.join(target, "checked", "examples", name), args, options);
}
