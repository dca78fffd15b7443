/** Detection of a changed store place. Placeholders in transcripts then refer to originals in the old place. */

import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { type Concertina, STORE_FILE, type StorePlace, type Trouble } from "../node/lib/for-plugin.js";
import { ownDirectory, putWhole } from "./own-files.js";

/**
 * Records the place of the store. @returns the problem if it was elsewhere before and the new store has nothing of this
 * gateway, because it was not moved along or its place in a database is another one
 */
export async function noteOfMove(stateDir: string, place: StorePlace, store: Concertina): Promise<Trouble | undefined> {
  const [note, usual, now] = [
    join(ownDirectory(stateDir), "concertina.directory"),
    ownDirectory(stateDir),
    nameOf(place),
  ];
  // A full disk may have left an empty file.
  const before = (existsSync(note) && readFileSync(note, "utf8")) || usual;
  if (before === now) return undefined;
  const isLeft =
    (!isAbsolute(before) || existsSync(join(before, STORE_FILE))) &&
    !(await store.sessions()).some(({ isHere }) => isHere);
  putWhole(note, now);
  return isLeft ? troubleOf(before, now) : undefined;
}

/** Returns the name of a place as `status` shows it: a directory, or the public part of a database's URL. */
function nameOf({ dir, url, namespace }: StorePlace): string {
  if (url === undefined) return dir;
  const { host, pathname } = URL.canParse(url) ? new URL(url) : { host: "of several hosts", pathname: "" };
  return `the database ${host}${pathname}/${namespace}`;
}

function troubleOf(before: string, now: string): Trouble {
  return {
    text: `the store is now in ${now}, but placeholders in transcripts refer to originals in ${before}`,
    remedy:
      isAbsolute(before) && isAbsolute(now)
        ? `Set sccsStorageDir to that directory again, or stop the gateway and move all files whose names begin with "${STORE_FILE}"`
        : `Restore sccsStoreUrl and sccsStoreNamespace, or stop the gateway and copy them into an empty store with "openclaw concertina migrate"`,
  };
}
