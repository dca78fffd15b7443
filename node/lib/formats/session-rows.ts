/**
 * The bytes of a recorded session -> its rows, each with its place in the file.
 *
 * A file may be torn: its program was killed while it wrote, two programs wrote at once, or a crash left zero bytes.
 * Every whole row is read, also behind a torn one on the same line; what is no row keeps its bytes and is named by its
 * line.
 */
import { gunzipSync } from "node:zlib";

import { bytesOf, jsonOf, nameOf, textIn, utf16Of } from "./files.js";
import { elementsOf, valueEnd } from "./json-changes.js";

/** A piece of a file: a row of the session, or what stands between two. */
export interface Piece {
  bytes: Buffer;
  /** What the row says; `undefined` where the piece is none. */
  row?: unknown;
}

/** A session as it lies in its file. */
export interface SessionRows {
  /** All bytes of the file, in order. */
  pieces: Piece[];
  /** Numbers of the lines that hold anything that is no row, counted from 1. */
  unreadable: number[];
  /** Whether the rows are elements of a JSON array. */
  isArray: boolean;
}

/**
 * The bytes of a session, of standard input for `-`, in UTF-8, unpacked and without the byte order mark that some
 * editors write.
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
    throw new Error(`${file} cannot be unpacked: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Reads the rows of a file: lines of JSON, or elements of a JSON array. @throws an Error that names the file, where it
 * holds none of `forms`
 */
export function rowsOf(file: string, forms: string): SessionRows {
  const bytes = sessionBytes(file);
  const isArray = bytes.subarray(0, 1024).toString().trimStart().startsWith("[");
  return isArray
    ? { pieces: elements(nameOf(file), bytes, forms), unreadable: [], isArray }
    : rowsOfLines(nameOf(file), bytes, forms);
}

/** Reads lines of JSON. @throws an Error that names the file and its first line, where no line holds a row */
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

/** The pieces of a line: one, but for a line in which rows stand behind something else. */
function rowsIn(line: Buffer): Piece[] {
  const whole = parsed(line);
  if (whole !== undefined) return [{ bytes: line, row: whole }];
  const pieces: Piece[] = [];
  // Bytes as characters, so that a place in one is a place in the other.
  const text = line.toString("latin1");
  let done = 0;
  const [begin = ""] = /\{"[^"]*"/.exec(text) ?? [];
  // Within a string a quote is escaped, so an object begins here. Part of another object is followed by a comma or a
  // bracket; where that is torn off, the part stands behind one, and begins with another key than rows do.
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

/** What a JSON text says; `undefined` where it is none, or not UTF-8 to the last byte. */
function parsed(bytes: Buffer): unknown {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How many numbers of lines are told. */
const TOLD = 10;

/** Lines that hold anything but rows, in words: `2 lines (3, 9) are not JSON`. */
export function unreadableText(lines: number[]): string {
  const numbers = lines.slice(0, TOLD).join(", ") + (lines.length > TOLD ? ", ..." : "");
  return lines.length === 1 ? `1 line (${numbers}) is not JSON` : `${lines.length} lines (${numbers}) are not JSON`;
}
