/**
 * Server-sent events: bytes in any chunks -> events, each with its exact text.
 *
 * An event that nobody changes is written with that text, so a client sees the bytes of the provider.
 */
import { isObject, type Json, objectIn } from "../formats/json-object.js";

export { isObject, type Json, objectIn };

/** One event of a stream. */
export interface StreamEvent {
  /** The exact text, with the blank line that ends it. */
  raw: string;
  /** The parsed `data`, or undefined if it is not a JSON object. */
  data: Json | undefined;
}

/** The end of an event: a blank line, in any style of line ends. */
const BLANK_LINE = /\r\n\r\n|\n\r?\n|\r\r/;

/** Splits a stream of bytes into events. */
export class EventReader {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";

  /** Returns the events that a chunk completes. */
  read(chunk: Uint8Array): StreamEvent[] {
    // Only the end of what is left can complete an event together with the chunk.
    let from = Math.max(0, this.#rest.length - 3);
    let text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const events: StreamEvent[] = [];
    for (;;) {
      const found = BLANK_LINE.exec(text.slice(from));
      if (found === null) break;
      const end = from + found.index + found[0].length;
      events.push(eventOf(text.slice(0, end)));
      text = text.slice(end);
      from = 0;
    }
    this.#rest = text;
    return events;
  }

  /** Returns the text after the last event. */
  end(): string {
    return this.#rest + this.#decoder.decode();
  }
}

/** Reads the text of an event. */
export function eventOf(raw: string): StreamEvent {
  const lines = raw.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
  const text = lines.map((line) => line.slice(line.startsWith("data: ") ? 6 : 5)).join("\n");
  return { raw, data: text.startsWith("{") ? objectIn(text) : undefined };
}

/** Returns the objects of an array. Returns an empty array for any other value. */
export function objectsIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the text of an event with a name, as Anthropic and the Responses API write them. */
export function namedEvent(data: Json): string {
  return `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;
}
