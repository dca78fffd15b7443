/** What tells this gateway from others that share a store. */

import { randomUUID } from "node:crypto";
import { appendFileSync, linkSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

import { ownDirectory, putWhole } from "./own-files.js";

/**
 * Drawn once, and kept in the gateway's state directory; behind it stands the inode of the file that it is kept in, by
 * which a copy of the file is known. One that is empty is drawn anew. So is a copy where others may have the store
 * (`isShared`), for they may be what it was copied from: `warn` is told. A store that was copied along is no other
 * gateway's. @throws where it cannot be written or read.
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
    `the state directory is a copy of that of gateway ${id}, which may have the same store: this one is gateway ${own} from now on. If the other is ` +
      `no more, it counts so after 90 days; until then what it had stays, and is purged only with --elsewhere`,
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
    // Somebody else was faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** One that an operator wrote has no inode, and stands as it is. */
function read(file: string): { id: string; inode: string | undefined } {
  const [id = "", inode] = readFileSync(file, "utf8").trim().split(/\s+/);
  return { id, inode };
}

function inodeOf(file: string): string {
  return String(statSync(file, { bigint: true }).ino);
}
