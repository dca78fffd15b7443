/**
 * Another redactor beside the core's: a host knows what the core cannot, such as the values of the secrets in its configuration.
 *
 * Such a redactor works on the event loop and takes 20 to 60 ms for 100,000 characters, so it sees a text piece by piece, with a
 * turn of the loop between. A text is cut only where both sides masked alone read as they do together: no secret is cut in half.
 */
import type { Answer, AtBirth, Question } from "./addon.js";
import type { AnyMessage, Redactor } from "./api.js";
import { nextTurn } from "./handover.js";

/** Characters that a redactor sees in one turn of the event loop: one or two milliseconds. */
const PIECE = 4000;

/** Characters behind a cut that were seen together with what stands before it: a secret of more than these may be cut. */
const SEEN_BEHIND = 1000;

/** A text as the redactor masks it. */
export async function masked(text: string, redactor: Redactor): Promise<string> {
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

/** A message with the texts of its content masked; the same object where nothing is. */
export async function maskedMessage<M extends AnyMessage>(message: M, redactor: Redactor): Promise<M> {
  const content = await maskedContent(message.content, redactor);
  return content === message.content ? message : { ...message, content };
}

async function maskedContent(content: unknown, redactor: Redactor): Promise<unknown> {
  if (typeof content === "string") return masked(content, redactor);
  if (!Array.isArray(content)) return content;
  const blocks = content as unknown[];
  const shown: unknown[] = [];
  for (const block of blocks) shown.push(await maskedBlock(block, redactor));
  return shown.every((block, index) => block === blocks[index]) ? content : shown;
}

async function maskedBlock(block: unknown, redactor: Redactor): Promise<unknown> {
  if (block === null || typeof block !== "object") return block;
  const { text, content } = block as { text?: unknown; content?: unknown };
  const shown = { text: typeof text === "string" ? await masked(text, redactor) : text, content: await maskedContent(content, redactor) };
  const changed = Object.entries(shown).filter(([key, value]) => value !== (block as Record<string, unknown>)[key]);
  return changed.length > 0 ? { ...block, ...Object.fromEntries(changed) } : block;
}

/** Arguments with their strings masked; the same object where nothing is. Only what stands in them directly is ever printed. */
export async function maskedArguments(args: unknown, redactor: Redactor): Promise<unknown> {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return args;
  const changed: [string, unknown][] = [];
  for (const [key, value] of Object.entries(args)) {
    const shown = typeof value === "string" ? await masked(value, redactor) : value;
    if (shown !== value) changed.push([key, shown]);
  }
  return changed.length > 0 ? { ...args, ...Object.fromEntries(changed) } : args;
}

/** What a redactor makes of what is to be stored. Of what is not a tool's text, the library keeps nothing that is masked. */
export async function answersTo(questions: readonly Question[], redactor: Redactor, secrets: AtBirth["secrets"]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { key, text, beside } of questions) {
    const [shown, named] = [await masked(text, redactor), await masked(beside, redactor)];
    const isMasked = shown !== text;
    answers.push({ key, masked: isMasked ? shown : undefined, stays: named !== beside || (isMasked && secrets !== "redact") });
  }
  return answers;
}
