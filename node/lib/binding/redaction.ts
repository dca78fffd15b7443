/**
 * A second redactor beside the core's own. A host knows secrets that the core cannot know, such as those in its
 * configuration.
 *
 * Such a redactor runs on the event loop and takes 20 to 60 ms for 100,000 characters, so it receives a text in pieces,
 * with a turn of the event loop between them. A text is cut only at a place where masking both sides separately gives
 * the same result as masking them together, so no secret is cut in half.
 */
import type { Answer, AtBirth, Question } from "./addon.js";
import type { AnyMessage, Redactor } from "../library/api.js";
import { asked as calledBack, string } from "./arguments.js";
import { nextTurn } from "./handover.js";
import { attempt, DEPTH, isPlain, MOST_VALUES } from "./light-json.js";

/** The number of characters that a redactor masks in one turn of the event loop: one or two milliseconds of work. */
const PIECE = 4000;

/**
 * The number of characters after a cut that were masked together with the text before it. A longer secret may be cut.
 */
const SEEN_BEHIND = 1000;

/** Masks a text. */
export async function masked(text: string, asked: Redactor): Promise<string> {
  const redactor = (piece: string) => calledBack("the result of the redactor", string, () => asked(piece));
  let done = "";
  let [from, length] = [0, PIECE];
  while (from + length < text.length) {
    const piece = text.slice(from, from + length);
    const together = redactor(piece);
    await nextTurn();
    let front: string | undefined;
    let cut = lineEnd(piece, length - SEEN_BEHIND);
    if (together === piece) {
      front = piece.slice(0, cut);
    } else {
      // Each attempt cuts an eighth of the piece earlier.
      for (; cut > 0 && front === undefined; cut = lineEnd(piece, cut - length / 8)) {
        const before = redactor(piece.slice(0, cut));
        if (before + redactor(piece.slice(cut)) === together) {
          front = before;
          break;
        }
        await nextTurn();
      }
    }
    if (front === undefined) {
      length *= 2;
      continue;
    }
    done += front;
    [from, length] = [from + cut, PIECE];
  }
  return done + redactor(text.slice(from));
}

/** The number of times that JSON inside JSON is unescaped. */
const LEVELS = 2;

/**
 * Returns true if a text contains a secret in an escaped form: in JSON inside the text, a quote, a backslash or a line
 * end of a secret is written with a backslash, and the redactor does not find it. Such a text cannot be masked.
 */
async function hidesSecret(text: string, asked: Redactor): Promise<boolean> {
  let escaped = text;
  for (let level = 0; level < LEVELS; level++) {
    const plain = unescaped(escaped);
    if (plain === escaped) return false;
    if ((await masked(plain, asked)) !== plain) return true;
    escaped = plain;
  }
  return false;
}

const LETTERS: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Replaces the escapes of JSON by what they stand for. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g, (_, code: string | undefined, letter: string) =>
    code === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns the index after the last line end before `most`, or `most` itself if the line is long. */
function lineEnd(text: string, most: number): number {
  if (most < 1) return 0;
  const end = text.lastIndexOf("\n", most - 1) + 1;
  return end > most - PIECE / 8 ? end : Math.floor(most);
}

/**
 * Masks the texts in the content or the output of a message. Returns the same object if nothing was masked, and
 * undefined if a text hides a secret that cannot be masked.
 */
export async function maskedMessage<M extends AnyMessage>(
  message: M,
  redactor: Redactor,
): Promise<Boxed<M> | undefined> {
  const masking = new Masking(redactor);
  const shown = (await masking.fields(message, ["content", "output"], DEPTH)) as Boxed<M>;
  return masking.hidesSecret ? undefined : shown;
}

/** A value of the caller, wrapped to leave a promise: a bare value with a field `then` would be taken for a promise. */
type Boxed<T> = [T];

/**
 * The masking of one message. Parts that cannot cross are left as they are: unreadable, recursive or too large ones.
 */
