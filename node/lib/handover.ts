/**
 * How messages cross into the addon and how changes come back.
 *
 * A message crosses as it is, as JSON, with its long strings lifted out beside it, so that each crosses once and is never
 * escaped. The asynchronous hand-over yields to the event loop between slices: no single piece of it takes longer than a
 * fraction of a millisecond, whatever the size of the session. What comes back is a list of values to set at paths; messages
 * that no patch names stay the same objects.
 */
import type { Native, NativeHandover, Outcome } from "./native.js";

/** Strings of at least this many UTF-16 units are lifted out of the JSON. */
const LONG = 256;
/** Nesting that the addon's JSON parser accepts, with room for the message around it. */
const DEPTH = 110;
/** How long one slice may take, in milliseconds. */
const SLICE_MS = 0.04;
/** A longer text crosses in pieces of this many UTF-16 units. */
const PIECE = 16_384;
/** Stands for what JSON cannot carry exactly. The addon leaves alone whatever holds one. */
const OPAQUE = { "\0opaque": 1 };

/** The message as light JSON; long strings go to `texts`. */
function lighten(value: unknown, texts: string[], depth: number): unknown {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) return OPAQUE;
      return value.length < LONG ? value : { "\0text": texts.push(value) - 1 };
    case "number":
      return Number.isFinite(value) ? value : OPAQUE;
    case "boolean":
      return value;
    case "undefined":
      return undefined;
    case "object":
      break;
    default:
      return OPAQUE;
  }
  if (value === null) return null;
  if (depth === 0) return OPAQUE;
  if (Array.isArray(value)) return value.map((item) => lighten(item, texts, depth - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return OPAQUE;
  const light: Record<string, unknown> = {};
  for (const key in value) {
    if (key.startsWith("\0") || !key.isWellFormed()) return OPAQUE;
    light[key] = lighten((value as Record<string, unknown>)[key], texts, depth - 1);
  }
  return light;
}

/** Hands messages over in one piece. */
export function handOver(addon: Native, messages: readonly unknown[]): NativeHandover {
  const handover = new addon.Handover();
  const texts: string[] = [];
  const light = JSON.stringify(messages.map((message) => lighten(message, texts, DEPTH) ?? null));
  for (const text of texts) handover.text(text, false);
  handover.push(light);
  return handover;
}

/** Hands messages over in slices, with a turn of the event loop between them. */
export async function handOverInSlices(addon: Native, messages: readonly unknown[]): Promise<NativeHandover> {
  const handover = new addon.Handover();
  let [light, texts, start]: [unknown[], string[], number] = [[], [], performance.now()];
  const flush = async () => {
    for (const text of texts) {
      for (let [from, to] = [0, 0]; from < text.length; from = to) {
        to = pieceEnd(text, from);
        handover.text(text.slice(from, to), from > 0);
        if (performance.now() - start > SLICE_MS) {
          await nextTurn();
          start = performance.now();
        }
      }
    }
    handover.push(JSON.stringify(light));
    await nextTurn();
    [light, texts, start] = [[], [], performance.now()];
  };
  for (const message of messages) {
    light.push(lighten(message, texts, DEPTH) ?? null);
    if (performance.now() - start > SLICE_MS) await flush();
  }
  if (light.length > 0) await flush();
  return handover;
}

/** Where a piece of a text ends that starts at `from`: never between the halves of a character. */
function pieceEnd(text: string, from: number): number {
  const end = from + PIECE;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

type Step = string | number;
type Container = Record<Step, unknown>;

/** Sets a value at a path of a message, copying only what lies on the path. */
function patch(value: unknown, path: readonly Step[], at: number, replacement: unknown): unknown {
  const step = path[at];
  if (step === undefined) return replacement;
  const copy = (Array.isArray(value) ? value.slice() : { ...(value as Container) }) as Container;
  copy[step] = patch(copy[step], path, at + 1, replacement);
  return copy;
}

/** Applies some patches of an outcome; `changed` starts as the caller's own array and is copied before the first change. */
function applySome<M>(messages: readonly M[], changed: M[] | undefined, json: string): M[] {
  const copy = changed ?? messages.slice();
  for (const [index, path, replacement] of JSON.parse(json) as [number, Step[], unknown][]) {
    copy[index] = patch(copy[index], path, 0, replacement) as M;
  }
  return copy;
}

function reorder<M>(messages: M[], slots: string | undefined): M[] {
  if (slots === undefined || slots === null) return messages;
  return (JSON.parse(slots) as (number | [M])[]).map((slot) => (typeof slot === "number" ? (messages[slot] as M) : slot[0]));
}

/** Applies an outcome in one piece. The same array comes back when nothing changed. */
export function apply<M>(messages: M[], outcome: Outcome): M[] {
  let changed: M[] | undefined;
  for (const json of outcome.patches) changed = applySome(messages, changed, json);
  return reorder(changed ?? messages, outcome.slots);
}

/** Applies an outcome in slices, with a turn of the event loop between them. */
export async function applyInSlices<M>(messages: M[], outcome: Outcome): Promise<M[]> {
  let changed: M[] | undefined;
  for (const json of outcome.patches) {
    changed = applySome(messages, changed, json);
    await nextTurn();
  }
  return reorder(changed ?? messages, outcome.slots);
}
