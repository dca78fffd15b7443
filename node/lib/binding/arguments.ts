/**
 * Validation of arguments. A call declares its fields and the kind of each; {@link taken} reads every field once,
 * checks it and returns plain values that nobody else holds a reference to. Every mistake becomes a TypeError that
 * names the field, even for objects without a prototype, proxies that throw or are revoked, and arrays that claim four
 * billion elements.
 */
import { types } from "node:util";

import type { Session, StorePlace as AddonPlace } from "./addon.js";
import type { Prices } from "../library/api.js";
import { badArgument, misuse, reading } from "./errors.js";

/** A function that reads and checks an argument of one kind. @throws TypeError that names the argument */
export type Kind<T> = (name: string, value: unknown) => T;

/** The fields of an argument, by name. */
export type Fields = Record<string, Kind<unknown>>;

/** The values of fields, by name. */
export type Taken<F extends Fields> = { [Name in keyof F]: ReturnType<F[Name]> };

/** The maximum number of array elements. An array may claim four billion. */
const MOST = 1_000_000;

/** The largest whole number that can be passed to the addon. */
const MOST_COUNT = 2 ** 32 - 1;

/** The latest time that a JavaScript `Date` can hold, in milliseconds since 1970. */
const MOST_MS = 8.64e15;

/** Reads an argument that is an object with exactly these fields. */
export function taken<F extends Fields>(name: string, given: unknown, fields: F): Taken<F> {
  refuseOthers(name, object(name, given), fields);
  return fieldsOf("", given, fields);
}

/** Reads an argument that is an object and may have other fields, which are ignored. */
export function takenOf<F extends Fields>(name: string, given: unknown, fields: F, prefix = ""): Taken<F> {
  return fieldsOf(prefix, object(name, given), fields);
}

function refuseOthers(name: string, given: object, fields: Fields): void {
  const unknown = reading(name, () => Object.keys(given)).find((field) => !Object.hasOwn(fields, field));
  if (unknown === undefined) return;
  const of = name === "input" || name === "options" ? "" : ` of ${name}`;
  throw misuse(`${unknown} is not an option${of}; it must be one of ${Object.keys(fields).join(", ")}`);
}

function fieldsOf<F extends Fields>(prefix: string, given: unknown, fields: F): Taken<F> {
  const from = given as Record<string, unknown>;
  const read = (field: string, kind: Kind<unknown>) => named(`${prefix}${field}`, () => from[field], kind);
  return Object.fromEntries(Object.entries(fields).map(([field, kind]) => [field, read(field, kind)])) as Taken<F>;
}

function named<T>(name: string, read: () => unknown, kind: Kind<T>): T {
  return reading(name, () => kind(name, read()));
}

/** Makes a kind optional. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return (name, value) => (value === undefined ? undefined : kind(name, value));
}

/** Makes a kind optional, with null for absent. */
export function nullable<T>(kind: Kind<T>): Kind<T | undefined> {
  return (name, value) => (value === undefined || value === null ? undefined : kind(name, value));
}

/** Any value, unchecked: messages and tool arguments are checked when they cross into the addon. */
export const anything: Kind<unknown> = (_, value) => value;

/** Returns true for an array. `Array.isArray` throws for a revoked proxy. */
function isArray(name: string, value: unknown): value is unknown[] {
  return reading(name, () => Array.isArray(value));
}

/** An object. Its fields are not read here. */
export const object = ((name: string, value: unknown) => {
  if (value === null || typeof value !== "object" || isArray(name, value)) badArgument(name, value, "an object");
  return value;
}) satisfies Kind<object>;

export const string = ((name: string, value: unknown) => {
  if (typeof value !== "string") badArgument(name, value, "a string");
  return value;
}) satisfies Kind<string>;

/**
 * The id of a session or agent, or the name of a place. Lone surrogates are refused because they have no form outside
 * JavaScript: two different names would become equal.
 */
export const identity = ((name: string, value: unknown) => {
  if (!string(name, value).isWellFormed()) badArgument(name, value, "a string without lone surrogates");
  return value as string;
}) satisfies Kind<string>;

/** The id of a session that is written to; not empty. */
export const sessionName: Kind<string> = (name, value) => identity(name, value) || badArgument(name, value, "a name");

