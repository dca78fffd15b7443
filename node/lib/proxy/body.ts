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

  /** Parses a body. Returns undefined if it is not a JSON object. */
  parse(bytes: Buffer): Json | undefined {
    try {
      return this.#object(new Reader(bytes));
    } catch {
      return undefined;
    }
  }

  /** @throws if the body is not a JSON object: its structure is checked here, and each part by `JSON.parse` */
  #object(body: Reader): Json {
    const fields: [name: string, value: unknown][] = [];
    body.take(OPEN_OBJECT);
    if (!body.takes(CLOSE_OBJECT)) {
      do {
        body.mustBe(QUOTE);
        const name = JSON.parse(body.value().toString()) as string;
        body.take(COLON);
        fields.push([name, body.is(OPEN_LIST) ? this.#list(body) : JSON.parse(body.value().toString())]);
      } while (body.takes(COMMA));
      body.take(CLOSE_OBJECT);
    }
    body.mustBe(undefined);
    return Object.fromEntries(fields);
  }

  #list(body: Reader): unknown[] {
    const list: unknown[] = [];
    let before: Known | undefined;
    body.take(OPEN_LIST);
    if (body.takes(CLOSE_LIST)) return list;
    do {
      const expected = before && this.#seen.get(before.next);
      const known =
        expected && body.takesValue(expected.bytes) ? this.#remember(expected) : this.#element(body.value());
      if (before !== undefined) before.next = known.key;
      before = known;
      list.push(known.value);
    } while (body.takes(COMMA));
    body.take(CLOSE_LIST);
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
  const element = (value: unknown): Buffer => {
    const known = isFrozen(value) ? written.get(value) : undefined;
    if (known !== undefined) return known;
    const json = Buffer.from(JSON.stringify(value) ?? "null");
    if (isFrozen(value)) written.set(value, json);
    return json;
  };
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const json = Array.isArray(value) ? "[" : JSON.stringify(value);
    if (json === undefined) return [];
    const begin = Buffer.from(`${JSON.stringify(name)}:${json}`);
    return [
      Array.isArray(value) ? [begin, ...separated(value.map((one) => [element(one)])), Buffer.from("]")] : [begin],
    ];
  });
  return Buffer.concat([Buffer.from("{"), ...separated(fields), Buffer.from("}")]);
}

const separated = (parts: Buffer[][]) => parts.flatMap((part, at) => (at === 0 ? part : [COMMA_BYTES, ...part]));

/** Reads the first levels of a body. White space behind a character is skipped. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#skipSpace();
  }

  #skipSpace(): void {
    while ([0x20, 0x0a, 0x0d, 0x09].includes(this.#bytes[this.#at] ?? 0)) this.#at++;
  }

  /** Returns true if a character is next, or with undefined, if nothing is. */
  is(character: number | undefined): boolean {
    return this.#bytes[this.#at] === character;
  }

  mustBe(character: number | undefined): void {
    if (!this.is(character)) throw new SyntaxError(`byte ${this.#at} is not expected`);
  }

  take(character: number): void {
    this.mustBe(character);
    this.#at++;
    this.#skipSpace();
  }

  takes(character: number): boolean {
    const isNext = this.is(character);
    if (isNext) this.take(character);
    return isNext;
  }

  /** Takes an element of a list if it is exactly this one. */
  takesValue(value: Buffer): boolean {
    const end = this.#at + value.length;
    const isNext = isEnd(this.#bytes[end]) && value.compare(this.#bytes, this.#at, end) === 0;
    if (isNext) this.#at = end;
    return isNext;
  }

  /** Takes a value, which ends at a comma, colon or closing bracket that is not in it. */
  value(): Buffer {
    const start = this.#at;
    let depth = 0;
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === QUOTE) this.#at = this.#stringEnd();
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
      else if (depth === 0 && (byte === COLON || byte === CLOSE_OBJECT || isEnd(byte))) break;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    }
    return this.#bytes.subarray(start, this.#at);
  }

  /** Returns the place of the quote that ends a string. */
  #stringEnd(): number {
    for (let end = this.#at; ;) {
      end = this.#bytes.indexOf(QUOTE, end + 1);
      if (end === -1) return this.#bytes.length;
      let before = end;
      while (this.#bytes[before - 1] === BACKSLASH) before--;
      if ((end - before) % 2 === 0) return end;
    }
  }
}

const isEnd = (byte: number | undefined) => byte === COMMA || byte === CLOSE_LIST;
