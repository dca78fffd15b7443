/**
 * A message as light JSON: long strings are lifted out, and marks replace values that JSON cannot carry exactly.
 *
 * A message may be hostile: objects that contain themselves, parts that are shared so often that writing them out would
 * never end, getters that throw. Such a value is opaque: it crosses as a number. Wherever the addon copies that number,
 * the very same value is put back when the change returns.
 */
import { describe } from "./errors.js";

/** Strings of at least this many UTF-16 units are lifted out of the JSON. */
const LONG = 256;
/** The nesting depth that the addon's JSON parser accepts, with room for the message around it. */
export const DEPTH = 110;
/** The maximum number of values in one message that crosses. */
export const MOST_VALUES = 1_000_000;
/** The maximum ratio of repeated content, which shared objects cause, to the rest of a message. */
const REPEATS = 8;
/** The key of the mark of an opaque value. Its value is the number of the opaque value in the handover. */
const OPAQUE = "\0opaque";
/**
 * The key of the mark of a string with lone surrogates. Its value is the string with U+FFFD in place of each, and the
 * UTF-16 unit of every U+FFFD in it.
 */
const UTF16 = "\0utf16";
const REPLACEMENT = "\ufffd";

/** A step of a path into a message. */
export type Step = string | number;

/** A part of a message that cannot be read as it is and is therefore never folded. */
export interface Unread {
  path: Step[];
  why: string;
}

/** A message in the form in which it crosses. */
export interface LightMessage {
  json: string;
  /** The lifted strings, in order. */
  texts: string[];
  /** The opaque values, in order. */
  opaque: unknown[];
  /** The opaque parts in places where a text, a call or an image would be folded. */
  unread: Unread[];
  /**
   * The texts with lone surrogates. Such a text shows U+FFFD when it is folded, so only calls that keep its original
   * fold it.
   */
  illFormed: Unread[];
  /** The number of opaque values in the messages before it. Its own numbers start there. */
  before: number;
}

/** The frozen messages, with their light JSON once they have crossed. */
const frozen = new WeakMap<object, LightMessage | undefined>();

/** Freezes a message that `JSON.parse` returned. It is converted once and remembered until it is collected. */
export function frozenMessage<M extends object>(parsed: M): M {
  const freeze = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const field of Object.values(Object.freeze(value))) freeze(field);
  };
  freeze(parsed);
  frozen.set(parsed, undefined);
  return parsed;
}

/** Returns true if a message was frozen by {@link frozenMessage}. */
export function isFrozen(message: unknown): message is object {
  return frozen.has(message as object);
}

/** Converts a message to light JSON. `before` is the number of opaque values in the messages before it. */
export function light(message: unknown, before: number): LightMessage {
  const known = frozen.get(message as object);
  if (known !== undefined && known.before === before) return known;
  const walk = new Walk(before);
  const json = JSON.stringify(walk.lighten(message, DEPTH, false) ?? null);
  const { texts, opaque, unread, illFormed } = walk;
  const converted = { json, texts, opaque, unread, illFormed, before };
  if (isFrozen(message)) frozen.set(message, converted);
  return converted;
}

/** Returns a value of a change with its marks replaced by the opaque values and the strings that they stand for. */
export function heavy(value: unknown, opaque: ReadonlyMap<number, unknown>): unknown {
  if (value === null || typeof value !== "object") return value;
  const marked = value as { [OPAQUE]?: number; [UTF16]?: [string, ...number[]] };
  if (marked[OPAQUE] !== undefined) return opaque.get(marked[OPAQUE]);
  if (marked[UTF16] !== undefined) return withUnits(marked[UTF16]);
  if (Array.isArray(value)) return value.map((item) => heavy(item, opaque));
  const whole = {};
  for (const [key, field] of Object.entries(value)) ownField(whole, key, heavy(field, opaque));
  return whole;
}

/** Returns the opaque values of messages that crossed, by their numbers. */
export function opaqueOf(crossed: readonly LightMessage[]): ReadonlyMap<number, unknown> {
  return new Map(
    crossed.flatMap(({ opaque, before }) => opaque.map((value, index) => [before + index, value] as const)),
  );
}

/** Returns a string with U+FFFD for each lone surrogate, and the original unit of every U+FFFD in it. */
function unitsOf(text: string): [string, ...number[]] {
  const wellFormed = text.toWellFormed();
  const units: number[] = [];
  for (let at = wellFormed.indexOf(REPLACEMENT); at >= 0; at = wellFormed.indexOf(REPLACEMENT, at + 1))
    units.push(text.charCodeAt(at));
  return [wellFormed, ...units];
}

function withUnits([wellFormed, ...units]: [string, ...number[]]): string {
  const pieces = wellFormed.split(REPLACEMENT);
  return pieces
    .map((piece, index) => (index === 0 ? piece : String.fromCharCode(units[index - 1] ?? 0xfffd) + piece))
    .join("");
}

/** Returns the result of `body`, or undefined if it throws. */
export function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch {
    return undefined;
  }
}

/** Sets an own field of an object, even one that is named `__proto__`. */
export function ownField(of: object, key: string | number, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(of, key, { value, writable: true, enumerable: true, configurable: true });
  else (of as Record<string | number, unknown>)[key] = value;
}

/** Returns true if an object is a plain object, so that a copy of its fields is equivalent. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns the reason for not reading an object that is an instance of a class. */
function classWords(value: object): string {
  const name = attempt(() => (value.constructor as { name?: unknown } | undefined)?.name);
  const named = typeof name === "string" && name !== "" ? ` (${name.slice(0, 80)})` : "";
  return `it is an instance of a class${named}: only plain objects and arrays are read, because a copy would not be an instance`;
}

