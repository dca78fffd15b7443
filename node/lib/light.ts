/**
 * A message as light JSON: long strings lifted out of it, and a mark for what JSON cannot carry exactly.
 *
 * Whoever wrote the message need not mean well: objects that hold themselves, parts that are shared so often that written out
 * they never end, getters that throw. Such parts are marked opaque, and the addon leaves alone whatever holds one.
 */

/** Strings of at least this many UTF-16 units are lifted out of the JSON. */
const LONG = 256;
/** Nesting that the addon's JSON parser accepts, with room for the message around it. */
export const DEPTH = 110;
/** The most values of one message that cross. */
export const MOST_VALUES = 1_000_000;
/** How much longer than the rest of a message its repeats of shared objects may be. */
const REPEATS = 8;
/** Stands for what JSON cannot carry exactly. */
const OPAQUE = { "\0opaque": 1 };
/** Stands for a string with lone surrogates. */
const OPAQUE_TEXT = { "\0opaque": "text" };

/** A message on its way. */
export interface LightMessage {
  json: string;
  /** The strings that were lifted out, in order. */
  texts: string[];
  /** How many others were lifted before them: the JSON counts on from there. */
  lifted: number;
}

/** Makes a message light; `lifted` strings go before its own. */
export function light(message: unknown, lifted: number): LightMessage {
  const walk = new Walk(lifted);
  const json = JSON.stringify(walk.lighten(message, DEPTH, false) ?? null);
  return { json, texts: walk.texts, lifted };
}

/** What cannot be read is undefined. */
export function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch {
    return undefined;
  }
}

/** Sets a field of the object itself, also one that is called `__proto__`. */
export function ownField(of: object, key: string | number, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(of, key, { value, writable: true, enumerable: true, configurable: true });
  else (of as Record<string | number, unknown>)[key] = value;
}

/** One message on its way through. */
class Walk {
  readonly texts: string[] = [];
  readonly #lifted: number;
  /** Objects met so far; true while their own parts are being walked. */
  readonly #met = new Map<object, boolean>();
  #values = 0;
  /** UTF-16 units and values outside repeated objects, and inside them. */
  #own = 0;
  #again = 0;

  constructor(lifted: number) {
    this.#lifted = lifted;
  }

  lighten(value: unknown, depth: number, isRepeat: boolean): unknown {
    if (!this.#affords(value, isRepeat)) return OPAQUE;
    switch (typeof value) {
      case "string":
        if (!value.isWellFormed()) return OPAQUE_TEXT;
        return value.length < LONG ? value : { "\0text": this.#lifted + this.texts.push(value) - 1 };
      case "number":
        return Number.isFinite(value) ? value : OPAQUE;
      case "boolean":
      case "undefined":
        return value;
      case "object":
        return value === null ? null : this.#container(value, depth, isRepeat);
      default:
        return OPAQUE;
    }
  }

  #affords(value: unknown, isRepeat: boolean): boolean {
    if (++this.#values > MOST_VALUES) return false;
    const size = typeof value === "string" ? 1 + value.length : 1;
    if (!isRepeat) this.#own += size;
    else if (this.#again + size > REPEATS * this.#own) return false;
    else this.#again += size;
    return true;
  }

  /** An array or a plain object; what is neither, and where reading throws, is opaque as a whole, so that no patch leads through it. */
  #container(value: object, depth: number, isRepeat: boolean): unknown {
    const met = this.#met.get(value);
    const holdsItself = met === true;
    if (depth === 0 || holdsItself) return OPAQUE;
    this.#met.set(value, true);
    try {
      const isAgain = isRepeat || met === false;
      return Array.isArray(value) ? this.#array(value, depth - 1, isAgain) : this.#object(value, depth - 1, isAgain);
    } catch {
      return OPAQUE;
    } finally {
      this.#met.set(value, false);
    }
  }

  #array(items: readonly unknown[], depth: number, isAgain: boolean): unknown {
    if (items.length > MOST_VALUES - this.#values) return OPAQUE;
    const lighter: unknown[] = [];
    for (let index = 0; index < items.length; index++) {
      const item = this.lighten(items[index], depth, isAgain);
      // JSON would say null for what is not there.
      lighter.push(item === undefined ? OPAQUE : item);
    }
    return lighter;
  }

  #object(value: object, depth: number, isAgain: boolean): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return OPAQUE;
    const keys = Object.keys(value);
    if (keys.length > MOST_VALUES - this.#values) return OPAQUE;
    const lighter = {};
    for (const key of keys) {
      if (key.startsWith("\0") || !key.isWellFormed()) return OPAQUE;
      ownField(lighter, key, this.lighten((value as Record<string, unknown>)[key], depth, isAgain));
    }
    return lighter;
  }
}
