// Checks the words of comments, documents and commit subjects. `npm test lint` runs it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { main, root } from "./steps.mjs";

/** The maximum length of a line and of the subject of a commit, in characters. */
const [LINE, SUBJECT] = [120, 72];

/** The commit after which subjects are checked until there is a release tag. Some earlier ones are longer. */
const BASE = "988ce22a9683ae8b00af4f462243deb78786ee53";

/** Words for which plain technical English has better ones: `while`, `at no cost`, `no longer exists`, … */
const BANNED =
  /\b(amidst|anew|as it were|be had|census|dearer|for lack of|for nothing|goes along|homes|in-force|is no more|lest|past us|peel\w*|thaw\w*|whence)\b/i;

/** Recorded, generated and foreign files. */
const SKIPPED = /^(fixtures|bench\/everyday\/sources)\/|\/cases\/|^node\/lib\/binding\/(addon|options)\.ts$/;

/** The beginnings of comment lines, by the suffix of the file. Every line of a document counts. */
const SLASHES = /^\s*(\/\/|\/\*|\* )/;
const PROSE = { mjs: SLASHES, js: SLASHES, ts: SLASHES, css: SLASHES, c: SLASHES, rs: /^\s*\/\//, sql: /^\s*--/ };
Object.assign(PROSE, { toml: /^\s*#/, yml: /^\s*#/, sh: /^\s*#/, md: /^/ });
const kindOf = (file) => (SKIPPED.test(file) ? undefined : PROSE[path.extname(file).slice(1)]);

/** A doc comment that begins like a fragment. A question must end on the same line. */
const FRAGMENT = /^\s*(\/\/[/!]|\/\*\*|\*) (What|Whether|How)\b(?![^.]*\?)/;

/** Returns the faults of a file, each as `file:line: fault`. */
export function wordFaults(file, text) {
  const prose = kindOf(file);
  if (!prose) return [];
  const isDocument = file.endsWith(".md");
  const lines = text.split(/\r?\n/);
  const faults = [];
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    const isFence = isDocument && /^\s*(```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence || isCode || !prose.test(line)) continue;
    const add = (fault) => faults.push(`${file}:${index + 1}: ${fault}`);
    // Tables cannot be wrapped, nor can links.
    const isExempt = /https?:\/\/|\]\(/.test(line) || (isDocument && line.startsWith("|"));
    if ([...line].length > LINE && !isExempt) add(`the line has more than ${LINE} characters`);
    const [banned] = BANNED.exec(line) ?? [];
    if (banned) add(`"${banned}" is not plain technical English`);
    const fragment = isDocument ? null : FRAGMENT.exec(line);
    const before = lines[index - 1]?.trim() ?? "";
    const begins = fragment?.[1] === "*" ? before === "/**" : !before.startsWith(fragment?.[1]);
    if (fragment && begins) add(`a doc comment must not begin with "${fragment[2]}": say what the item is or returns`);
  }
  return faults;
}

/** Returns a fault for each commit, given as a hash and a subject, whose subject is too long. */
export const longSubjects = (commits) =>
  commits
    .filter((commit) => new RegExp(`^\\S+ .{${SUBJECT + 1}}`, "u").test(commit))
    .map((commit) => `commit ${commit}: the subject has more than ${SUBJECT} characters`);

/** Returns the lines that git prints, or undefined if git is missing or does not know the commits. */
function git(...args) {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim().split("\n");
  } catch {
    return undefined;
  }
}

main(import.meta, async () => {
  const [base] = git("describe", "--tags", "--match", "v*", "--abbrev=0") ?? [BASE];
  const [files, commits] = [git("ls-files"), git("log", "--no-merges", "--format=%h %s", `${base}..HEAD`)];
  if (!files || !commits)
    console.error("▸ words: not everything is checked, because git or a part of the history is missing");
  const texts = (files ?? []).filter((file) => kindOf(file) && existsSync(path.join(root, file)));
  const faults = texts.flatMap((file) => wordFaults(file, readFileSync(path.join(root, file), "utf8")));
  faults.push(...longSubjects(commits ?? []));
  if (faults.length > 0) throw new Error(`words:\n${faults.join("\n")}`);
});
