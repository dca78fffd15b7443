/**
 * Copies of placeholders in the arguments of a call. The client's tool gets the originals in their place, or the call
 * is refused: the model is told, and the client does not see the call.
 *
 * The addon knows the originals. A stream is held back only from a possible marker on, or, to refuse
 * calls, from their beginning.
 */
import { objectIn } from "./sse.js";

/** The beginning of a placeholder's marker. It has no character that JSON escapes. */
const START = "[REF_ID: ";
/** A placeholder of a tool output, or its marker alone. The markers in shortened arguments stand for something else. */
const COPY =
  /(?<! elided by concertina )\[REF_ID: [0-9a-f]{16,64}\](?: \(Summary: [\s\S]*?\)\n\[[^\n]*? folded[^\]\n]*\](?: Where the summary [^\n]*? file or command\.)?)?/g;
/** Splits JSON so that every second part is a string. */
const STRINGS = /("(?:[^"\\]|\\[\s\S])*")/;

/** The answer to a refused call. */
export const REFUSAL =
  "This call was not run: its arguments contain a placeholder ([REF_ID: …]) in the place of content. Call it again with the content itself, which fetch_original_data returns.";

/** Returns the originals of placeholders, and those without one as they are. */
export type Unfold = (placeholders: string[]) => Promise<string[]>;

/** The treatment of the calls in one exchange. */
export class Copies {
  readonly #unfold: Unfold;
  /** True if calls with copies are refused. They reach the client only when they are complete. */
  readonly areRefused: boolean;
  readonly #refused = new Set<string>();

  constructor(unfold: Unfold, areRefused: boolean) {
    [this.#unfold, this.areRefused] = [unfold, areRefused];
  }

  /** Returns true if {@link shown} has refused a call. */
  isRefused({ id }: { id: string }): boolean {
    return this.#refused.has(id);
  }

  /** Returns the arguments of a call for the client: an object, JSON, or the text of a call without JSON. */
  async shown<A>({ id, args }: { id: string; args: A }): Promise<A> {
    const isText = typeof args === "string";
    const given = isText ? args : JSON.stringify(args ?? null);
    const isJson = given.trimStart().startsWith("{");
    if (!given.includes(START) || (isJson && objectIn(given) === undefined)) return args;
    const shown = isJson ? await this.#inJson(given) : await this.#inText(given);
    if (shown === given) return args;
    if (this.areRefused) this.#refused.add(id);
    return this.areRefused ? args : ((isText ? shown : JSON.parse(shown)) as A);
  }

  async #inJson(json: string): Promise<string> {
    const parts = json.split(STRINGS);
    for (let at = 1; at < parts.length; at += 2) {
      const part = parts[at] as string;
      const from = part.indexOf(START);
      if (from === -1) continue;
      // What stands before the copy may have been sent as the model wrote it.
      const text = JSON.parse(`"${part.slice(from)}`) as string;
      const shown = await this.#inText(text);
      if (shown !== text) parts[at] = part.slice(0, from) + JSON.stringify(shown).slice(1);
    }
    return parts.join("");
  }

  async #inText(text: string): Promise<string> {
    const originals = await this.#unfold(text.match(COPY) ?? []);
    return text.replace(COPY, () => originals.shift() as string);
  }
}

/** A part of an answer while it arrives in a stream: of a call, its arguments. */
export class Arriving {
  /** False while it may be a call whose name is still to come. */
  isKnown = false;
  /** True if the client gets nothing of it. */
  isHidden = false;
  /** True if the client gets nothing more of it before it is complete. */
  isHeld = false;
  /** Its index for the client, once the client has something of it. */
  shownAt: number | undefined;
  /** The arguments that the client gets instead of those of the model. */
  others: string | undefined;
  /** The arguments without a copy, and those behind them that may begin with one. */
  #plain = "";
  #held = "";

  /** True while it is not known what the client gets for that which has come. */
  get isOpen(): boolean {
    const mayChange = !this.isKnown || this.isHeld || this.#held !== "";
    return mayChange && !this.isHidden && this.others === undefined;
  }

  get all(): string {
    return this.#plain + this.#held;
  }

  /** Takes a part of the arguments. The result tells, once the call is not open, whether others stand for that part. */
  take(part: string): () => boolean {
    const at = this.all.length;
    this.#held += part;
    this.isHeld ||= this.#held.includes(START);
    const from = this.#held.lastIndexOf("[");
    if (!this.isHeld && (from === -1 || !START.startsWith(this.#held.slice(from)))) this.#settle();
    return () => this.others !== undefined && at >= this.#plain.length;
  }

  /** Ends the arguments. `others` stand for them, if there are any. */
  end(others: string | undefined): void {
    [this.isKnown, this.isHeld, this.others] = [true, false, others];
    if (others === undefined) this.#settle();
  }

  /** The end of the other arguments. Whatever stands before a copy is unchanged. */
  get rest(): string {
    return this.others?.slice(this.#plain.length) ?? "";
  }

  #settle(): void {
    [this.#plain, this.#held] = [this.all, ""];
  }
}
