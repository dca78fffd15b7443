/**
 * The reason why the store cannot be used, in words. They depend on the kind of failure and not on the step that
 * failed.
 */

import { randomUUID } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, type Trouble } from "../node/lib/for-plugin.js";
import { withOwner } from "./own-files.js";

/** The key of the condition that the store cannot be used. */
export const STORE = "the store";

/** The codes of errors that concern the store as a whole, whatever step meets them. */
const OF_THE_STORE = new Set([
  "CONCERTINA_STORE_UNAVAILABLE",
  "CONCERTINA_STORE_NEWER",
  "CONCERTINA_STORE_DAMAGED",
  "CONCERTINA_STORE_LOCKED",
  "ENOSPC",
  "EDQUOT",
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOTDIR",
]);

/** Returns true if an error concerns the store as a whole. */
export function isOfStore(error: unknown): boolean {
  return OF_THE_STORE.has(String((error as { code?: unknown } | undefined)?.code));
}

/** The minimum number of bytes that a commit of SQLite writes. */
const PROBE_BYTES = 65_536;

/**
 * Writes and removes a file beside the store. @throws the system's error if the disk is full or the directory cannot be
 * written
 */
export function probe(directory: string): void {
  const file = join(directory, `concertina.probe-${randomUUID()}`);
  try {
    writeFileSync(file, Buffer.alloc(PROBE_BYTES), { flag: "wx", mode: 0o600, flush: true });
  } catch (cause) {
    // The message names the directory, because the name of the probe is different each time.
    const { code, message } = cause as NodeJS.ErrnoException;
    throw withOwner(Object.assign(new Error(message.replaceAll(file, directory), { cause }), { code }), [directory]);
  } finally {
    if (existsSync(file)) rmSync(file);
  }
}

/** Describes an error of the store. `place` is a directory, or undefined for a database. */
export function troubleOf(error: unknown, place: string | undefined): Trouble {
  const { code } = (error ?? {}) as { code?: string };
  const words = describe(error);
  if (
    place !== undefined &&
    (code === "ENOSPC" || code === "EDQUOT" || /disk is full|no space left|ENOSPC/i.test(words))
  ) {
    return {
      text: `the disk of ${place} is full, and nothing is folded`,
      remedy: "Free some space; folding then continues, and folded content stays folded",
    };
  }
  if (code === "CONCERTINA_STORE_DAMAGED")
    return { text: words, remedy: "The gateway sets the file aside at the next turn and opens a new one" };
  if (code === "CONCERTINA_STORE_NEWER") return { text: words, remedy: "Install the newer release again" };
  if (place === undefined)
    return {
      text: `the database cannot be used: ${words}`,
      remedy: "Make it reachable; turns continue unchanged until then, and nothing is lost",
    };
  return {
    text: `the store in ${place} cannot be used: ${words}`,
    remedy: "Make the directory readable and writable for the user that runs the gateway, or set sccsStorageDir",
  };
}
