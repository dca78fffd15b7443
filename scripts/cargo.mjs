// Compilation with cargo, and its directories.
import { homedir } from "node:os";
import path from "node:path";

import { root, run } from "./steps.mjs";

/** The directory of crate sources. */
export const crates = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "registry", "src");

/** The directory of compiled files. */
export const target = process.env.CARGO_TARGET_DIR ?? path.join(root, "target");

/**
 * The cargo arguments of every build except a release. They name the whole workspace, because building a single crate
 * selects fewer features of its dependencies and recompiles them.
 */
export const CHECKED = ["--locked", "--profile", "checked", "--workspace"];

/**
 * Compiles the libraries, including the addon, and an example. Without an example, dependencies would lack the features
 * that tests need.
 */
export function compileChecked(title, name = "describe_options") {
  return run(title, "cargo", ["build", ...CHECKED, "--lib", "--example", name], { quiet: true });
}

/** Runs an example. `cargo run` would compile only its crate. */
export async function example(title, name, args = [], options = {}) {
  await compileChecked(`compile ${name}`, name);
  return run(title, path.join(target, "checked", "examples", name), args, options);
}
