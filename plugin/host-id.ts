/** What tells this gateway from others that share a store. */

import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Drawn once, and kept in the gateway's state directory. @throws where it cannot be written or read. */
export function hostId(stateDir: string): string {
  const file = join(stateDir, "concertina", "host-id");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, randomUUID(), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const id = readFileSync(file, "utf8").trim();
  if (id === "") throw new Error(`${file} is empty; it must hold a name of this gateway that no other one has`);
  return id;
}
