// Runs everyday commands, stores their outputs, and measures the savings: `npm run bench:everyday -- --out DIR`. See
// --help.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { example } from "../../scripts/cargo.mjs";
import { main } from "../../scripts/steps.mjs";
import { families } from "./commands.mjs";
import { close, project } from "./projects.mjs";

/** The minimum and maximum number of bytes of an output that is stored. */
const [LEAST, MOST] = [300, 600_000];

const HELP = `Usage: node bench/everyday/record.mjs --out DIR [options]

Runs everyday commands and writes their outputs to DIR/tuning/*.txt and DIR/held-out/*.txt, with DIR/manifest.json beside them.
Existing outputs of other commands are kept. A command is omitted if its tool is missing, if it prints hardly anything or more than
${MOST / 1000} KB, if it takes too long, or if its output seems to hold a secret.

  --only FAMILY,...        only these families
  --half tuning|held-out   only this half
  --work DIR               keep the scratch projects and tools in DIR and reuse them (default: a folder that is removed)
  --no-install             install nothing with apt-get
  --measure                print the savings of each command, and the facts that stay in sight
  --preset P               the preset to measure (default balanced)
  --list                   print the families and the number of their commands, and end`;

/** Programs of the list with their Debian packages. */
const DEBIAN = {
  tree: "tree",
  iostat: "sysstat",
  shellcheck: "shellcheck",
  cmake: "cmake",
  ninja: "ninja-build",
  rsync: "rsync",
  go: "golang-go",
  rspec: "ruby-rspec",
  gem: "ruby",
  clang: "clang",
  rg: "ripgrep",
  zip: "zip",
  valgrind: "valgrind",
  strace: "strace",
  lsof: "lsof",
  pstree: "psmisc",
  netstat: "net-tools",
  sqlite3: "sqlite3",
  column: "bsdextrautils",
};
const NODE = [
  "eslint@9",
  "@eslint/js@9",
  "eslint-formatter-compact",
  "eslint-formatter-unix",
  "oxlint",
  "typescript@5",
  "@types/node",
  "vitest@3",
  "jest@30",
  "mocha@11",
  "express@5",
  "yarn@1",
  "pnpm@9",
];
const PYTHON = ["ruff", "mypy", "pytest", "flake8", "pylint", "uv", "flask", "requests", "sphinx"];

/** A pattern for tokens of known form, which an output may not contain. */
const SECRET =
  /\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|AKIA[A-Z0-9]{16}|xox[baprs]-[\w-]{20,}|npm_[A-Za-z0-9]{36}|glpat-[\w-]{20,}|eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.)|-----BEGIN [A-Z ]*PRIVATE KEY-----|:\/\/[^\s/:@]+:[^\s/:@]{6,}@/;

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    only: { type: "string" },
    half: { type: "string" },
    work: { type: "string" },
    preset: { type: "string", default: "balanced" },
    "no-install": { type: "boolean" },
    measure: { type: "boolean" },
    list: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});

/** Returns the environment of commands: only the paths of tools, and settings of proxies and certificates. */
function environment(scratch) {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(?:.*_proxy|NODE_EXTRA_CA_CERTS|(?:SSL|CURL|PIP|REQUESTS|GIT_SSL|CARGO|RUSTUP|GO)[A-Z_]*)$/i.test(name),
  );
  const home = os.homedir();
  const tools = [path.join(scratch, "node_modules", ".bin"), path.join(scratch, "python", "bin")];
  return {
    ...Object.fromEntries(kept),
    HOME: path.join(scratch, "home"),
    USER: os.userInfo().username,
    LOGNAME: os.userInfo().username,
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    PAGER: "cat",
    GIT_PAGER: "cat",
    CARGO_HOME: process.env.CARGO_HOME ?? path.join(home, ".cargo"),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(home, ".rustup"),
    DEBIAN_FRONTEND: "noninteractive",
    PATH: [...tools, process.env.PATH, "/usr/sbin", "/sbin"].join(":"),
  };
}

/**
 * Runs a command and returns its output, including standard error. Ends it and everything that it started after
 * `seconds`.
 */
function run(command, { cwd, env, seconds = 30, terminal = false }) {
  return new Promise((resolve, reject) => {
    const args = terminal
      ? ["script", ["-qefc", `stty cols 120 rows 40; ${command}`, "/dev/null"]]
      : ["bash", ["-c", `exec 2>&1\n${command}`]];
    const child = spawn(...args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const chunks = [];
    let bytes = 0;
    let state = "";
    const end = (why) => {
      state ||= why;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // The process has already ended.
      }
    };
    const clock = setTimeout(end, seconds * 1000, "timeout");
    child.stdout.on("data", (chunk) => {
      bytes += chunk.length;
      if (bytes > 4_000_000) end("large");
      else chunks.push(chunk);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(clock);
      resolve({ output: Buffer.concat(chunks).toString("utf8"), code, state });
    });
  });
}

/** Returns the reason why an output is not stored, or an empty string if it is. */
function refused({ output, code, state }) {
  if (state) return state;
  if (code === 127) return "absent";
  if (output.length < LEAST) return "empty";
  if (Buffer.byteLength(output) > MOST) return "large";
  return SECRET.test(output) ? "secret" : "";
}

function chosen() {
  const only = values.only?.split(",");
  for (const name of only ?? [])
    if (!families.some(({ family }) => family === name)) throw new Error(`unknown family ${name}`);
  if (values.half && !["tuning", "held-out"].includes(values.half))
    throw new Error(`--half is ${values.half}; it must be tuning or held-out`);
  return families.filter(
    ({ family, half }) => (!only || only.includes(family)) && (!values.half || values.half === half),
  );
}

const firstWord = (command) => command.trim().split(/\s+/)[0];
const isThere = async (program, env) => (await run(`command -v ${program}`, { env })).code === 0;

