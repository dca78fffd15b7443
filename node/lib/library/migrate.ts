/** One store copied into another: from a directory into a database when a second machine comes, and back. */
import type { Migrated, StorePlace as AddonPlace } from "../binding/addon.js";
import type { StorePlace } from "./api.js";
import { anything, asked, callable, type Kind, optional, PLACE, placeOf, taken } from "../binding/arguments.js";
import { awaiting } from "../binding/errors.js";
import { native } from "../binding/native.js";

const PROGRESS_MS = 1000;

const place: Kind<AddonPlace> = (name, value) => placeOf(taken(name, value, PLACE));

const TAKES = { from: place, to: place, progress: optional(callable<(originals: number) => unknown>) };

/**
 * Copies everything that a store holds into another, which must be empty; reads it back from there and compares. Nobody
 * else can write to either meanwhile. The source is never changed. A copy that does not end leaves the target empty;
 * one that reads otherwise is an error that says where.
 *
 * @param input.progress is told about once a second how many originals were copied; what it throws comes out once all
 * are
 * @throws Error with a `code`: `CONCERTINA_BAD_ARGUMENT` where the target is not empty
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
      asked("what progress returned", anything, () => progress?.(migration.copied));
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
