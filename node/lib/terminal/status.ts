/**
 * The status of the plugin as one value. Chat, command line and page show these texts and derive nothing themselves.
 */
import type { Figures } from "../library/figures.js";
import { bytes, rows } from "./table.js";

/** A problem with its consequence, and its remedy: the command or the step that mends it. */
export interface Trouble {
  text: string;
  remedy: string;
}

/** A problem that persists. */
export interface Condition extends Trouble {
  /** The operation or thing that is concerned. A condition is raised and ended under this key. */
  key: string;
  /** The time when the problem was first noticed, in milliseconds since 1970. `lastSeen` is the latest such time. */
  since: number;
  lastSeen: number;
}

/** The result of one check. */
export interface Finding {
  /** The name of the check. */
  key: string;
  /**
   * `failure`: nothing is folded, or content may be lost. `warning`: it works, but saves less than it could. `note`: a
   * fact to know. `ok`: nothing to do.
   */
  level: "failure" | "warning" | "note" | "ok";
  /** The fact and its consequence. */
  text: string;
  /** The remedy, with the command. Failures and warnings have one. Null if there is nothing to do. */
  remedy: string | null;
  /** The time when a problem was first noticed, in milliseconds since 1970. Null if it is only known now. */
  since: number | null;
}

/** The state of the plugin at one moment. */
export interface Status {
  version: string;
  /** `observing`: everything runs, but nothing that is sent changes. */
  engine: "active" | "observing" | "inactive";
  /** The reason why the engine is inactive, and the remedy. */
  why: string | null;
  /** The time when a block was last folded, in milliseconds since 1970. */
  lastFoldAt: number | null;
  /** The store. Its path is empty while it cannot be used. */
  store: Figures["store"];
  /** The result of every check, those that matter most first. */
  findings: Finding[];
}

const LEVELS = ["failure", "warning", "note", "ok"] as const;

/** Returns findings in the order of their weight. */
export function byWeight(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

/** Returns a finding that is only known now. */
export function finding(key: string, level: "failure" | "warning", text: string, remedy: string): Finding;
export function finding(key: string, level: "note" | "ok", text: string, remedy?: string): Finding;
export function finding(key: string, level: Finding["level"], text: string, remedy: string | null = null): Finding {
  return { key, level, text, remedy, since: null };
}

/** Formats a problem and its remedy in one line. */
export const troubleText = ({ text, remedy }: Trouble): string => `${text}. ${remedy}`;

/** Formats the status as text: what is active, and the failures and warnings. */
export function statusText({ version, engine, why, lastFoldAt, store, findings }: Status): string {
  // The reason for being inactive is not repeated as a finding.
  const others = findings.filter(
    ({ level, text }) => (level === "failure" || level === "warning") && !why?.startsWith(text),
  );
  const ofStore: [string, string][] = [
    ["last fold", lastFoldAt === null ? "none yet" : timeText(lastFoldAt)],
    ["store", storeText(store)],
  ];
  const reason = why ?? (engine === "observing" ? OBSERVING : undefined);
  return rows([
    ["Concertina", `${version}, ${engine}${reason === undefined ? "" : `: ${reason}`}`],
    ...(store.path === "" ? [] : ofStore),
    ...(others.length === 0
      ? [["warnings", why === null ? "none" : "no other"] as [string, string]]
      : others.map((one): [string, string] => [one.level, findingText(one)])),
  ]).join("\n");
}

/** The meaning of observing, in one sentence. */
export const OBSERVING = "nothing that is sent is changed; the figures show what folding would have done";

/** Formats every check as one line, and the remedy below it. */
export function doctorText(findings: readonly Finding[]): string {
  const lines = findings.map((one): [string, string] => [
    one.level,
    `${one.key}: ${findingText({ ...one, remedy: null })}`,
  ]);
  return rows(lines)
    .flatMap((line, at) => {
      const remedy = findings[at]?.remedy ?? null;
      return remedy === null ? [line] : [line, `${" ".repeat(line.indexOf(lines[at]?.[1] ?? ""))}${remedy}`];
    })
    .join("\n");
}

/** Returns the exit status of `doctor`: 0 nothing to do, 1 a failure, 3 only warnings. 2 stands for wrong usage. */
export function doctorStatus(findings: readonly Finding[]): 0 | 1 | 3 {
  if (findings.some(({ level }) => level === "failure")) return 1;
  return findings.some(({ level }) => level === "warning") ? 3 : 0;
}

/** Formats a finding in one line: the fact, the remedy, and its first time. */
export function findingText({ text, remedy, since }: Finding): string {
  return `${text}${remedy === null ? "" : `. ${remedy}`}${since === null ? "" : ` (since ${timeText(since)})`}`;
}

function timeText(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}

function storeText({ path, storedBytes, maxBytes }: Figures["store"]): string {
  return maxBytes === 0
    ? `none yet; it will be ${path}`
    : `${path}, ${bytes(storedBytes)} of originals, at most ${bytes(maxBytes)}`;
}
