/**
 * The status of the plugin as one value. Chat, command line and page show these texts and derive nothing themselves.
 */
import type { Figures } from "../library/figures.js";
import { bytes, rows } from "./table.js";

/** A problem that persists. */
export interface Condition {
  /** The operation or thing that is concerned. A condition is raised and ended under this key. */
  key: string;
  /** The problem and its consequence. */
  text: string;
  /** The remedy. Null if there is none. */
  remedy: string | null;
  /** The time when the problem was first noticed, in milliseconds since 1970. `lastSeen` is the latest such time. */
  since: number;
  lastSeen: number;
}

/** The state of the plugin at one moment. */
export interface Status {
  version: string;
  engine: "active" | "inactive";
  /** The reason why the engine is inactive, and the remedy. */
  why: string | null;
  /** The time when a block was last folded, in milliseconds since 1970. */
  lastFoldAt: number | null;
  /** The store. Its path is empty while it cannot be used. */
  store: Figures["store"];
  /** The current problems, oldest first. */
  conditions: Condition[];
  /** Options that are unknown or wrong, with the values that are used instead, one line each. */
  wrongOptions: string[];
  /** Parsers and libraries that are disabled for some texts, or for all, one line each. */
  skipped: string[];
}

/** Formats the status as text. */
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
  // The reason for being inactive is not repeated as a condition.
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

/** Formats a condition in one line: the problem, the remedy, and its first time. */
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
