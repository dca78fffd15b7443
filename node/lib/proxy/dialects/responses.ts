/** OpenAI's Responses API. Its history is a list of items, of which an answer of the model is several. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../../library/fetch-tool.js";
import type { Arriving } from "../copies.js";
import {
  afterEqual,
  type Answer,
  answerOf,
  type Call,
  type Dialect,
  mayCallAny,
  Relay,
  type Shown,
  usageOf,
} from "../dialect.js";
import { withRemindersApart } from "../reminders.js";
import { isObject, type Json, namedEvent, objectsIn, type StreamEvent } from "../sse.js";

type Item = AnyMessage & { call_id?: unknown; [field: string]: unknown };

/** Returns true for items that the model made, those of the provider's own tools included. */
const isAnswer = ({ role, type }: AnyMessage) =>
  role === "assistant" || (role === undefined && (type === "reasoning" || (type ?? "").endsWith("_call")));

export const responses: Dialect = {
  name: "responses",
  form: "responses",
  systemOf: ({ instructions }) => instructions,
  messagesOf: ({ input }) =>
    typeof input === "string" ? [{ role: "user", content: input }] : (objectsIn(input) as AnyMessage[]),
  withMessages: (body, input) => ({ ...body, input }),
  continues: ({ previous_response_id: id, conversation }) => {
    if (conversation !== undefined && conversation !== null) return JSON.stringify(conversation);
    return typeof id === "string" ? id : undefined;
  },
  toolNames: ({ tools }) => objectsIn(tools).map(({ name, type }) => String(name ?? type)),
  // A response in the background is fetched later, from an address that says nothing of calls.
  allowsTools: (body) => mayCallAny(body) && body.background !== true && (body.conversation ?? null) === null,
  fetchTool: {
    type: "function",
    name: FETCH_TOOL,
    description: fetchToolDescription,
    parameters: fetchToolParameters,
    strict: false,
  },
  callIn: callOf,
  callsIn: (item) => [item as Json].flatMap((piece) => callOf(piece) ?? []),
  isAnswer,
  hasThinking: ({ type }) => type === "reasoning",
  resultsIn: (item) =>
    (item.type ?? "").endsWith("_output") && typeof (item as Item).call_id === "string"
      ? [{ callId: String((item as Item).call_id), message: withRemindersApart(item as Item, "output", "input_text") }]
      : [],
  withResults: (item, [shown]) => shown ?? item,
  joinsAnswers: true,
  piecesOf: (items) => items as Json[],
  toMessages: (pieces) => pieces as AnyMessage[],
  after: (pieces, seen) => afterEqual(pieces, seen, isSame),
  withFetched: (results, following) => [
    ...results.map(({ id, content }) => ({ type: "function_call_output", call_id: id, output: content })),
    ...following,
  ],
  relay: (copies) => new ResponsesRelay(copies),
  withArguments,
  wholeAnswer: (body) => (body.object === "response" && Array.isArray(body.output) ? answerIn(body) : undefined),
  wholeReply: (body, answers) => ({
    ...body,
    output: answers.flatMap(({ pieces }) => pieces),
    usage: usageOf(answers),
  }),
};

function withArguments(piece: Json, args: unknown): Json {
  return { ...piece, [piece.input === undefined ? "arguments" : "input"]: args };
}

function callOf({ type, call_id: id, name, arguments: args, input }: Json): Call | undefined {
  if (typeof id !== "string" || typeof name !== "string" || !String(type).endsWith("_call")) return undefined;
  return { id, name, args: args ?? input };
}

/** Clients keep the ids of calls and the encrypted thinking; an item's own id may be dropped. */
function isSame(one: Json, other: Json): boolean {
  if (one.type !== other.type && (one.type ?? "message") !== other.type) return false;
  const parts = (item: Json) =>
    JSON.stringify([textOf(item.content), item.call_id, item.encrypted_content, objectsIn(item.summary).length]);
  return parts(one) === parts(other);
}

const textOf = (content: unknown) =>
  typeof content === "string"
    ? content
    : objectsIn(content)
        .map(({ text }) => text)
        .join("");

function answerIn(response: Json, items = objectsIn(response.output)): Answer {
  return answerOf(items, response.status === "completed", response);
}

const ENDS = ["response.completed", "response.incomplete", "response.failed"];
const BEGINNINGS = ["response.created", "response.in_progress", "response.queued"];

/** The events of a call's arguments. Calls of the provider's own tools have others. */
const ARGUMENTS = /^response\.(function_call_arguments|custom_tool_call_input)\.(delta|done)$/;

