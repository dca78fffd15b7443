/** Files of damaged stores that were set aside: their originals cannot be fetched until somebody repairs or removes them. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { STORE_FILE } from "../node/lib/store-file.js";

/** A line for each damaged file in a directory. */
export function leftBehind(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const names = filesOf(directory).filter((name) => name.startsWith(`${STORE_FILE}.damaged-`) && !/-(?:wal|shm)$/.test(name));
  return names.toSorted().map((name) => `${join(directory, name)} is a damaged store that was set aside: its originals cannot be fetched. Repair it or remove the file`);
}

/** Of a directory that cannot be read nothing is known; the condition of the store says that. */
function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
