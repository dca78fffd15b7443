/**
 * The transfer of messages into the addon and of changes back.
 *
 * A message crosses as JSON with its long strings lifted out beside it, so that each string crosses once and is never
 * escaped. The asynchronous transfer yields to the event loop between slices: no slice takes longer than a fraction of
 * a millisecond, whatever the size of the session. A list of values to set at paths comes back, and messages without a
 * patch stay the same objects. The caller may change a message meanwhile. A patch is for the message that crossed, so a
 * message that changed since is left as it is.
 */
import { performance } from "node:perf_hooks";

import type { Change, Handover, LeftAlone } from "./addon.js";
import {
  frozenMessage,
  heavy,
  isFrozen,
  light,
  type LightMessage,
  opaqueOf,
  ownField,
  type Step,
  type Unread,
} from "./light-json.js";
import type { Native } from "./native.js";

/** The maximum duration of one slice in milliseconds. */
const SLICE_MS = 0.04;
/** The same for frozen messages. Their caller answers requests, and each pause delays the answer. */
const FROZEN_SLICE_MS = 1;
/** The beginning of the key of a mark, in JSON. */
const MARK = "\\u0000";
/** Texts that are longer cross in pieces of this many UTF-16 units. */
const PIECE = 16_384;

/** Messages in the addon, and the form in which each crossed. */
export interface HandedOver {
  handover: Handover;
  crossed: LightMessage[];
}

/** Hands messages over in one piece. */
export function handOver(addon: Native, messages: readonly unknown[]): HandedOver {
  const handover = new addon.Handover();
  const crossed: LightMessage[] = [];
  let hidden = 0;
  for (const message of messages) {
    const one = light(message, hidden);
    for (const text of one.texts) handover.text(text, false);
    handover.push(`[${one.json}]`);
    hidden += one.opaque.length;
    crossed.push(one);
  }
  return { handover, crossed };
}

/** Hands messages over in slices, with a turn of the event loop between them. */
export async function handOverInSlices(addon: Native, messages: readonly unknown[]): Promise<HandedOver> {
  const handover = new addon.Handover();
  const crossed: LightMessage[] = [];
  let hidden = 0;
  const slices = new Slices(messages);
  for (const message of messages) {
    const one = light(message, hidden);
    for (const text of one.texts) {
      for (let [from, to] = [0, 0]; from < text.length; from = to) {
        to = pieceEnd(text, from);
        handover.text(text.slice(from, to), from > 0);
        if (slices.isOver) await slices.next();
      }
    }
    handover.push(`[${one.json}]`);
    hidden += one.opaque.length;
    crossed.push(one);
    if (slices.isOver) await slices.next();
  }
  return { handover, crossed };
}

/** The slices of a transfer. */
class Slices {
  readonly #most: number;
  #end: number;

  constructor(messages: readonly unknown[]) {
    this.#most = messages.every(isFrozen) ? FROZEN_SLICE_MS : SLICE_MS;
    this.#end = performance.now() + this.#most;
  }

  /** True if the transfer must wait for {@link next} now. */
  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  /** Waits for the next turn of the event loop. */
  async next(): Promise<void> {
    await nextTurn();
    this.#end = performance.now() + this.#most;
  }
}

