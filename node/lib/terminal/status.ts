/**
 * Whether Concertina works, as one value: chat, command line and page compute nothing of it, and show these words.
 */
import type { Figures } from "../library/figures.js";
import { bytes, rows } from "./table.js";

/** Something that is wrong, for as long as it is. */
export interface Condition {
  /** Names the operation or the thing that is concerned; a condition is raised and ended by it. */
  key: string;
  /** What is wrong and what follows from that. */
  text: string;
  /** What to do about it; null where there is nothing to do. */
  remedy: string | null;
  /** First and latest time that it was noticed, in milliseconds since 1970. */
  since: number;
  lastSeen: number;
}

/** The state of the plugin at one moment. */
export interface Status {
  version: string;
  engine: "active" | "inactive";
  /** Why it is inactive, and what to do. */
  why: string | null;
  /** When a block was last folded, in milliseconds since 1970. */
  lastFoldAt: number | null;
  /** Its path is empty while it cannot be used. */
  store: Figures["store"];
  /** What is wrong now, the oldest first. */
  conditions: Condition[];
  /** Options that are unknown or wrong: a line for each, with what is used instead. */
  wrongOptions: string[];
  /** Parsers and libraries that are not given every text: a line for each. */
  skipped: string[];
}

/** The status in words. */
export function statusText({
  version,
  engine,
  why,
  lastFoldAt,
  store,
  conditions,
  wrongOptions,
  skipped,
}: Status): string {
  // What is the reason is not said twice.
  const others = conditions.filter(({ text }) => !why?.startsWith(text));
  const ofStore: [string, string][] = [
    ["last fold", lastFoldAt === null ? "none yet" : timeText(lastFoldAt)],
    ["store", storeText(store)],
  ];
  return rows([
    ["Concertina", `${version}, ${engine}${why === null ? "" : `: ${why}`}`],
    ...(store.path === "" ? [] : ofStore),
    ...wrongOptions.map((line): [string, string] => ["option", line]),
    ...skipped.map((line): [string, string] => ["skipped", line]),
    ...(others.length === 0
      ? [["warnings", why === null ? "none" : "no other"] as [string, string]]
      : others.map((condition): [string, string] => ["warning", conditionText(condition)])),
  ]).join("\n");
}

/** A condition in one line: what, what to do, since when. */
export function conditionText({ text, remedy, since }: Condition): string {
  return `${text}${remedy === null ? "" : `. ${remedy}`} (since ${timeText(since)})`;
}

function timeText(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}

function storeText({ path, storedBytes, maxBytes }: Figures["store"]): string {
  return maxBytes === 0
    ? `none yet; it will be ${path}`
    : `${path}, ${bytes(storedBytes)} of originals, at most ${bytes(maxBytes)}`;
}
