/**
 * Files of damaged stores that were set aside. Their originals cannot be fetched until somebody repairs or removes the
 * file.
 */

import { basename } from "node:path";

import { STORE_FILE, type Trouble } from "../node/lib/for-plugin.js";
import { filesIn } from "./own-files.js";

/** Returns the problem of each damaged file in a directory. */
export function leftBehind(directory: string): Trouble[] {
  const isAside = (file: string) => basename(file).startsWith(`${STORE_FILE}.damaged-`) && !/-(?:wal|shm)$/.test(file);
  const files = filesIn(directory).filter(isAside).toSorted();
  return files.map((file) => ({
    text: `${file} is a damaged store that was set aside: its originals cannot be fetched`,
    remedy: `Run "sqlite3 ${file} .recover" to repair it, or "rm ${file}" to give its originals up`,
  }));
}
