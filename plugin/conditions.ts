/**
 * What is wrong now: conditions by key, raised when an operation fails and ended when it succeeds again. They are in a
 * file below the
 * state directory, so that the gateway and a command beside it know the same. What the file cannot take, as on a full
 * disk, this process keeps.
 */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Condition } from "../node/lib/for-plugin.js";
import { ownDirectory, putWhole } from "./own-files.js";
import { ofProcess } from "./process-memory.js";

const FILE = "concertina.conditions.json";
/** A condition that goes on is written anew at most so often. */
const SEEN_EVERY_MS = 60_000;

/** By file: what could not be written, which stands for the file until it can. */
const unwritten = ofProcess<Condition[]>("conditions");
/** Counts what was raised in this process, by file and key. */
const raised = ofProcess<number>("raised");

export class Conditions {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(ownDirectory(stateDir), FILE);
  }

  /** What is wrong, the oldest first. */
  list(): Condition[] {
    return unwritten.get(this.#file) ?? written(this.#file);
  }

  /** Notes that something is wrong, or still is. */
  raise({ key, text, remedy }: Pick<Condition, "key" | "text" | "remedy">, now = Date.now()): void {
    raised.set(this.#nameOf(key), this.mark(key) + 1);
    const all = this.list();
    const known = all.find((condition) => condition.key === key);
    if (known?.text === text && now - known.lastSeen < SEEN_EVERY_MS) return;
    const noted = { key, text, remedy, since: known?.since ?? now, lastSeen: now };
    this.#write([...all.filter((condition) => condition.key !== key), noted].toSorted((a, b) => a.since - b.since));
  }

  /** How often something was raised in this process: `end` takes the number of before an operation began. */
  mark(key: string): number {
    return raised.get(this.#nameOf(key)) ?? 0;
  }

  /** Notes that something is right again, unless it was raised since the mark. */
  end(key: string, mark = this.mark(key)): void {
    if (mark !== this.mark(key)) return;
    const all = this.list();
    const rest = all.filter((condition) => condition.key !== key);
    if (rest.length < all.length) this.#write(rest);
  }

  #nameOf(key: string): string {
    return `${this.#file}\n${key}`;
  }

  #write(conditions: Condition[]): void {
    try {
      if (conditions.length === 0) rmSync(this.#file, { force: true });
      else putWhole(this.#file, JSON.stringify(conditions));
      unwritten.delete(this.#file);
    } catch {
      // The log has the failure that the condition is about; status reads it from here.
      unwritten.set(this.#file, conditions);
    }
  }
}

/** What a file holds. One that is not there, or that a full disk left empty, holds nothing. */
function written(file: string): Condition[] {
  try {
    const conditions: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(conditions) ? (conditions as Condition[]) : [];
  } catch {
    return [];
  }
}
