// Runs the tests that a change touches: `npm run test:affected`. The change is the difference between the working tree
// and a commit (`npm run test:affected -- main`, by default HEAD). With `--print` the commands are only printed.
//
// A change in a crate runs the tests of that crate, and of no crate that uses it. `npm test` runs everything.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { main, root, run } from "./steps.mjs";

/** The test programs of the engine, each a file or folder in `tests`. */
const PROGRAMS = ["foreign", "sessions", "store", "texts"];

/** The packages by folder. `crates/NAME` is the package `concertina-NAME`. */
const PACKAGES = {
  grammars: "concertina-grammars",
  postgres: "concertina-postgres",
  "tests/power": "concertina-power-test",
};

const names = readdirSync(path.join(root, "__test__")).filter((name) => name.endsWith(".mjs"));
const isTest = (name) => name.endsWith(".test.mjs");

/** Returns the library tests that contain one of the texts, or that import a helper that does. */
function testsWith(...texts) {
  const found = names.filter((name) => {
    const source = readFileSync(path.join(root, "__test__", name), "utf8");
    return texts.some((text) => source.includes(text));
  });
  const [tests, helpers] = [found.filter(isTest), found.filter((name) => !isTest(name))];
  return helpers.length === 0 ? tests : [...tests, ...testsWith(...helpers.map((name) => `"./${name}"`))];
}

/** Returns the library tests of a file that is not Rust. */
function testsOf(file) {
  const [folder] = file.split("/");
  if (/^(node|package\.json|tsconfig\.json|index\.)/.test(file)) return names.filter(isTest);
  if (folder === "plugin") return testsWith("dist/plugin/", ...(file.includes("/page/") ? ["terminal/page.js"] : []));
  if (/^__test__\/[\w-]+\.test\.mjs$/.test(file)) return [path.basename(file)];
  if (folder === "__test__") return testsWith(`"./${path.relative("__test__", file).split("/")[0]}`);
  if (folder === "scripts") return testsWith(file);
  if (folder === "bench" || file.startsWith("fixtures/record/")) return testsWith(path.dirname(file));
  return file.endsWith(".md") || folder === "assets" ? ["docs.test.mjs"] : [];
}

/** Returns the commands that test changed files, each as an array of words. */
export function affected(files) {
  const [packages, engine, tests] = [new Set(), new Set(), new Set()];
  for (const file of files) {
    const [, crate] = /^crates\/([\w-]+)\//.exec(file) ?? [];
    const folder = Object.keys(PACKAGES).find((name) => file.startsWith(`${name}/`));
    const program = PROGRAMS.find((name) => file.startsWith(`tests/${name}/`) || file === `tests/${name}.rs`);
    const isShared = /^(tests|fixtures)\//.test(file) && !file.startsWith("fixtures/record/");
    if (crate) packages.add(`concertina-${crate}`);
    else if (folder) packages.add(PACKAGES[folder]);
    else if (program) engine.add(`--test=${program}`);
    else if (isShared || /^(src|examples)\//.test(file))
      for (const name of ["--lib", ...PROGRAMS.map((one) => `--test=${one}`)]) engine.add(name);
    else for (const name of testsOf(file)) tests.add(`__test__/${name}`);
  }
  const build = files.some((file) => /^node\/(src|Cargo|build)/.test(file)) ? "--checked" : "--javascript";
  const commands = [];
  if (packages.size > 0) commands.push(["cargo", "test", "--locked", ...[...packages].flatMap((name) => ["-p", name])]);
  if (engine.size > 0) commands.push(["cargo", "test", "--locked", "-p", "concertina", ...engine]);
  if (files.some((file) => /^(node|plugin)\//.test(file))) commands.push(["node", "scripts/build.mjs", build]);
  if (tests.size > 0) commands.push(["node", "--test", ...[...tests].sort()]);
  if (files.some((file) => file.endsWith(".md"))) commands.push(["node", "scripts/words.mjs"]);
  return commands;
}

main(import.meta, async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { print: { type: "boolean" } } });
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const changed = git("diff", "--name-only", "--diff-filter=d", positionals[0] ?? "HEAD", "--");
  const commands = affected([...changed, ...git("ls-files", "--others", "--exclude-standard")]);
  if (commands.length === 0) console.error("No test covers the changed files.");
  for (const [command, ...args] of commands) {
    const line = [command, ...args].join(" ");
    if (values.print) console.log(line);
    else await run(line, command === "node" ? process.execPath : command, args);
  }
});
