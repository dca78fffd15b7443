/**
 * Conversion of the bytes of a recorded session to rows, each with its place in the file.
 *
 * A file may be torn: its program was killed during a write, two programs wrote at once, or a crash left zero bytes.
 * Every complete row is read, even behind a torn one on the same line. Content that is not a row keeps its bytes, and
 * its line number is reported.
 */
import { gunzipSync } from "node:zlib";

import { bytesOf, jsonOf, nameOf, textIn, utf16Of } from "./files.js";
import { elementsOf, valueEnd } from "./json-changes.js";

/** A piece of a file: a row of the session, or the bytes between two rows. */
export interface Piece {
  bytes: Buffer;
  /** The parsed row. Undefined if the piece is not a row. */
  row?: unknown;
}

/** The contents of a session file. */
export interface SessionRows {
  /** All bytes of the file, in order. */
  pieces: Piece[];
  /** Numbers of the lines that contain something other than rows, counted from 1. */
  unreadable: number[];
  /** True if the rows are elements of a JSON array. */
  isArray: boolean;
}

/**
 * Reads the bytes of a session, from standard input for `-`. The result is UTF-8, unpacked, and without the byte order
 * mark that some editors write.
 */
function sessionBytes(file: string): Buffer {
  const read = bytesOf(file);
  const bytes = file.endsWith(".gz") ? unpacked(file, read) : read;
  const text = utf16Of(nameOf(file), bytes);
  if (text !== undefined) return Buffer.from(text);
  return bytes.toString("latin1", 0, 3) === "\u00ef\u00bb\u00bf" ? bytes.subarray(3) : bytes;
}

function unpacked(file: string, bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes);
  } catch (error) {
    throw new Error(`${file} cannot be decompressed: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Reads the rows of a file: lines of JSON, one object, or elements of a JSON array. @throws an Error that names the
 * file and the supported `forms` if it contains none of them
 */
export function rowsOf(file: string, forms: string): SessionRows {
  const bytes = sessionBytes(file);
  const begin = /^\s*([[{]\s*)/.exec(bytes.toString("latin1", 0, 1024))?.[1] ?? "";
  if (begin.startsWith("[")) return { pieces: elements(nameOf(file), bytes, forms), unreadable: [], isArray: true };
  // An object that is written over several lines.
  const row = begin.includes("\n") ? parsed(bytes) : undefined;
  if (row !== undefined) return { pieces: [{ bytes, row }], unreadable: [], isArray: false };
  return rowsOfLines(nameOf(file), bytes, forms);
}

/** Reads lines of JSON. @throws an Error that names the file and its first unreadable line if no line contains a row */
export function rowsOfLines(name: string, bytes: Buffer, forms: string): SessionRows {
  const pieces: Piece[] = [];
  const unreadable: number[] = [];
  for (let [from, number] = [0, 1]; from < bytes.length; number++) {
    const end = bytes.indexOf("\n", from);
    const to = end < 0 ? bytes.length : end + 1;
    const found = rowsIn(bytes.subarray(from, to));
    if (found.some((piece) => piece.row === undefined && piece.bytes.toString().trim() !== "")) unreadable.push(number);
    pieces.push(...found);
    from = to;
  }
  const [first] = unreadable;
  if (first !== undefined && pieces.every(({ row }) => row === undefined))
    jsonOf(`${name}, line ${first}`, bytes.toString().split("\n")[first - 1] ?? "", forms);
  return { pieces, unreadable, isArray: false };
}

/** Splits a line into pieces. There is one, unless rows stand behind other content. */
function rowsIn(line: Buffer): Piece[] {
  const whole = parsed(line);
  if (whole !== undefined) return [{ bytes: line, row: whole }];
  const pieces: Piece[] = [];
  // As latin1 each byte is one character, so that indexes are the same in both.
  const text = line.toString("latin1");
  let done = 0;
  const [begin = ""] = /\{"[^"]*"/.exec(text) ?? [];
  // A quote inside a string is escaped, so an object begins here. A part of another object is followed by a comma or a
  // bracket. If that is torn off, the part follows one of `:,[` and begins with another key than rows do.
  for (let at = text.indexOf('{"'); at >= 0; at = text.indexOf('{"', Math.max(done, at + 1))) {
    const end = valueEnd(text, at);
    const isPart =
      !/[\s\0{]/.test(text[end] ?? "{") || (":,[".includes(text[at - 1] ?? "-") && !text.startsWith(begin, at));
    const row = isPart ? undefined : parsed(line.subarray(at, end));
    if (row === undefined) continue;
    if (at > done) pieces.push({ bytes: line.subarray(done, at) });
    pieces.push({ bytes: line.subarray(at, end), row });
    done = end;
  }
  return done < line.length ? [...pieces, { bytes: line.subarray(done) }] : pieces;
}

function elements(name: string, bytes: Buffer, forms: string): Piece[] {
  const text = textIn(name, bytes);
  jsonOf(name, text, forms);
  const pieces: Piece[] = [];
  let done = 0;
  for (const { start, end } of elementsOf(text)) {
    const element = text.slice(start, end);
    pieces.push(
      { bytes: Buffer.from(text.slice(done, start)) },
      { bytes: Buffer.from(element), row: JSON.parse(element) },
    );
    done = end;
  }
  return [...pieces, { bytes: Buffer.from(text.slice(done)) }];
}

/** Parses JSON. Returns undefined if the bytes are not JSON or not valid UTF-8. */
function parsed(bytes: Buffer): unknown {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The maximum number of line numbers that are listed. */
const TOLD = 10;

/** Describes the lines that contain something other than rows: `2 lines (3, 9) are not JSON`. */
export function unreadableText(lines: number[]): string {
  const numbers = lines.slice(0, TOLD).join(", ") + (lines.length > TOLD ? ", ..." : "");
  return lines.length === 1 ? `1 line (${numbers}) is not JSON` : `${lines.length} lines (${numbers}) are not JSON`;
}
