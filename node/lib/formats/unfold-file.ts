/**
 * A recorded session with the originals in place of their placeholders, in the format in which it was recorded.
 *
 * Only what was unfolded is written anew: rows that this program does not know, and everything else in the rows that it
 * does, stay byte for byte.
 */
import type { Message } from "../library/api.js";
import { isResponseItem } from "./codex.js";
import type { Concertina } from "../library/concertina.js";
import { nameOf } from "./files.js";
import { changeBetween, withChange } from "./json-changes.js";
import { rowsOf } from "./session-rows.js";

/** An unfolded session. */
export interface UnfoldedFile {
  bytes: Buffer;
  /** How many placeholders gave way to their originals. */
  unfolded: number;
  /** The ids whose originals cannot be had; their placeholders stay. */
  missing: string[];
  /** Numbers of the lines that hold what is not JSON, counted from 1; that stays as it is. */
  unreadable: number[];
}

/** What can be unfolded. */
const FORMS =
  "a session is JSONL of OpenClaw, Pi or Claude Code, or a JSON array of messages or of items of the Responses API";

/**
 * Unfolds JSONL or a JSON array of messages; `.gz` of either comes out plain, UTF-16 as UTF-8. @throws an Error that
 * names the file.
 */
export async function unfoldFile(
  concertina: Concertina,
  file: string,
  scope: { sessionId?: string; agentId?: string },
): Promise<UnfoldedFile> {
  const { pieces, unreadable } = rowsOf(file, FORMS);
  const holders = pieces.filter(({ row }) => messageIn(row) !== undefined);
  if (holders.length === 0) throw new Error(`${nameOf(file)} holds no messages; ${FORMS}`);
  const { messages, unfolded, missing } = await concertina.unfold({
    ...scope,
    messages: holders.map(({ row }) => messageIn(row) as Message),
  });
  holders.forEach((piece, index) => {
    const { row } = piece as { row: { message?: unknown } };
    const change = changeBetween(row, messageIn(row) === row ? messages[index] : { ...row, message: messages[index] });
    if (change) piece.bytes = Buffer.from(withChange(piece.bytes.toString(), change));
  });
  return { bytes: Buffer.concat(pieces.map((piece) => piece.bytes)), unfolded, missing, unreadable };
}

/** The message of a row: the row itself, or what hosts wrap into one. */
function messageIn(row: unknown): Message | undefined {
  const { role, message } = (row ?? {}) as { role?: unknown; message?: Message };
  if (typeof message?.role === "string") return message;
  return typeof role === "string" || isResponseItem(row) ? (row as Message) : undefined;
}
