/** The check that only their owner can reach the files of a store. */
import { statSync } from "node:fs";
import path from "node:path";

import { STORE_FILE } from "../library/store-file.js";
import { type Finding, finding } from "./status.js";

/** Returns a directory and the files of the store in it. */
export const storePaths = (directory: string): string[] => [
  directory,
  ...["", "-wal", "-shm"].map((suffix) => path.join(directory, `${STORE_FILE}${suffix}`)),
];

/**
 * Returns the finding about the rights of files and directories, or none if no such file exists. Opening a store limits
 * the rights of its files, so they are checked before.
 */
export function rightsFindings(paths: readonly string[]): Finding[] {
  if (process.platform === "win32") return [];
  const found = [...new Set(paths)].flatMap((file) => {
    const mode = modeOf(file);
    return mode === undefined ? [] : [{ file, mode }];
  });
  if (found.length === 0) return [];
  const wide = found.filter(({ mode }) => (mode & 0o077) !== 0);
  if (wide.length === 0) return [finding("rights", "ok", "only their owner can reach the store's files")];
  const named = wide.map(({ file, mode }) => `${file} (mode ${mode.toString(8)})`).join(", ");
  const files = wide.map(({ file }) => `'${file}'`).join(" ");
  return [finding("rights", "warning", `others than the owner can reach ${named}`, `Run "chmod go= ${files}"`)];
}

function modeOf(file: string): number | undefined {
  try {
    return statSync(file).mode & 0o777;
  } catch {
    // It does not exist, or the check of the store reports that it cannot be reached.
    return undefined;
  }
}
