// The licence texts of third-party code that is shipped: the crates that are linked into the binaries of any platform,
// and the library that draws the page's charts. The texts are read from the crates and the library themselves.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { platforms, rustTarget } from "./platforms.mjs";
import { run } from "./steps.mjs";

/** The file that ships with every binary. `npm run generate` writes it. */
export const NOTICES = "THIRD-PARTY-NOTICES.txt";

const LICENCE_FILE = /^(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?$/i;
/** Directories of a crate that are not compiled into our binaries. */
const NOT_LINKED = new Set(["node_modules", "tests", "examples", "wasm-stdlib"]);
const RULE = "=".repeat(100);

/** Our crate that compiles the sources of its dev-dependencies. */
const GRAMMARS = "concertina-grammars";

/**
 * Returns every registry crate whose code is in the addon, sorted. Macros and build dependencies are left out because
 * they run at compile time.
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

/** Returns the npm packages whose code is in the page. */
function pagePackages() {
  const manifest_path = createRequire(import.meta.url).resolve("uplot/package.json");
  const { name, version, license, author } = JSON.parse(readFileSync(manifest_path, "utf8"));
  return [{ name, version, license, manifest_path, authors: [author] }];
}

/**
 * Returns the licence files in a crate's directory, including those of bundled sources. If there is a choice of
 * licences, one is taken: MIT if possible.
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
 * Returns a crate's licence texts. If it has no file and its declared licence is MIT, the MIT text with its authors'
 * names is used.
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
 * Splits a short text into the lines that name its holders and the rest without its title. Many licences differ only in
 * those lines.
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

/**
 * Returns the content of the notices: each text once, with the crates that it applies to and the holders that each
 * names.
 */
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