export const flag = ((name: string, value: unknown) => {
  if (typeof value !== "boolean") badArgument(name, value, "true or false");
  return value;
}) satisfies Kind<boolean>;

/** A function of the caller. Its caller must check what it returns. */
export function callable<F>(name: string, value: unknown): F {
  if (typeof value !== "function") badArgument(name, value, "a function");
  return value as F;
}

/** One of some words or numbers. */
export function oneOf<const W extends string | number>(...words: W[]): Kind<W> {
  return (name, value) => {
    const expected = words.map((word) => JSON.stringify(word)).join(", ");
    if (!words.includes(value as W)) badArgument(name, value, `one of ${expected}`);
    return value as W;
  };
}

/** A finite number in a range. */
export function number(range: "above 0" | "of at least 0"): Kind<number> {
  return (name, value) => {
    const fits = typeof value === "number" && Number.isFinite(value) && (range === "above 0" ? value > 0 : value >= 0);
    if (!fits) badArgument(name, value, `a number ${range}`);
    return value;
  };
}

/** A whole number. Larger numbers than the addon can take are clamped: no text is that long. */
export function count(least: 0 | 1 = 1, most?: number): Kind<number> {
  return (name, value) => {
    const range = `of at least ${least}${most === undefined ? "" : ` and at most ${most}`}`;
    if (!Number.isInteger(value) || (value as number) < least) badArgument(name, value, `a whole number ${range}`);
    return Math.min(value as number, MOST_COUNT);
  };
}

/** A length in UTF-16 units. */
export const units: Kind<number> = (name, value) => Math.min(Math.ceil(number("above 0")(name, value)), MOST_COUNT);

/** A time in milliseconds since 1970. */
export const moment: Kind<number> = (name, value) => {
  if (typeof value !== "number" || !(Math.abs(value) <= MOST_MS)) badArgument(name, value, "milliseconds since 1970");
  return value;
};

/** The time of a call; now by default. */
export const now: Kind<number> = (name, value) => (value === undefined ? Date.now() : moment(name, value));

/** An array, copied, because the caller may change it during the call. */
export function list<T>(kind: Kind<T>, what = "an array"): Kind<T[]> {
  return (name, value) => elements(name, value, what).map((item, index) => kind(`${name}[${index}]`, item));
}

/** An array of messages, which are not checked here. */
export function messagesOf<M>(name: string, value: unknown): M[] {
  return elements(name, value, "an array") as M[];
}

function elements(name: string, value: unknown, what: string): unknown[] {
  return reading(name, () => {
    if (!Array.isArray(value)) badArgument(name, value, what);
    const { length } = value;
    if (!(length <= MOST)) throw misuse(`${name} has ${length} elements; it must be an array of at most ${MOST}`);
    return Array.from({ length }, (_, index) => value[index] as unknown);
  });
}

/** An iterable of names. An endless one is an error after 1,000,000 elements. */
export const names: Kind<string[]> = (name, value) => {
  const isList = typeof value === "object" && value !== null && reading(name, () => Symbol.iterator in value);
  if (!isList) badArgument(name, value, "a list of names");
  if (isArray(name, value)) return list(string)(name, value);
  return reading(name, () => {
    const found: string[] = [];
    for (const item of value as Iterable<unknown>) {
      if (found.length === MOST) throw misuse(`${name} has more than ${MOST} elements`);
      found.push(string(`${name}[${found.length}]`, item));
    }
    return found;
  });
};

/** An object whose values are strings. */
export const strings: Kind<Record<string, string>> = (name, value) => {
  const given = object(name, value) as Record<string, unknown>;
  const keys = list(string)(
    name,
    reading(name, () => Object.keys(given)),
  );
  return Object.fromEntries(
    keys.map((key) => [key, named(`${name}[${JSON.stringify(key)}]`, () => given[key], string)]),
  );
};

/** A number of tokens, rounded down. */
export const budget: Kind<number> = (name, value) => Math.trunc(number("of at least 0")(name, value));

/** The prices of a model. */
export const prices: Kind<Prices> = (name, value) => {
  const cost = number("of at least 0");
  const fields = {
    input: optional(number("above 0")),
    cacheRead: optional(cost),
    cacheWrite: optional(cost),
    cacheTtlMs: optional(cost),
    output: optional(cost),
    usdPerMillion: nullable(flag),
  };
  return takenOf(name, value, fields, `${name}.`);
};

