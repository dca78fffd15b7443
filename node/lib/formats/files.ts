/** Files that a user names on a command line. Errors name the file and state the reason in words. */
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

/** The name of a file in messages; `-` is standard input. */
export const nameOf = (file: string): string => (file === "-" ? "standard input" : file);

/** The meaning of system error codes when a file is read and when one is written. */
const WHY: Record<"read" | "written", Record<string, string>> = {
  read: { ENOENT: "there is no such file", EISDIR: "it is a directory" },
  written: { ENOENT: "there is no such directory", EEXIST: "it already exists, and no file is overwritten" },
};

function failure(file: string, what: keyof typeof WHY, cause: unknown): Error {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return Object.assign(new Error(`${nameOf(file)} cannot be ${what}: ${WHY[what][code] ?? message}`, { cause }), {
    code,
  });
}

/** Returns true if a file exists and can be read repeatedly: it is neither a pipe nor standard input. */
export function isPlain(file: string): boolean {
  return file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** Reads a file, or standard input for `-`. @throws an Error that names it */
export function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw failure(file, "read", error);
  }
}

/** Decodes UTF-8. @throws an Error with `name` if the bytes are not valid UTF-8 */
export function textIn(name: string, bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) throw new Error(`${name} is not UTF-8`);
  return text;
}

/**
 * Decodes UTF-16 that begins with a byte order mark. Returns undefined for other bytes. @throws an Error with `name` if
 * the bytes are not valid UTF-16
 */
export function utf16Of(name: string, bytes: Buffer): string | undefined {
  const mark = bytes.toString("hex", 0, 2);
  const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : undefined;
  if (encoding === undefined) return undefined;
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`${name} begins with a byte order mark of UTF-16, but is not valid UTF-16`, { cause: error });
  }
}

/**
 * Parses JSON. @throws an Error with `name` and what was `expected`. Control characters are escaped, so that the
 * message has no effect on a terminal
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
 * Throws if a file exists. It is called before the work whose result the file is for. @throws an Error with the code
 * `EEXIST`
 */
export function needAbsent(file: string | undefined): void {
  if (file !== undefined && existsSync(file)) throw failure(file, "written", { code: "EEXIST" });
}

/**
 * Writes a new file that only its owner can read. If writing fails, the file is removed. @throws an Error that names it
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
