/**
 * Files of damaged stores that were set aside. Their originals cannot be fetched until somebody repairs or removes the
 * file.
 */

import { basename } from "node:path";

import { STORE_FILE } from "../node/lib/for-plugin.js";
import { filesIn } from "./own-files.js";

/** Returns one line for each damaged file in a directory. */
export function leftBehind(directory: string): string[] {
  const isAside = (file: string) => basename(file).startsWith(`${STORE_FILE}.damaged-`) && !/-(?:wal|shm)$/.test(file);
  const lost = "is a damaged store that was set aside: its originals cannot be fetched. Repair it or remove the file";
  const files = filesIn(directory).filter(isAside).toSorted();
  return files.map((file) => `${file} ${lost}`);
}
