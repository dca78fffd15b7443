/** The id that distinguishes this gateway from others that share a store. */

import { randomUUID } from "node:crypto";
import { appendFileSync, linkSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

import { ownDirectory, putWhole } from "./own-files.js";

/**
 * Returns the id of this gateway. It is generated once and kept in a file in the gateway's state directory, with the
 * inode of that file, by which a copy of the file is detected. An empty file gets a new id. If the store may be shared
 * (`isShared`), a copy gets a new id too, because the gateway that it was copied from may use the same store; `warn`
 * reports that. A store that was copied along is not shared. @throws if the file cannot be written or read
 */
export function hostId(stateDir: string, isShared: boolean, warn: (line: string) => void): string {
  const file = join(ownDirectory(stateDir), "concertina.host-id");
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) draw(file, size === undefined ? linkSync : renameSync);
  const { id, inode } = read(file);
  if (!isShared || inode === undefined || inode === inodeOf(file)) return id;
  draw(file, renameSync);
  const own = read(file).id;
  warn(
    `the state directory is a copy of that of gateway ${id}, which may use the same store: this gateway is now ${own}. If the other one is gone, ` +
      `it expires after 90 days; until then, purge its sessions with --elsewhere`,
  );
  return own;
}

function draw(file: string, place: (from: string, to: string) => void): void {
  const bind = (from: string, to: string) => {
    appendFileSync(from, ` ${inodeOf(from)}`, { flush: true });
    place(from, to);
  };
  try {
    putWhole(file, randomUUID(), bind);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Reads the file. An id that an operator wrote has no inode and is always kept. */
function read(file: string): { id: string; inode: string | undefined } {
  const [id = "", inode] = readFileSync(file, "utf8").trim().split(/\s+/);
  return { id, inode };
}

function inodeOf(file: string): string {
  return String(statSync(file, { bigint: true }).ino);
}
