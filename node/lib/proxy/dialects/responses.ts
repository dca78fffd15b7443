/** OpenAI's Responses API. Its history is a list of items, of which an answer of the model is several. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../../library/fetch-tool.js";
import type { Copies } from "../copies.js";
import {
  afterEqual,
  type Answer,
  answerOf,
  type Arriving,
  type Call,
  type Dialect,
  Relay,
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
  allowsTools: ({ tools, tool_choice: choice, background, conversation }) =>
    objectsIn(tools).length > 0 && choice !== "none" && background !== true && (conversation ?? null) === null,
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

interface ArrivingItem extends Arriving {
  item: Json;
  /** The item as the client sees it, once it is complete. */
  shown: Json | undefined;
}

class ResponsesRelay extends Relay {
  /** The items that the client has seen of earlier answers. */
  #seen: Json[] = [];
  #items = new Map<unknown, ArrivingItem>();
  #end: StreamEvent | undefined;
  /** True once the client sees other events than the provider sent. */
  #isChanged = false;
  #sequence = 0;

  take(event: StreamEvent): string | Promise<string> {
    const { data, raw } = event;
    if (data === undefined) return raw;
    const { type, output_index: index } = data;
    if (ENDS.includes(String(type))) {
      this.#end = event;
      return "";
    }
    if (BEGINNINGS.includes(String(type)) && !this.isFirst) return "";
    if (type === "response.output_item.added" && isObject(data.item)) this.#begin(index, data.item);
    const known = this.#items.get(index);
    if (known === undefined) return this.#numbered(event);
    if (type === "response.output_item.done" && isObject(data.item)) return this.#ended(event, data.item, known);
    known.held?.push(event);
    if (known.shownAt === undefined) return "";
    const [, , part] = ARGUMENTS.exec(String(type)) ?? [];
    // The whole arguments follow with the end of the item.
    if (part === undefined || this.copies === undefined) return this.#numbered(event, { output_index: known.shownAt });
    if (part === "done") {
      known.held = [event];
      return "";
    }
    const delta = known.args.take(String(data.delta));
    this.#isChanged ||= delta !== data.delta;
    return delta === "" ? "" : this.#numbered(event, { output_index: known.shownAt, delta });
  }

  #begin(index: unknown, item: Json): void {
    const arriving = { ...this.begun(callOf(item)), item, shown: undefined };
    this.#isChanged ||= arriving.shownAt === undefined;
    this.#items.set(index, arriving);
  }

  /** Takes the end of an item. */
  #ended(event: StreamEvent, item: Json, known: ArrivingItem): string | Promise<string> {
    known.item = item;
    const call = callOf(item);
    if (call !== undefined && this.copies !== undefined && (known.shownAt !== undefined || known.held !== undefined))
      return this.#withCopies(this.copies, event, call, known);
    if (known.shownAt === undefined) return "";
    known.shown = item;
    return this.#numbered(event, { output_index: known.shownAt });
  }

  async #withCopies(copies: Copies, event: StreamEvent, call: Call, known: ArrivingItem): Promise<string> {
    const args = await copies.shown(call);
    if (copies.isRefused(call)) return "";
    const item = (known.shown = args === call.args ? known.item : withArguments(known.item, args));
    this.#isChanged ||= item !== known.item;
    const isHeld = known.shownAt === undefined;
    const output_index = (known.shownAt ??= this.shown++);
    const rest = isHeld ? "" : known.args.rest(String(args));
    const texts = known.held?.map((one) => {
      const [, name = "", part] = ARGUMENTS.exec(String(one.data?.type)) ?? [];
      if (part !== "done") return this.#numbered(one, { output_index });
      const field = name.endsWith("input") ? "input" : "arguments";
      const delta = { type: `response.${name}.delta`, item_id: one.data?.item_id, output_index, delta: rest };
      const more = rest === "" ? "" : this.#numbered({ raw: "", data: { ...delta, sequence_number: -1 } });
      return more + this.#numbered(one, { output_index, [field]: args });
    });
    return (texts ?? []).join("") + this.#numbered(event, { output_index, item });
  }

  /** Returns the text of an event with the next number, and with changed fields. */
  #numbered({ data = {}, raw }: StreamEvent, fields: Json = {}): string {
    const sequence_number = this.#sequence++;
    const numbers: Json = "sequence_number" in data ? { ...fields, sequence_number } : fields;
    const isEqual = Object.entries(numbers).every(([name, value]) => data[name] === value);
    return isEqual || (!this.#isChanged && this.isFirst) ? raw : namedEvent({ ...data, ...numbers });
  }

  answer(): Answer | undefined {
    const response = this.#end?.data?.response;
    if (!isObject(response)) return undefined;
    const items = [...this.#items.values()].map(({ item }) => item);
    return answerIn({ status: String(this.#end?.data?.type).slice("response.".length), ...response }, items);
  }

  reset(): void {
    this.#seen = this.#output();
    [this.#items, this.#end] = [new Map(), undefined];
  }

  #output(): Json[] {
    return [...this.#seen, ...[...this.#items.values()].flatMap(({ shown }) => (shown === undefined ? [] : [shown]))];
  }

  end(): string {
    const response = this.#end?.data?.response;
    if (this.#end === undefined || !this.#isChanged || !isObject(response)) return this.#end?.raw ?? "";
    const usage = this.usage(response.usage);
    return this.#numbered(this.#end, { response: { ...response, output: this.#output(), usage } });
  }

  failure(error: Json): string {
    const fields = isObject(error.error) ? error.error : error;
    return namedEvent({ code: null, param: null, ...fields, type: "error", sequence_number: this.#sequence++ });
  }
}
