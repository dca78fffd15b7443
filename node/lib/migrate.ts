/** One store copied into another: from a directory into a database when a second machine comes, and back. */
import type { Migrated } from "./addon.js";
import type { StorePlace } from "./api.js";
import { placeOf } from "./arguments.js";
import { awaiting, badArgument, needObject } from "./errors.js";
import { native } from "./native.js";

const PROGRESS_MS = 1000;

/**
 * Copies everything that a store holds into another, which must be empty; reads it back from there and compares. Nobody else can write
 * to either meanwhile. The source is never changed. A copy that does not end leaves the target empty; one that reads otherwise is an
 * error that says where.
 *
 * @param input.progress is told about once a second how many originals were copied
 * @throws Error with a `code`: `CONCERTINA_BAD_ARGUMENT` where the target is not empty
 */
export async function migrate(input: { from: StorePlace; to: StorePlace; progress?: (originals: number) => void }): Promise<Migrated> {
  needObject("input", input);
  const { progress } = input;
  if (progress !== undefined && typeof progress !== "function") badArgument("progress", progress, "a function");
  needObject("from", input.from);
  needObject("to", input.to);
  const [from, to] = [placeOf(input.from), placeOf(input.to)];
  const migration = new (native().NativeMigration)();
  const timer = progress && setInterval(() => progress(migration.copied), PROGRESS_MS);
  try {
    return await awaiting(() => migration.run(from, to));
  } finally {
    clearInterval(timer);
  }
}
