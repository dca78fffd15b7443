/** Migration of a store: from a directory to a database when a second machine is added, and back. */
import type { Migrated, StorePlace as AddonPlace } from "../binding/addon.js";
import type { StorePlace } from "./api.js";
import { anything, asked, callable, type Kind, optional, PLACE, placeOf, taken } from "../binding/arguments.js";
import { awaiting } from "../binding/errors.js";
import { native } from "../binding/native.js";

const PROGRESS_MS = 1000;

const place: Kind<AddonPlace> = (name, value) => placeOf(taken(name, value, PLACE));

const TAKES = { from: place, to: place, progress: optional(callable<(originals: number) => unknown>) };

/**
 * Copies a whole store into another one, which must be empty, reads it back and compares. Both are locked for other
 * writers meanwhile. The source is never changed. If the copy does not finish, the target stays empty. If the
 * comparison fails, an error names the place.
 *
 * @param input.progress is called about once a second with the number of copied originals. If it throws, the error is
 *   rethrown when the copy is done
 * @throws Error with a `code`: `CONCERTINA_BAD_ARGUMENT` if the target is not empty
 */
export async function migrate(input: {
  from: StorePlace;
  to: StorePlace;
  progress?: (originals: number) => void;
}): Promise<Migrated> {
  const { from, to, progress } = taken("input", input, TAKES);
  const migration = new (native().NativeMigration)();
  const failed: unknown[] = [];
  const tell = () => {
    try {
      asked("the result of progress", anything, () => progress?.(migration.copied));
    } catch (error) {
      failed.push(error);
      clearInterval(timer);
    }
  };
  const timer = progress && setInterval(tell, PROGRESS_MS);
  try {
    const copied = await awaiting(() => migration.run(from, to));
    if (failed.length > 0) throw failed[0];
    return copied;
  } finally {
    clearInterval(timer);
  }
}
