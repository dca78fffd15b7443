/** Messages by content, so that what many requests contain is counted and parsed once. */
import type { Message } from "../library/api.js";
import { countMessageTokens } from "../library/pure.js";

/** Messages by content. Each is counted and parsed once, in whatever objects it occurs. */
export class Catalogue {
  readonly #byObject = new WeakMap<Message, number>();
  readonly #byContent = new Map<string, number>();
  readonly #shown: (readonly number[] | undefined)[] = [];
  readonly #examples: Message[] = [];
  readonly #tokens: number[] = [];

  /** @param shownBy the facts of a message, as numbers */
  constructor(readonly shownBy: (message: Message) => readonly number[]) {}

  /** Returns the number of a message. */
  idOf(message: Message): number {
    const known = this.#byObject.get(message);
    if (known !== undefined) return known;
    const content = JSON.stringify(message);
    let id = this.#byContent.get(content);
    if (id === undefined) {
      id = this.#tokens.length;
      this.#byContent.set(content, id);
      this.#tokens.push(countMessageTokens([message]));
      this.#examples.push(message);
    }
    this.#byObject.set(message, id);
    return id;
  }

  /** The tokens of each message, by its number. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /** Returns the tokens of a message. */
  tokensOf(id: number): number {
    return this.#tokens[id] ?? 0;
  }

  /** Returns the facts that a message shows, as numbers. */
  shown(id: number): readonly number[] {
    return (this.#shown[id] ??= this.shownBy(this.message(id)));
  }

  /** Returns a message. @throws RangeError if no message has this number */
  message(id: number): Message {
    const example = this.#examples[id];
    if (example === undefined) throw new RangeError(`no message has the number ${id}`);
    return example;
  }

  /** Returns the number of content blocks of a message. */
  blocks(id: number): number {
    const { content } = this.message(id);
    return Array.isArray(content) ? content.length : 1;
  }
}
