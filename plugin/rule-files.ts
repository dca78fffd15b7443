/** The rule files of a workspace, by globs. Nothing outside the workspace is read, even through a glob or a link. */

import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import type { RuleFile } from "../node/lib/for-plugin.js";

/** The maximum size of a rule file in bytes. */
const FILE_BYTES = 262_144;
const FILES = 100;
const DIRECTORIES = 2000;

/** Splits a glob into its parts below the workspace. @throws if it could lead out of the workspace */
function partsOf(glob: string): string[] {
  const parts = glob.split("/").filter((part) => part !== "" && part !== ".");
  if (
    glob.startsWith("/") ||
    /^[a-z]:/i.test(glob) ||
    glob.includes("\\") ||
    glob.includes("\0") ||
    parts.includes("..")
  ) {
    throw new Error(
      `rules.files has ${JSON.stringify(glob)}; it must be a path below the workspace, with / between its parts`,
    );
  }
  return parts;
}

function pattern(part: string): RegExp {
  const escaped = part.replaceAll(/\*+/g, "*").replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}$`);
}

/** Returns the paths below the workspace that a glob matches, with `/` between their parts. */
async function matching(root: string, parts: string[]): Promise<string[]> {
  const found: string[] = [];
  let visited = 0;
  const walk = async (directory: string, at: number): Promise<void> => {
    const part = parts[at];
    if (part === undefined || found.length >= FILES || visited++ >= DIRECTORIES) return;
    const entries = await readdir(join(root, directory), { withFileTypes: true }).catch(() => []);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const isLast = at === parts.length - 1;
    if (part === "**" && !isLast) await walk(directory, at + 1);
    const wanted = pattern(part === "**" ? "*" : part);
    for (const entry of entries) {
      const below = directory === "" ? entry.name : `${directory}/${entry.name}`;
      // Hidden files must be named explicitly.
      const isHidden = entry.name.startsWith(".") || entry.name === "node_modules";
      if ((isHidden && part.startsWith("*")) || !wanted.test(entry.name)) continue;
      if (entry.isDirectory()) await walk(below, part === "**" ? at : at + 1);
      else if (isLast) found.push(below);
    }
  };
  await walk("", 0);
  return found;
}

/** Reads a file of the workspace. @throws if it is outside the workspace, not a file, or too large */
async function read(workspace: string, name: string): Promise<string> {
  const real = await realpath(join(workspace, name));
  const below = relative(await realpath(workspace), real);
  if (below === "" || below === ".." || below.startsWith(`..${sep}`) || below.includes(":")) {
    throw new Error(`${name} lies outside the workspace`);
  }
  const { size } = await stat(real);
  if (size > FILE_BYTES) throw new Error(`${name} has ${size} bytes; a rule file has at most ${FILE_BYTES}`);
  return readFile(real, "utf8");
}

/** Reads the files that the globs match, each once. Errors are passed to `complain`. */
export async function readRuleFiles(
  workspace: string,
  globs: string[],
  complain: (error: unknown) => void,
): Promise<RuleFile[]> {
  const names = new Set<string>();
  for (const glob of globs) {
    try {
      for (const name of await matching(workspace, partsOf(glob))) names.add(name);
    } catch (error) {
      complain(error);
    }
  }
  const files: RuleFile[] = [];
  for (const name of names) {
    try {
      files.push({ name, text: await read(workspace, name) });
    } catch (error) {
      complain(error);
    }
  }
  return files;
}

/** Reads a JSON file of the workspace. @throws if it is missing, not JSON, or outside the workspace */
export async function readJson(workspace: string, name: string): Promise<unknown> {
  return JSON.parse(await read(workspace, partsOf(name).join("/")));
}
