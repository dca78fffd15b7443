/**
 * A dialect is all that the proxy must know of a provider's protocol. Everything else is the same for all of them.
 *
 * An answer of a model is a list of pieces: content blocks of Anthropic, items of the Responses API, the text and the
 * calls of a chat completion. The calls of the fetch tool among them are answered in the proxy and hidden from the
 * client, and they are put back when the client sends the answer as history.
 */
import type { AnyMessage } from "../library/api.js";
import { FETCH_TOOL } from "../library/fetch-tool.js";
import { Arriving, type Copies } from "./copies.js";
import { isObject, type Json, objectsIn, type StreamEvent } from "./sse.js";

/** A call of a tool. */
export interface Call {
  id: string;
  name: string;
  /** The arguments: an object, or JSON. */
  args: unknown;
}

/** An answer of the model to one request. */
export interface Answer {
  /** Its parts as they stand in a history, calls of the fetch tool included. */
  pieces: Json[];
  /** The tokens that the provider reports. */
  usage: Json | undefined;
  model: string | undefined;
  /** The id under which the provider keeps the answer. */
  id: string | undefined;
  /** True if the answer was not cut short, so that its calls can be answered. */
  isWhole: boolean;
}

/** The answer of the proxy to one call of the fetch tool. */
export interface FetchResult {
  id: string;
  /** The content in the form of the dialect, as `answerFetch` returns it. */
  content: unknown;
}

/** The result of one call in a history, as a message of its own. */
export interface ToolResult {
  callId: string;
  message: AnyMessage;
}

export interface Dialect {
  readonly name: string;
  /** The form in which the fetch tool answers. */
  readonly form: "anthropic" | "openai" | "responses";
  /** Returns what identifies a session in addition to its messages. */
  systemOf(body: Json): unknown;
  /** Returns the messages of a request, without the system prompt. */
  messagesOf(body: Json): AnyMessage[];
  /** Returns the request with other messages. */
  withMessages(body: Json, messages: AnyMessage[]): Json;
  /** Returns the id of the answer that a request continues, if the provider has the messages up to it. */
  continues(body: Json): string | undefined;
  /** Returns the names of the tools that the client offers. */
  toolNames(body: Json): string[];
  /** Returns true if the model may call tools. */
  allowsTools(body: Json): boolean;
  /** The definition of the fetch tool. */
  readonly fetchTool: Json;
  /** Returns the call in a piece. */
  callIn(piece: Json): Call | undefined;
  /** Returns the calls in a message. */
  callsIn(message: AnyMessage): Call[];
  /** Returns true if a message is an answer of the model, or a part of one. */
  isAnswer(message: AnyMessage): boolean;
  /** Returns true if a message holds thinking that may be valid only behind its exact prefix. */
  hasThinking(message: AnyMessage): boolean;
  /** Returns the results in a message, each as a message of its own. */
  resultsIn(message: AnyMessage): ToolResult[];
  /** Returns the message with its results as they are shown, in the order of `resultsIn`. */
  withResults(message: AnyMessage, shown: AnyMessage[]): AnyMessage;
  /** True if adjacent messages of the model are one answer. */
  readonly joinsAnswers: boolean;
  /** Returns the pieces of an answer. */
  piecesOf(answer: readonly AnyMessage[]): Json[];
  /** Returns the messages of an answer. Fields that no piece holds are those of `like`. */
  toMessages(pieces: Json[], like?: AnyMessage): AnyMessage[];
  /** Returns the pieces after those that the client had seen first, or undefined if it sends others. */
  after(pieces: Json[], seen: Json[]): Json[] | undefined;
  /** Returns the messages with the results of an answer's fetches put before what follows the answer. */
  withFetched(results: FetchResult[], following: readonly AnyMessage[]): AnyMessage[];
  /** Starts a relay. */
  relay(copies: Copies): Relay;
  /** Returns a call with other arguments. */
  withArguments(piece: Json, args: unknown): Json;
  /** Reads an answer that is not streamed. Returns undefined if it is none. */
  wholeAnswer(body: Json): Answer | undefined;
  /** Returns the last answer of an exchange with the pieces of all of them. */
  wholeReply(body: Json, answers: Answer[]): Json;
}

/** Returns true if a call is one of the fetch tool. */
export function isFetch(call: Call | undefined): boolean {
  return call?.name === FETCH_TOOL;
}

/** Returns true if a request has tools and lets the model call each of them. */
export function mayCallAny({ tools, tool_choice: choice }: Json): boolean {
  const kind = isObject(choice) ? choice.type : choice;
  return objectsIn(tools).length > 0 && kind !== "none" && kind !== "allowed_tools";
}

/** Returns the text of an event for the client, or what is left of it if the answer goes on with another round. */
export type Shown = (goesOn: boolean) => string;

/**
 * Passes the streams of one exchange to the client as if they were one answer to one request. `T` is what a dialect
 * must know of a part.
 *
 * While it is open what the client gets for an event, that event and all later ones wait. Until something is hidden or
 * replaced, the client gets the bytes of the provider in their order.
 */
