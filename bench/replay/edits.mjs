// Could the agent still edit? An edit quotes the old text byte for byte, so every line of it has to be in sight byte
// for byte.
//
// An *edit* is a tool call with the old text under one of OLD beside the new one, itself or as an item of its `edits`.
// A line (blank ones aside) is in sight where a text of the request as sent holds it, indentation included; a line
// number before it or the rest of a longer line around it does no harm, since old texts may begin and end within lines.
// What a fold reshaped is not byte for byte, so `restore()` does not help here. An edit whose old text the untouched
// history does not show either is left out.
//
// An edit is *one fetch away* where an id that the request shows leads to an original that holds all lines out of
// sight, and fetching from the first of them to the last really brings them: the fetch is executed, with the limit on
// answers that every model has. Which id and which range is chosen with the original known, so the figure says what a
// placeholder could lead to, not what it says.
import { countTokens } from "openclaw-concertina";

import { argumentsIn, isCall, textsOf } from "./transcript.mjs";

const OLD = [
  ["old_string", "new_string"],
  ["oldText", "newText"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldString", "newString"],
  ["search", "replace"],
];
const ID = /\[REF_ID: ([0-9a-f]{16,64})\]|\[\[REWIND:sha256:([0-9a-f]{16,64})\]\]/g;

/** The old text of each edit that a message asks for. */
export function oldTextsOf(message) {
  return argumentsIn(message)
    .flatMap((args) => [args, ...(Array.isArray(args?.edits) ? args.edits : [])])
    .flatMap((edit) => {
      const pair = OLD.find(([old, fresh]) => typeof edit?.[old] === "string" && typeof edit[fresh] === "string");
      return pair && edit[pair[0]].trim() !== "" ? [edit[pair[0]]] : [];
    });
}

const linesOf = (text) => [...new Set(text.split(/\r?\n/).filter((line) => line.trim() !== ""))];

/** The edits of a session by call, and where their lines are. One for all engines. */
export class Edits {
  /** Per call, the lines of each edit that the untouched history shows. */
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

  /** The lines that none of the messages shows. Looks from the end, where most were read or written a moment ago. */
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

  /** Ids of originals that the messages show, the latest first. */
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

/** Follows the edits of one engine's replay. */
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

  /** Counts the edits of a call, given the messages of its request by number. */
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
 * What to fetch of an original for some lines: from the first to the last of them, around the longest; nothing where
 * one is not there.
 */
function rangeOf(original, lines) {
  const longest = lines.reduce((found, line) => (line.length > found.length ? line : found));
  // The original of arguments is JSON on one line, in which they stand escaped: there characters are counted.
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

/** Where a text stands nearest to a position; -1 where it does not. */
function nearest(text, wanted, position) {
  const [before, after] = [text.lastIndexOf(wanted, position), text.indexOf(wanted, position)];
  if (before < 0 || after < 0) return Math.max(before, after);
  return position - before < after - position ? before : after;
}
