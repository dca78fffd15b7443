// Measures if the agent could still edit. An edit quotes the old text byte for byte, so every line of it must be in
// sight byte for byte.
//
// An *edit* is a tool call with an old text (one of OLD) and a new one, in its arguments or in an item of its `edits`.
// So is each hunk of a patch for the tool or command `apply_patch`: its old text is the context and the removed lines.
// A line (except for blank ones) is in sight if a text of the sent request contains it, including its indentation. A
// line number before it, or a longer line around it, does not matter, because old texts may begin and end within lines.
// Folded lines are not byte for byte, so `restore()` is not used here. An edit is ignored if its old text is not in the
// untouched history either.
//
// An edit is *one fetch away* if an id in the request leads to an original that contains all missing lines, and a fetch
// of the range from the first to the last of them returns them. The fetch is executed with the size limit that applies
// to every model. The id and the range are chosen with knowledge of the original, so the figure shows what a
// placeholder could lead to, not what it says.
import { countTokens } from "openclaw-concertina";

import { argumentsIn, isCall, stringsIn, textsOf } from "./transcript.mjs";

const OLD = [
  ["old_string", "new_string"],
  ["oldText", "newText"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldString", "newString"],
  ["search", "replace"],
];
const ID = /\[REF_ID: ([0-9a-f]{16,64})\]|\[\[REWIND:sha256:([0-9a-f]{16,64})\]\]/g;

const PATCH = /^\*\*\* Begin Patch$.*?^\*\*\* End Patch\b/gms;

/** Returns the old text of each edit in a message. */
export function oldTextsOf(message) {
  const given = argumentsIn(message);
  const replaced = given
    .flatMap((args) => [args, ...(Array.isArray(args?.edits) ? args.edits : [])])
    .flatMap((edit) => {
      const pair = OLD.find(([old, fresh]) => typeof edit?.[old] === "string" && typeof edit[fresh] === "string");
      return pair ? [edit[pair[0]]] : [];
    });
  const patches = stringsIn(given).flatMap((text) => text.match(PATCH) ?? []);
  return [...replaced, ...patches.flatMap(hunksOf)].filter((old) => old.trim() !== "");
}

/** Returns the old text of each hunk of a patch. A file that is added has none. */
function hunksOf(patch) {
  return patch.split(/^(?:@@|\*\*\*).*$/m).map((hunk) =>
    hunk
      .split("\n")
      .filter((line) => /^[ -]/.test(line))
      .map((line) => line.slice(1))
      .join("\n"),
  );
}

const linesOf = (text) => [...new Set(text.split(/\r?\n/).filter((line) => line.trim() !== ""))];

/** The edits of a session by call, and the positions of their lines. Shared by all engines. */
export class Edits {
  /** The lines of each edit that the untouched history shows, per call. */
  byCall = [];
  #texts = [];
  #holds = new Map();
  #ids = [];

  /** @param catalogue knows messages by number; @param originals the numbers of the session's own */
  constructor(messages, catalogue, originals) {
    this.catalogue = catalogue;
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
  missing(lines, ids) {
    return lines.filter((line) => {
      if (!this.#holds.has(line)) this.#holds.set(line, new Map());
      const holds = this.#holds.get(line);
      for (let at = ids.length - 1; at >= 0; at--) {
        const id = ids[at];
        if (!holds.has(id)) holds.set(id, this.#textOf(id).includes(line));
        if (holds.get(id)) return false;
      }
      return true;
    });
  }

  /** Returns the ids of originals that the messages show, the latest first. */
  shownIds(ids) {
    const shown = new Set();
    for (const id of ids.toReversed()) {
      this.#ids[id] ??= [...this.#textOf(id).matchAll(ID)].map(([, reference, rewind]) => reference ?? rewind);
      for (const found of this.#ids[id]) shown.add(found);
    }
    return [...shown];
  }

  #textOf(id) {
    return (this.#texts[id] ??= textsOf(this.catalogue.message(id)).join("\n"));
  }
}

/** Measures the edits of one engine's replay. */
export class Agreement {
  tally = { edits: 0, editsInSight: 0, editsFetched: 0, editFetchTokens: 0 };
  #originals = new Map();

  /**
   * @param fetch from an id and `{ lines }`, `{ chars }` or `{ whole: true }` to a text; undefined where the engine
   * keeps no originals
   */
  constructor(edits, fetch) {
    Object.assign(this, { edits, fetch });
  }

  /** Counts the edits of a call. `ids` are the messages of its request by number. */
  async ask(call, ids) {
    for (const lines of this.edits.byCall[call]) {
      const missing = this.edits.missing(lines, ids);
      this.tally.edits++;
      if (missing.length === 0) this.tally.editsInSight++;
      else if (this.fetch) await this.#fetch(missing, ids);
    }
  }

  async #fetch(missing, ids) {
    for (const id of this.edits.shownIds(ids)) {
      if (!this.#originals.has(id)) this.#originals.set(id, await this.fetch(id, { whole: true }));
      const range = rangeOf(this.#originals.get(id) ?? "", missing);
      if (!range) continue;
      const answer = await this.fetch(id, range);
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
function rangeOf(original, lines) {
  const longest = lines.reduce((found, line) => (line.length > found.length ? line : found));
  // Originals of arguments are JSON on one line with escaped text, so the range is in characters.
  for (const written of [(line) => line, (line) => JSON.stringify(line).slice(1, -1)]) {
    const anchor = original.indexOf(written(longest));
    const at = lines.map((line) => nearest(original, written(line), anchor));
    if (at.includes(-1)) continue;
    const [first, last] = [
      Math.min(...at),
      Math.max(...at.map((start, index) => start + written(lines[index]).length)),
    ];
    const charactersTo = (position) => Array.from(original.slice(0, position)).length;
    if (!original.includes("\n")) return { chars: `${charactersTo(first) + 1}-${charactersTo(last)}` };
    const lineOf = (position) => original.slice(0, position).split("\n").length;
    return { lines: `${lineOf(first)}-${lineOf(last)}` };
  }
  return undefined;
}

/** Returns the position of a text nearest to `position`, or -1 if it does not occur. */
function nearest(text, wanted, position) {
  const [before, after] = [text.lastIndexOf(wanted, position), text.indexOf(wanted, position)];
  if (before < 0 || after < 0) return Math.max(before, after);
  return position - before < after - position ? before : after;
}
