/**
 * Notes about sessions, in one file each, that every process with the same directory reads alike. Lines are only
 * appended. A line that a crash cut short is skipped.
 */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";

import { type Json, objectIn } from "../formats/json-object.js";

const MODE = 0o600;
const SUFFIX = ".jsonl";

/** Removes the file of a session. */
export function removeNotes(dir: string, id: string): void {
  rmSync(path.join(dir, id + SUFFIX), { force: true });
}

/** The files of all sessions, in a directory that only its owner can read. */
export class Journals<Line extends object> {
  readonly #dir: string;
  #listedAt = 0n;
  #ids: string[] = [];

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  }

  #file(id: string): string {
    return path.join(this.#dir, id + SUFFIX);
  }

  /** Returns the ids of all sessions. The directory is read again after it has changed. */
  ids(): string[] {
    const { mtimeNs } = statSync(this.#dir, { bigint: true });
    if (mtimeNs !== this.#listedAt) {
      const names = readdirSync(this.#dir);
      this.#ids = names.flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : []));
      this.#listedAt = mtimeNs;
    }
    return this.#ids;
  }

  append(id: string, lines: Line[]): void {
    if (lines.length === 0) return;
    // The first line end closes a line that a crash cut short.
    appendFileSync(this.#file(id), `\n${lines.map((line) => JSON.stringify(line)).join("\n")}\n`, { mode: MODE });
  }

  /** Reads the whole lines from a byte on. Returns the byte after them. */
  read(id: string, from: number): { lines: Json[]; end: number } {
    const { size = 0 } = statSync(this.#file(id), { throwIfNoEntry: false }) ?? {};
    if (size <= from) return { lines: [], end: size };
    const file = openSync(this.#file(id), "r");
    try {
      const bytes = Buffer.alloc(size - from);
      const length = readSync(file, bytes, 0, bytes.length, from);
      const end = bytes.subarray(0, length).lastIndexOf(10) + 1;
      const texts = bytes.toString("utf8", 0, end).split("\n");
      return { lines: texts.map(objectIn).filter((line) => line !== undefined), end: from + end };
    } finally {
      closeSync(file);
    }
  }

  copy(from: string, to: string): void {
    copyFileSync(this.#file(from), this.#file(to));
  }

  /** Returns the time of the last line, in milliseconds since 1970. */
  changedAt(id: string): number {
    return statSync(this.#file(id), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  remove(id: string): void {
    removeNotes(this.#dir, id);
  }
}
