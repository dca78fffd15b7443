/**
 * Bodies of requests: JSON <-> objects, at a cost that depends on what is new in them.
 *
 * A client sends its whole history each time. An element of a list that was seen before is the same object as then, and
 * frozen, so whatever else was computed of it can be remembered beside it: its link, its JSON, its form in the addon.
 */
import { hash } from "node:crypto";

import { frozenMessage, isFrozen } from "../binding/light-json.js";
import { isObject, type Json } from "./sse.js";

/**
 * The size of the elements that are remembered until others were seen, in bytes of their JSON: at least 75 sessions of
 * 100,000 tokens, and at most twice as many.
 */
const MOST_BYTES = 16 * 2 ** 20;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** The bytes that end a value, and white space. */
const [ENDS, SPACE] = [
  [COMMA, COLON, CLOSE_LIST, CLOSE_OBJECT],
  [0x20, 0x0a, 0x0d, 0x09],
];
const COMMA_BYTES = Buffer.from(",");

/** An element of a list that was seen before. */
interface Known {
  /** The hash of its JSON. */
  key: string;
  /** Its JSON, as the client wrote it. */
  bytes: Buffer;
  value: unknown;
  /** The key of the element that followed it last: a history is recognised by comparing bytes, without a hash. */
  next: string;
}

/** The JSON of frozen elements. */
const written = new WeakMap<object, Buffer>();

export class Bodies {
  /** The elements by their keys: those that were seen lately, and those before them. */
  #seen = new Map<string, Known>();
  #seenBefore = new Map<string, Known>();
  /** The bytes of the elements that were seen lately. */
  #size = 0;

  /** Parses a body. Returns undefined if it is not a JSON object. `JSON.parse` checks what {@link Reader} does not. */
  parse(bytes: Buffer): Json | undefined {
    const body = new Reader(bytes);
    const fields: [name: string, value: unknown][] = [];
    try {
      if (!body.takes(OPEN_OBJECT)) return undefined;
      while (!body.takes(CLOSE_OBJECT)) {
        if (fields.length > 0 && !body.takes(COMMA)) return undefined;
        const name: unknown = JSON.parse(body.value());
        if (typeof name !== "string" || !body.takes(COLON)) return undefined;
        fields.push([name, body.takes(OPEN_LIST) ? this.#list(body) : JSON.parse(body.value())]);
      }
      return body.isAtEnd ? Object.fromEntries(fields) : undefined;
    } catch {
      return undefined;
    }
  }

  #list(body: Reader): unknown[] {
    const list: unknown[] = [];
    let before: Known | undefined;
    while (!body.takes(CLOSE_LIST)) {
      if (list.length > 0 && !body.takes(COMMA)) throw new SyntaxError("an element does not end");
      const expected = before && this.#known(before.next);
      const known = expected && body.takesElement(expected.bytes) ? expected : this.#element(body.element());
      if (before !== undefined) before.next = known.key;
      before = known;
      list.push(known.value);
    }
    return list;
  }

  #element(bytes: Buffer): Known {
    const key = hash("sha256", bytes, "base64");
    const known = this.#known(key);
    if (known !== undefined) return known;
    const text = bytes.toString();
    const value: unknown = JSON.parse(text);
    // A part of the body would keep all of it in memory.
    const own = Buffer.from(bytes);
    if (isObject(value) && JSON.stringify(frozenMessage(value)) === text) written.set(value, own);
    return this.#remember({ key, bytes: own, value, next: "" });
  }

  /** Returns the one frozen object that equals a value made by the proxy. */
  same<T extends object>(value: T): T {
    return isFrozen(value) ? value : (this.#element(Buffer.from(JSON.stringify(value))).value as T);
  }

  #known(key: string): Known | undefined {
    const known = this.#seen.get(key) ?? this.#seenBefore.get(key);
    return known && this.#remember(known);
  }

  #remember(known: Known): Known {
    if (this.#seen.has(known.key)) return known;
    if (this.#size > MOST_BYTES) [this.#seenBefore, this.#seen, this.#size] = [this.#seen, new Map(), 0];
    this.#seen.set(known.key, known);
    this.#size += known.bytes.length;
    return known;
  }
}

/** Returns the JSON of a body. That of an element of a list is remembered. */
export function jsonOf(body: Json): Buffer {
  const parts: Buffer[] = [];
  let begin = "{";
  for (const [name, value] of Object.entries(body)) {
    const json = Array.isArray(value) ? "[" : JSON.stringify(value);
    if (json === undefined) continue;
    parts.push(Buffer.from(`${begin}${JSON.stringify(name)}:${json}`));
    begin = ",";
    if (!Array.isArray(value)) continue;
    for (const [at, element] of value.entries()) parts.push(...(at > 0 ? [COMMA_BYTES] : []), elementBytes(element));
    parts.push(Buffer.from("]"));
  }
  return Buffer.concat([...parts, Buffer.from(begin === "{" ? "{}" : "}")]);
}

function elementBytes(value: unknown): Buffer {
  const known = isFrozen(value) ? written.get(value) : undefined;
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(value) ?? "null");
  if (isFrozen(value)) written.set(value, bytes);
  return bytes;
}

/** Reads the first levels of a body. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#skipSpace();
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  #skipSpace(): void {
    while (SPACE.includes(this.#bytes[this.#at] ?? 0)) this.#at++;
  }

  /** Takes a character, and the white space behind it, if it is next. */
  takes(character: number): boolean {
    if (this.#bytes[this.#at] !== character) return false;
    this.#at++;
    this.#skipSpace();
    return true;
  }

  /** Takes the next element of a list if it is exactly this one. */
  takesElement(element: Buffer): boolean {
    const end = this.#at + element.length;
    const isWhole = this.#bytes[end] === COMMA || this.#bytes[end] === CLOSE_LIST;
    if (!isWhole || element.compare(this.#bytes, this.#at, end) !== 0) return false;
    this.#at = end;
    return true;
  }

  /** Takes a value, which ends at a comma, colon or closing bracket that is not in it. */
  element(): Buffer {
    const [bytes, start] = [this.#bytes, this.#at];
    let [at, depth] = [start, 0];
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) at = stringEnd(bytes, at);
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
      else if (depth === 0 && ENDS.includes(byte)) break;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    }
    this.#at = Math.min(at, bytes.length);
    return bytes.subarray(start, this.#at);
  }

  value(): string {
    return this.element().toString();
  }
}

/** Returns the place of the quote that ends a string. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let end = from; ;) {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end === -1) return bytes.length;
    let before = end;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
}
