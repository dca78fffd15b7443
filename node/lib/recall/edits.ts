/**
 * Measures if the agent could still edit. An edit quotes the old text byte for byte, so every line of it must be in
 * sight byte for byte.
 *
 * An *edit* is a tool call with an old text (one of OLD) and a new one, in its arguments or in an item of its `edits`.
 * So is each hunk of a patch for the tool or command `apply_patch`: its old text is the context and the removed lines.
 * A line (except for blank ones) is in sight if a text of the sent request contains it, including its indentation. A
 * line number before it, or a longer line around it, does not matter, because old texts may begin and end within lines.
 * Folded lines are not byte for byte, so `restore()` is not used here. An edit is ignored if its old text is not in the
 * untouched history either.
 *
 * An edit is *one fetch away* if an id in the request leads to an original that contains all missing lines, and a fetch
 * of the range from the first to the last of them returns them. The fetch is executed with the size limit that applies
 * to every model. The id and the range are chosen with knowledge of the original, so the figure shows what a
 * placeholder could lead to, not what it says.
 */
import type { Message } from "../library/api.js";
import { countTokens } from "../library/pure.js";
import type { Catalogue } from "./catalogue.js";
import { argumentsIn, isCall, stringsIn, textsOf } from "./transcript.js";

/** A part of an original, or all of it. */
export type Range = { lines: string } | { chars: string } | { whole: true };

/** Fetches a part of an original by its id. Resolves to undefined if there is no such original. */
export type Fetch = (id: string, range: Range) => Promise<string | undefined>;

