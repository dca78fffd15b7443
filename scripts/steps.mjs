// Helpers that run commands and show progress for those that take longer than two seconds.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

/** The root directory of the project. */
export const root = path.dirname(import.meta.dirname);

/**
 * Runs a command and shows its output as it comes. With `quiet` it shows a running clock, and the output only on
 * failure. Resolves to the output of a quiet command, including standard error if `both` is set.
 */
export function run(title, command, args, { quiet = false, both = false, env = {}, cwd = root } = {}) {
  return new Promise((resolve, reject) => {
    const started = Date.now();
    const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
    const live = quiet && process.stderr.isTTY;
    console.error(`▸ ${title}`);
    const tick =
      quiet &&
      setInterval(
        () => process.stderr.write(live ? `\r  ${seconds()} ` : `  ${title}: ${seconds()}\n`),
        live ? 1000 : 30_000,
      );
    const stdio = ["ignore", quiet ? "pipe" : "inherit", quiet ? "pipe" : "inherit"];
    // On Windows npm is a batch file, which only a shell runs.
    const shell = command === "npm" && process.platform === "win32";
    const child = spawn(command, args, { cwd, shell, env: { ...process.env, ...env }, stdio });
    let output = "";
    let everything = "";
    child.stdout?.on("data", (data) => ((output += data), (everything += data)));
    child.stderr?.on("data", (data) => (everything += data));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearInterval(tick);
      if (live) process.stderr.write("\r");
      if (code === 0) {
        console.error(`  ${title}: done in ${seconds()}`);
        return resolve(both ? everything : output);
      }
      if (quiet) process.stderr.write(everything);
      reject(new Error(`${title} failed (${signal ?? `exit ${code}`})`));
    });
  });
}

/** Runs `work` on each item, `atOnce` at a time. A failure is thrown when all workers have ended. */
export async function each(items, atOnce, work) {
  const rest = [...items].values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const failed = outcomes.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

/**
 * Installs the named packages, or those in a lock file, without install scripts. `npm ci` cannot be used: it refuses
 * lock files without every platform's optional binaries.
 */
export function install(title, dir, ...names) {
  return run(title, "npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", ...names], {
    quiet: true,
    cwd: dir,
  });
}

/** Installs the development packages if they are missing. */
export async function installDevelopment() {
  if (!existsSync(path.join(root, "node_modules", "typescript"))) await install("install development packages", root);
}

/** Runs a module's script if the module is the main program, and exits with status 1 if the script fails. */
export function main({ filename }, script) {
  const program = process.argv[1] ?? "";
  if (!existsSync(program) || realpathSync(program) !== filename) return;
  script().catch((error) => {
    console.error(`✗ ${error.message}`);
    process.exit(1);
  });
}
