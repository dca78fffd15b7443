/**
 * Files of damaged stores that were set aside: their originals cannot be fetched until somebody repairs or removes
 * them.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { STORE_FILE } from "../node/lib/for-plugin.js";

/** A line for each damaged file in a directory. */
export function leftBehind(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const isAside = (name: string) => name.startsWith(`${STORE_FILE}.damaged-`) && !/-(?:wal|shm)$/.test(name);
  const lost = "is a damaged store that was set aside: its originals cannot be fetched. Repair it or remove the file";
  const names = filesOf(directory).filter(isAside).toSorted();
  return names.map((name) => `${join(directory, name)} ${lost}`);
}

/** Of a directory that cannot be read nothing is known; the condition of the store says that. */
function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