interface ArrivingItem {
  item: Json;
  /** True once the item is complete. */
  isDone: boolean;
}

class ResponsesRelay extends Relay<ArrivingItem> {
  /** The items that the client has seen of earlier answers. */
  #seen: Json[] = [];
  #end: Json | undefined;
  #sequence = 0;

  receive(event: StreamEvent): Shown | undefined | Promise<Shown> {
    const { data } = event;
    if (data === undefined) return undefined;
    const { type, output_index: index, response, item } = data;
    if (ENDS.includes(String(type)) && isObject(response)) {
      this.#end = data;
      this.usage = isObject(response.usage) ? response.usage : undefined;
      this.isEnded = true;
      return (goesOn) =>
        goesOn ? "" : this.#numbered(event, { response: { ...response, output: this.#output(), usage: this.total() } });
    }
    if (BEGINNINGS.includes(String(type))) return () => (this.isFirst ? this.#numbered(event) : "");
    const isDone = type === "response.output_item.done";
    const isItem = (isDone || type === "response.output_item.added") && isObject(item);
    if (isItem && !this.parts.has(index)) this.identify(this.begin(index, { item, isDone }), callOf(item));
    const part = this.parts.get(index);
    if (part === undefined) return () => this.#numbered(event);
    if (isDone && isItem) return this.#done(event, item, part);
    const [, name, step] = ARGUMENTS.exec(String(type)) ?? [];
    if (name !== undefined) return this.#arguments(event, name, step, part);
    return () => this.#numbered(event, {}, part);
  }

  /** Takes a delta of a call's arguments, or their end. */
  #arguments(event: StreamEvent, name: string, step: string | undefined, part: Arriving): Shown {
    const { delta, item_id, output_index, ...data } = event.data ?? {};
    const field = name.endsWith("input") ? "input" : "arguments";
    if (step === "delta") {
      const isReplaced = part.take(String(delta));
      return () => (isReplaced() ? "" : this.#numbered(event, {}, part));
    }
    // A provider may send all of them at once.
    if (part.all === "") part.take(String(data[field] ?? ""));
    return () => {
      if (part.others === undefined) return this.#numbered(event, {}, part);
      const rest = { type: `response.${name}.delta`, item_id, output_index, delta: part.rest, sequence_number: -1 };
      const before = part.rest === "" ? "" : this.#numbered({ raw: "", data: rest }, {}, part);
      return before + this.#numbered(event, { [field]: part.others }, part);
    };
  }

  /** Takes the end of an item. */
  async #done(event: StreamEvent, item: Json, part: Arriving & ArrivingItem): Promise<Shown> {
    [part.item, part.isDone] = [item, true];
    const call = callOf(item);
    if (call) await this.complete(part, call);
    return () => this.#numbered(event, { item: shownItem(part) }, part);
  }

  /** Returns the text of an event with the next number, and with changed fields, unless its part is hidden. */
  #numbered({ data = {}, raw }: StreamEvent, fields: Json = {}, part?: Arriving): string {
    if (part?.isHidden) return "";
    const numbers = {
      ...fields,
      ...(part ? { output_index: this.indexOf(part, data.output_index) } : {}),
      ...("sequence_number" in data ? { sequence_number: this.#sequence++ } : {}),
    };
    const isEqual = Object.entries(numbers).every(([name, value]) => data[name] === value);
    return isEqual || !this.isChanged ? raw : namedEvent({ ...data, ...numbers });
  }

  async answer(): Promise<Answer | undefined> {
    const response = this.#end?.response;
    if (!isObject(response)) return undefined;
    const items = [...this.parts.values()].map(({ item }) => item);
    return answerIn({ status: String(this.#end?.type).slice("response.".length), ...response }, items);
  }

  reset(): void {
    [this.#seen, this.#end] = [this.#output(), undefined];
  }

  #output(): Json[] {
    const parts = [...this.parts.values()].filter(({ isHidden, isDone }) => isDone && !isHidden);
    return [...this.#seen, ...parts.map(shownItem)];
  }

  failure(error: Json): string {
    const fields = isObject(error.error) ? error.error : error;
    return namedEvent({ code: null, param: null, ...fields, type: "error", sequence_number: this.#sequence++ });
  }
}

/** Returns an item as the client sees it. */
const shownItem = ({ item, others }: Arriving & ArrivingItem) =>
  others === undefined ? item : withArguments(item, others);
