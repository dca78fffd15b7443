/**
 * The proxy's own notes about a session, in one file each: which messages the client has sent, how its tool results
 * were shown at birth, and which fetches the client does not know.
 *
 * The store keeps decisions of assemblies; these notes keep the rest of what was sent, so that a restarted proxy, or
 * another one that uses the same directory, sends the same bytes. Lines are only appended, and the first line about a
 * result is in force. A line that a crash cut short is skipped.
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

import type { AnyMessage } from "../library/api.js";
import type { FetchResult } from "./dialect.js";
import { type Json, objectIn } from "./sse.js";

/** The fetches of one exchange. */
export interface HiddenRounds {
  /** The pieces of each answer that was followed by another request for its fetches only. */
  rounds: Json[][];
  /** The results of the fetches in each of these answers. */
  results: FetchResult[][];
  /** The pieces of the last answer and the results of its fetches, if it also calls tools of the client. */
  last?: { pieces: Json[]; results: FetchResult[] };
}

/** A line of the file. Each has one of these fields. */
export type Line =
  /** The hashes of the client's messages from index `at` on. */
  | { at: number; links: string[] }
  /** A tool result as it was shown at birth. */
  | { birth: string; shown: AnyMessage }
  /** The fetches in the answer to the messages with this hash. */
  | { answerTo: string; hidden: HiddenRounds }
  /** True if the session goes through untouched. */
  | { untouched: true };

/** The agent of all sessions of a proxy. */
export const AGENT = "proxy";

const MODE = 0o600;
const SUFFIX = ".jsonl";

/** Removes the notes about a session that is removed from the store. */
export function removeJournal(dir: string, { sessionId, agentId }: { sessionId: string; agentId?: string }): void {
  if (agentId === AGENT) rmSync(path.join(dir, path.basename(sessionId) + SUFFIX), { force: true });
}

/** The files of all sessions, in a directory that only its owner can read. */
export class Journals {
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
    rmSync(this.#file(id), { force: true });
  }
}
