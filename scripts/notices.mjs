// The licence texts of what is shipped and not ours: the crates that are linked into the binaries, for any platform of
// the table, and the library that draws the page's charts. They are read from the crates and the library themselves.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { platforms, rustTarget } from "./platforms.mjs";
import { run } from "./steps.mjs";

/** The file that ships with every binary; `npm run generate` writes it. */
export const NOTICES = "THIRD-PARTY-NOTICES.txt";

const LICENCE_FILE = /^(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?$/i;
/** Folders of a crate that are not compiled into ours. */
const NOT_LINKED = new Set(["node_modules", "tests", "examples", "wasm-stdlib"]);
const RULE = "=".repeat(100);

/** The crate that compiles the sources of the crates that its tests link. */
const GRAMMARS = "concertina-grammars";

/**
 * Every crate of a registry whose code is in the addon, sorted. Macros and what only builds run at compile time and are
 * left out.
 */
async function linkedCrates() {
  const filters = platforms.flatMap(({ target }) => ["--filter-platform", rustTarget(target)]);
  const metadata = JSON.parse(
    await run("read Cargo.lock", "cargo", ["metadata", "--locked", "--format-version", "1", ...filters], {
      quiet: true,
    }),
  );
  const crates = new Map(metadata.packages.map((crate) => [crate.id, crate]));
  const uses = new Map(metadata.resolve.nodes.map(({ id, deps }) => [id, deps]));
  const linked = new Set(metadata.packages.filter(({ name }) => name === "concertina-node").map(({ id }) => id));
  for (const id of linked) {
    const kinds = crates.get(id).name === GRAMMARS ? [null, "dev"] : [null];
    for (const { pkg, dep_kinds } of uses.get(id)) {
      const isMacro = crates.get(pkg).targets.some(({ kind }) => kind.includes("proc-macro"));
      if (!isMacro && dep_kinds.some(({ kind }) => kinds.includes(kind))) linked.add(pkg);
    }
  }
  const order = (crate) => `${crate.name} ${crate.version}`;
  const registered = [...linked].map((id) => crates.get(id)).filter(({ source }) => source !== null);
  return registered.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** The packages of npm whose code is in the page. */
function pagePackages() {
  const manifest_path = createRequire(import.meta.url).resolve("uplot/package.json");
  const { name, version, license, author } = JSON.parse(readFileSync(manifest_path, "utf8"));
  return [{ name, version, license, manifest_path, authors: [author] }];
}

/**
 * The licence files under a crate's folder, those of sources that it carries included. Of a choice of licences one is
 * taken, MIT if it is there.
 */
function licenceFiles(dir, license) {
  const entries = readdirSync(dir, { withFileTypes: true });
  const all = entries
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map(({ name }) => name)
    .sort();
  // A `COPYING` beside a `LICENSE` is the other choice.
  const own = all.filter((name) => !/^copying$/i.test(name) || all.length === 1);
  const choices =
    / OR |\//.test(license) && !license.includes(" AND ")
      ? own.filter((name) => !/^(copyright|notice)|3rd-party/i.test(name))
      : [];
  const choice = choices.find((name) => /mit/i.test(name)) ?? choices[0];
  const taken = own.filter((name) => name === choice || !choices.includes(name));
  const below = entries.filter((entry) => entry.isDirectory() && !NOT_LINKED.has(entry.name));
  return [
    ...taken.map((name) => path.join(dir, name)),
    ...below.flatMap(({ name }) => licenceFiles(path.join(dir, name), license)),
  ];
}

const normalized = (text) =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[ \t]+$/gm, "")
    .trim();

/**
 * A crate's texts. One that came without a file gets its declared licence's text with its authors' names, where that is
 * MIT.
 */
function texts({ name, manifest_path, license, authors }) {
  const files = licenceFiles(path.dirname(manifest_path), license);
  if (files.length > 0) return files.map((file) => normalized(readFileSync(file, "utf8")));
  if (!license.split(/ OR |\//).includes("MIT"))
    throw new Error(`${name} has no licence file, and its licence is ${license}; add its text to scripts/notices.mjs`);
  return [mit(authors.length > 0 ? authors.join(", ") : `the authors of ${name}`)];
}

const mit = (holders) =>
  normalized(`Copyright (c) ${holders}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`);

/**
 * A short text without its title and the lines that name its holders, and those lines: many crates differ in nothing
 * else.
 */
function split(text) {
  const isOwn = (line) => text.length < 3000 && /^\s*(copyright |\(c\)|©|(the )?mit license( \(mit\))?$)/i.test(line);
  const lines = text.split("\n");
  const holders = lines
    .filter(isOwn)
    .map((line) => line.trim())
    .filter((line) => !/^(the )?mit license/i.test(line));
  return {
    holders,
    body: lines
      .filter((line) => !isOwn(line))
      .join("\n")
      .trim(),
  };
}

/** The notices as they should be: each text once, under the crates that it is of and the holders that each names. */
export async function notices() {
  const sections = new Map();
  for (const crate of [...(await linkedCrates()), ...pagePackages()]) {
    for (const { holders, body } of texts(crate).map(split)) {
      const key = body.replace(/\s+/g, " ").toLowerCase();
      const section = sections.get(key) ?? { body, crates: [] };
      sections.set(key, section);
      section.crates.push(
        [`${crate.name} ${crate.version} (${crate.license})`, ...holders.map((line) => `  ${line}`)].join("\n"),
      );
    }
  }
  const written = [...sections.values()].map(
    ({ body, crates }) => `${RULE}\n${crates.join("\n")}\n${RULE}\n\n${body}\n`,
  );
  return `The binaries of openclaw-concertina contain the following crates, and its page of figures contains uPlot. Written by \`npm run generate\`.\n\n${written.join("\n")}`;
}
