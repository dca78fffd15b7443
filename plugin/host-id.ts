/** What tells this gateway from others that share a store. */

import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Drawn once, and kept in the gateway's state directory. @throws where it cannot be written or read. */
export function hostId(stateDir: string): string {
  const file = join(stateDir, "concertina", "concertina.host-id");
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) draw(file, size === undefined ? linkSync : renameSync);
  return readFileSync(file, "utf8").trim();
}

/** Puts a whole file in place: nobody reads half of one, and a full disk leaves none. One that is empty is replaced. */
function draw(file: string, place: (from: string, to: string) => void): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const id = randomUUID();
  const drawn = `${file}.${id}`;
  try {
    writeFileSync(drawn, id, { flag: "wx", mode: 0o600, flush: true });
    place(drawn, file);
  } catch (error) {
    // Somebody else was faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(drawn, { force: true });
  }
}