const OLD = [
  ["old_string", "new_string"],
  ["oldText", "newText"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldString", "newString"],
  ["search", "replace"],
] as const;
const ID = /\[REF_ID: ([0-9a-f]{16,64})\]|\[\[REWIND:sha256:([0-9a-f]{16,64})\]\]/g;

const PATCH = /^\*\*\* Begin Patch$.*?^\*\*\* End Patch\b/gms;

/** Returns the old text of each edit in a message. */
export function oldTextsOf(message: Message): string[] {
  const given = argumentsIn(message) as (Record<string, unknown> | null | undefined)[];
  const replaced = given
    .flatMap((args) => [args, ...(Array.isArray(args?.edits) ? (args.edits as typeof given) : [])])
    .flatMap((edit) => {
      const pair = OLD.find(([old, fresh]) => typeof edit?.[old] === "string" && typeof edit[fresh] === "string");
      return pair === undefined ? [] : [String(edit?.[pair[0]])];
    });
  const patches = stringsIn(given).flatMap((text) => text.match(PATCH) ?? []);
  return [...replaced, ...patches.flatMap(hunksOf)].filter((old) => old.trim() !== "");
}

/** Returns the old text of each hunk of a patch. A file that is added has none. */
function hunksOf(patch: string): string[] {
  return patch.split(/^(?:@@|\*\*\*).*$/m).map((hunk) =>
    hunk
      .split("\n")
      .filter((line) => /^[ -]/.test(line))
      .map((line) => line.slice(1))
      .join("\n"),
  );
}

const linesOf = (text: string) => [...new Set(text.split(/\r?\n/).filter((line) => line.trim() !== ""))];

/** The edits of a session by call, and the positions of their lines. Shared by all engines. */
export class Edits {
  /** The lines of each edit that the untouched history shows, per call. */
  readonly byCall: string[][][] = [];
  readonly #texts: string[] = [];
  readonly #holds = new Map<string, Map<number, boolean>>();
  readonly #ids: string[][] = [];

  /** @param catalogue knows messages by number; @param originals the numbers of the session's own */
  constructor(
    messages: readonly Message[],
    readonly catalogue: Catalogue,
    originals: readonly number[],
  ) {
    messages.forEach((message, index) => {
      if (!isCall(message)) return;
      const before = originals.slice(0, index);
      this.byCall.push(
        oldTextsOf(message)
          .map(linesOf)
          .filter((lines) => this.missing(lines, before).length === 0),
      );
    });
  }

  /** Returns the lines that no message shows. Searches from the end, because most were read or written recently. */
  missing(lines: readonly string[], ids: readonly number[]): string[] {
    return lines.filter((line) => {
      const holds = this.#holds.get(line) ?? new Map<number, boolean>();
      this.#holds.set(line, holds);
      return (
        ids.findLast((id) => {
          if (!holds.has(id)) holds.set(id, this.#textOf(id).includes(line));
          return holds.get(id);
        }) === undefined
      );
    });
  }

  /** Returns the ids of originals that the messages show, the latest first. */
  shownIds(ids: readonly number[]): string[] {
    const shown = new Set<string>();
    for (const id of ids.toReversed()) {
      this.#ids[id] ??= [...this.#textOf(id).matchAll(ID)].map(([, reference, rewind]) => reference ?? rewind ?? "");
      for (const found of this.#ids[id]) shown.add(found);
    }
    return [...shown];
  }

  #textOf(id: number): string {
    return (this.#texts[id] ??= textsOf(this.catalogue.message(id)).join("\n"));
  }
}

/** Sums over the edits of one engine's replay. */
export interface EditTally {
  edits: number;
  editsInSight: number;
  /** Edits that are one fetch away. */
  editsFetched: number;
  /** Tokens of the answers to these fetches. */
  editFetchTokens: number;
}

/** Returns a tally of no edits. */
export const noEdits = (): EditTally => ({ edits: 0, editsInSight: 0, editsFetched: 0, editFetchTokens: 0 });

/** Measures the edits of one engine's replay. */
export class Agreement {
  readonly tally = noEdits();
  readonly #originals = new Map<string, string | undefined>();

  /** @param fetch undefined where the engine keeps no originals */
  constructor(
    readonly edits: Edits,
    readonly fetch?: Fetch,
  ) {}

  /** Counts the edits of a call. `ids` are the messages of its request by number. */
  async ask(call: number, ids: readonly number[]): Promise<void> {
    for (const lines of this.edits.byCall[call] ?? []) {
      const missing = this.edits.missing(lines, ids);
      this.tally.edits++;
      if (missing.length === 0) this.tally.editsInSight++;
      else if (this.fetch) await this.#fetch(this.fetch, missing, ids);
    }
  }

  async #fetch(fetch: Fetch, missing: readonly string[], ids: readonly number[]): Promise<void> {
    for (const id of this.edits.shownIds(ids)) {
      if (!this.#originals.has(id)) this.#originals.set(id, await fetch(id, { whole: true }));
      const range = rangeOf(this.#originals.get(id) ?? "", missing);
      if (!range) continue;
      const answer = await fetch(id, range);
      if (!answer || !rangeOf(answer, missing)) continue;
      this.tally.editsFetched++;
      this.tally.editFetchTokens += countTokens(answer);
      return;
    }
  }
}

/**
 * Returns the range of an original that contains some lines, from the first to the last of them, around the longest
 * one. Returns nothing if a line is missing.
 */
function rangeOf(original: string, lines: readonly string[]): Range | undefined {
  const longest = lines.reduce((found, line) => (line.length > found.length ? line : found), "");
  // Originals of arguments are JSON on one line with escaped text, so the range is in characters.
  for (const written of [(line: string) => line, (line: string) => JSON.stringify(line).slice(1, -1)]) {
    const anchor = original.indexOf(written(longest));
    const at = lines.map((line) => ({ line, start: nearest(original, written(line), anchor) }));
    if (at.some(({ start }) => start < 0)) continue;
    const first = Math.min(...at.map(({ start }) => start));
    const last = Math.max(...at.map(({ line, start }) => start + written(line).length));
    const charactersTo = (position: number) => Array.from(original.slice(0, position)).length;
    if (!original.includes("\n")) return { chars: `${charactersTo(first) + 1}-${charactersTo(last)}` };
    const lineOf = (position: number) => original.slice(0, position).split("\n").length;
    return { lines: `${lineOf(first)}-${lineOf(last)}` };
  }
  return undefined;
}

/** Returns the position of a text nearest to `position`, or -1 if it does not occur. */
function nearest(text: string, wanted: string, position: number): number {
  const [before, after] = [text.lastIndexOf(wanted, position), text.indexOf(wanted, position)];
  if (before < 0 || after < 0) return Math.max(before, after);
  return position - before < after - position ? before : after;
}
