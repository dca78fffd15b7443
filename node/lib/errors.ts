/** Native errors -> JavaScript errors with a stable `code`. */

/** What the addon puts into the message of an error it raises. */
interface Raised {
  code: string;
  message: string;
  misuse: boolean;
}

/** An error with a stable code. */
export type CodedError = (Error | TypeError) & { code: string };

/** What napi says of a record's field that has another type than the addon declares: its code, and what it may be. */
const EXPECTED: Record<string, string> = {
  StringExpected: "a string", NumberExpected: "a number", BooleanExpected: "a boolean", ArrayExpected: "an array", ObjectExpected: "an object",
};

/** The same in our words; `undefined` for any other error. */
function misfit({ message, code = "" }: Error & { code?: string }): CodedError | undefined {
  const [, what, field] = /^(.*) on \w+\.(\w+)$/s.exec(message) ?? /^(Missing) field `(\w+)`$/.exec(message) ?? [];
  if (what === undefined || field === undefined) return undefined;
  const got = /value `?(.+?) ?`? into/s.exec(what)?.[1]?.toLowerCase().slice(0, 80) ?? "missing";
  return misuse(code in EXPECTED ? `${field} is ${got}; it must be ${EXPECTED[code]}` : `${field} cannot be taken: ${what}`);
}

/** Turns what the addon raised into an `Error`, or a `TypeError` where the caller made a mistake. */
function toError(raised: unknown): unknown {
  if (!(raised instanceof Error)) return raised;
  if (!raised.message.startsWith("{")) return misfit(raised) ?? raised;
  let told: Raised;
  try {
    told = JSON.parse(raised.message) as Raised;
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

const MISUSE = "CONCERTINA_BAD_ARGUMENT";

/** The TypeError of a caller's mistake. */
function misuse(message: string): CodedError {
  return Object.assign(new TypeError(message), { code: MISUSE });
}

/** Runs what reads an argument. What an accessor or a trap throws there is a mistake of who made the argument. */
export function reading<T>(name: string, body: () => T): T {
  try {
    return body();
  } catch (raised) {
    const { code, message } = (raised ?? {}) as { code?: unknown; message?: unknown };
    throw code === MISUSE ? raised : misuse(`${name} cannot be read: ${typeof message === "string" ? message : typeof raised}`);
  }
}

/** The most messages of a call. An array may say that it has four billion of them. */
const MOST_MESSAGES = 1_000_000;

/** The messages of an array as they are now: the caller may go on with it while we work. */
export function takenMessages<M>(name: string, given: readonly M[]): M[] {
  return reading(name, () => {
    needArray(name, given);
    if (given.length > MOST_MESSAGES) throw misuse(`${name} has ${given.length} elements; it must be an array of at most ${MOST_MESSAGES}`);
    return given.slice() as M[];
  });
}

/** Options as they cross. @throws TypeError for what JSON would leave out or cannot hold: no option is lost in silence. */
export function crossingOptions(options: unknown): string {
  return reading("options", () => {
    needObject("options", options);
    if (options instanceof Map) badArgument("options", "a Map", "an object");
    const json = JSON.stringify(options, (key, value: unknown) => {
      if (["bigint", "function", "symbol"].includes(typeof value)) badArgument(key, value, "a value that JSON has");
      return value;
    }) as string | undefined;
    if (json === undefined) badArgument("options", json, "an object");
    return json;
  });
}

/** Checks the name of a session or of an agent. Lone surrogates have no form outside JavaScript: two such names would be one. */
export function needName(name: string, value: unknown): asserts value is string {
  needString(name, value);
  if (!value.isWellFormed()) badArgument(name, value, "a string without lone surrogates");
}

/** Throws the TypeError of a bad argument: its name, what it was, and what it may be. */
export function badArgument(name: string, got: unknown, expected: string): never {
  const shown = typeof got === "string" ? JSON.stringify(got.slice(0, 80)) : got === null ? "null" : typeof got;
  throw misuse(`${name} is ${shown}; it must be ${expected}`);
}

/** Checks an argument that must be an array. */
export function needArray(name: string, value: unknown): asserts value is unknown[] {
  if (!Array.isArray(value)) badArgument(name, value, "an array");
}

/** Checks an argument that must be a string. */
export function needString(name: string, value: unknown): asserts value is string {
  if (typeof value !== "string") badArgument(name, value, "a string");
}

/** Checks an argument that must be a string where it is given. */
export function mayBeString(name: string, value: unknown): void {
  if (value !== undefined && value !== null) needString(name, value);
}

/** Checks an argument that must be true or false where it is given. */
export function mayBeBoolean(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "boolean") badArgument(name, value, "true or false");
}

/** Checks an argument that must be an array of strings, or of what else `need` says of each. */
export function needStrings(name: string, value: unknown, need: (name: string, value: unknown) => void = needString): asserts value is string[] {
  reading(name, () => {
    needArray(name, value);
    value.forEach((item, index) => need(`${name}[${index}]`, item));
  });
}

/** Checks an argument that must be an object. */
export function needObject(name: string, value: unknown): asserts value is Record<string, unknown> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) badArgument(name, value, "an object");
}

/** Checks an argument that must be an object with no other than the named fields. */
export function needOptions(name: string, value: unknown, fields: string[]): void {
  needObject(name, value);
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) {
    throw misuse(`${unknown} is not an option; it must be one of ${fields.join(", ")}`);
  }
}

/** @throws TypeError unless the value is a finite number in the range. */
export function needNumber(name: string, value: unknown, range: "above 0" | "of at least 0"): asserts value is number {
  const fits = typeof value === "number" && Number.isFinite(value) && (range === "above 0" ? value > 0 : value >= 0);
  if (!fits) badArgument(name, String(value), `a number ${range}`);
}

/** Checks an argument that must be a whole number of at least 1. */
export function needCount(name: string, value: unknown, most?: number): asserts value is number {
  if (Number.isInteger(value) && (value as number) >= 1) return;
  const range = most === undefined ? "" : ` and at most ${most}`;
  badArgument(name, typeof value === "number" ? String(value) : value, `a whole number of at least 1${range}`);
}

/** Message and code of an error, on one line of at most 500 characters. */
export function describe(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return `${message ?? String(error)}${code ? ` (${code})` : ""}`.replace(/\s+/g, " ").slice(0, 500);
}
