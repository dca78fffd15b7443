/**
 * Bodies of requests: JSON <-> objects, at a cost that depends on what is new in them.
 *
 * A client sends its whole history each time. An element of a list that was seen before is the same object as then, and
 * frozen, so whatever else was computed of it can be remembered beside it: its hash, its JSON, its form in the addon.
 */
import { hash } from "node:crypto";

import { frozenMessage, isFrozen } from "../binding/light-json.js";
import { isObject, type Json, objectIn } from "./sse.js";

/** The size of all elements that are remembered, in bytes of their JSON: about 150 sessions of 100,000 tokens. */
const MOST_BYTES = 32 * 2 ** 20;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const SPACES = new Set<number | undefined>([0x20, 0x0a, 0x0d, 0x09]);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A list in the first level of a body. The elements are where they stand in its bytes. */
interface List {
  name: string;
  start: number;
  end: number;
  elements: [start: number, end: number][];
}

export class Bodies {
  /** The elements by the hashes of their JSON, the least recently seen first. */
  readonly #seen = new Map<string, { value: object; size: number }>();
  #size = 0;

  /** Parses a body. Returns undefined if it is not a JSON object. */
  parse(bytes: Buffer): Json | undefined {
    const lists = listsIn(bytes) ?? [];
    let [around, from] = ["", 0];
    for (const { start, end } of lists) {
      around += `${bytes.toString("utf8", from, start)}[]`;
      from = end;
    }
    const body = objectIn(around + bytes.toString("utf8", from));
    // Of two fields with one name, the last one counts.
    const isOnce = new Set(lists.map(({ name }) => name)).size === lists.length;
    if (!isOnce || !lists.every(({ name }) => Array.isArray(body?.[name]))) return objectIn(bytes.toString());
    try {
      for (const { name, elements } of lists)
        (body?.[name] as unknown[]).push(...elements.map(([start, end]) => this.#element(bytes.subarray(start, end))));
      return body;
    } catch {
      return undefined;
    }
  }

  #element(bytes: Buffer): unknown {
    if (bytes[0] !== OPEN_OBJECT) return JSON.parse(bytes.toString());
    return this.#remember(hash("sha256", bytes, "base64"), bytes.length, () => JSON.parse(bytes.toString()) as object);
  }

  /** Returns the one frozen object that equals a value made by the proxy. */
  same<T extends object>(value: T): T {
    if (isFrozen(value)) return value;
    const json = JSON.stringify(value);
    return this.#remember(hash("sha256", json, "base64"), json.length, () => JSON.parse(json) as object) as T;
  }

  #remember(key: string, size: number, make: () => object): object {
    const known = this.#seen.get(key);
    const entry = known ?? { value: frozenMessage(make()), size };
    this.#seen.delete(key);
    this.#seen.set(key, entry);
    if (known !== undefined) return known.value;
    this.#size += size;
    for (const [oldest, { size: freed }] of this.#seen) {
      if (this.#size <= MOST_BYTES) break;
      this.#seen.delete(oldest);
      this.#size -= freed;
    }
    return entry.value;
  }
}

const written = new WeakMap<object, string>();

/** Returns the JSON of a body. That of an element of a list is remembered. */
export function jsonOf(body: Json): string {
  const element = (value: unknown): string => {
    if (!isFrozen(value)) return JSON.stringify(value) ?? "null";
    const json = written.get(value) ?? JSON.stringify(value);
    written.set(value, json);
    return json;
  };
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const json = Array.isArray(value) ? `[${value.map(element).join()}]` : JSON.stringify(value);
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
  return `{${fields.join()}}`;
}

/** Finds the lists in the first level of an object. Returns undefined if the bytes do not look like one. */
function listsIn(bytes: Buffer): List[] | undefined {
  const lists: List[] = [];
  let at = afterSpace(bytes, 0);
  if (bytes[at++] !== OPEN_OBJECT) return undefined;
  for (;;) {
    const key = afterSpace(bytes, at);
    if (bytes[key] !== QUOTE) return undefined;
    const keyEnd = afterValue(bytes, key);
    const colon = afterSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return undefined;
    const start = afterSpace(bytes, colon + 1);
    const end = afterValue(bytes, start);
    if (bytes[start] === OPEN_LIST) {
      const elements = elementsOf(bytes, start);
      if (elements === undefined) return undefined;
      lists.push({ name: JSON.parse(bytes.toString("utf8", key, keyEnd)) as string, start, end, elements });
    }
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE_OBJECT) return lists;
    if (bytes[at++] !== COMMA) return undefined;
  }
}

function elementsOf(bytes: Buffer, list: number): [number, number][] | undefined {
  const elements: [number, number][] = [];
  let at = afterSpace(bytes, list + 1);
  if (bytes[at] === CLOSE_LIST) return elements;
  for (;;) {
    const start = afterSpace(bytes, at);
    const end = afterValue(bytes, start);
    elements.push([start, end]);
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return elements;
    if (bytes[at++] !== COMMA) return undefined;
  }
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (SPACES.has(bytes[at])) at++;
  return at;
}

/** Returns the byte after the value that begins at `from`. Whether it is a value, its parser decides. */
function afterValue(bytes: Buffer, from: number): number {
  let [at, depth] = [from, 0];
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = afterString(bytes, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) [at, depth] = [at + 1, depth + 1];
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 0) return at;
      [at, depth] = [at + 1, depth - 1];
    } else if (depth === 0 && (byte === COMMA || byte === COLON)) return at;
    else {
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
  return at;
}

function afterString(bytes: Buffer, from: number): number {
  for (let end = from; ;) {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end === -1) return bytes.length;
    let before = end;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
}