/** A function that masks secrets. */
export const redactor: Kind<(text: string) => unknown> = callable;

/** The fields that name the session of a call. */
export const SESSION = { sessionId: sessionName, agentId: optional(identity) };

/** The fields that may name the session of a call; without them the call is about all sessions. */
export const SESSION_IF_ANY = { sessionId: optional(identity), agentId: optional(identity) };

/** An object that names a session. */
export const session: Kind<Session> = (name, value) => takenOf(name, value, SESSION, `${name}.`);

/** The fields that name the place of a store. */
export const PLACE = {
  dir: optional(identity),
  url: optional(identity),
  namespace: optional(identity),
  host: optional(identity),
};

/**
 * Converts the place of a store to the form that the addon takes. @throws TypeError if the fields do not name exactly
 * one directory or one database
 */
export function placeOf({ dir, url, namespace, host }: Taken<typeof PLACE>): AddonPlace {
  if (url === undefined) {
    if (dir === undefined || dir === "" || dir.includes("://"))
      badArgument("dir", dir, "a string that names a directory; a database is named by url");
    if (namespace !== undefined) badArgument("namespace", namespace, "absent without a url");
    return { dir, host };
  }
  if (dir !== undefined) badArgument("dir", dir, "absent with a url");
  return { url, namespace, host };
}

/**
 * Serializes options for the addon, with the values in `instead` in place of the given ones. @throws TypeError for
 * values that JSON would drop or cannot hold, so that no option is lost silently
 */
export function crossingOptions(given: unknown, instead: Record<string, unknown> = {}): string {
  const options = object("options", given) as Record<string, unknown>;
  const read = (name: string) => (Object.hasOwn(instead, name) ? instead[name] : options[name]);
  return JSON.stringify(copyOf("options", options, [], read, ""));
}

/**
 * Returns the session that a call names, or undefined if it names none. @throws TypeError for an agent without a
 * session
 */
export function sessionIfAny({ sessionId, agentId }: { sessionId?: string; agentId?: string }): Session | undefined {
  if (sessionId === undefined && agentId !== undefined) {
    badArgument("agentId", agentId, "absent without a sessionId");
  }
  return sessionId === undefined ? undefined : { sessionId, agentId };
}

/** An object, copied to a form that JSON can hold. */
export const copied: Kind<object> = (name, value) => json(name, object(name, value), []) as object;

/** The maximum nesting depth of options. */
const DEEPEST = 64;

/** Copies a value to a form that JSON can hold. `within` are the objects that contain it. */
function json(name: string, value: unknown, within: object[]): unknown {
  if (typeof value === "string") return identity(name, value);
  if (value === null || value === undefined || typeof value === "boolean" || Number.isFinite(value)) return value;
  if (typeof value !== "object") badArgument(name, value, "a JSON value");
  if (within.includes(value)) throw misuse(`${name} cannot be read: it contains itself`);
  if (within.length === DEEPEST) throw misuse(`${name} cannot be read: it is nested too deeply`);
  if (isArray(name, value))
    return list((element, item) => json(element, item, [...within, value]) ?? null)(name, value);
  return copyOf(name, value, within, (key) => (value as Record<string, unknown>)[key], `${name}.`);
}

function copyOf(name: string, value: object, within: object[], read: (key: string) => unknown, prefix: string): object {
  const isExotic = types.isMap(value) || types.isSet(value) || types.isDate(value) || ArrayBuffer.isView(value);
  if (isExotic) badArgument(name, value, "a plain object");
  const keys = list(string)(
    name,
    reading(name, () => Object.keys(value)),
  );
  const part: Kind<unknown> = (inner, item) => json(inner, item, [...within, value]);
  return Object.fromEntries(keys.map((key) => [identity(name, key), named(`${prefix}${key}`, () => read(key), part)]));
}

/**
 * Calls a function of the caller that must answer synchronously. If it returns a promise, the error says so, and a
 * rejection of that promise does not end the process.
 */
export function asked<T>(name: string, kind: Kind<T>, body: () => unknown): T {
  const answer = body();
  if (answer !== null && typeof answer === "object") {
    // Never throws, whatever `then` is.
    new Promise((resolve) => void resolve(answer)).catch(() => undefined);
  }
  return kind(name, answer);
}
