/** Texts as they come back from editors, shells and git: with other line ends, a byte order mark, or in UTF-16. */
import { utf16Of } from "./files.js";

/** What a text of ours holds wherever it can be restored. */
const OURS = ["[[FOLD:", "[[REWIND:"];

/**
 * What a text may have been before its transport: without its byte order mark; with each CRLF as LF, where every line
 * end is one; and without line ends behind a final marker. Empty for a text that holds nothing of ours.
 */
export function beforeTransport(text: string): string[] {
  if (!OURS.some((sign) => text.includes(sign))) return [];
  const bare = text.replace(/^\ufeff/, "");
  const isCrlf = bare.includes("\r") && !/(?:^|[^\r])\n/.test(bare);
  const plain = isCrlf ? bare.replaceAll("\r\n", "\n").replace(/\r$/, "") : bare;
  const ended = /\n\[\[REWIND:.*\n+$/.test(plain) ? plain.trimEnd() : plain;
  return [bare, plain, ended].filter((candidate, index, all) => candidate !== text && all.indexOf(candidate) === index);
}

/**
 * The text of bytes in UTF-16 that have a byte order mark, or hold anything of ours; `undefined` for others. @throws an
 * Error that names what is no UTF-16
 */
export function utf16Transported(name: string, bytes: Buffer): string | undefined {
  const bytesIn = (text: string, isBig: boolean) =>
    isBig ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf16le");
  // One byte further on, what is in one byte order looks as if it was in the other one.
  const holds = (isBig: boolean) => OURS.some((sign) => bytes.indexOf(bytesIn(sign, isBig)) % 2 === 0);
  const unmarked = [false, true].find(holds);
  return (
    utf16Of(name, bytes) ??
    (unmarked === undefined ? undefined : utf16Of(name, Buffer.concat([bytesIn("\ufeff", unmarked), bytes])))
  );
}
