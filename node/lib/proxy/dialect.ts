/**
 * A dialect is all that the proxy must know of a provider's protocol. Everything else is the same for all of them.
 *
 * An answer of a model is a list of pieces: content blocks of Anthropic, items of the Responses API, the text and the
 * calls of a chat completion. The calls of the fetch tool among them are answered in the proxy and hidden from the
 * client, and they are put back when the client sends the answer as history.
 */
import type { AnyMessage } from "../library/api.js";
import { FETCH_TOOL } from "../library/fetch-tool.js";
import { ArrivingArguments, type Copies } from "./copies.js";
import { isObject, type Json, type StreamEvent } from "./sse.js";

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
  relay(copies: Copies | undefined): Relay;
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

/** A part of an answer while it arrives. */
export interface Arriving {
  args: ArrivingArguments;
  /** Its index for the client, or undefined if it is hidden or not complete. */
  shownAt: number | undefined;
  /** The events of a call that may be refused. */
  held: StreamEvent[] | undefined;
}

/** Passes the streams of one exchange to the client as if they were one answer to one request. */
export abstract class Relay {
  /** Absent if the client gets the answer as it is, also fetches. */
  readonly copies: Copies | undefined;
  readonly #answers: Answer[] = [];
  isFirst = true;
  /** The number of parts that the client sees, and of those that are hidden. */
  shown = 0;
  hidden = 0;

  constructor(copies: Copies | undefined) {
    this.copies = copies;
  }

  /** Takes an event of the provider. Returns the text that the client gets for it now. */
  abstract take(event: StreamEvent): string | Promise<string>;
  /** Returns the answer of this round, or undefined if the stream ended before it did. */
  abstract answer(): Answer | undefined;
  /** Forgets the last round. */
  abstract reset(): void;
  /** Returns the end of the answer, with the usage of all rounds. */
  abstract end(): string;
  /** Returns the events for a provider's error in a later round, when the client has the beginning of the answer. */
  abstract failure(error: Json): string;

  /** Begins a part. A fetch is hidden, and a call that may be refused is shown once it is complete. */
  begun(call: Call | undefined): Arriving {
    const isHidden = this.copies !== undefined && isFetch(call);
    const isHeld = !isHidden && call !== undefined && this.copies?.areRefused === true;
    if (isHidden) this.hidden++;
    const shownAt = isHidden || isHeld ? undefined : this.shown++;
    return { args: new ArrivingArguments(), shownAt, held: isHeld ? [] : undefined };
  }

  /** Begins the next round. The end of this one is not sent. */
  next(): void {
    const answer = this.answer();
    if (answer !== undefined) this.#answers.push(answer);
    this.isFirst = false;
    this.reset();
  }

  /** Returns the usage of all rounds. */
  usage(last: unknown): Json | undefined {
    return addUsage(usageOf(this.#answers), isObject(last) ? last : undefined);
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
