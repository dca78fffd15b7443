/**
 * Unfolding of a recorded session in its own format.
 *
 * Only unfolded values are rewritten. Unknown rows, and everything else in known ones, are preserved byte for byte.
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
  /** The number of placeholders that were replaced by their originals. */
  unfolded: number;
  /** The ids whose originals are not available. Their placeholders stay. */
  missing: string[];
  /** Numbers of the lines that contain something that is not JSON, counted from 1. Such content stays as it is. */
  unreadable: number[];
}

/** The supported forms of a session. */
const FORMS =
  "a session is JSONL of OpenClaw, Pi or Claude Code, or a JSON array of messages or of items of the Responses API";

/**
 * Unfolds JSONL or a JSON array of messages. The result is never compressed, and UTF-16 becomes UTF-8. @throws an Error
 * that names the file
 */
export async function unfoldFile(
  concertina: Concertina,
  file: string,
  scope: { sessionId?: string; agentId?: string },
): Promise<UnfoldedFile> {
  const { pieces, unreadable } = rowsOf(file, FORMS);
  const holders = pieces.filter(({ row }) => messageIn(row) !== undefined);
  if (holders.length === 0) throw new Error(`${nameOf(file)} contains no messages; ${FORMS}`);
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

/** Returns the message in a row: the row itself, or the field in which hosts wrap it. */
function messageIn(row: unknown): Message | undefined {
  const { role, message } = (row ?? {}) as { role?: unknown; message?: Message };
  if (typeof message?.role === "string") return message;
  return typeof role === "string" || isResponseItem(row) ? (row as Message) : undefined;
}
