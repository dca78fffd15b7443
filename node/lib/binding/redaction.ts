/**
 * Another redactor beside the core's: a host knows what the core cannot, such as the values of the secrets in its
 * configuration.
 *
 * Such a redactor works on the event loop and takes 20 to 60 ms for 100,000 characters, so it sees a text piece by
 * piece, with a turn of the loop between. A text is cut only where both sides masked alone read as they do together: no
 * secret is cut in half.
 */
import type { Answer, AtBirth, Question } from "./addon.js";
import type { AnyMessage, Redactor } from "../library/api.js";
import { asked as calledBack, string } from "./arguments.js";
import { nextTurn } from "./handover.js";
import { attempt, DEPTH, isPlain, MOST_VALUES } from "./light-json.js";

/** Characters that a redactor sees in one turn of the event loop: one or two milliseconds. */
const PIECE = 4000;

/**
 * Characters behind a cut that were seen together with what stands before it: a secret of more than these may be cut.
 */
const SEEN_BEHIND = 1000;

/** A text as the redactor masks it. */
export async function masked(text: string, asked: Redactor): Promise<string> {
  const redactor = (piece: string) => calledBack("what the redactor returned", string, () => asked(piece));
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
      // Earlier and earlier, by an eighth of the piece.
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

/** Behind the last line end before `most`, or `most` itself where the line is long. */
function lineEnd(text: string, most: number): number {
  if (most < 1) return 0;
  const end = text.lastIndexOf("\n", most - 1) + 1;
  return end > most - PIECE / 8 ? end : Math.floor(most);
}

/** A message with the texts of its content, or of its output, masked; the same object where nothing is. */
export async function maskedMessage<M extends AnyMessage>(message: M, redactor: Redactor): Promise<Boxed<M>> {
  return (await new Masking(redactor).fields(message, ["content", "output"], DEPTH)) as Boxed<M>;
}

/** What a caller made, on its way out of a promise: by itself, one with a field `then` would be taken for a promise. */
type Boxed<T> = [T];

/**
 * The parts of one message. What does not cross, because it cannot be read, holds itself or is too large, stays as it
 * is.
 */
class Masking {
  readonly #redactor: Redactor;
  /** What is shown of the objects that were met; an object itself while its parts are being masked. */
  readonly #met = new Map<object, unknown>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** An object with some of its fields masked. */
  async fields(of: object, names: string[], depth: number): Promise<Boxed<unknown>> {
    // A copy would be no instance of its class, and such an object does not cross.
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
    if (typeof value === "string") return [await masked(value, this.#redactor)];
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
    // A string in a list is no text of the message.
    for (const block of blocks) shown.push(typeof block === "string" ? block : (await this.#value(block, depth))[0]);
    return [shown.every((block, index) => block === blocks[index]) ? list : shown];
  }
}

/**
 * Arguments with their strings masked; the same value where nothing is. Only strings and lists of words that stand in
 * them directly are ever printed. The redactor sees plain strings: in JSON it would miss a secret that has a quote, a
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
 * A list of words, each masked, or, where a secret spans several, what they are together, masked; the same value where
 * nothing is, and for any other value.
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
 * What a redactor makes of what is to be stored. Of what is not a tool's text, the library keeps nothing that is
 * masked.
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
    answers.push({
      key,
      masked: isMasked ? shown : undefined,
      stays: named !== beside || (isMasked && secrets !== "redact"),
    });
  }
  return answers;
}
