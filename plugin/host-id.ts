/** What tells this gateway from others that share a store. */

import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

import { ownDirectory, putWhole } from "./own-files.js";

/** Drawn once, and kept in the gateway's state directory. One that is empty is drawn anew. @throws where it cannot be written or read. */
export function hostId(stateDir: string): string {
  const file = join(ownDirectory(stateDir), "concertina.host-id");
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) draw(file, size === undefined ? linkSync : renameSync);
  return readFileSync(file, "utf8").trim();
}

function draw(file: string, place: (from: string, to: string) => void): void {
  try {
    putWhole(file, randomUUID(), place);
  } catch (error) {
    // Somebody else was faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
