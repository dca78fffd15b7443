/** The plugin's own files below the host's state directory, wherever its store is. */

import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the plugin's directory. The store is also there, unless an option names another place. */
export function ownDirectory(stateDir: string): string {
  return join(stateDir, "concertina");
}

/**
 * Writes a file atomically: no reader sees a part of it, and a full disk leaves no partial file. @throws an Error that
 * names the file
 */
export function putWhole(file: string, text: string, place: (from: string, to: string) => void = renameSync): void {
  const drawn = `${file}.${randomUUID()}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(drawn, text, { flag: "wx", mode: 0o600, flush: true });
    place(drawn, file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw Object.assign(new Error(`${file} cannot be written: ${message}`, { cause }), { code });
  } finally {
    rmSync(drawn, { force: true });
  }
}

/** The error codes of operations that fail because files belong to another user. */
const REFUSED = new Set(["EACCES", "EPERM", "CONCERTINA_STORE_UNAVAILABLE"]);

/** Adds the remedy to an error if a file in the directories belongs to a user other than the one of this process. */
export function withOwner(error: unknown, directories: string[]): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const own = process.getuid?.();
  if (own === undefined || code === undefined || !REFUSED.has(code)) return error;
  for (const directory of directories) {
    const owner = [directory, ...filesIn(directory)].map(ownerOf).find((uid) => uid !== undefined && uid !== own);
    if (owner === undefined) continue;
    const what = `${directory} has files of user ${owner}, but this process runs as user ${own}: run it as user ${owner}, or run "chown -R ${own}" on the directory`;
    return Object.assign(new Error(`${message}; ${what}`, { cause: error }), { code });
  }
  return error;
}

/** Returns the files in a directory, or none if it is missing or cannot be read. */
export function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    // If it belongs to another user, its own owner already shows that.
    return [];
  }
}

function ownerOf(file: string): number | undefined {
  try {
    return statSync(file).uid;
  } catch {
    return undefined;
  }
}
