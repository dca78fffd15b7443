// Tests of the documents: every program runs, every command exists, and every link has a target.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { Concertina } from "openclaw-concertina";

import { root } from "../scripts/steps.mjs";
import { cli } from "./cli.mjs";
import { freshDir, noise, toolRound, user } from "./conversation.mjs";

const run = promisify(execFile);
const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  ...readdirSync(path.join(root, "docs")).map((name) => path.join("docs", name)),
].filter((name) => name.endsWith(".md"));
const textOf = (page) => readFileSync(path.join(root, page), "utf8");

/** Returns the fenced blocks of a page in one language. */
function blocks(page, language) {
  return [...textOf(page).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, body]) => body);
}

/** Creates a folder in which the library is installed, with the files that programs read. */
function workshop() {
  const dir = freshDir();
  mkdirSync(path.join(dir, "node_modules"));
  symlinkSync(root, path.join(dir, "node_modules", "openclaw-concertina"));
  const history = [
    user("go"),
    ...Array.from({ length: 8 }, (_, at) => [
      ...toolRound(`c${at}`, "exec", { at }, noise(300, at), 1_000_000 + at),
      user("on"),
    ]).flat(),
  ];
  writeFileSync(path.join(dir, "history.json"), JSON.stringify(history));
  writeFileSync(path.join(dir, "build.log"), "12:00:01 INFO compiled\n".repeat(200));
  return dir;
}

test("every program of the library guide runs", async () => {
  const programs = blocks("docs/library.md", "js");
  assert.ok(programs.length >= 4);
  const dir = workshop();
  for (const [index, program] of programs.entries()) {
    const file = path.join(dir, `program-${index}.mjs`);
    writeFileSync(file, program);
    const { stdout } = await run(process.execPath, [file], { cwd: dir });
    assert.ok(stdout.length > 10, program);
  }
});

test("the README's snippet runs as a program", async () => {
  const [snippet] = blocks("README.md", "js");
  // Adds what the snippet requires, and a store with the original that it fetches.
  const [imports, ...rest] = snippet.split("\n");
  const body = rest.join("\n").replace("0123456789abcdef", "${id}").replace('["${id}"]', "[id]");
  const before = `import { readFileSync } from "node:fs";
const text = readFileSync("build.log", "utf8"), history = JSON.parse(readFileSync("history.json", "utf8")), sessionId = "s";
const first = await Concertina.open({ dir: "./originals" });
const { report } = await first.assemble({ sessionId, messages: history });
const id = report.actions[0].refId;
await first.close();\n`;
  const file = path.join(workshop(), "snippet.mjs");
  writeFileSync(
    file,
    `${imports}\n${before}${body}\nconsole.log(messages.length, stats, folded.messages.length, content);`,
  );
  const { stdout } = await run(process.execPath, [file], { cwd: path.dirname(file) });
  assert.match(stdout, /blocksEvicted: [1-9]/);
});

test("every openclaw-concertina command line in a document runs", async () => {
  const lines = pages
    .flatMap((page) => blocks(page, "sh"))
    .join("")
    .split("\n")
    // A proxy serves until it is asked to end; its own tests start it.
    .filter((line) => line.startsWith("npx openclaw-concertina") && !/^\S+ \S+ proxy\b/.test(line));
  assert.ok(lines.length >= 4);
  const dir = workshop();
  const session = JSON.parse(readFileSync(path.join(dir, "history.json"), "utf8"));
  writeFileSync(
    path.join(dir, "session.jsonl"),
    session.map((message) => `${JSON.stringify({ type: "message", message })}\n`).join(""),
  );
  const bin = path.join(dir, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "npx"), `#!/bin/sh\nshift\nexec "${process.execPath}" "${cli}" "$@"\n`, { mode: 0o755 });
  writeFileSync(path.join(bin, "claude"), "#!/bin/sh\n", { mode: 0o755 });
  const env = { ...process.env, HOME: dir, PATH: `${bin}:${process.env.PATH}` };
  const store = await Concertina.open({ dir: path.join(dir, "DIR") });
  await store.assemble({ sessionId: "session", messages: session });
  await store.close();
  for (const line of lines) await run("sh", ["-c", line], { cwd: dir, env });
  assert.ok(
    existsSync(path.join(dir, "full.jsonl")) && readFileSync(path.join(dir, "short.log"), "utf8").length < 2000,
  );
});

