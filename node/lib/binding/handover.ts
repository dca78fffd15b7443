/**
 * How messages cross into the addon and how changes come back.
 *
 * A message crosses as it is, as JSON, with its long strings lifted out beside it, so that each crosses once and is
 * never escaped. The asynchronous hand-over yields to the event loop between slices: no single piece of it takes longer
 * than a fraction of a millisecond, whatever the size of the session. What comes back is a list of values to set at
 * paths; messages that no patch names stay the same objects. While others have their turns the caller may change a
 * message: a patch is for the message that crossed, and one that reads otherwise now is left as it is.
 */
import type { Change, Handover, LeftAlone } from "./addon.js";
import {
  after,
  type Crossed,
  heavy,
  light,
  type LightMessage,
  opaqueOf,
  ownField,
  type Step,
  type Unread,
} from "./light-json.js";
import type { Native } from "./native.js";

/** How long one slice may take, in milliseconds. */
const SLICE_MS = 0.04;
/** A longer text crosses in pieces of this many UTF-16 units. */
const PIECE = 16_384;

/** Messages in the addon, and how each read when it crossed. */
export interface HandedOver {
  handover: Handover;
  crossed: LightMessage[];
}

const NOTHING_CROSSED: Crossed = { lifted: 0, hidden: 0 };

/** Hands messages over in one piece. */
export function handOver(addon: Native, messages: readonly unknown[]): HandedOver {
  const handover = new addon.Handover();
  const crossed: LightMessage[] = [];
  let before = NOTHING_CROSSED;
  for (const message of messages) {
    const one = light(message, before);
    for (const text of one.texts) handover.text(text, false);
    crossed.push(one);
    before = after(one);
  }
  handover.push(`[${crossed.map(({ json }) => json).join()}]`);
  return { handover, crossed };
}

/** Hands messages over in slices, with a turn of the event loop between them. */
export async function handOverInSlices(addon: Native, messages: readonly unknown[]): Promise<HandedOver> {
  const handover = new addon.Handover();
  const crossed: LightMessage[] = [];
  let before = NOTHING_CROSSED;
  let [slice, start]: [LightMessage[], number] = [[], performance.now()];
  const flush = async () => {
    for (const text of slice.flatMap(({ texts }) => texts)) {
      for (let [from, to] = [0, 0]; from < text.length; from = to) {
        to = pieceEnd(text, from);
        handover.text(text.slice(from, to), from > 0);
        if (performance.now() - start > SLICE_MS) {
          await nextTurn();
          start = performance.now();
        }
      }
    }
    handover.push(`[${slice.map(({ json }) => json).join()}]`);
    await nextTurn();
    // The strings of each slice are counted anew.
    before = { ...before, lifted: 0 };
    [slice, start] = [[], performance.now()];
  };
  for (const message of messages) {
    const one = light(message, before);
    before = after(one);
    slice.push(one);
    crossed.push(one);
    if (performance.now() - start > SLICE_MS) await flush();
  }
  if (slice.length > 0) await flush();
  return { handover, crossed };
}

/** Where a piece of a text ends that starts at `from`: never between the halves of a character. */
function pieceEnd(text: string, from: number): number {
  const end = from + PIECE;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

/** Lets the event loop turn once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * A value to set at a path of a message, or, without one, the path of an element that leaves. Paths are those of the
 * message as it was.
 */
type Patch = [path: Step[], replacement?: unknown];
/** What stands in a list for a part of a message that moves as it is: JSON does not carry every part exactly. */
type Moved = { "\0part": [message: number, ...path: Step[]] } | null | undefined;

/** Sets a value at a path of a message, copying only what lies on the path. */
function patch(value: unknown, path: readonly Step[], at: number, replacement: unknown): unknown {
  const step = path[at];
  if (step === undefined) return replacement;
  const copy = (Array.isArray(value) ? value.slice() : { ...(value as object) }) as Record<Step, unknown>;
  ownField(copy, step, patch(copy[step], path, at + 1, replacement));
  return copy;
}

/** Messages as they came, and what the marks in a change stand for. */
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
  // From the last on: the places of those before it stay.
  const removals = patches
    .filter(({ length }) => length === 1)
    .map(([path]) => path)
    .sort((a, b) => Number(b.at(-1)) - Number(a.at(-1)));
  return removals.reduce((changed, path) => patch(changed, path.slice(0, -1), 0, without(changed, path)), set) as M;
}