class Masking {
  readonly #redactor: Redactor;
  /** True if a text contains a secret that cannot be masked. */
  hidesSecret = false;
  /** The masked form of each object seen so far; the object itself while its parts are being masked. */
  readonly #met = new Map<object, unknown>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Masks some fields of an object. */
  async fields(of: object, names: string[], depth: number): Promise<Boxed<unknown>> {
    // An instance of a class would lose its class when copied, and it does not cross.
    if (attempt(() => isPlain(of)) !== true) return [of];
    const values = attempt(() => names.map((name) => (of as Record<string, unknown>)[name]));
    if (values === undefined) return [of];
    const changed: [string, unknown][] = [];
    for (const [index, value] of values.entries()) {
      const [shown] = await this.#value(value, depth);
      if (shown !== value) changed.push([names[index] as string, shown]);
    }
    return [changed.length > 0 ? (attempt(() => ({ ...of, ...Object.fromEntries(changed) })) ?? of) : of];
  }

  async #value(value: unknown, depth: number): Promise<Boxed<unknown>> {
    if (typeof value === "string") {
      const shown = await masked(value, this.#redactor);
      this.hidesSecret ||= await hidesSecret(shown, this.#redactor);
      return [shown];
    }
    if (value === null || typeof value !== "object" || depth === 0) return [value];
    if (this.#met.has(value)) return [this.#met.get(value)];
    this.#met.set(value, value);
    const isList = attempt(() => Array.isArray(value)) === true;
    const parts = isList
      ? this.#list(value as unknown[], depth - 1)
      : this.fields(value, ["text", "content"], depth - 1);
    const [shown] = await parts;
    this.#met.set(value, shown);
    return [shown];
  }

  async #list(list: unknown[], depth: number): Promise<Boxed<unknown>> {
    const blocks = attempt(() => (list.length > MOST_VALUES ? undefined : Array.from(list)));
    if (blocks === undefined) return [list];
    const shown: unknown[] = [];
    // A bare string in a list is not a text of the message.
    for (const block of blocks) shown.push(typeof block === "string" ? block : (await this.#value(block, depth))[0]);
    return [shown.every((block, index) => block === blocks[index]) ? list : shown];
  }
}

/**
 * Masks the strings of arguments. Returns the same value if nothing was masked. Only direct strings and lists of words
 * are ever printed. The redactor receives plain strings: in JSON it would miss a secret that contains a quote, a
 * backslash or a line end.
 */
export async function maskedArguments(args: unknown, redactor: Redactor): Promise<Boxed<unknown>> {
  if (typeof args === "string") {
    const read = attempt(() => JSON.parse(args) as unknown);
    const [shown] = typeof read === "object" ? await maskedArguments(read, redactor) : [read];
    return [await masked(shown === read ? args : JSON.stringify(shown), redactor)];
  }
  if (args === null || typeof args !== "object" || attempt(() => Array.isArray(args)) !== false) return [args];
  const changed: [string, unknown][] = [];
  for (const [key, value] of attempt(() => Object.entries(args)) ?? []) {
    const [shown] = typeof value === "string" ? [await masked(value, redactor)] : await maskedWords(value, redactor);
    if (shown !== value) changed.push([key, shown]);
  }
  return [changed.length > 0 ? { ...args, ...Object.fromEntries(changed) } : args];
}

/**
 * Masks each word of a list. If a secret spans several words, returns the masked words as one string. Returns the same
 * value if nothing was masked or the value is not a list of words.
 */
async function maskedWords(list: unknown, redactor: Redactor): Promise<Boxed<unknown>> {
  const words = attempt(() =>
    Array.isArray(list) && list.length <= MOST_VALUES ? Array.from(list as unknown[]) : undefined,
  );
  if (words === undefined || !words.every((word) => typeof word === "string")) return [list];
  const shown: string[] = [];
  for (const word of words) shown.push(await masked(word, redactor));
  const together = await masked(shown.join(" "), redactor);
  if (together !== shown.join(" ")) return [together];
  return [shown.every((word, index) => word === words[index]) ? list : shown];
}

/**
 * Asks a redactor about what is to be stored. A block that is not a tool's text is not stored if anything in it was
 * masked, and no text is if it hides a secret that cannot be masked.
 */
export async function answersTo(
  questions: readonly Question[],
  redactor: Redactor,
  secrets: AtBirth["secrets"],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { key, text, beside } of questions) {
    const [shown, named] = [await masked(text, redactor), await masked(beside, redactor)];
    const isMasked = shown !== text;
    const stays = named !== beside || (isMasked && secrets !== "redact") || (await hidesSecret(shown, redactor));
    answers.push({ key, masked: isMasked ? shown : undefined, stays });
  }
  return answers;
}