/** Returns the end of the piece of a text that starts at `from`. It never splits a surrogate pair. */
function pieceEnd(text: string, from: number): number {
  const end = from + PIECE;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

/** Waits for the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * A value to set at a path of a message, or, without a value, the path of an array element to remove. Paths refer to
 * the message before the change.
 */
type Patch = [path: Step[], replacement?: unknown];
/** A reference in an array to a part of a message that moves unchanged: JSON does not carry every part exactly. */
type Moved = { "\0part": [message: number, ...path: Step[]] } | null | undefined;

/** Sets a value at a path of a message, copying only the objects on the path. */
function patch(value: unknown, path: readonly Step[], at: number, replacement: unknown): unknown {
  const step = path[at];
  if (step === undefined) return replacement;
  const copy = (Array.isArray(value) ? value.slice() : { ...(value as object) }) as Record<Step, unknown>;
  ownField(copy, step, patch(copy[step], path, at + 1, replacement));
  return copy;
}

/** The messages before the change, and the values of the marks in the change. */
interface Came {
  messages: readonly unknown[];
  opaque: ReadonlyMap<number, unknown>;
}

function patched<M>(message: M, patches: Patch[], came: Came): M {
  const sets = patches.filter(({ length }) => length > 1);
  const set = sets.reduce<unknown>(
    (changed, [path, replacement]) => patch(changed, path, 0, withParts(replacement, came)),
    message,
  );
  // The last element first, so that the indexes of the others stay valid.
  const removals = patches
    .filter(({ length }) => length === 1)
    .map(([path]) => path)
    .sort((a, b) => Number(b.at(-1)) - Number(a.at(-1)));
  return removals.reduce((changed, path) => patch(changed, path.slice(0, -1), 0, without(changed, path)), set) as M;
}

/** The frozen results of the patches that were last applied to frozen messages. */
const became = new WeakMap<object, { patches: string; message: object }>();

/** Does the same as {@link patched}. Equal patches of a frozen message give the same frozen message. */
function patchedOnce<M>(message: M, patches: Patch[], came: Came): M {
  const text = isFrozen(message) ? JSON.stringify(patches) : MARK;
  // A mark stands for a part of any message.
  if (!isFrozen(message) || text.includes(MARK)) return patched(message, patches, came);
  let known = became.get(message);
  if (known?.patches !== text) {
    known = { patches: text, message: frozenMessage(patched(message, patches, came) as object) };
    became.set(message, known);
  }
  return known.message as M;
}

/** Returns a copy of the array that contains the element at a path, without that element. */
function without(message: unknown, path: readonly Step[]): unknown[] {
  const parent = path
    .slice(0, -1)
    .reduce((value, step) => (value as Record<Step, unknown>)[step], message) as unknown[];
  return parent.filter((_, index) => index !== path.at(-1));
}

/** Adds the patches in `json` to those of each message. */
function addPatches(json: string, byMessage: Map<number, Patch[]>): void {
  for (const [index, ...change] of JSON.parse(json) as [number, ...Patch][]) {
    const patches = byMessage.get(index);
    if (patches) patches.push(change);
    else byMessage.set(index, [change]);
  }
}

/**
 * Returns the kept and the inserted messages in order. Parts that move into inserted messages come from the messages
 * before the change.
 */
function reorder<M>(messages: M[], slots: string | undefined, came: Came): M[] {
  if (slots === undefined) return messages;
  return (JSON.parse(slots) as (number | [M])[]).map((slot) => {
    if (typeof slot === "number") return messages[slot] as M;
    const { content } = slot[0] as { content?: unknown };
    if (content === undefined) return heavy(slot[0], came.opaque) as M;
    return { ...(heavy({ ...slot[0], content: null }, came.opaque) as M), content: withParts(content, came) };
  });
}

/** Returns a value with its references to message parts and its marks replaced by the values that they stand for. */
function withParts(value: unknown, { messages, opaque }: Came): unknown {
  if (!Array.isArray(value)) return heavy(value, opaque);
  return (value as Moved[]).map((element) => {
    const place = element?.["\0part"];
    return place === undefined
      ? heavy(element, opaque)
      : (place as Step[]).reduce<unknown>((whole, step) => (whole as Record<Step, unknown>)[step], messages);
  });
}

/** Applies a change to a copy of the messages in one piece. Returns undefined if nothing changes. */
export function apply<M>(messages: readonly M[], crossed: readonly LightMessage[], change: Change): M[] | undefined {
  const byMessage = new Map<number, Patch[]>();
  for (const json of change.patches) addPatches(json, byMessage);
  if (byMessage.size === 0 && change.slots === undefined) return undefined;
  const copy = messages.slice();
  const came = { messages, opaque: opaqueOf(crossed) };
  for (const [index, patches] of byMessage) copy[index] = patched(copy[index] as M, patches, came);
  return reorder(copy, change.slots, came);
}

/** The result of applying a change. */
export interface Applied<M> {
  /** A copy with the patched messages, or undefined if nothing changed. */
  messages: M[] | undefined;
  /** Indexes of messages that changed after they crossed. They are left as they are. */
  changedMeanwhile: number[];
}

/** Applies a change in slices, with a turn of the event loop between them, to messages that crossed in slices. */
export async function applyInSlices<M>(
  messages: readonly M[],
  crossed: readonly LightMessage[],
  change: Change,
): Promise<Applied<M>> {
  const byMessage = new Map<number, Patch[]>();
  const slices = new Slices(messages);
  for (const json of change.patches) {
    addPatches(json, byMessage);
    if (slices.isOver) await slices.next();
  }
  let copy: M[] | undefined;
  const came = { messages, opaque: opaqueOf(crossed) };
  const changedMeanwhile: number[] = [];
  for (const [index, patches] of byMessage) {
    // The check and its patches run in one turn of the event loop, so nothing can change the message in between.
    if (isAsItCrossed(messages[index], crossed[index])) {
      copy ??= messages.slice();
      copy[index] = patchedOnce(messages[index] as M, patches, came);
    } else {
      changedMeanwhile.push(index);
    }
    if (slices.isOver) await slices.next();
  }
  return {
    messages: change.slots === undefined ? copy : reorder(copy ?? messages.slice(), change.slots, came),
    changedMeanwhile,
  };
}

function isAsItCrossed(message: unknown, crossed: LightMessage | undefined): boolean {
  if (crossed === undefined || isFrozen(message)) return crossed !== undefined;
  const { json, texts, opaque } = light(message, crossed.before);
  return (
    json === crossed.json &&
    texts.every((text, index) => text === crossed.texts[index]) &&
    opaque.every((value, index) => Object.is(value, crossed.opaque[index]))
  );
}

/** Returns a row for each message part that is not folded because it cannot cross, or undefined if there is none. */
export function leftAlone(crossed: readonly LightMessage[], foldsIllFormed: boolean): LeftAlone[] | undefined {
  const row = (message: number, { path, why }: Unread): LeftAlone => {
    const words = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    return { message, path: words.replace(/^\./, ""), why };
  };
  const rows = crossed.flatMap(({ unread, illFormed }, message) =>
    [...unread, ...(foldsIllFormed ? [] : illFormed)].map((part) => row(message, part)),
  );
  return rows.length > 0 ? rows : undefined;
}

/**
 * Returns the rows of changes that were applied, and the tokens that the others would have freed: messages that changed
 * meanwhile were left as they are.
 */
export function reallyDone<Row extends { message: number; tokensBefore: number; tokensAfter: number }>(
  rows: Row[],
  changedMeanwhile: number[],
) {
  const left = new Set(changedMeanwhile);
  const notFreed = rows
    .filter(({ message }) => left.has(message))
    .reduce((tokens, row) => tokens + row.tokensBefore - row.tokensAfter, 0);
  return { rows: rows.filter(({ message }) => !left.has(message)), notFreed };
}