/** The array that the element at a path is in, without it. */
function without(message: unknown, path: readonly Step[]): unknown[] {
  const parent = path
    .slice(0, -1)
    .reduce((value, step) => (value as Record<Step, unknown>)[step], message) as unknown[];
  return parent.filter((_, index) => index !== path.at(-1));
}

/** Adds some of a change's patches to those of each message. */
function addPatches(json: string, byMessage: Map<number, Patch[]>): void {
  for (const [index, ...change] of JSON.parse(json) as [number, ...Patch][]) {
    const patches = byMessage.get(index);
    if (patches) patches.push(change);
    else byMessage.set(index, [change]);
  }
}

/** The kept messages and the inserted ones, in order; what moves into these is taken from the messages as they came. */
function reorder<M>(messages: M[], slots: string | undefined, came: Came): M[] {
  if (slots === undefined) return messages;
  return (JSON.parse(slots) as (number | [M])[]).map((slot) => {
    if (typeof slot === "number") return messages[slot] as M;
    const { content } = slot[0] as { content?: unknown };
    if (content === undefined) return heavy(slot[0], came.opaque) as M;
    return { ...(heavy({ ...slot[0], content: null }, came.opaque) as M), content: withParts(content, came) };
  });
}

/** A value with the parts of messages that its elements stand for, and all that its marks stand for. */
function withParts(value: unknown, { messages, opaque }: Came): unknown {
  if (!Array.isArray(value)) return heavy(value, opaque);
  return (value as Moved[]).map((element) => {
    const place = element?.["\0part"];
    return place === undefined
      ? heavy(element, opaque)
      : (place as Step[]).reduce<unknown>((whole, step) => (whole as Record<Step, unknown>)[step], messages);
  });
}

/** Applies a change to a copy in one piece; `undefined` when nothing changes. */
export function apply<M>(messages: readonly M[], crossed: readonly LightMessage[], change: Change): M[] | undefined {
  const byMessage = new Map<number, Patch[]>();
  for (const json of change.patches) addPatches(json, byMessage);
  if (byMessage.size === 0 && change.slots === undefined) return undefined;
  const copy = messages.slice();
  const came = { messages, opaque: opaqueOf(crossed) };
  for (const [index, patches] of byMessage) copy[index] = patched(copy[index] as M, patches, came);
  return reorder(copy, change.slots, came);
}

/** What applying a change came to. */
export interface Applied<M> {
  /** A copy with the patched messages, or `undefined` when nothing changed. */
  messages: M[] | undefined;
  /** Indexes of messages that no longer read as they crossed. They are left as they are now. */
  changedMeanwhile: number[];
}

/** Applies a change to messages that crossed in slices, again in slices, with a turn of the event loop between them. */
export async function applyInSlices<M>(
  messages: readonly M[],
  crossed: readonly LightMessage[],
  change: Change,
): Promise<Applied<M>> {
  const byMessage = new Map<number, Patch[]>();
  for (const json of change.patches) {
    addPatches(json, byMessage);
    await nextTurn();
  }
  let copy: M[] | undefined;
  const came = { messages, opaque: opaqueOf(crossed) };
  const changedMeanwhile: number[] = [];
  let start = performance.now();
  for (const [index, patches] of byMessage) {
    // In one go with its patches: nobody has a turn in between.
    if (isAsItCrossed(messages[index], crossed[index])) {
      copy ??= messages.slice();
      copy[index] = patched(messages[index] as M, patches, came);
    } else {
      changedMeanwhile.push(index);
    }
    if (performance.now() - start > SLICE_MS) {
      await nextTurn();
      start = performance.now();
    }
  }
  return {
    messages: change.slots === undefined ? copy : reorder(copy ?? messages.slice(), change.slots, came),
    changedMeanwhile,
  };
}

function isAsItCrossed(message: unknown, crossed: LightMessage | undefined): boolean {
  if (crossed === undefined) return false;
  const { json, texts, opaque } = light(message, crossed.before);
  return (
    json === crossed.json &&
    texts.every((text, index) => text === crossed.texts[index]) &&
    opaque.every((value, index) => Object.is(value, crossed.opaque[index]))
  );
}

/**
 * A row for each part of some messages that is not folded because it does not cross; `undefined` where there is none.
 */
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
 * Rows of what was really done, and how many tokens the others were to free: nothing was done to messages that changed
 * meanwhile.
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
