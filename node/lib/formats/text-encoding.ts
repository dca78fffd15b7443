/** Texts that editors, shells and git have changed: other line ends, a byte order mark, or UTF-16. */
import { utf16Of } from "./files.js";

/** The markers, of which a text that can be restored contains at least one. */
const OURS = ["[[FOLD:", "[[REWIND:"];

/**
 * Returns the forms that a text may have had before its transport: without a byte order mark; with LF for CRLF, if
 * every line end is CRLF; and without line ends behind a final marker. Empty for a text without our markers.
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
 * Decodes UTF-16 that has a byte order mark or contains one of our markers. Returns undefined for other bytes. @throws
 * an Error with `name` if the bytes are not valid UTF-16
 */
export function utf16Transported(name: string, bytes: Buffer): string | undefined {
  const bytesIn = (text: string, isBig: boolean) =>
    isBig ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf16le");
  // A marker at an odd offset would be in the other byte order.
  const holds = (isBig: boolean) => OURS.some((sign) => bytes.indexOf(bytesIn(sign, isBig)) % 2 === 0);
  const unmarked = [false, true].find(holds);
  return (
    utf16Of(name, bytes) ??
    (unmarked === undefined ? undefined : utf16Of(name, Buffer.concat([bytesIn("\ufeff", unmarked), bytes])))
  );
}
