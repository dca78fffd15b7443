/** Notices that `sccsStorageDir` names another directory than before: the placeholders in transcripts name originals that stay there. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const STORE = "concertina.sqlite";

/** Remembers where the store is. @returns where it was before, if a store was left there and there is none in the new place. */
export function leftBehind(stateDir: string, directory: string): string | undefined {
  const usual = join(stateDir, "concertina");
  const note = join(usual, "concertina.directory");
  const before = existsSync(note) ? readFileSync(note, "utf8") : usual;
  if (before === directory) return undefined;
  mkdirSync(dirname(note), { recursive: true, mode: 0o700 });
  writeFileSync(note, directory, { mode: 0o600 });
  return existsSync(join(before, STORE)) && !existsSync(join(directory, STORE)) ? before : undefined;
}
