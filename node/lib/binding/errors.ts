/**
 * Native errors -> JavaScript errors with a stable `code`. Errors are told by their shape and code: a host may run
 * us in a realm of its own.
 */

/** What the addon puts into the message of an error it raises. */
interface Raised {
  code: string;
  message: string;
  misuse: boolean;
}

/** An error with a stable code. */
export type CodedError = (Error | TypeError) & { code: string };

const MISUSE = "CONCERTINA_BAD_ARGUMENT";

/** The mistakes of a caller, or of a model that called. */
const MISUSES = [MISUSE, "CONCERTINA_BAD_REF_ID", "CONCERTINA_BAD_PATTERN"];

/** Turns what the addon raised into an `Error`, or a `TypeError` where the caller made a mistake. */
function toError(raised: unknown): unknown {
  const { message } = shapeOf(raised);
  if (!message?.startsWith("{")) return raised;
  let told: Raised;
  try {
    told = JSON.parse(message) as Raised;
  } catch {
    return raised;
  }
  const error = told.misuse ? new TypeError(told.message) : new Error(told.message);
  return Object.assign(error, { code: told.code });
}

/** Runs a synchronous call into the addon. */
export function calling<T>(body: () => T): T {
  try {
    return body();
  } catch (raised) {
    throw toError(raised);
  }
}

/** Runs an asynchronous call into the addon. */
export async function awaiting<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (raised) {
    throw toError(raised);
  }
}

/** The TypeError of a caller's mistake. */
export function misuse(message: string): CodedError {
  return Object.assign(new TypeError(message), { code: MISUSE });
}

/** Whether somebody asked wrongly: the message says what is wrong, and is for whoever asked. */
export function isMisuse(error: unknown): error is CodedError {
  const { code } = shapeOf(error);
  return code !== undefined && MISUSES.includes(code);
}

/** Code and message of whatever was thrown; what cannot be read is not there. */
function shapeOf(thrown: unknown): { code?: string; message?: string } {
  try {
    const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
    const text = (value: unknown) => (typeof value === "string" ? value : undefined);
    return { code: text(code), message: text(message) };
  } catch {
    return {};
  }
}

/** Runs what reads an argument. What an accessor or a trap throws there is a mistake of who made the argument. */
export function reading<T>(name: string, body: () => T): T {
  try {
    return body();
  } catch (raised) {
    const { code, message = typeof raised } = shapeOf(raised);
    throw code === MISUSE ? raised : misuse(`${name} cannot be read: ${message}`);
  }
}

/** Throws the TypeError of a bad argument: its name, what it was, and what it may be. */
export function badArgument(name: string, got: unknown, expected: string): never {
  throw misuse(`${name} is ${shown(got)}; it must be ${expected}`);
}

/** A value in a few words. Nothing of an object is read; a revoked proxy is not even known for an array. */
function shown(got: unknown): string {
  if (typeof got === "string") return JSON.stringify(got.slice(0, 80));
  if (got === null || typeof got === "number") return String(got);
  try {
    return Array.isArray(got) ? "an array" : typeof got;
  } catch {
    return typeof got;
  }
}

/** Message and code of an error, on one line of at most 500 characters. */
export function describe(error: unknown): string {
  const { code, message } = shapeOf(error);
  const isObject = error !== null && (typeof error === "object" || typeof error === "function");
  const words = message ?? (isObject ? "an object" : String(error));
  return `${words}${code ? ` (${code})` : ""}`.replace(/\s+/g, " ").slice(0, 500);
}
