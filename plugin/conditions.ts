/**
 * The current problems. A condition is raised under a key when an operation fails, and ended when it succeeds again.
 * Conditions are in a file below the state directory, so that the gateway and a command beside it share them. If the
 * file cannot be written, as on a full disk, this process keeps them in memory.
 */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Condition } from "../node/lib/for-plugin.js";
import { ownDirectory, putWhole } from "./own-files.js";
import { ofProcess } from "./process-memory.js";

const FILE = "concertina.conditions.json";
/** The minimum time between two writes of a persisting condition. */
const SEEN_EVERY_MS = 60_000;

/** Conditions that could not be written, by file. They replace the content of the file until it can be written. */
const unwritten = ofProcess<Condition[]>("conditions");
/** The number of times that a condition was raised in this process, by file and key. */
const raised = ofProcess<number>("raised");

export class Conditions {
  /** The path of the file. */
  readonly file: string;

  constructor(stateDir: string) {
    this.file = join(ownDirectory(stateDir), FILE);
  }

  /** Returns the current conditions, oldest first. */
  list(): Condition[] {
    return unwritten.get(this.file) ?? written(this.file);
  }

  /** Raises a condition, or updates it if it persists. */
  raise({ key, text, remedy }: Pick<Condition, "key" | "text" | "remedy">, now = Date.now()): void {
    raised.set(this.#nameOf(key), this.mark(key) + 1);
    const all = this.list();
    const known = all.find((condition) => condition.key === key);
    if (known?.text === text && now - known.lastSeen < SEEN_EVERY_MS) return;
    const noted = { key, text, remedy, since: known?.since ?? now, lastSeen: now };
    this.#write([...all.filter((condition) => condition.key !== key), noted].toSorted((a, b) => a.since - b.since));
  }

  /**
   * Returns how often a condition was raised in this process. An operation takes this mark at its beginning, for `end`.
   */
  mark(key: string): number {
    return raised.get(this.#nameOf(key)) ?? 0;
  }

  /** Ends a condition, unless it was raised since the mark. */
  end(key: string, mark = this.mark(key)): void {
    if (mark !== this.mark(key)) return;
    const all = this.list();
    const rest = all.filter((condition) => condition.key !== key);
    if (rest.length < all.length) this.#write(rest);
  }

  #nameOf(key: string): string {
    return `${this.file}\n${key}`;
  }

  #write(conditions: Condition[]): void {
    try {
      if (conditions.length === 0) rmSync(this.file, { force: true });
      else putWhole(this.file, JSON.stringify(conditions));
      unwritten.delete(this.file);
    } catch {
      // The failure of the operation is logged elsewhere. The status reads the conditions from memory.
      unwritten.set(this.file, conditions);
    }
  }
}

/** Returns the conditions in a file. A file that is missing, or that a full disk left empty, contains none. */
function written(file: string): Condition[] {
  try {
    const conditions: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(conditions) ? (conditions as Condition[]) : [];
  } catch {
    return [];
  }
}
