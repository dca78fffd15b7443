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
  /** The text after the last event: the parts in which it came, and its last characters. */
  #parts: string[] = [];
  #tail = "";

  /** Returns the events that a chunk completes. */
  read(chunk: Uint8Array): StreamEvent[] {
    let text = this.#tail + this.#decoder.decode(chunk, { stream: true });
    const events: StreamEvent[] = [];
    for (let found; (found = BLANK_LINE.exec(text)) !== null;) {
      const end = found.index + found[0].length;
      events.push(eventOf(this.#parts.splice(0).join("") + text.slice(0, end)));
      text = text.slice(end);
    }
    // Only these characters can end an event together with the next chunk.
    const tail = Math.max(0, text.length - 3);
    this.#parts.push(text.slice(0, tail));
    this.#tail = text.slice(tail);
    return events;
  }

  /** Returns the text after the last event. */
  end(): string {
    return this.#parts.join("") + this.#tail + this.#decoder.decode();
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