/** Installs missing programs: Debian packages if that is allowed, others in the scratch folder. */
async function install(wanted, scratch, env) {
  const missing = [];
  for (const [program, name] of Object.entries(DEBIAN)) if (!(await isThere(program, env))) missing.push(name);
  const say = async (title, command) => {
    console.error(`▸ ${title}`);
    const { code, output } = await run(command, { cwd: scratch, env, seconds: 600 });
    if (code !== 0) console.error(`  failed: ${output.trim().split("\n").at(-1)}`);
  };
  if (missing.length > 0 && !values["no-install"] && process.getuid?.() === 0)
    await say(
      `apt-get install ${missing.join(" ")}`,
      `apt-get install -y --no-install-recommends ${missing.join(" ")}`,
    );
  const needs = (kind, projects) =>
    wanted.some((family) => [kind, "both"].includes(family.tools) || projects.includes(family.in));
  if (needs("node", ["javascript", "archives"]) && !existsSync(path.join(scratch, "node_modules"))) {
    writeFileSync(path.join(scratch, "package.json"), '{ "name": "tools", "private": true }\n');
    await say("install tools of npm", `npm install --no-audit --no-fund ${NODE.join(" ")}`);
  }
  if (needs("python", ["python"]) && !existsSync(path.join(scratch, "python")))
    await say("install tools of PyPI", `python3 -m venv python && python/bin/pip install --quiet ${PYTHON.join(" ")}`);
}

async function record(family, name, command, { out, scratch, env }) {
  for (const program of family.needs ?? [firstWord(command)])
    if (/^[\w.-]+$/.test(program) && !(await isThere(program, env))) return { state: "absent" };
  const sh = async (text, cwd) => {
    const { code, output, state } = await run(text, { cwd, env, seconds: 300 });
    if (code !== 0)
      console.error(
        `  ${family.in}: ${text.slice(0, 60)}… ended with ${state || code}: ${output.trim().split("\n").at(-1)}`,
      );
  };
  for (const other of family.with ?? []) await project(other, { scratch, sh });
  const cwd = await project(family.in ?? "empty", { scratch, sh });
  const done = await run(command, { cwd, env, seconds: family.seconds, terminal: family.terminal });
  const state = refused(done);
  const file = path.join(family.half, `${family.family}-${name}.txt`);
  if (state) {
    rmSync(path.join(out, file), { force: true });
    return { state };
  }
  writeFileSync(path.join(out, file), done.output);
  return {
    state,
    row: {
      name: `${family.family}-${name}`,
      command,
      family: family.family,
      half: family.half,
      bytes: Buffer.byteLength(done.output),
      file,
    },
  };
}

main(import.meta, async () => {
  const wanted = chosen();
  if (values.list)
    return wanted.forEach(({ family, half, commands }) =>
      console.log(`${half.padEnd(9)} ${family.padEnd(16)} ${Object.keys(commands).length}`),
    );
  if (values.help || !values.out) {
    console.log(HELP);
    process.exitCode = values.help ? 0 : 2;
    return undefined;
  }
  const out = path.resolve(values.out);
  const scratch = values.work ? path.resolve(values.work) : mkdtempSync(path.join(os.tmpdir(), "everyday-"));
  for (const dir of [path.join(out, "tuning"), path.join(out, "held-out"), path.join(scratch, "home")])
    mkdirSync(dir, { recursive: true });
  const env = environment(scratch);
  await install(wanted, scratch, env);

  const manifest = path.join(out, "manifest.json");
  const rows = new Map(
    existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).map((row) => [row.name, row]) : [],
  );
  const order = families.flatMap(({ family, commands }) => Object.keys(commands).map((name) => `${family}-${name}`));
  for (const { name, file } of rows.values()) {
    // Removes the output of a command that is no longer in the list.
    if (order.includes(name)) continue;
    rmSync(path.join(out, file), { force: true });
    rows.delete(name);
  }
  const left = [];
  const count = wanted.reduce((sum, { commands }) => sum + Object.keys(commands).length, 0);
  let done = 0;
  for (const family of wanted) {
    for (const [name, command] of Object.entries(family.commands)) {
      const started = Date.now();
      const { state, row } = await record(family, name, command, { out, scratch, env }).catch((error) => ({
        state: error.message,
      }));
      const full = `${family.family}-${name}`;
      done += 1;
      console.error(
        `▸ ${done} of ${count}  ${full}  ${state || `${(row.bytes / 1000).toFixed(1)} KB`}  ${((Date.now() - started) / 1000).toFixed(1)} s`,
      );
      if (row) rows.set(full, row);
      else {
        rows.delete(full);
        left.push([full, state]);
      }
      const sorted = order.filter((known) => rows.has(known)).map((known) => rows.get(known));
      writeFileSync(manifest, `[\n${sorted.map((known) => `  ${JSON.stringify(known)}`).join(",\n")}\n]\n`);
    }
  }
  close();
  if (!values.work) rmSync(scratch, { recursive: true, force: true });
  report([...rows.values()], left);
  if (!values.measure) return undefined;
  const half = values.half ? ["--half", values.half] : [];
  return example("measure", "probes", ["--by-file", out, "--preset", values.preset, ...half]);
});

function report(rows, left) {
  for (const half of ["tuning", "held-out"]) {
    const own = rows.filter((row) => row.half === half);
    const bytes = own.reduce((sum, row) => sum + row.bytes, 0);
    console.log(
      `${half.padEnd(9)} ${own.length} outputs of ${new Set(own.map((row) => row.family)).size} families, ${(bytes / 1000).toFixed(0)} KB`,
    );
  }
  for (const [name, why] of left) console.log(`omitted  ${name}: ${why}`);
}
