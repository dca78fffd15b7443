/** Files as a user names them on a command line: what fails says which file, and why in words. */
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

/** What a file is called in messages: `-` is standard input. */
export const nameOf = (file: string): string => (file === "-" ? "standard input" : file);

/** What the system's codes mean for a file that is read, and for one that is written. */
const WHY: Record<"read" | "written", Record<string, string>> = {
  read: { ENOENT: "there is no such file", EISDIR: "it is a directory" },
  written: { ENOENT: "there is no such directory", EEXIST: "it is there already, and nothing is written over" },
};

function failure(file: string, what: keyof typeof WHY, cause: unknown): Error {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return Object.assign(new Error(`${nameOf(file)} cannot be ${what}: ${WHY[what][code] ?? message}`, { cause }), {
    code,
  });
}

/** Whether it can be read again: neither a pipe nor standard input, and there. */
export function isPlain(file: string): boolean {
  return file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** The bytes of a file, or of standard input for `-`. @throws an Error that names it */
export function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw failure(file, "read", error);
  }
}

/** The text of bytes. @throws an Error that names what they are of where they are not UTF-8 to the last byte */
export function textIn(name: string, bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) throw new Error(`${name} is not UTF-8`);
  return text;
}

/**
 * The text of bytes in UTF-16 that begin with its byte order mark; `undefined` for others. @throws an Error that names
 * what is no UTF-16 to the last byte
 */
export function utf16Of(name: string, bytes: Buffer): string | undefined {
  const mark = bytes.toString("hex", 0, 2);
  const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : undefined;
  if (encoding === undefined) return undefined;
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`${name} is not UTF-16, though it begins as such`, { cause: error });
  }
}

/**
 * What a JSON text says. @throws an Error that names it and says what was `expected`; no character of the text acts on
 * a terminal
 */
export function jsonOf(name: string, text: string, expected: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = (error as Error).message.replace(
      /\p{Cc}/gu,
      (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    throw new Error(`${name} is not JSON: ${why}; ${expected}`, { cause: error });
  }
}

/**
 * Fails where a file is there already, before the work whose outcome it is to hold. @throws an Error with the code
 * `EEXIST`
 */
export function needAbsent(file: string | undefined): void {
  if (file !== undefined && existsSync(file)) throw failure(file, "written", { code: "EEXIST" });
}

/**
 * Writes a file that is not there yet, for its owner only; where that fails, nothing of it stays. @throws an Error that
 * names it
 */
export function writeNew(file: string, data: string | Uint8Array): void {
  try {
    const open = openSync(file, "wx", 0o600);
    try {
      writeFileSync(open, data);
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    } finally {
      closeSync(open);
    }
  } catch (error) {
    throw failure(file, "written", error);
  }
}
