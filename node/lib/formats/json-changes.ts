/**
 * Replacement of values in a JSON text. Every other byte is preserved: whitespace, the order of keys, numbers that
 * JavaScript cannot represent.
 */

/** A change of a value: a new value, or changes of its parts. */
export type Change = { value: unknown } | { parts: Map<string | number, Change> };

/**
 * Returns the change from one value to another, as deep as both have the same parts, or undefined if they are equal.
 */
export function changeBetween(before: unknown, after: unknown): Change | undefined {
  if (before === after) return undefined;
  const keys = keysOf(before);
  const others = keysOf(after);
  const haveSameParts =
    keys !== undefined &&
    others !== undefined &&
    Array.isArray(before) === Array.isArray(after) &&
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(after as object, key));
  if (!haveSameParts) return { value: after };
  const parts = new Map<string | number, Change>();
  for (const key of keys) {
    const change = changeBetween(
      (before as Record<string | number, unknown>)[key],
      (after as Record<string | number, unknown>)[key],
    );
    if (change) parts.set(key, change);
  }
  return parts.size > 0 ? { parts } : undefined;
}

function keysOf(value: unknown): (string | number)[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? [...value.keys()] : Object.keys(value);
}

/** Applies a change to a JSON text. The text must be valid and have the parts that the change names. */
export function withChange(json: string, change: Change): string {
  const pieces: string[] = [];
  let copied = 0;
  const write = (at: number, change: Change) => {
    if ("value" in change) {
      pieces.push(json.slice(copied, at), JSON.stringify(change.value));
      copied = valueEnd(json, at);
      return;
    }
    const starts = partsAt(json, at);
    const inOrder = [...change.parts]
      .map(([key, part]) => ({ start: starts.get(key), part, key }))
      .sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
    for (const { start, part, key } of inOrder) {
      if (start === undefined) throw new Error(`the JSON text has no ${JSON.stringify(key)} at character ${at}`);
      write(start, part);
    }
  };
  write(afterBlanks(json, 0), change);
  return pieces.join("") + json.slice(copied);
}

/** Returns the start and end of each element of a JSON array. The text must be valid. */
export function elementsOf(json: string): { start: number; end: number }[] {
  return [...partsAt(json, afterBlanks(json, 0)).values()].map((start) => ({ start, end: valueEnd(json, start) }));
}

/** Returns the start of each part of an array or object. If keys are equal the last one counts, as for `JSON.parse`. */
function partsAt(json: string, open: number): Map<string | number, number> {
  const starts = new Map<string | number, number>();
  const isArray = json[open] === "[";
  let at = afterBlanks(json, open + 1);
  while (at < json.length && json[at] !== "]" && json[at] !== "}") {
    let key: string | number = starts.size;
    if (!isArray) {
      const end = stringEnd(json, at);
      key = JSON.parse(json.slice(at, end)) as string;
      at = afterBlanks(json, afterBlanks(json, end) + 1);
    }
    starts.set(key, at);
    at = afterBlanks(json, valueEnd(json, at));
    if (json[at] === ",") at = afterBlanks(json, at + 1);
  }
  return starts;
}

function afterBlanks(json: string, from: number): number {
  let at = from;
  while (" \t\r\n".includes(json[at] ?? "x")) at++;
  return at;
}

/**
 * Returns the end of the value that starts at `at`: the index after its last character, or 0 if the value does not
 * end.
 */
export function valueEnd(json: string, at: number): number {
  if (json[at] === '"') return stringEnd(json, at);
  if (json[at] !== "[" && json[at] !== "{") {
    const scalar = /[^\s,\]}]*/y;
    scalar.lastIndex = at;
    scalar.test(json);
    return scalar.lastIndex;
  }
  const token = /["[\]{}]/g;
  token.lastIndex = at;
  let depth = 0;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    if (found[0] === '"') token.lastIndex = stringEnd(json, found.index);
    else depth += found[0] === "[" || found[0] === "{" ? 1 : -1;
    if (depth === 0) break;
  }
  return token.lastIndex;
}

/** Returns the end of the string that starts at `at`: the index after its closing quote. */
function stringEnd(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let before = quote;
    while (json[before - 1] === "\\") before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return json.length;
}