/** The fields that contain texts, images and calls. */
const FOLDED = new Set<Step>([
  "content",
  "output",
  "text",
  "tool_calls",
  "function",
  "custom",
  "data",
  "source",
  "image_url",
  "url",
]);
/** The fields that contain the arguments of a call. */
const GIVEN = new Set<Step>(["arguments", "input", "args"]);

/** The conversion of one message. */
class Walk {
  readonly texts: string[] = [];
  readonly opaque: unknown[] = [];
  readonly unread: Unread[] = [];
  readonly illFormed: Unread[] = [];
  readonly #before: number;
  /** The path of the current value in the message. */
  readonly #path: Step[] = [];
  /** The objects seen so far. The value is true while an object's own parts are being converted. */
  readonly #met = new Map<object, boolean>();
  #values = 0;
  /** The size of the message in UTF-16 units and values: here outside repeated objects, and in `#again` inside them. */
  #own = 0;
  #again = 0;

  constructor(before: number) {
    this.#before = before;
  }

  lighten(value: unknown, depth: number, isRepeat: boolean): unknown {
    if (!this.#affords(value, isRepeat))
      return this.#hide(value, "it is too large, or contains the same parts too often");
    switch (typeof value) {
      case "string":
        return value.isWellFormed() ? this.#lift(value) : this.#illFormed(value);
      case "number":
        // JSON has no negative zero.
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : this.#hide(value, `it is ${Object.is(value, -0) ? "-0" : value}`);
      case "boolean":
      case "undefined":
        return value;
      case "object":
        return value === null ? null : this.#container(value, depth, isRepeat);
      default:
        return this.#hide(value, `it is a ${typeof value}`);
    }
  }

  #lift(text: string): unknown {
    return text.length < LONG ? text : { "\0text": this.texts.push(text) - 1 };
  }

  #illFormed(text: string): unknown {
    const [wellFormed, ...units] = unitsOf(text);
    const why = "it contains a lone surrogate, which is half of a character";
    const told = this.#path.some((step) => GIVEN.has(step)) ? this.unread : this.illFormed;
    if (this.#isFolded()) told.push({ path: [...this.#path], why });
    return { [UTF16]: [this.#lift(wellFormed), ...units] };
  }

  /** Replaces a value by the mark of an opaque value. */
  #hide(value: unknown, why: string): unknown {
    if (this.#isFolded()) this.unread.push({ path: [...this.#path], why });
    return { [OPAQUE]: this.#before + this.opaque.push(value) - 1 };
  }

  /** Returns true if the current place is one where content is folded. */
  #isFolded(): boolean {
    const given = this.#path.findIndex((step) => GIVEN.has(step));
    const steps = given < 0 ? this.#path : this.#path.slice(0, given);
    return steps.every((step) => typeof step === "number" || FOLDED.has(step));
  }

  #affords(value: unknown, isRepeat: boolean): boolean {
    if (++this.#values > MOST_VALUES) return false;
    const size = typeof value === "string" ? 1 + value.length : 1;
    if (!isRepeat) this.#own += size;
    else if (this.#again + size > REPEATS * this.#own) return false;
    else this.#again += size;
    return true;
  }

  /**
   * Converts an array or a plain object. Any other object, and one that throws when it is read, becomes opaque as a
   * whole, so that no patch has a path through it.
   */
  #container(value: object, depth: number, isRepeat: boolean): unknown {
    const met = this.#met.get(value);
    if (met === true) return this.#hide(value, "it contains itself");
    if (depth === 0) return this.#hide(value, `it is nested more than ${DEPTH} levels deep`);
    this.#met.set(value, true);
    const before = [this.texts, this.opaque, this.unread, this.illFormed, this.#path].map(
      (list) => [list, list.length] as const,
    );
    try {
      const isAgain = isRepeat || met === false;
      const why = this.#isUnreadable(value);
      if (why !== undefined) return this.#hide(value, why);
      return Array.isArray(value) ? this.#array(value, depth - 1, isAgain) : this.#object(value, depth - 1, isAgain);
    } catch (error) {
      // Marks that were made inside this value do not cross.
      for (const [list, length] of before) list.length = length;
      return this.#hide(
        value,
        `it cannot be read: ${(attempt(() => describe(error)) ?? "reading it throws").slice(0, 200)}`,
      );
    } finally {
      this.#met.set(value, false);
    }
  }

  /** Returns the reason why an object cannot be read as JSON, or undefined. */
  #isUnreadable(value: object): string | undefined {
    const isArray = Array.isArray(value);
    if (!isArray && !isPlain(value)) return classWords(value);
    const keys = isArray ? [] : Object.keys(value);
    const size = isArray ? value.length : keys.length;
    if (size > MOST_VALUES - this.#values) return "it is too large";
    return keys.some((key) => key.startsWith("\0") || !key.isWellFormed())
      ? "the name of one of its fields contains a lone surrogate or begins with U+0000"
      : undefined;
  }

  #array(items: readonly unknown[], depth: number, isAgain: boolean): unknown {
    const lighter: unknown[] = [];
    for (let index = 0; index < items.length; index++) {
      this.#path.push(index);
      const item = this.lighten(items[index], depth, isAgain);
      // JSON would turn an undefined element into null.
      lighter.push(item === undefined ? this.#hide(item, "it is undefined") : item);
      this.#path.pop();
    }
    return lighter;
  }

  #object(value: object, depth: number, isAgain: boolean): unknown {
    const lighter = {};
    for (const key of Object.keys(value)) {
      this.#path.push(key);
      ownField(lighter, key, this.lighten((value as Record<string, unknown>)[key], depth, isAgain));
      this.#path.pop();
    }
    return lighter;
  }
}
