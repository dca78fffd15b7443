// Running commands with a line of progress for anything that takes longer than two seconds.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

/** The project's root. */
export const root = path.dirname(import.meta.dirname);

/**
 * Runs a command; shows its output as it comes, or, when `quiet`, a running clock and the output only on failure. Gives
 * what a quiet one printed, with its errors where `both` says so.
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

/** Works on each item, so many at a time. What fails is told when all have ended. */
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
 * Installs what is named, or what a lock file says, without install scripts. Not `npm ci`: it refuses locks without
 * every platform's optional binaries.
 */
export function install(title, dir, ...names) {
  return run(title, "npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", ...names], {
    quiet: true,
    cwd: dir,
  });
}

/** Installs the development packages where they are missing. */
export async function installDevelopment() {
  if (!existsSync(path.join(root, "node_modules", "typescript"))) await install("install development packages", root);
}

/** Runs a module's script, where the module is the program, and ends the process with its outcome. */
export function main({ filename }, script) {
  const program = process.argv[1] ?? "";
  if (!existsSync(program) || realpathSync(program) !== filename) return;
  script().catch((error) => {
    console.error(`✗ ${error.message}`);
    process.exit(1);
  });
}
