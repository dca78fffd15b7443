/**
 * Conversion of native errors to JavaScript errors with a stable `code`. Errors are recognized by their shape and code
 * and not by their class, because a host may run this code in its own realm.
 */

import type { ErrorCode } from "../library/names.js";
import { withoutLogins } from "./shown-place.js";

/** The JSON in the message of an error that the addon raises. */
interface Raised {
  code: ErrorCode;
  message: string;
  misuse: boolean;
}

/** An error with a stable code. */
export type CodedError = (Error | TypeError) & { code: ErrorCode };

const MISUSE: ErrorCode = "CONCERTINA_BAD_ARGUMENT";

/** The codes of mistakes that the caller made, or the model that called a tool. */
const MISUSES: readonly string[] = [MISUSE, "CONCERTINA_BAD_REF_ID", "CONCERTINA_BAD_PATTERN"];

/** Converts an error of the addon to an `Error`, or to a `TypeError` if the caller made a mistake. */
function toError(raised: unknown): unknown {
  const { message: json } = shapeOf(raised);
  if (!json?.startsWith("{")) return raised;
  let told: Raised;
  try {
    told = JSON.parse(json) as Raised;
  } catch {
    return raised;
  }
  const message = withoutLogins(told.message);
  const error = told.misuse ? new TypeError(message) : new Error(message);
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

/** Creates the TypeError for a mistake of the caller. */
export function misuse(message: string): CodedError {
  return Object.assign(new TypeError(withoutLogins(message)), { code: MISUSE });
}

/** Returns true if an error is a mistake of the caller. Its message is meant for that caller. */
export function isMisuse(error: unknown): error is CodedError {
  const { code } = shapeOf(error);
  return code !== undefined && MISUSES.includes(code);
}

/** Returns code and message of a thrown value. Either is undefined if it cannot be read or is not a string. */
function shapeOf(thrown: unknown): { code?: string; message?: string } {
  try {
    const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
    const text = (value: unknown) => (typeof value === "string" ? value : undefined);
    return { code: text(code), message: text(message) };
  } catch {
    return {};
  }
}

/** Runs code that reads an argument. Whatever an accessor or a proxy trap throws becomes a mistake of the caller. */
export function reading<T>(name: string, body: () => T): T {
  try {
    return body();
  } catch (raised) {
    const { code, message = typeof raised } = shapeOf(raised);
    throw code === MISUSE ? raised : misuse(`${name} cannot be read: ${message}`);
  }
}

/** Throws the TypeError of a bad argument: its name, its value, and what it must be. */
export function badArgument(name: string, got: unknown, expected: string): never {
  throw misuse(`${name} is ${shown(got)}; it must be ${expected}`);
}

/** Describes a value in a few words. No field of an object is read, and `Array.isArray` throws for a revoked proxy. */
function shown(got: unknown): string {
  if (typeof got === "string") return JSON.stringify(got.slice(0, 80));
  if (got === null || typeof got === "number") return String(got);
  try {
    return Array.isArray(got) ? "an array" : typeof got;
  } catch {
    return typeof got;
  }
}

/** Returns message and code of an error on one line of at most 500 characters. */
export function describe(error: unknown): string {
  const { code, message } = shapeOf(error);
  const isObject = error !== null && (typeof error === "object" || typeof error === "function");
  const words = message ?? (isObject ? "an object" : String(error));
  return withoutLogins(`${words}${code ? ` (${code})` : ""}`.replace(/\s+/g, " ")).slice(0, 500);
}