export abstract class Relay<T = unknown> {
  readonly copies: Copies;
  isFirst = true;
  /** True once a part was hidden or replaced. */
  isChanged = false;
  /** True once the end of the answer has come. If it is changed, that may not be the end for the client. */
  isEnded = false;
  /** The number of parts that the client sees. */
  shown = 0;
  /** The parts of this round, by what identifies them in events. */
  parts = new Map<unknown, Arriving & T>();
  /** The tokens that the provider reports for this round. */
  usage: Json | undefined;
  #before: Json | undefined;
  #waiting: Shown[] = [];

  constructor(copies: Copies) {
    this.copies = copies;
  }

  /** Takes an event that is about the answer. Returns undefined for any other. */
  abstract receive(event: StreamEvent): Shown | undefined | Promise<Shown | undefined>;
  /** Returns the answer of this round, or undefined if the stream ended before it did. */
  abstract answer(): Promise<Answer | undefined>;
  /** Forgets this round. */
  abstract reset(): void;
  /** Returns the events for a provider's error in a later round, when the client has the beginning of the answer. */
  abstract failure(error: Json): string;

  /** Takes an event of the provider. Returns the text that the client gets now. */
  async take(event: StreamEvent): Promise<string> {
    const shown = await this.receive(event);
    const open = [...this.parts.values()].filter(({ isOpen }) => isOpen);
    // A sign of life does not wait for the end of a long call.
    if (shown === undefined && !this.isEnded && open.some(({ isHeld }) => isHeld)) return event.raw;
    this.#waiting.push(shown ?? ((goesOn) => (goesOn ? "" : event.raw)));
    return (this.isEnded && this.isChanged) || open.length > 0 ? "" : this.end();
  }

  /** Begins a part. {@link identify} must follow. */
  begin(key: unknown, fields: T): Arriving & T {
    const part = Object.assign(new Arriving(), fields);
    this.parts.set(key, part);
    return part;
  }

  /** Notes which call a part is, if it is one. */
  identify<P extends Arriving>(part: P, call: Call | undefined): P {
    part.isKnown = true;
    part.isHidden = isFetch(call);
    part.isHeld = call !== undefined && this.copies.areRefused;
    this.isChanged ||= part.isHidden;
    return part;
  }

  /** Ends a call: it is hidden if it is refused, and otherwise originals stand for the copies in its arguments. */
  async complete(part: Arriving, call: Call): Promise<void> {
    if (part.isHidden) return;
    const args = await this.copies.shown(call);
    part.end(args === call.args ? undefined : String(args));
    part.isHidden = this.copies.isRefused(call);
    this.isChanged ||= part.isHidden || part.others !== undefined;
  }

  /** Returns the index of a part for the client, or undefined if it is hidden. `own` is that of the provider. */
  indexOf(part: Arriving, own?: unknown): number | undefined {
    if (part.isHidden) return undefined;
    part.shownAt ??= !this.isChanged && typeof own === "number" ? own : this.shown;
    this.shown = Math.max(this.shown, part.shownAt + 1);
    return part.shownAt;
  }

  /** Returns the text that waits. */
  end(goesOn = false): string {
    const waiting = this.#waiting.splice(0);
    return waiting.map((shown) => shown(goesOn)).join("");
  }

  /** Begins the next round. Returns what waits of this one without its end. */
  next(): string {
    const text = this.end(true);
    this.reset();
    [this.#before, this.usage, this.parts] = [this.total(), undefined, new Map()];
    [this.isFirst, this.isEnded] = [false, false];
    return text;
  }

  /** Returns the usage of all rounds. */
  total(): Json | undefined {
    return addUsage(this.#before, this.usage);
  }
}

/** Returns an answer with what the provider states about it. */
export function answerOf(pieces: Json[], isWhole: boolean, { usage, model, id }: Json): Answer {
  return {
    pieces,
    usage: isObject(usage) ? usage : undefined,
    model: typeof model === "string" ? model : undefined,
    id: typeof id === "string" ? id : undefined,
    isWhole,
  };
}

/** Adds numbers of usage, however deep. Other fields are those of the later one. */
function addUsage(one: Json | undefined, other: Json | undefined): Json | undefined {
  if (one === undefined || other === undefined) return other ?? one;
  const sum: Json = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = sum[name];
    if (typeof value === "number") sum[name] = value + (typeof before === "number" ? before : 0);
    else if (isObject(value)) sum[name] = addUsage(isObject(before) ? before : undefined, value);
    else if (value !== null || before === undefined) sum[name] = value;
  }
  return sum;
}

/** Returns the usage of several answers. */
export function usageOf(answers: Answer[]): Json | undefined {
  return answers.reduce<Json | undefined>((sum, { usage }) => addUsage(sum, usage), undefined);
}

/** Returns the pieces after `seen`, if the first ones are equal. */
export function afterEqual(
  pieces: Json[],
  seen: Json[],
  isSame: (one: Json, other: Json) => boolean,
): Json[] | undefined {
  return seen.every((piece, at) => pieces[at] !== undefined && isSame(pieces[at], piece))
    ? pieces.slice(seen.length)
    : undefined;
}