test("the README's picture and its figure are the output of its command", async () => {
  const svg = path.join(freshDir(), "bill.svg");
  const [, sessions, mode] = /bench:replay -- (\S+) --mode (\w+) --plot/.exec(textOf("README.md"));
  const { stdout } = await run(process.execPath, ["bench/replay/main.mjs", sessions, "--mode", mode, "--plot", svg], {
    cwd: root,
  });
  assert.equal(readFileSync(svg, "utf8"), textOf("assets/bill.svg"));
  const [, bill] = /median session's bill is ([\d.]+)/.exec(stdout);
  const [, said] = /the bill falls to (\d+) %/.exec(textOf("README.md"));
  assert.equal(Math.round(Number(bill) * 100), Number(said));
});

test("every npm script that a document names exists", () => {
  const { scripts } = JSON.parse(textOf("package.json"));
  for (const page of pages) {
    for (const [, name] of textOf(page).matchAll(/\bnpm run ([\w:]+)/g))
      assert.ok(name in scripts, `${page}: npm run ${name}`);
  }
});

test("every command that a document names exists", async () => {
  const inHost = textOf("plugin/cli.ts");
  const { stdout: alone } = await run(process.execPath, [cli, "--help"]);
  for (const page of pages) {
    for (const [, name] of textOf(page).matchAll(/\bopenclaw concertina (\w+)/g))
      assert.ok(inHost.includes(`"${name}`), `${page}: openclaw concertina ${name}`);
    for (const [, name] of textOf(page).matchAll(/\bnpx openclaw-concertina (\w+)/g))
      assert.match(alone, new RegExp(`^ {2}${name}\\b`, "m"), `${page}: npx openclaw-concertina ${name}`);
  }
});

test("the documents state the right number of compared ways and the right Node version", () => {
  const rows = textOf("docs/comparison.md").match(/^\| (?!way|-|Concertina)[a-z ]+ \|/gm);
  const words = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven"];
  assert.match(textOf("docs/comparison.md"), new RegExp(`^${words[rows.length]} published ways`, "m"));
  const [least] = /[\d.]+/.exec(JSON.parse(textOf("package.json")).engines.node);
  for (const page of pages) {
    for (const [, said] of textOf(page).matchAll(/\bNode ([\d.]+) or later/g)) assert.equal(said, least, page);
  }
});

test("every error code is explained in the library guide", () => {
  const codes = ["crates/base/src/error.rs", "node/src/guard.rs", "node/lib/binding/native.ts"].flatMap((file) =>
    textOf(file).match(/CONCERTINA_[A-Z_]+/g),
  );
  for (const code of codes) assert.ok(textOf("docs/library.md").includes(`\`${code}\``), code);
});

/** Returns the anchors of a page's headings, as GitHub forms them. */
function anchors(page) {
  const headings =
    textOf(page)
      .replace(/^```.*?^```/gms, "")
      .match(/^#+ .*$/gm) ?? [];
  return headings.map((line) =>
    line
      .replace(/^#+ /, "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every link to a file or heading has a target", () => {
  for (const page of pages) {
    for (const [, file, anchor] of textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
      const target = file === "" ? page : path.join(path.dirname(page), file);
      assert.ok(existsSync(path.join(root, target)), `${page}: ${target}`);
      if (anchor !== undefined) assert.ok(anchors(target).includes(anchor), `${page}: ${target}#${anchor}`);
    }
  }
});

test("every test file that a document names exists", () => {
  for (const page of pages) {
    for (const [, file] of textOf(page).matchAll(/`((?:tests|test|__test__)\/[\w./-]+)`/g))
      assert.ok(existsSync(path.join(root, file)), `${page}: ${file}`);
  }
});
