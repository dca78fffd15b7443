/**
 * A recorded session with the originals in place of their placeholders, in the format in which it was recorded.
 *
 * Only what was unfolded is written anew: rows that this program does not know, and everything else in the rows that it does, stay
 * byte for byte.
 */
import type { Message } from "./api.js";
import { isResponseItem } from "./codex.js";
import type { Concertina } from "./concertina.js";
import { jsonOf, nameOf, textIn } from "./files.js";
import { changeBetween, elementsOf, withChange } from "./json-changes.js";
import { sessionBytes } from "./session-file.js";

/** An unfolded session. */
export interface UnfoldedFile {
  bytes: Buffer;
  /** How many placeholders gave way to their originals. */
  unfolded: number;
  /** The ids whose originals cannot be had; their placeholders stay. */
  missing: string[];
  /** Numbers of the lines that are not JSON, counted from 1; they stay as they are. */
  unreadable: number[];
}

/** What can be unfolded. */
const FORMS = "a session is JSONL of OpenClaw, Pi or Claude Code, or a JSON array of messages or of items of the Responses API";

/** A piece of the file: a row of the session, or what stands between two. */
interface Piece {
  bytes: Buffer;
  isRow: boolean;
  /** What the row says; `undefined` where it is no JSON. */
  row?: unknown;
}

/** Unfolds JSONL or a JSON array of messages; `.gz` of either comes out plain, UTF-16 as UTF-8. @throws an Error that names the file. */
export async function unfoldFile(concertina: Concertina, file: string, scope: { sessionId?: string; agentId?: string }): Promise<UnfoldedFile> {
  const bytes = sessionBytes(file);
  const isArray = bytes.subarray(0, 1024).toString().trimStart().startsWith("[");
  const pieces = isArray ? elements(file, bytes) : lines(bytes);
  const holders = pieces.filter(({ row }) => messageIn(row) !== undefined);
  if (holders.length === 0) throw new Error(`${nameOf(file)} holds no messages; ${FORMS}`);
  const { messages, unfolded, missing } = await concertina.unfold({ ...scope, messages: holders.map(({ row }) => messageIn(row) as Message) });
  holders.forEach((piece, index) => {
    const { row } = piece as { row: { message?: unknown } };
    const change = changeBetween(row, messageIn(row) === row ? messages[index] : { ...row, message: messages[index] });
    if (change) piece.bytes = Buffer.from(withChange(piece.bytes.toString(), change));
  });
  const unreadable = pieces.flatMap(({ bytes: line, isRow, row }, index) => (isRow && row === undefined && line.toString().trim() ? [index + 1] : []));
  return { bytes: Buffer.concat(pieces.map((piece) => piece.bytes)), unfolded, missing, unreadable };
}

/** The message of a row: the row itself, or what hosts wrap into one. */
function messageIn(row: unknown): Message | undefined {
  const { role, message } = (row ?? {}) as { role?: unknown; message?: Message };
  if (typeof message?.role === "string") return message;
  return typeof role === "string" || isResponseItem(row) ? (row as Message) : undefined;
}

function lines(bytes: Buffer): Piece[] {
  const pieces: Piece[] = [];
  for (let [from, to] = [0, 0]; from < bytes.length; from = to) {
    const end = bytes.indexOf("\n", from);
    to = end < 0 ? bytes.length : end + 1;
    const line = bytes.subarray(from, to);
    pieces.push({ bytes: line, isRow: true, row: parsed(line) });
  }
  return pieces;
}

function elements(file: string, bytes: Buffer): Piece[] {
  const text = textIn(nameOf(file), bytes);
  jsonOf(nameOf(file), text, FORMS);
  const pieces: Piece[] = [];
  let done = 0;
  for (const { start, end } of elementsOf(text)) {
    const element = Buffer.from(text.slice(start, end));
    pieces.push({ bytes: Buffer.from(text.slice(done, start)), isRow: false }, { bytes: element, isRow: true, row: parsed(element) });
    done = end;
  }
  return [...pieces, { bytes: Buffer.from(text.slice(done)), isRow: false }];
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
