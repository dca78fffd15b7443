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

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A list in the first level of a body. The elements are where they stand in its bytes. */
interface List {
  /** The name of its field, as JSON. */
  name: string;
  start: number;
  end: number;
  elements: [start: number, end: number][];
}

export class Bodies {
  /** The elements by the hashes of their JSON, the least recently seen first. */
  readonly #seen = new Map<string, { value: unknown; size: number }>();
  #size = 0;

  /** Parses a body. Returns undefined if it is not a JSON object. */
  parse(bytes: Buffer): Json | undefined {
    const lists = listsIn(bytes);
    let [around, from] = ["", 0];
    for (const { start, end } of lists) {
      around += `${bytes.toString("utf8", from, start)}[]`;
      from = end;
    }
    const body = objectIn(around + bytes.toString("utf8", from));
    try {
      const named = lists.map(({ name }) => body?.[JSON.parse(name) as string]);
      // Of two fields with one name, the last one counts.
      if (!named.every(Array.isArray) || new Set(named).size < named.length) return objectIn(bytes.toString());
      for (const [at, { elements }] of lists.entries())
        (named[at] as unknown[]).push(...elements.map(([start, end]) => this.#element(bytes.subarray(start, end))));
      return body;
    } catch {
      return undefined;
    }
  }

  #element(bytes: Buffer): unknown {
    return this.#remember(hash("sha256", bytes, "base64"), bytes.length, () => JSON.parse(bytes.toString()) as unknown);
  }

  /** Returns the one frozen object that equals a value made by the proxy. */
  same<T extends object>(value: T): T {
    if (isFrozen(value)) return value;
    const json = JSON.stringify(value);
    return this.#remember(hash("sha256", json, "base64"), json.length, () => JSON.parse(json) as unknown) as T;
  }

  #remember(key: string, size: number, make: () => unknown): unknown {
    let known = this.#seen.get(key);
    if (known === undefined) {
      const value = make();
      known = { value: isObject(value) ? frozenMessage(value) : value, size };
      this.#size += size;
    }
    this.#seen.delete(key);
    this.#seen.set(key, known);
    for (const [oldest, { size: freed }] of this.#seen) {
      if (this.#size <= MOST_BYTES) break;
      this.#seen.delete(oldest);
      this.#size -= freed;
    }
    return known.value;
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

/** Finds the lists in the first level of an object. Whether these bytes are JSON, the parser of every part decides. */
function listsIn(bytes: Buffer): List[] {
  const lists: List[] = [];
  let [depth, start, name] = [0, 0, '""'];
  let list: List | undefined;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = afterString(bytes, at);
      if (depth === 1) name = bytes.toString("utf8", at, end);
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (depth++ !== 1 || byte !== OPEN_LIST) continue;
      list = { name, start: at, end: at, elements: [] };
      start = at + 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (--depth !== 1 || list === undefined) continue;
      if (byte !== CLOSE_LIST) return [];
      const isEmpty = list.elements.length === 0 && bytes.toString("utf8", start, at).trim() === "";
      if (!isEmpty) list.elements.push([start, at]);
      lists.push({ ...list, end: at + 1 });
      list = undefined;
    } else if (byte === COMMA && depth === 2 && list !== undefined) {
      list.elements.push([start, at]);
      start = at + 1;
    }
  }
  return lists;
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
