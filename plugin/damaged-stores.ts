/**
 * Files of damaged stores that were set aside. Their originals cannot be fetched until somebody repairs or removes the
 * file.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { STORE_FILE } from "../node/lib/for-plugin.js";

/** Returns one line for each damaged file in a directory. */
export function leftBehind(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const isAside = (name: string) => name.startsWith(`${STORE_FILE}.damaged-`) && !/-(?:wal|shm)$/.test(name);
  const lost = "is a damaged store that was set aside: its originals cannot be fetched. Repair it or remove the file";
  const names = filesOf(directory).filter(isAside).toSorted();
  return names.map((name) => `${join(directory, name)} ${lost}`);
}

/**
 * Returns the names in a directory. If it cannot be read, none are returned: the condition of the store reports that.
 */
function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
